// Elements are built from text and attributes only, so that no name given by a user is parsed as markup.
const SVG = "http://www.w3.org/2000/svg";
const SVG_NAMES = new Set(["svg", "line", "circle", "rect", "path", "text"]);

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

const RETRY = 100; // milliseconds
const pending = new Map();

// Replaces the children of a node, but only those that have changed, so that focus and screen readers are not disturbed.
// While something in it is pressed it waits: a button that is replaced between press and release is never clicked.
export function show(parent, ...children) {
  pending.delete(parent);
  if (parent.matches(":active")) {
    pending.set(parent, children);
    setTimeout(() => { if (pending.get(parent) === children) show(parent, ...children); }, RETRY);
    return;
  }
  const next = [...make(parent.localName === "ul" ? "ul" : "div", {}, ...children).childNodes];
  const focused = parent.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const current = [...parent.childNodes];
  if (current.length !== next.length) parent.replaceChildren(...next);
  else next.forEach((node, i) => { if (!node.isEqualNode(current[i])) current[i].replaceWith(node); });
  if (focused !== undefined && !parent.contains(document.activeElement)) {
    [...parent.querySelectorAll("[data-key]")].find((node) => node.dataset.key === focused)?.focus();
  }
}

export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
