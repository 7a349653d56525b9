// From values to colours, and the numbers beside a colour bar.

const LOG_RATIO = 1000;

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// More is further from the ground: darker on light pages, lighter on dark ones.
function colour(share) {
  const stops = data.viridis;
  const position = (isDark() ? 0.06 + 0.94 * share : 1 - share) * (stops.length - 1);
  const below = Math.min(Math.floor(position), stops.length - 2);
  return stops[below].map((c, i) => Math.round(c + (stops[below + 1][i] - c) * (position - below)));
}
const css = (rgb) => `rgb(${rgb.join(",")})`;
const isLight = ([r, g, b]) => 0.299 * r + 0.587 * g + 0.114 * b > 140;

// mode: "auto", "linear" or "log".
function scaleOf(values, mode) {
  let min = Infinity,
    max = 0;
  for (const value of values)
    if (value > 0) {
      min = Math.min(min, value);
      max = Math.max(max, value);
    }
  if (!(max > 0)) return null;
  const log = max > min && (mode === "log" || (mode === "auto" && max / min > LOG_RATIO));
  const share = log ? (v) => Math.log(v / min) / Math.log(max / min) : (v) => v / max;
  return { log, share: (v) => Math.min(1, Math.max(0, share(v))), ticks: log ? logTicks(min, max) : linearTicks(max) };
}

function linearTicks(max) {
  const raw = max / 5,
    magnitude = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * magnitude).find((s) => s >= raw) || raw;
  const ticks = [];
  for (let tick = step; tick <= max - step * 0.5; tick += step) ticks.push(tick);
  return [...ticks, max];
}

function logTicks(min, max) {
  const first = Math.floor(Math.log10(min)),
    last = Math.ceil(Math.log10(max));
  const step = Math.max(1, Math.floor((last - first) / 6)),
    gap = 10 ** (0.34 * step);
  const ticks = [min];
  for (let power = first; power <= last; power += step) {
    const tick = 10 ** power;
    if (tick > min * gap && tick < max / gap) ticks.push(tick);
  }
  return [...ticks, max];
}
