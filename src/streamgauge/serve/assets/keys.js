// The colour and dash of each learner, the same in tables, charts and the report.
import { make } from "./dom.js";

const COLOURS = 7;
export const DASHES = [[], [9, 4], [2, 3], [10, 3, 2, 3], [16, 4], [5, 2, 1, 2]];

let styles = new Map();
export const getStyle = (name) => {
  if (!styles.has(name)) styles.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return styles.get(name);
};
export const clearStyles = () => { styles = new Map(); };
export const getColour = (index) => getStyle(`--curve-${index % COLOURS}`);

export function makeKey(index) {
  const dash = DASHES[index % DASHES.length].join(" ");
  const line = make("line", { x1: 1, y1: 5, x2: 27, y2: 5, "stroke-dasharray": dash || null });
  return make("svg", { class: `key curve-${index % COLOURS}`, viewBox: "0 0 28 10", "aria-hidden": "true" }, line);
}
