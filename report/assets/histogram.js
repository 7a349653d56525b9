// Reuse distances by octave against the caches. The same picture as in the SVG files.

const PLOT = { left: 60, top: 70, width: 760, height: 220 };
const PLOT_RIGHT = PLOT.left + PLOT.width;
const PLOT_BOTTOM = PLOT.top + PLOT.height;

// Pixels for distances in elements; distance 0 has a place of its own at the left.
function distanceAxis(crd, buckets) {
  const furthest = Math.max(
    16,
    ...buckets.slice(-1).map(([, hi]) => hi - 1),
    ...crd.cutoffs.map((c) => elementsOf(c.max_bytes)),
  );
  const slots = Math.floor(Math.log2(furthest)) + 2;
  const position = (distance) => (distance < 1 ? Math.max(0, distance) : 1 + Math.log2(distance));
  return { slots, x: (distance) => PLOT.left + (position(distance) / slots) * PLOT.width };
}

const elementsOf = (size) => size / data.options.granule;

function histogram(crd, kind) {
  const distances = crd[kind];
  const axis = distanceAxis(crd, distances.buckets);
  const out = [
    ...crd.cutoffs.flatMap((cutoff, row) => cutoffMark(axis, cutoff, row)),
    ...shareBars(axis, distances),
    stroke("sum", cumulative(axis, distances)),
    stroke("axis", `M${PLOT.left} ${PLOT_BOTTOM}h${PLOT.width}`),
    ...medianMark(axis, distances),
    ...distanceLabels(axis, kind),
  ];
  const box = element("div", { class: "distance" });
  const viewBox = `0 0 ${PLOT_RIGHT + 60} ${PLOT_BOTTOM + 58}`;
  box.innerHTML = shape("svg", { viewBox, role: "img", "aria-label": "Histogram of reuse distances" }, out.join(""));
  box.addEventListener("pointermove", (event) => {
    const tip = event.target.dataset && event.target.dataset.tip;
    if (tip) showTip(tip, event.clientX, event.clientY);
    else hideTip();
  });
  box.addEventListener("pointerleave", hideTip);
  return box;
}

// The band in which a miss is possible, and the line beyond which it is certain.
function cutoffMark(axis, cutoff, row) {
  const min = axis.x(elementsOf(cutoff.min_bytes));
  const max = axis.x(elementsOf(cutoff.max_bytes));
  const y = PLOT.top - 10 - row * 16;
  const from = cutoff.min_bytes === cutoff.max_bytes ? "" : `${bytes(cutoff.min_bytes)} … `;
  const text = `L${cutoff.level} ${from}${bytes(cutoff.max_bytes)}`;
  const fits = max > PLOT.left + 150;
  const marks = [
    rectangle("band", min, PLOT.top, max - min, PLOT.height),
    stroke("cut", `M${max} ${y - 6}V${PLOT_BOTTOM}`),
    min < max ? stroke("cut min", `M${min} ${PLOT.top}V${PLOT_BOTTOM}`) : "",
    words(text, fits ? max - 5 : max + 5, y, { anchor: fits ? "end" : "start", name: "level" }),
  ];
  return shape("g", { class: `level${Math.min(cutoff.level, 4)}` }, marks.join(""));
}

// One bar an octave: index 0 is distance 0, index i is 2^(i-1) up to 2^i.
function shareBars({ slots, x }, distances) {
  const shares = new Array(slots).fill(0);
  for (const [lo, , n] of distances.buckets) {
    const slot = lo === 0 ? 0 : Math.floor(Math.log2(lo)) + 1;
    shares[Math.min(slots - 1, slot)] += n / distances.count;
  }
  const peak = Math.max(...shares);
  const full = [0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8, 1].find((f) => f >= peak) || 1;
  const out = [];
  for (let quarter = 0; quarter <= 4; quarter++) {
    const y = PLOT_BOTTOM - (quarter * PLOT.height) / 4;
    out.push(stroke("tick", `M${PLOT.left} ${y}h${PLOT.width}`, { opacity: 0.5 }));
    out.push(words(`${quantity(full * 25 * quarter)} %`, PLOT.left - 6, y, { anchor: "end" }));
    out.push(words(`${quarter * 25} %`, PLOT_RIGHT + 6, y));
  }
  shares.forEach((share, slot) => {
    if (share <= 0) return;
    const from = slot === 0 ? 0 : 2 ** (slot - 1);
    const to = 2 ** slot;
    const height = Math.max(1, (share / full) * PLOT.height);
    const tip = `<b>${escapeText(percent(share))}</b> of distances<br>${range(from, to)}`;
    out.push(
      rectangle("bars", x(from) + 1.5, PLOT_BOTTOM - height, x(to) - x(from) - 2.5, height, { "data-tip": tip }),
    );
  });
  return out;
}

