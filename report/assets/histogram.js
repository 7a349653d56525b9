// Reuse distances by octave against the caches. The same picture as in the SVG files.

const PLOT = { left: 60, top: 70, width: 760, height: 220 };

function histogram(crd, kind) {
  const d = crd[kind], granule = data.options.granule;
  const last = d.buckets.length ? d.buckets[d.buckets.length - 1] : [0, 2, 0];
  const furthest = Math.max(16, last[1] - 1, ...crd.cutoffs.map((c) => c.max_bytes / granule));
  const slots = Math.floor(Math.log2(furthest)) + 2;
  const { left, top, width, height } = PLOT, bottom = top + height;
  const x = (distance) => left + (distance < 1 ? Math.max(0, distance) : 1 + Math.log2(distance)) / slots * width;
  const shares = new Array(slots).fill(0);
  for (const [lo, , n] of d.buckets) shares[Math.min(slots - 1, lo === 0 ? 0 : Math.floor(Math.log2(lo)) + 1)] += n / d.count;
  const peak = Math.max(...shares);
  const full = [0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8, 1].find((f) => f >= peak) || 1;
  const out = [], text = (x, y, s, more = "") => out.push(`<text font-size="11" x="${x}" y="${y}" ${more}>${s}</text>`);
  const faint = 'class="faint"';
  crd.cutoffs.forEach((c, row) => {
    const min = x(c.min_bytes / granule), max = x(c.max_bytes / granule), y = top - 10 - row * 16;
    const name = `L${c.level} ` + (c.min_bytes === c.max_bytes ? "" : `${bytes(c.min_bytes)} … `) + bytes(c.max_bytes);
    out.push(`<g class="level${Math.min(c.level, 4)}"><rect class="band" x="${min}" y="${top}" width="${max - min}" height="${height}"/>` +
      `<path class="cut" d="M${max} ${y - 6}V${bottom}"/>` + (min < max ? `<path class="cut min" d="M${min} ${top}V${bottom}"/>` : "") +
      `<text class="level" font-size="11" ${max > left + 150 ? `x="${max - 5}" text-anchor="end"` : `x="${max + 5}"`} y="${y}" dy=".2em">${name}</text></g>`);
  });
  for (let q = 0; q <= 4; q++) {
    const y = bottom - q * height / 4;
    out.push(`<path class="tick" d="M${left} ${y}h${width}" opacity=".5"/>`);
    text(left - 6, y, `${quantity(full * 25 * q)} %`, `${faint} dy=".35em" text-anchor="end"`);
    text(left + width + 6, y, `${q * 25} %`, `${faint} dy=".35em"`);
  }
  shares.forEach((share, slot) => {
    if (share <= 0) return;
    const from = slot === 0 ? 0 : 2 ** (slot - 1), to = 2 ** slot, h = Math.max(1, share / full * height);
    const range = slot === 0 ? "at once" : `${bytes(from * granule)} to ${bytes(to * granule)} (${exactly(from)} to ${exactly(to - 1)} elements)`;
    out.push(`<rect class="bars" data-tip="<b>${percent(share)}</b> of distances<br>${range}" x="${x(from) + 1.5}" y="${bottom - h}" width="${x(to) - x(from) - 2.5}" height="${h}"/>`);
  });
  let sum = 0, path = `M${left} ${bottom}`;
  for (const [lo, hi, n] of d.buckets) {
    path += `L${x(lo).toFixed(1)} ${(bottom - sum / d.count * height).toFixed(1)}`;
    sum += n;
    path += `L${x(hi).toFixed(1)} ${(bottom - sum / d.count * height).toFixed(1)}`;
  }
  out.push(`<path class="sum" d="${path}L${left + width} ${top}"/><path class="axis" d="M${left} ${bottom}h${width}"/>`);
  if (d.median != null) {
    const m = d.median < 1 ? (x(0) + x(1)) / 2 : x(d.median);
    out.push(`<path class="median" d="M${m} ${top}V${bottom}"/><path class="median-mark" d="M${m - 5} ${bottom + 1}h10l-5 -8z"/>`);
    text(m < left + width - 120 ? m + 6 : m - 6, top + 12, `median ${bytes(d.median_bytes)}`, `class="median" text-anchor="${m < left + width - 120 ? "start" : "end"}"`);
  }
  text((x(0) + x(1)) / 2, bottom + 16, "0", `${faint} text-anchor="middle"`);
  const step = Math.ceil(slots / 13);
  for (let octave = step; octave < slots - 1; octave += step) {
    const at = x(2 ** octave);
    out.push(`<path class="tick" d="M${at} ${bottom}v5"/>`);
    text(at, bottom + 16, bytes(2 ** octave * granule), `${faint} text-anchor="middle"`);
    text(at, bottom + 30, scaled(2 ** octave, 1024, ["", "Ki", "Mi", "Gi", "Ti", "Pi"]), `${faint} text-anchor="middle" style="font-size:9.5px"`);
  }
  const what = kind === "distinct" ? "different data used between two uses of an element" : "uses of any data between two uses of an element";
  text(left + width / 2, bottom + 50, `${what}: bytes (small: elements)`, `${faint} text-anchor="middle"`);
  out.push(`<text class="faint" font-size="11" transform="translate(10 ${top + height / 2}) rotate(-90)" text-anchor="middle">share of distances</text>`);
  out.push(`<text class="faint" font-size="11" transform="translate(${left + width + 52} ${top + height / 2}) rotate(-90)" text-anchor="middle">cumulative</text>`);
  const box = element("div", { class: "distance" });
  box.innerHTML = `<svg viewBox="0 0 ${left + width + 60} ${bottom + 58}" role="img" aria-label="Histogram of reuse distances">${out.join("")}</svg>`;
  box.addEventListener("pointermove", (event) => {
    const tip = event.target.dataset && event.target.dataset.tip;
    if (tip) showTip(tip, event.clientX, event.clientY); else hideTip();
  });
  box.addEventListener("pointerleave", hideTip);
  return box;
}

function cutoffTable(crd) {
  const rows = crd.cutoffs.map((c) => `<tr class="level${Math.min(c.level, 4)}"><td class="level">L${c.level}</td><td>${percent(c.no_miss)}</td>` +
    `<td>${percent(c.probable_miss)}</td><td>${percent(c.definite_miss)}</td></tr>`);
  return `<table class="small"><thead><tr><th class="word">cache</th><th>no miss</th><th>possible</th><th>certain</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}
