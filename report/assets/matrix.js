// A matrix: cells as an image of one pixel each, everything else as vectors over it.

const PANELS = [
  { title: "Communication (RaW)", about: "first reads of what another thread wrote", value: (p) => p.raw, format: count },
  { title: "Reuse (RaR)", about: "further reads of the same value", value: (p) => p.rar, format: count },
  { title: "Reuse per communication (CRR)", about: "CRR = RaR / RaW", value: (p) => p.crr, format: quantity },
];
const SIDE = 320, TOP = 6, LABEL = 10.5;

function labelsOf(figures) {
  if (figures.labels) return figures.labels;
  const names = figures.threads.map((id) => (threadById.get(id) || {}).name || "");
  const telling = new Set(names).size > 1;
  return figures.threads.map((id, i) => telling && names[i] ? `${id} ${names[i]}` : String(id));
}

const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;

function matrixPanel(panel, figures, view) {
  const { cells, byPlace } = cellsOf(figures);
  const n = figures.size, side = SIDE / n;
  const value = (cell) => panel.value(part(cell, view.part));
  const shown = cells.filter((cell) => value(cell) > 0);
  const scale = scaleOf(shown.map(value), view.scale);
  const labels = labelsOf(figures).map((label) => cut(label, 16));
  const all = side >= 13;
  const step = all ? 1 : [2, 4, 8, 16, 32, 64].find((s) => s * side >= 24) || 64;
  const short = (label) => all ? label : label.split(" ")[0];
  const marks = labels.map((label, i) => [i, short(label)]).filter(([i]) => i % step === 0);
  const longest = Math.max(...marks.map(([, label]) => label.length)) * LABEL * 0.58 + 8;
  const left = longest + 16, flat = longest < side * step;
  const bottom = TOP + SIDE + (flat ? 18 : longest + 4) + 16;
  const width = left + SIDE + 84;
  const out = [`<rect class="ground" x="${left}" y="${TOP}" width="${SIDE}" height="${SIDE}"/>`];
  if (scale) out.push(`<image x="${left}" y="${TOP}" width="${SIDE}" height="${SIDE}" preserveAspectRatio="none" href="${raster(shown, n, (c) => colour(scale.share(value(c))))}"/>`);
  if (n <= 40) {
    let lines = "";
    for (let i = 1; i < n; i++) lines += `M${left + i * side} ${TOP}v${SIDE}M${left} ${TOP + i * side}h${SIDE}`;
    out.push(`<path class="grid" d="${lines}" stroke-width="${side > 16 ? 1 : 0.5}"/>`);
  }
  if (n <= 8) for (const cell of shown) {
    const ink = isLight(colour(scale.share(value(cell)))) ? "#1a1a1e" : "#fff";
    out.push(`<text x="${left + (cell.reader + 0.5) * side}" y="${TOP + (cell.writer + 0.5) * side}" dy=".36em" text-anchor="middle" font-size="${side > 50 ? 12.5 : 11}" style="fill:${ink}">${panel.format(value(cell))}</text>`);
  }
  if (panel === PANELS[2] && n <= 40) for (const cell of shown) if (part(cell, view.part).carriedIn) {
    const r = Math.max(1, Math.min(4, side / 10));
    out.push(`<circle class="dot" r="${r}" cx="${left + (cell.reader + 1) * side - 2 * r}" cy="${TOP + cell.writer * side + 2 * r}"/>`);
  }
  out.push(`<rect class="frame" x="${left - 0.5}" y="${TOP - 0.5}" width="${SIDE + 1}" height="${SIDE + 1}"/>`);
  for (const [i, label] of marks) {
    const at = (i + 0.5) * side;
    out.push(`<text class="faint" font-size="${LABEL}" x="${left - 5}" y="${TOP + at}" dy=".35em" text-anchor="end">${escapeText(label)}</text>`);
    out.push(flat ? `<text class="faint" font-size="${LABEL}" x="${left + at}" y="${TOP + SIDE + 14}" text-anchor="middle">${escapeText(label)}</text>`
      : `<text class="faint" font-size="${LABEL}" transform="translate(${left + at} ${TOP + SIDE + 5}) rotate(-90)" dy=".35em" text-anchor="end">${escapeText(label)}</text>`);
  }
  out.push(`<text class="faint" font-size="${LABEL}" x="${left + SIDE / 2}" y="${bottom - 4}" text-anchor="middle">reading thread</text>`);
  out.push(`<text class="faint" font-size="${LABEL}" transform="translate(8 ${TOP + SIDE / 2}) rotate(-90)" text-anchor="middle">writing thread</text>`);
  out.push(colourBar(panel, scale, left + SIDE + 14));
  out.push(`<g class="cursors"></g><rect class="hit" x="${left}" y="${TOP}" width="${SIDE}" height="${SIDE}"/>`);
  const box = element("div", { class: "panel" });
  const about = panel.about + (scale && scale.log ? " · log scale" : "");
  box.innerHTML = `<h3>${panel.title}</h3><p>${about}</p><svg class="matrix" viewBox="0 0 ${width} ${bottom}" tabindex="0" role="img" aria-label="${panel.title}, ${n} threads">${out.join("")}</svg>`;
  interact(box.querySelector("svg"), { figures, byPlace, n, side, left, full: labelsOf(figures), view });
  return box;
}

