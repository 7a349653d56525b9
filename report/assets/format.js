// Numbers for people, as in the text report, and safe text.

const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

function scaled(value, base, units) {
  let unit = 0;
  while (Math.abs(value) >= base - 0.5 && unit + 1 < units.length) {
    value /= base;
    unit++;
  }
  const size = Math.abs(value);
  const digits = size >= 99.95 || (unit === 0 && Number.isInteger(value)) ? 0 : size >= 9.995 ? 1 : 2;
  return trimmed(value.toFixed(digits)) + units[unit];
}

const METRIC = ["", "k", "M", "G", "T", "P", "E"];
const count = (value) => scaled(Math.round(value), 1000, METRIC);
const bytes = (value) =>
  value == null ? "–" : scaled(value, 1024, [" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"]);
const exactly = (value) => Math.round(value).toLocaleString("en").replace(/,/g, "\u202f");

function quantity(value) {
  value += 0; // variances of equal values come out as -0
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
  if (Math.abs(value) < 10) return trimmed(value.toFixed(Math.abs(value) < 1 ? 3 : 2));
  return scaled(value, 1000, METRIC);
}

function percent(share) {
  const value = share * 100;
  if (value <= 1e-7) return "0 %";
  if (value < 0.01) return "<0.01 %";
  if (value < 10) return trimmed(value.toFixed(2)) + " %";
  if (value < 100) return trimmed(Math.min(value, 99.9).toFixed(1)) + " %";
  return "100 %";
}

// How far something is above the mean, in percent.
function excess(value) {
  if (value <= 1e-6) return "0 %";
  return value < 0.01 ? "<0.01 %" : quantity(value) + " %";
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escapeText = (text) => String(text).replace(/[&<>"']/g, (c) => ENTITIES[c]);
const base = (path) => path.slice(path.lastIndexOf("/") + 1);
const byId = (id) => document.getElementById(id);

// A cell of a table, from text that is markup already.
const cellOf = (html, name, more = "") => `<td${name ? ` class="${name}"` : ""}${more}>${html}</td>`;

// An element of HTML with text or children; attributes by name.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value != null && value !== false) made.setAttribute(key, value);
  made.append(...children.filter((child) => child != null));
  return made;
}
