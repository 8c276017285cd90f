// Elements are made of texts and attributes only: nothing that a user named is ever read as markup.
const SVG = "http://www.w3.org/2000/svg";
const SVG_NAMES = new Set(["svg", "line", "circle", "rect", "path"]);

export function make(name, attributes = {}, ...children) {
  const node = SVG_NAMES.has(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const byId = (id) => document.getElementById(id);

const HELD_BACK = 100; // milliseconds
const heldBack = new Map();

// Replaces what is in a place, but only the parts that have changed, so that focus and screen readers are left alone.
// While something in it is pressed it waits: a button that is replaced between press and release is never clicked.
export function show(place, ...children) {
  heldBack.delete(place);
  if (place.matches(":active")) {
    heldBack.set(place, children);
    setTimeout(() => { if (heldBack.get(place) === children) show(place, ...children); }, HELD_BACK);
    return;
  }
  const fresh = [...make(place.localName === "ul" ? "ul" : "div", {}, ...children).childNodes];
  const focused = place.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const kept = [...place.childNodes];
  if (kept.length !== fresh.length) place.replaceChildren(...fresh);
  else fresh.forEach((node, i) => { if (!node.isEqualNode(kept[i])) kept[i].replaceWith(node); });
  if (focused !== undefined && !place.contains(document.activeElement)) {
    [...place.querySelectorAll("[data-key]")].find((node) => node.dataset.key === focused)?.focus();
  }
}

export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
