// A matrix: cells as an image of one pixel each, everything else as vectors over it.

const PANELS = [
  {
    title: "Communication (RaW)",
    about: "first reads of what another thread wrote",
    value: (p) => p.raw,
    format: count,
  },
  { title: "Reuse (RaR)", about: "further reads of the same value", value: (p) => p.rar, format: count },
  { title: "Reuse per communication (CRR)", about: "CRR = RaR / RaW", value: (p) => p.crr, format: quantity },
];
const SIDE = 320,
  TOP = 6,
  LABEL = 10.5;

function labelsOf(figures) {
  if (figures.labels) return figures.labels;
  const names = figures.threads.map((id) => (threadById.get(id) || {}).name || "");
  const telling = new Set(names).size > 1;
  return figures.threads.map((id, i) => (telling && names[i] ? `${id} ${names[i]}` : String(id)));
}

const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

// Where things are: cells of `side` from (left, TOP), labels around them.
function layout(labels) {
  const n = labels.length;
  const side = SIDE / n;
  const all = side >= 13;
  const step = all ? 1 : [2, 4, 8, 16, 32, 64].find((s) => s * side >= 24) || 64;
  // A name at every so manieth row says nothing about those between: numbers do.
  const short = (label) => (all ? label : label.split(" ")[0]);
  const marks = labels.map((label, i) => [i, short(label)]).filter(([i]) => i % step === 0);
  const longest = Math.max(...marks.map(([, label]) => label.length)) * LABEL * 0.58 + 8;
  const flat = longest < side * step;
  const left = longest + 16;
  return { n, side, marks, flat, left, bottom: TOP + SIDE + (flat ? 18 : longest + 4) + 16, width: left + SIDE + 84 };
}

function matrixPanel(panel, figures, view) {
  const { cells, byPlace } = cellsOf(figures);
  const place = layout(labelsOf(figures).map((label) => cut(label, 20)));
  const { n, side, left } = place;
  const value = (cell) => panel.value(part(cell, view.part));
  const shown = cells.filter((cell) => value(cell) > 0);
  const scale = scaleOf(shown.map(value), view.scale);
  const out = [rectangle("ground", left, TOP, SIDE, SIDE)];
  if (scale)
    out.push(
      image(
        left,
        raster(shown, n, (cell) => colour(scale.share(value(cell)))),
      ),
    );
  if (n <= 40) out.push(gridLines(place));
  if (n <= 8)
    out.push(...shown.map((cell) => number(place, cell, panel.format(value(cell)), colour(scale.share(value(cell))))));
  if (panel === PANELS[2] && n <= 40) {
    out.push(...shown.filter((cell) => part(cell, view.part).carriedIn).map((cell) => dot(place, cell)));
  }
  out.push(rectangle("frame", left - 0.5, TOP - 0.5, SIDE + 1, SIDE + 1), ...axisLabels(place));
  out.push(
    colourBar(panel, scale, left + SIDE + 14),
    `<g class="cursors"></g>`,
    rectangle("hit", left, TOP, SIDE, SIDE),
  );
  const box = element("div", { class: "panel" });
  const about = panel.about + (scale && scale.log ? " · log scale" : "");
  const view_box = { viewBox: `0 0 ${place.width} ${place.bottom}`, tabindex: 0, role: "img" };
  const svg = shape(
    "svg",
    { class: "matrix", ...view_box, "aria-label": `${panel.title}, ${n} threads` },
    out.join(""),
  );
  box.innerHTML = `<h3>${panel.title}</h3><p>${about}</p>${svg}`;
  interact(box.querySelector("svg"), { figures, byPlace, n, side, left, full: labelsOf(figures), view });
  return box;
}

const image = (left, href) =>
  shape("image", { x: left, y: TOP, width: SIDE, height: SIDE, preserveAspectRatio: "none", href });

// The cells as a data URL; what has no event stays transparent.
function raster(cells, n, paint) {
  const canvas = element("canvas", { width: n, height: n });
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(n, n);
  for (const cell of cells) pixels.data.set([...paint(cell), 255], (cell.writer * n + cell.reader) * 4);
  context.putImageData(pixels, 0, 0);
  return canvas.toDataURL();
}

function gridLines({ n, side, left }) {
  let lines = "";
  for (let i = 1; i < n; i++) lines += `M${left + i * side} ${TOP}v${SIDE}M${left} ${TOP + i * side}h${SIDE}`;
  return stroke("grid", lines, { "stroke-width": side > 16 ? 1 : 0.5 });
}

function number({ side, left }, cell, text, ground) {
  const x = left + (cell.reader + 0.5) * side;
  const style = `fill:${isLight(ground) ? "#1a1a1e" : "#fff"}`;
  return words(text, x, TOP + (cell.writer + 0.5) * side, {
    anchor: "middle",
    size: side > 50 ? 12.5 : 11,
    name: null,
    style,
  });
}

