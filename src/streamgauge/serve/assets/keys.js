// What tells learners apart: a colour and a dash each, the same in tables and charts, and the same as in the report.
import { make } from "./dom.js";

const COLOURS = 7;
export const DASHES = [[], [9, 4], [2, 3], [10, 3, 2, 3], [16, 4], [5, 2, 1, 2]];

let kept = new Map();
export const styled = (name) => {
  if (!kept.has(name)) kept.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return kept.get(name);
};
export const forgetColours = () => { kept = new Map(); };
export const colourOf = (place) => styled(`--curve-${place % COLOURS}`);

export function key(place) {
  const dash = DASHES[place % DASHES.length].join(" ");
  const line = make("line", { x1: 1, y1: 5, x2: 27, y2: 5, "stroke-dasharray": dash || null });
  return make("svg", { class: `key curve-${place % COLOURS}`, viewBox: "0 0 28 10", "aria-hidden": "true" }, line);
}