function range(from, to) {
  if (from === 0) return "at once";
  const size = (elements) => bytes(elements * data.options.granule);
  return `${size(from)} to ${size(to)} (${exactly(from)} to ${exactly(to - 1)} elements)`;
}

function cumulative({ x }, distances) {
  const y = (sum) => (PLOT_BOTTOM - (sum / distances.count) * PLOT.height).toFixed(1);
  let sum = 0;
  let path = `M${PLOT.left} ${PLOT_BOTTOM}`;
  for (const [lo, hi, n] of distances.buckets) {
    path += `L${x(lo).toFixed(1)} ${y(sum)}`;
    sum += n;
    path += `L${x(hi).toFixed(1)} ${y(sum)}`;
  }
  return `${path}L${PLOT_RIGHT} ${PLOT.top}`;
}

function medianMark({ x }, { median, median_bytes: size }) {
  if (median == null) return [];
  const at = median < 1 ? (x(0) + x(1)) / 2 : x(median);
  const fits = at < PLOT_RIGHT - 120;
  return [
    stroke("median", `M${at} ${PLOT.top}V${PLOT_BOTTOM}`),
    stroke("median-mark", `M${at - 5} ${PLOT_BOTTOM + 1}h10l-5 -8z`),
    words(`median ${bytes(size)}`, fits ? at + 6 : at - 6, PLOT.top + 9, {
      anchor: fits ? "start" : "end",
      name: "median",
    }),
  ];
}

function distanceLabels({ slots, x }, kind) {
  const out = [words("0", (x(0) + x(1)) / 2, PLOT_BOTTOM + 13, { anchor: "middle" })];
  const step = Math.ceil(slots / 13);
  for (let octave = step; octave < slots - 1; octave += step) {
    const at = x(2 ** octave);
    const elements = scaled(2 ** octave, 1024, ["", "Ki", "Mi", "Gi", "Ti", "Pi"]);
    out.push(stroke("tick", `M${at} ${PLOT_BOTTOM}v5`));
    out.push(words(bytes(2 ** octave * data.options.granule), at, PLOT_BOTTOM + 13, { anchor: "middle" }));
    out.push(words(elements, at, PLOT_BOTTOM + 28, { anchor: "middle", size: 9.5 }));
  }
  const what = kind === "distinct" ? "different data used" : "uses of any data";
  const about = `${what} between two uses of an element: bytes (small: elements)`;
  const middle = PLOT.top + PLOT.height / 2;
  out.push(words(about, PLOT.left + PLOT.width / 2, PLOT_BOTTOM + 47, { anchor: "middle" }));
  out.push(words("share of distances", 8, middle, { anchor: "middle", up: true }));
  out.push(words("cumulative", PLOT_RIGHT + 50, middle, { anchor: "middle", up: true }));
  return out;
}

function cutoffTable(crd) {
  const row = (c) => {
    const shares = [c.no_miss, c.probable_miss, c.definite_miss].map(
      (share) => `<td>${escapeText(percent(share))}</td>`,
    );
    return `<tr class="level${Math.min(c.level, 4)}"><td class="level">L${c.level}</td>${shares.join("")}</tr>`;
  };
  const head = `<tr><th class="word">cache</th><th>no miss</th><th>possible</th><th>certain</th></tr>`;
  return `<table class="small"><thead>${head}</thead><tbody>${crd.cutoffs.map(row).join("")}</tbody></table>`;
}