// Reuse of what was received in another region: there is no communication under the ratio.
function dot({ side, left }, cell) {
  const r = Math.max(1, Math.min(4, side / 10));
  return shape("circle", {
    class: "dot",
    r,
    cx: left + (cell.reader + 1) * side - 2 * r,
    cy: TOP + cell.writer * side + 2 * r,
  });
}

function axisLabels({ side, marks, flat, left, bottom }) {
  const rows = marks.map(([i, label]) =>
    words(label, left - 5, TOP + (i + 0.5) * side, { anchor: "end", size: LABEL }),
  );
  const columns = marks.map(([i, label]) => {
    const x = left + (i + 0.5) * side;
    return flat
      ? words(label, x, TOP + SIDE + 11, { anchor: "middle", size: LABEL })
      : words(label, x, TOP + SIDE + 5, { anchor: "end", size: LABEL, up: true });
  });
  return [
    ...rows,
    ...columns,
    words("reading thread", left + SIDE / 2, bottom - 7, { anchor: "middle", size: LABEL }),
    words("writing thread", 5, TOP + SIDE / 2, { anchor: "middle", size: LABEL, up: true }),
  ];
}

function colourBar(panel, scale, x) {
  const height = SIDE - 30;
  const steps = 64;
  const out = [];
  if (scale) {
    for (let i = 0; i < steps; i++) {
      const y = TOP + height - ((i + 1) * height) / steps;
      out.push(rectangle(null, x, y, 13, height / steps + 0.5, { fill: css(colour(i / (steps - 1))) }));
    }
    for (const tick of scale.ticks) {
      const y = TOP + (1 - scale.share(tick)) * height;
      out.push(stroke("tick", `M${x + 13} ${y}h4`), words(panel.format(tick), x + 20, y, { size: LABEL, name: null }));
    }
    out.push(rectangle("frame", x, TOP, 13, height));
  }
  const zero = TOP + SIDE - 14;
  out.push(rectangle("ground", x, zero, 13, 13), rectangle("frame", x, zero, 13, 13));
  out.push(words("none", x + 20, zero + 7, { size: LABEL }));
  return out.join("");
}

// Pointer and arrow keys: which cell, and what is in it.
function interact(svg, it) {
  const hit = svg.querySelector(".hit"),
    cursors = svg.querySelector(".cursors");
  let at = null;
  const show = (writer, reader, tipX, tipY) => {
    at = [writer, reader];
    const { side, left } = it;
    const x = left + reader * side;
    const y = TOP + writer * side;
    cursors.innerHTML =
      rectangle("cross", left, y, SIDE, side) +
      rectangle("cross", x, TOP, side, SIDE) +
      rectangle("cursor", x, y, side, side);
    showTip(cellTip(it, writer, reader), tipX, tipY);
  };
  const hide = () => {
    cursors.innerHTML = "";
    hideTip();
  };
  const cellAt = (x, y) => {
    const box = hit.getBoundingClientRect();
    const index = (offset, size) => Math.min(it.n - 1, Math.max(0, Math.floor((offset / size) * it.n)));
    return [index(y - box.top, box.height), index(x - box.left, box.width)];
  };
  hit.addEventListener("pointermove", (event) =>
    show(...cellAt(event.clientX, event.clientY), event.clientX, event.clientY),
  );
  hit.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Escape") return hide();
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    const next = at ? at.map((v, i) => Math.min(it.n - 1, Math.max(0, v + move[i]))) : [0, 0];
    const box = hit.getBoundingClientRect();
    show(...next, box.left + ((next[1] + 1) * box.width) / it.n, box.top + ((next[0] + 1) * box.height) / it.n);
  });
}

function cellTip({ figures, byPlace, n, full, view }, writer, reader) {
  const cell = byPlace.get(writer * n + reader);
  const head = `<b>${escapeText(full[writer])}</b> wrote, <b>${escapeText(full[reader])}</b> read`;
  if (!cell) return `${head}<br>no communication`;
  const p = part(cell, view.part),
    all = Math.max(figures.raw, 1);
  const row = (name, text) => `<tr><td>${name}</td><td>${text}</td></tr>`;
  return (
    `${head}<table>${row("RaW", exactly(p.raw))}${row("RaR", exactly(p.rar))}` +
    row("CRR", quantity(p.crr) + (p.carriedIn ? " (received elsewhere)" : "")) +
    row("share of RaW", percent(p.raw / all)) +
    (figures.sync.length ? row("synchronisation", `${exactly(cell.syncRaw)} RaW, ${exactly(cell.syncRar)} RaR`) : "") +
    "</table>"
  );
}
