// The page: head, keys, theme.

function drawHead() {
  document.title = `${data.program.name} – threadtalk`;
  byId("program").textContent = data.program.name;
  byId("run").textContent = data.run;
  byId("measured").textContent = data.measured;
  byId("hints").append(...data.hints.map((hint) => element("p", { class: "hint" }, hint)));
  const total = data.total.own,
    tiles = byId("tiles");
  const tile = (value, name, about) =>
    tiles.append(element("div", { class: "tile", title: about }, element("b", {}, value), element("span", {}, name)));
  tile(exactly(data.threads.length), data.threads.length === 1 ? "thread" : "threads");
  if (!total) {
    tile("none", "communication");
    return;
  }
  tile(count(total.raw), "RaW events", exactly(total.raw));
  tile(count(total.rar), "RaR events", exactly(total.rar));
  tile(ratioText(total), "RaR / RaW");
  tile(syncText(total), "synchronisation", "share of RaW whose read is atomic");
  tile(homogeneityText(total), "homogeneity", "mean variance of the rows of the CRR matrix");
  tile(excess(total.balance), "balance", "how far the busiest writer is above the mean");
  if (total.crd) tile(bytes(total.crd.distinct.median_bytes), "median CRD");
  tile(data.accuracy_short[0], data.accuracy_short[1], data.accuracy_long);
}

function drawThreads() {
  byId("thread-count").textContent = `${data.threads.length}`;
  const seconds = (value) => cellOf(value == null ? "–" : value.toFixed(3));
  const kind = (text) => `<span class="kind">${text}</span>`;
  const rows = data.threads.map((t) => {
    const name =
      escapeText(t.name) + (t.openmp ? kind("OpenMP") : "") + (t.overflow ? kind("all beyond the limit") : "");
    const origin = cellOf(t.by ?? "–") + cellOf(t.at ? escapeText(position(t.at)) : "", "word");
    const times = [t.start, t.end, t.cpu].map(seconds).join("");
    return `<tr>${cellOf(t.id)}${cellOf(name, "word")}${origin}${times}</tr>`;
  });
  const words = ["name", "created at"];
  const titles = ["id", "name", "created by", "created at", "start (s)", "end (s)", "CPU (s)"];
  const head = titles.map((title) => `<th${words.includes(title) ? ' class="word"' : ""}>${title}</th>`);
  byId("threads").innerHTML = `<thead><tr>${head.join("")}</tr></thead><tbody>${rows.join("")}</tbody>`;
}

function theme(next) {
  const root = document.documentElement;
  if (next === "auto") delete root.dataset.theme;
  else root.dataset.theme = next;
  byId("theme").textContent = { auto: "◐ auto", light: "○ light", dark: "● dark" }[next];
  try {
    localStorage.setItem("threadtalk-theme", next);
  } catch {
    /* pages opened from disk may have no storage */
  }
  if (state.selected != null) drawDetail();
}

function chosenTheme() {
  try {
    return localStorage.getItem("threadtalk-theme") || "auto";
  } catch {
    return "auto";
  }
}

function nextTheme() {
  const order = ["auto", "light", "dark"],
    now = document.documentElement.dataset.theme || "auto";
  theme(order[(order.indexOf(now) + 1) % order.length]);
}

function fromHash() {
  const match = /^#r(\d+)$/.exec(location.hash);
  return match && regionById.has(Number(match[1])) ? Number(match[1]) : "all";
}

byId("search").addEventListener("input", (event) => {
  state.query = event.target.value;
  drawTable();
});
byId("search").addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    event.target.value = state.query = "";
    drawTable();
    event.target.blur();
  }
  if (event.key === "Enter" || event.key === "ArrowDown") {
    event.preventDefault();
    event.stopPropagation();
    step(state.selected === "all" ? 1 : 0);
  }
});
byId("inside").addEventListener("change", (event) => {
  state.inside = event.target.checked;
  drawTable();
  drawDetail();
});
byId("silent").addEventListener("change", (event) => {
  state.silent = event.target.checked;
  drawTable();
});
byId("theme").addEventListener("click", nextTheme);
byId("regions").addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-id]");
  if (row) {
    view.lines = 20;
    select(row.dataset.id === "all" ? "all" : Number(row.dataset.id), true);
  }
});
addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    byId("search").focus();
  }
  if (event.key === "t") nextTheme();
  const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
  const inTable = event.target === document.body || event.target.closest("#regions");
  if (by && inTable) {
    event.preventDefault();
    step(by);
  }
});
addEventListener("hashchange", () => select(fromHash()));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawDetail());

drawHead();
buildHead();
theme(chosenTheme());
drawTable();
drawThreads();
select(fromHash());
document.documentElement.dataset.ready = "yes";
