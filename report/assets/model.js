// The embedded data and what follows from it.

const data = JSON.parse(byId("data").textContent);
const threadById = new Map(data.threads.map((thread) => [thread.id, thread]));
const regionById = new Map(data.regions.map((region) => [region.id, region]));

// Regions' own figures, or with those of the regions inside; the program's row has everything in both.
const figuresOf = (region, inside) => (inside && region.total) || region.own;

// Numbers from letters: to the base 32, lowest digit first; a letter of the upper half says that digits follow.
const DIGITS = new Uint8Array(128);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].forEach(
  (letter, value) => (DIGITS[letter.charCodeAt(0)] = value),
);

// Calls `see` with writer, reader, RaW and RaR of each cell: a cell has its distance from the one before it, less 1.
function eachCell(letters, size, see) {
  let at = 0,
    place = -1;
  const next = () => {
    for (let value = 0, scale = 1; ; scale *= 32) {
      const digit = DIGITS[letters.charCodeAt(at++)];
      // No shifts: they end at 32 bits.
      value += (digit % 32) * scale;
      if (digit < 32) return value;
    }
  };
  while (at < letters.length) {
    place += next() + 1;
    const raw = next();
    see(Math.floor(place / size), place % size, raw, next());
  }
}

// The cells of a figure, taken apart when they are first looked at.
function cellsOf(figures) {
  if (figures.decoded) return figures.decoded;
  const cells = [];
  const byPlace = new Map();
  eachCell(figures.cells, figures.size, (writer, reader, raw, rar) => {
    const cell = { writer, reader, raw, rar, syncRaw: 0, syncRar: 0 };
    cells.push(cell);
    byPlace.set(writer * figures.size + reader, cell);
  });
  eachCell(figures.sync, figures.size, (writer, reader, raw, rar) =>
    Object.assign(byPlace.get(writer * figures.size + reader), { syncRaw: raw, syncRar: rar }),
  );
  return (figures.decoded = { cells, byPlace });
}

// Data, synchronisation or both of a cell, with the ratio that belongs to them.
function part(cell, which) {
  const raw = which === "sync" ? cell.syncRaw : which === "data" ? cell.raw - cell.syncRaw : cell.raw;
  const rar = which === "sync" ? cell.syncRar : which === "data" ? cell.rar - cell.syncRar : cell.rar;
  return { raw, rar, crr: rar / Math.max(raw, 1), carriedIn: raw === 0 && rar > 0 };
}

// Multiples of first reads; without one a region reuses what came elsewhere, and its CRR entries are numbers of events.
const ofReads = (figures, value, show) => (figures.raw ? show(value) : "–");
const ratio = (figures) => figures.rar / Math.max(figures.raw, 1);
const syncShare = (figures) => figures.sync_raw / Math.max(figures.raw, 1);
const ratioText = (figures) => ofReads(figures, ratio(figures), quantity);
const syncText = (figures) => ofReads(figures, syncShare(figures), percent);
const homogeneityText = (figures) => ofReads(figures, figures.homogeneity, quantity);
// Of a library's function also for whom it is.
const place = (region) =>
  region.file == null
    ? ""
    : base(data.files[region.file]) +
      (region.line == null ? "" : ":" + region.line + (region.end_line > region.line ? "-" + region.end_line : "")) +
      (region.called_at ? ", for " + region.called_at.map(position).join(", ") : "");
const position = (at) => (at == null ? "unknown line" : base(data.files[at[0]]) + (at[1] ? ":" + at[1] : ""));
