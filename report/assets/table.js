// The table of regions: sorted, searched, walked through by keys.

const state = { sort: "raw", descending: true, query: "", inside: false, silent: false, selected: null };
const missOf = (f) => (f.crd && f.crd.cutoffs.length ? f.crd.cutoffs[0].definite_miss : -1);
const medianOf = (f) => (f.crd && f.crd.distinct.median_bytes != null ? f.crd.distinct.median_bytes : -1);

const COLUMNS = [
  { key: "name", title: "Region", word: true, about: "function, loop, OpenMP construct or region of threadtalk.h" },
  { key: "place", title: "Where", word: true, about: "file and lines" },
  { key: "raw", title: "RaW", about: "true communication events", of: (f) => f.raw, show: (f) => count(f.raw) },
  { key: "rar", title: "RaR", about: "reuse events", of: (f) => f.rar, show: (f) => count(f.rar) },
  { key: "crr", title: "RaR/RaW", about: "reuse for each communication", of: (f) => (f.raw ? ratio(f) : -1), show: ratioText },
  {
    key: "sync",
    title: "Sync",
    about: "share of RaW whose read is atomic",
    of: (f) => (f.raw ? syncShare(f) : -1),
    show: syncText,
  },
  {
    key: "h",
    title: "Homog.",
    about: "homogeneity: mean variance of the rows of the CRR matrix; 0 = all threads reuse alike",
    of: (f) => (f.raw ? f.homogeneity : -1),
    show: homogeneityText,
  },
  {
    key: "b",
    title: "Balance",
    about: "how far the busiest writer is above the mean; 0 % = all alike",
    of: (f) => f.balance,
    show: (f) => excess(f.balance),
  },
  {
    key: "crd",
    title: "CRD median",
    about: "median reuse distance",
    of: medianOf,
    show: (f) => bytes(f.crd && f.crd.distinct.median_bytes),
  },
  {
    key: "miss",
    title: "Misses",
    about: "share of reuse that certainly misses, for each cache level",
    of: missOf,
    show: (f) =>
      f.crd && f.crd.cutoffs.length
        ? f.crd.cutoffs.map((c) => trimmed((c.definite_miss * 100).toFixed(1))).join(" / ") + " %"
        : "–",
  },
];

function buildHead() {
  const levels = data.caches.map((c) => "L" + c.level).join("/");
  byId("regions").tHead.rows[0].append(
    ...COLUMNS.map((column) => {
      const title = column.key === "miss" && levels ? `Misses ${levels}` : column.title;
      const button = element("button", { type: "button", title: column.about }, title);
      button.addEventListener("click", () => sortBy(column));
      return element("th", { class: column.word ? "word" : null, "data-key": column.key, scope: "col" }, button);
    }),
  );
}

function sortBy(column) {
  state.descending = state.sort === column.key ? !state.descending : !column.word;
  state.sort = column.key;
  drawTable();
}

const searchText = (region) =>
  (region.searchable ??= [
    region.label,
    region.name,
    region.symbol || "",
    region.kind,
    place(region),
    region.file == null ? "" : data.files[region.file],
  ]
    .join(" ")
    .toLowerCase());

function visibleRegions() {
  const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = data.regions.filter((region) => {
    const figures = figuresOf(region, state.inside);
    return (
      (state.silent || (figures && figures.raw + figures.rar > 0)) &&
      words.every((word) => searchText(region).includes(word))
    );
  });
  const column = COLUMNS.find((c) => c.key === state.sort);
  const key =
    column.key === "name"
      ? (r) => r.label.toLowerCase()
      : column.key === "place"
        ? (r) => [place(r).split(":")[0], r.line || 0]
        : (r) => {
            const f = figuresOf(r, state.inside);
            return f ? column.of(f) : -2;
          };
  const compare = (a, b) => (Array.isArray(a) ? compare(a[0], b[0]) || a[1] - b[1] : a < b ? -1 : a > b ? 1 : 0);
  const keyed = found.map((region) => [key(region), region]);
  keyed.sort((a, b) => (state.descending ? -1 : 1) * compare(a[0], b[0]) || a[1].id - b[1].id);
  return keyed.map(([, region]) => region);
}

function rowHtml(region, most, all) {
  const figures = figuresOf(region, state.inside || all);
  const kind =
    region.kind === "function" || region.kind === "program"
      ? ""
      : `<span class="kind">${escapeText(region.kind.replace("_", " "))}</span>`;
  const cells = COLUMNS.map((column) => {
    if (column.key === "name") {
      const text = escapeText(all ? "whole program" : region.name || region.label);
      return cellOf(text + kind, "word", ` title="${escapeText(region.full || region.symbol || region.name)}"`);
    }
    if (column.key === "place") return `<td class="word place">${escapeText(place(region))}</td>`;
    if (!figures) return `<td class="zero">–</td>`;
    const meter =
      column.key === "raw" && !all ? ` class="meter" style="--share:${((figures.raw / most) * 100).toFixed(1)}%"` : "";
    return `<td${meter}>${column.show(figures)}</td>`;
  });
  const id = all ? "all" : region.id;
  const chosen = state.selected === id;
  const attributes = `data-id="${id}" aria-selected="${chosen}" tabindex="${chosen ? 0 : -1}"`;
  return `<tr${all ? ' class="all"' : ""} ${attributes}>${cells.join("")}</tr>`;
}

function drawTable() {
  const regions = visibleRegions();
  const most = Math.max(1, ...regions.map((r) => (figuresOf(r, state.inside) || { raw: 0 }).raw));
  const body = byId("regions").tBodies[0];
  const nothing = state.query ? "no region matches" : "no region communicates";
  const rows = regions.length
    ? regions.map((region) => rowHtml(region, most, false)).join("")
    : `<tr><td class="empty" colspan="${COLUMNS.length}">${nothing}</td></tr>`;
  body.innerHTML = rowHtml(data.total, most, true) + rows;
  for (const th of byId("regions").tHead.rows[0].cells) {
    if (th.dataset.key === state.sort) th.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
    else th.removeAttribute("aria-sort");
  }
  byId("shown").textContent = `${regions.length} of ${data.regions.length} regions`;
}

function select(id, focus = false) {
  state.selected = id;
  const body = byId("regions").tBodies[0];
  for (const row of body.rows) {
    const on = row.dataset.id === String(id);
    row.setAttribute("aria-selected", on);
    row.tabIndex = on ? 0 : -1;
    if (on) {
      row.scrollIntoView({ block: "nearest" });
      if (focus) row.focus({ preventScroll: true });
    }
  }
  const hash = id === "all" ? "#all" : `#r${id}`;
  if (location.hash !== hash) history.replaceState(null, "", hash);
  drawDetail();
}

function step(by) {
  const rows = [...byId("regions").tBodies[0].rows].filter((row) => row.dataset.id);
  const now = rows.findIndex((row) => row.dataset.id === String(state.selected));
  const next = rows[Math.min(rows.length - 1, Math.max(0, now + by))];
  if (next) select(next.dataset.id === "all" ? "all" : Number(next.dataset.id), true);
}
