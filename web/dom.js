// Making elements.  Text only ever becomes a text node: nothing that a capture holds can become markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "text") node.textContent = value;
    else if (key === "on") Object.entries(value).forEach(([type, call]) => node.addEventListener(type, call));
    else if (key === "style")
      Object.assign(node.style, value); // not the attribute, which the page's policy refuses
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** An element: props are attributes, and text, on: {type: function}, style: {property: value}. */
export function el(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

export function byId(id) {
  return document.getElementById(id);
}

/** Text in which `names` stand in a font of their own, and numbers on one line with their units. */
export function quoted(text) {
  const whole = (part) => part.replace(/(\d) (?=%|[munp]?s\b)/g, "$1\u00a0");
  return text.split("`").map((part, k) => (k % 2 ? el("code", { text: part }) : whole(part)));
}

/** The colour of a cause or kind, as a small square. */
export function swatch(key) {
  return el("span", { class: `swatch k-${key}`, "aria-hidden": "true" });
}
