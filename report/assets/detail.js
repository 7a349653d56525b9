// One region: its matrices, its distances, its lines.

const view = { part: "all", scale: "auto", kind: "distinct", lines: 20 };

function segments(label, key, choices) {
  const group = element("span", { class: "segments", role: "group", "aria-label": label });
  for (const [value, text] of choices) {
    const button = element("button", { type: "button", "aria-pressed": view[key] === value }, text);
    button.addEventListener("click", () => {
      view[key] = value;
      drawDetail();
    });
    group.append(button);
  }
  return element("span", {}, `${label} `, group);
}

function crumbs(region) {
  const chain = [];
  for (let at = region.parent; at != null && regionById.has(at); at = regionById.get(at).parent)
    chain.unshift(regionById.get(at));
  const box = element("span", { class: "crumbs" });
  for (const parent of chain) {
    box.append(element("a", { href: `#r${parent.id}` }, parent.kind === "program" ? "program" : parent.label), " › ");
  }
  return box;
}

function facts(figures) {
  const v = figures.variants,
    list = element("dl", { class: "facts" });
  const add = (name, value, about) =>
    list.append(element("div", { title: about }, element("dt", {}, name), element("dd", {}, value)));
  add("RaW", count(figures.raw), `${exactly(figures.raw)} true communications`);
  add("RaR", count(figures.rar), `${exactly(figures.rar)} reuses`);
  add("RaR / RaW", ratioText(figures), "reuse for each communication");
  if (figures.has_sync) add("Synchronisation", syncText(figures), "share of RaW whose read is atomic");
  if (figures.serial_raw)
    add(
      "Serial data",
      percent(figures.serial_raw / Math.max(figures.raw, 1)),
      "share of RaW whose data was written while only one thread existed",
    );
  add(
    "Homogeneity",
    homogeneityText(figures),
    `other readings: sample ${quantity(v.sample)}, without diagonal ${quantity(v.off_diagonal)}, ` +
      `by reader ${quantity(v.by_reader)}, scaled to 100 ${quantity(v.scaled)}`,
  );
  add("Balance", excess(figures.balance), `by reader ${excess(figures.balance_by_reader)}`);
  add("Threads", String(figures.threads_counted), "threads that touched memory here");
  add("Private data", bytes(figures.private_bytes), "bytes written here that no other thread has read");
  if (figures.crd)
    add(
      "CRD median, p90",
      `${bytes(figures.crd.distinct.median_bytes)}, ${bytes(figures.crd.distinct.p90_bytes)}`,
      "reuse distance",
    );
  return list;
}

function drawDetail() {
  hideTip();
  const all = state.selected === "all",
    box = byId("detail");
  const region = all ? data.total : regionById.get(state.selected);
  box.replaceChildren();
  if (!region) return;
  const figures = figuresOf(region, state.inside || all);
  const title = element("h2", {}, all ? `${data.program.name}: whole program` : region.label);
  const about = [
    place(region),
    !all && region.visits ? `entered ${exactly(region.visits)} times` : "",
    !all && region.total ? (state.inside ? "with regions inside" : "own events only, regions inside not counted") : "",
  ]
    .filter(Boolean)
    .join(" · ");
  box.append(crumbs(region), element("div", { class: "title" }, title, element("span", { class: "muted" }, about)));
  const advice = all ? allAdvice() : (region.suggestions || []).map((suggestion) => ({ suggestion }));
  if (advice.length) box.append(adviceSection(advice));
  if (!figures || figures.raw + figures.rar === 0) {
    box.append(
      element(
        "p",
        { class: "empty" },
        region.total && !state.inside
          ? "No communication of its own; tick “count regions inside” for what happens below it."
          : "No thread read here what another thread wrote.",
      ),
    );
    return;
  }
  box.append(facts(figures), controls(figures));
  if (figures.note) box.append(element("p", { class: "muted" }, figures.note + "."));
  const matrices = element("div", { class: "matrices" });
  for (const panel of PANELS) matrices.append(matrixPanel(panel, figures, view));
  box.append(matrices);
  if (figures.cells_carried)
    box.append(
      element(
        "p",
        { class: "muted" },
        "Dots in the third matrix: reuse of data received in another region, shown as RaR / max(RaW, 1).",
      ),
    );
  if (figures.crd && figures.crd.distinct.count > 0) box.append(distanceSection(figures.crd));
  box.append(lineSection(region));
  if (region.objects) box.append(objectSection(region.objects));
}

function controls(figures) {
  const box = element("div", { class: "controls" });
  if (figures.sync.length)
    box.append(
      segments("Show", "part", [
        ["all", "all"],
        ["data", "data"],
        ["sync", "synchronisation"],
      ]),
    );
  box.append(
    segments("Scale", "scale", [
      ["auto", "auto"],
      ["linear", "linear"],
      ["log", "log"],
    ]),
  );
  return box;
}