// The cells as a data URL; what has no event stays transparent.
function raster(cells, n, paint) {
  const canvas = element("canvas", { width: n, height: n });
  const context = canvas.getContext("2d");
  const image = context.createImageData(n, n);
  for (const cell of cells) image.data.set([...paint(cell), 255], (cell.writer * n + cell.reader) * 4);
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

function colourBar(panel, scale, x) {
  const height = SIDE - 30, steps = 64, out = [];
  if (scale) {
    for (let i = 0; i < steps; i++) {
      out.push(`<rect x="${x}" y="${TOP + height - (i + 1) * height / steps}" width="13" height="${height / steps + 0.5}" fill="${css(colour(i / (steps - 1)))}"/>`);
    }
    for (const tick of scale.ticks) {
      const y = TOP + (1 - scale.share(tick)) * height;
      out.push(`<path class="tick" d="M${x + 13} ${y}h4"/><text font-size="${LABEL}" x="${x + 20}" y="${y}" dy=".35em">${panel.format(tick)}</text>`);
    }
    out.push(`<rect class="frame" x="${x}" y="${TOP}" width="13" height="${height}"/>`);
  }
  const zero = TOP + SIDE - 14;
  out.push(`<rect class="ground" x="${x}" y="${zero}" width="13" height="13"/><rect class="frame" x="${x}" y="${zero}" width="13" height="13"/>`);
  out.push(`<text class="faint" font-size="${LABEL}" x="${x + 20}" y="${zero + 7}" dy=".35em">none</text>`);
  return out.join("");
}

// Pointer and arrow keys: which cell, and what is in it.
function interact(svg, it) {
  const hit = svg.querySelector(".hit"), cursors = svg.querySelector(".cursors");
  let at = null;
  const show = (writer, reader, x, y) => {
    at = [writer, reader];
    const { side, left } = it;
    cursors.innerHTML = `<rect class="cross" x="${left}" y="${TOP + writer * side}" width="${SIDE}" height="${side}"/>` +
      `<rect class="cross" x="${left + reader * side}" y="${TOP}" width="${side}" height="${SIDE}"/>` +
      `<rect class="cursor" x="${left + reader * side}" y="${TOP + writer * side}" width="${side}" height="${side}"/>`;
    showTip(cellTip(it, writer, reader), x, y);
  };
  const hide = () => { cursors.innerHTML = ""; hideTip(); };
  const cellAt = (x, y) => {
    const box = hit.getBoundingClientRect();
    const index = (offset, size) => Math.min(it.n - 1, Math.max(0, Math.floor(offset / size * it.n)));
    return [index(y - box.top, box.height), index(x - box.left, box.width)];
  };
  hit.addEventListener("pointermove", (event) => show(...cellAt(event.clientX, event.clientY), event.clientX, event.clientY));
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
    show(...next, box.left + (next[1] + 1) * box.width / it.n, box.top + (next[0] + 1) * box.height / it.n);
  });
}

function cellTip({ figures, byPlace, n, full, view }, writer, reader) {
  const cell = byPlace.get(writer * n + reader);
  const head = `<b>${escapeText(full[writer])}</b> wrote, <b>${escapeText(full[reader])}</b> read`;
  if (!cell) return `${head}<br>no communication`;
  const p = part(cell, view.part), all = Math.max(figures.raw, 1);
  const row = (name, text) => `<tr><td>${name}</td><td>${text}</td></tr>`;
  return `${head}<table>${row("RaW", exactly(p.raw))}${row("RaR", exactly(p.rar))}` +
    row("CRR", quantity(p.crr) + (p.carriedIn ? " (received elsewhere)" : "")) +
    row("share of RaW", percent(p.raw / all)) +
    (figures.sync.length ? row("synchronisation", `${exactly(cell.syncRaw)} RaW, ${exactly(cell.syncRar)} RaR`) : "") + "</table>";
}
