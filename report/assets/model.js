// The embedded data and what follows from it.

const data = JSON.parse(byId("data").textContent);
const threadById = new Map(data.threads.map((thread) => [thread.id, thread]));
const regionById = new Map(data.regions.map((region) => [region.id, region]));

// Regions' own figures, or with those of the regions inside; the program's row has everything in both.
const figuresOf = (region, inside) => (inside && region.total) || region.own;

// The cells of a figure: rows begin with -(writer + 1), then reader, RaW, RaR for each cell.
function cellsOf(figures) {
  if (figures.decoded) return figures.decoded;
  const cells = [];
  const byPlace = new Map();
  let writer = 0;
  for (let i = 0; i < figures.cells.length;) {
    if (figures.cells[i] < 0) {
      writer = -figures.cells[i++] - 1;
      continue;
    }
    const [reader, raw, rar] = figures.cells.slice(i, i + 3);
    const cell = { writer, reader, raw, rar, syncRaw: 0, syncRar: 0 };
    cells.push(cell);
    byPlace.set(writer * figures.size + reader, cell);
    i += 3;
  }
  for (let i = 0; i < figures.sync.length; i += 4) {
    const [w, r, raw, rar] = figures.sync.slice(i, i + 4);
    const cell = byPlace.get(w * figures.size + r);
    if (cell) {
      cell.syncRaw = raw;
      cell.syncRar = rar;
    }
  }
  return (figures.decoded = { cells, byPlace });
}

// Data, synchronisation or both of a cell, with the ratio that belongs to them.
function part(cell, which) {
  const raw = which === "sync" ? cell.syncRaw : which === "data" ? cell.raw - cell.syncRaw : cell.raw;
  const rar = which === "sync" ? cell.syncRar : which === "data" ? cell.rar - cell.syncRar : cell.rar;
  return { raw, rar, crr: rar / Math.max(raw, 1), carriedIn: raw === 0 && rar > 0 };
}

const ratio = (figures) => figures.rar / Math.max(figures.raw, 1);
const place = (region) =>
  region.file == null
    ? ""
    : base(data.files[region.file]) +
      (region.line == null ? "" : ":" + region.line + (region.end_line > region.line ? "-" + region.end_line : ""));
const position = (at) => (at == null ? "unknown line" : base(data.files[at[0]]) + (at[1] ? ":" + at[1] : ""));