// Beyond this a reader should know; 738 samples have it.
const UNSURE = 0.05;

function distanceSection(crd) {
  const method = {
    exact: "followed exactly",
    statstack: "estimated from sampled uses",
    "exact-then-statstack": "measured at first, then estimated from sampled uses",
  }[crd.method];
  const section = element("section", { class: "section" }, element("h3", {}, "Reuse distance"));
  const how =
    `${count(crd[view.kind].count)} distances, ${method}` + (crd.rate < 1 ? ` (${percent(crd.rate)} followed)` : "") +
    (crd.rank_error > UNSURE ? `; ranks \u00b1 ${percent(crd.rank_error)}` : "");
  section.append(
    element("p", { class: "muted" }, how),
    element(
      "div",
      { class: "controls" },
      segments("Distance", "kind", [
        ["distinct", "distinct elements"],
        ["index", "index"],
      ]),
    ),
  );
  const two = element("div", { class: "two" });
  const side = element("div", { class: "small" });
  const about =
    "Between two uses of an element lie so many others of the same writer's. More than a cache holds: a miss for " +
    "certain; less than it holds beside the private data of the threads that share it: none, as far as this writer's " +
    "data go. What other writers' the thread reads in between comes on top.";
  side.innerHTML = `<h3>Capacity misses among the reuses</h3><p class="muted">${about}</p>${cutoffTable(crd)}`;
  two.append(histogram(crd, view.kind), side);
  section.append(two);
  return section;
}

const OPEN_BUTTON =
  '<button class="open" type="button" aria-expanded="false" title="source around these lines">▸</button>';

function lineSection(region) {
  const section = element("section", { class: "section lines" }, element("h3", {}, "Lines that talk to each other"));
  if (!region.lines.length) {
    section.append(element("p", { class: "muted" }, "None of its own."));
    return section;
  }
  const most = Math.max(1, ...region.lines.map((line) => line[2]));
  const table = element("table", { class: "small" });
  table.innerHTML =
    "<thead><tr><th></th><th>RaW</th><th>RaR</th>" +
    '<th class="word">written at</th><th class="word">read at</th></tr></thead>';
  const body = table.createTBody();
  region.lines.slice(0, view.lines).forEach((line) => {
    const [writer, reader, raw, rar] = line;
    const row = body.insertRow();
    const known = sourceOf(writer) || sourceOf(reader);
    row.innerHTML =
      cellOf(known ? OPEN_BUTTON : "") +
      cellOf(count(raw), "meter", ` style="--share:${((raw / most) * 100).toFixed(1)}%" title="${exactly(raw)}"`) +
      cellOf(count(rar), "", ` title="${exactly(rar)}"`) +
      [writer, reader]
        .map((at) => `<td class="word"><span class="where">${escapeText(position(at))}</span>${codeLine(at)}</td>`)
        .join("");
    if (known)
      row
        .querySelector(".open")
        .addEventListener("click", (event) => toggleSource(event.currentTarget, row, writer, reader));
  });
  section.append(table);
  const left = region.lines.length - view.lines;
  if (left > 0) {
    const more = element("button", { class: "quiet", type: "button" }, `${left} more`);
    more.addEventListener("click", () => {
      view.lines = Infinity;
      drawDetail();
    });
    section.append(more);
  }
  if (region.lines_left_out)
    section.append(
      element(
        "p",
        { class: "muted" },
        `${region.lines_left_out} further pairs of lines are in report.json and lines.csv.`,
      ),
    );
  return section;
}

const sourceOf = (at) =>
  at && data.sources[at[0]] && data.sources[at[0]][at[1]] !== undefined ? data.sources[at[0]] : null;
const codeLine = (at) => (sourceOf(at) ? `<code>${escapeText(sourceOf(at)[at[1]].trim())}</code>` : "");

function toggleSource(button, row, writer, reader) {
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", !open);
  button.textContent = open ? "▸" : "▾";
  if (open) {
    row.nextElementSibling.remove();
    return;
  }
  const more = element("tr", { class: "more" });
  const both = excerpt("written", writer) + excerpt("read", reader);
  more.innerHTML = `<td colspan="5"><div class="source">${both}</div></td>`;
  row.after(more);
}

function excerpt(verb, at) {
  const source = sourceOf(at);
  if (!source) {
    const missing = '<p class="muted">source not found when this page was made</p>';
    return `<div><h3>${verb} at ${escapeText(position(at))}</h3>${missing}</div>`;
  }
  const lines = [];
  for (let line = at[1] - data.context; line <= at[1] + data.context; line++) {
    if (source[line] === undefined) continue;
    const text = `<i>${String(line).padStart(5)}  </i>${escapeText(source[line])}`;
    lines.push(line === at[1] ? `<b>${text}</b>` : text);
  }
  return `<div><h3>${verb} at ${escapeText(data.files[at[0]])}:${at[1]}</h3><pre>${lines.join("\n")}</pre></div>`;
}
