// SVG as text: one element, or a line of words.

function shape(name, attributes, content = "") {
  const written = Object.entries(attributes).filter(([, value]) => value != null);
  return `<${name} ${written.map(([key, value]) => `${key}="${escapeText(value)}"`).join(" ")}>${content}</${name}>`;
}

// `up`: read from bottom to top. The middle of the line's height is at y.
function words(text, x, y, { anchor, size = 11, name = "faint", up = false, style } = {}) {
  const place = up ? { transform: `translate(${x} ${y}) rotate(-90)` } : { x, y };
  const look = { class: name, "font-size": size, "text-anchor": anchor, dy: ".35em", style };
  return shape("text", { ...place, ...look }, escapeText(text));
}

const rectangle = (name, x, y, width, height, more = {}) =>
  shape("rect", { class: name, x, y, width, height, ...more });
const stroke = (name, d, more = {}) => shape("path", { class: name, d, ...more });
