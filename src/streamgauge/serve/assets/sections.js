// Sections of the report, as the server describes them: the answer, tables, sentences, and claims with their estimates.
import { make } from "./dom.js";
import * as format from "./format.js";

const FEW = 10;
const SPAN = 200; // the width of a drawing

export const makeTerms = (terms) => (terms ?? []).length > 0 && make("p", { class: "note terms" }, terms.join(" "));

// Draws an interval and the estimate in it around a middle; what is up to the margin away from that is shaded.
export function drawInterval(outcome, interval, estimate, middle, margin) {
  const ends = [...(interval ?? []), estimate ?? middle].map((end) => Math.abs(end - middle));
  const limit = Math.max(1e-9, 1.5 * margin, ...ends);
  const toX = (value) => SPAN / 2 + (0.48 * SPAN * Math.max(-limit, Math.min(limit, value - middle))) / limit;
  const left = toX(middle - margin);
  return make("svg", { class: `interval ${outcome}`, viewBox: `0 0 ${SPAN} 24`, "aria-hidden": "true" },
    margin ? make("rect", { class: "rope", x: left, y: 2, width: toX(middle + margin) - left, height: 20 }) : null,
    make("line", { class: "zero", x1: SPAN / 2, x2: SPAN / 2, y1: 1, y2: 23 }),
    interval ? make("line", { class: "reach", x1: toX(interval[0]), x2: toX(interval[1]), y1: 12, y2: 12 }) : null,
    estimate === null ? null : make("circle", { cx: toX(estimate), cy: 12, r: 5 }));
}

export function makeEstimate(drawing, text, further) {
  return [make("td", { class: "drawing" }, drawing), make("td", { class: "text estimate" }, text, further && make("small", { class: "left" }, further))];
}

// The table of some verdicts or claims: all of them, or the first few with a button for the rest.
export function makeVerdictTable(key, titles, rows, noun, all, onAll) {
  const isAll = all.has(key);
  const more = rows.length > FEW && make("button", { type: "button", "data-key": `all ${key}`, "aria-expanded": String(isAll), onclick: () => onAll(key) },
    isAll ? "Show fewer" : `Show all ${format.plural(rows.length, noun)}`);
  const head = make("tr", {}, titles.map(([title, span]) => make("th", { scope: "col", class: "text", colspan: span }, title)));
  return [make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "table of verdicts" },
    make("table", { class: "verdicts" }, make("thead", {}, head), make("tbody", {}, isAll ? rows : rows.slice(0, FEW)))), more];
}

function makeCell(cell, column, row, id, onRun) {
  const text = cell.text + (cell.worse ? " †" : cell.equal ? " °" : "");
  const name = `${column} on ${row}`;
  return make("td", { class: cell.best ? "best" : null, "data-label": column },
    id ? make("button", { type: "button", class: "link", "data-key": `cell ${name}`, "aria-label": `${text}: ${name}, open its run`, onclick: () => onRun(id) }, text) : text);
}

function makeGrid(grid, links = {}, onRun = null) {
  const head = make("tr", {}, grid.columns.map((title) => make("th", { scope: "col" }, title)));
  const rows = grid.rows.map(([name, cells]) => make("tr", {}, make("th", { scope: "row" }, name),
    cells.map((cell, i) => makeCell(cell, grid.columns[i + 1], name, onRun && links[name]?.[grid.columns[i + 1]], onRun))));
  return [
    make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": grid.title }, make("table", { class: grid.columns.length > 2 ? "grid stacked" : "grid" }, make("thead", {}, head), make("tbody", {}, rows))),
    grid.note && make("p", { class: "note terms" }, grid.note),
  ];
}

function makeClaims(block, { key, all = new Set(), onAll = null }) {
  const rows = block.claims.map(({ sentence, outcome, estimate: found }) => make("tr", { class: `verdict ${outcome}` },
    make("td", { class: "text sentence", colspan: found ? null : 3 }, `${sentence}.`),
    found && makeEstimate(drawInterval(found.is_clear ? "clear" : "", found.ends, found.estimate, found.middle, found.margin), make("span", {}, `${found.value} ${found.interval}`))));
  return makeVerdictTable(`${block.title} ${key}`, [["claim"], ["difference", 2]], rows, block.noun, all, onAll);
}

function makeBlock(block, options) {
  const heading = block.title && make(options.heading ?? "h2", {}, `${block.title}${options.of ?? ""}`);
  if (block.kind === "grid") return [heading, makeGrid(block, options.links, options.onRun)];
  if (block.kind === "claims") return [heading, makeClaims(block, options)];
  return [heading, make("ul", { class: "sentences" }, block.sentences.map((text) => make("li", {}, text)))];
}

// options: the key that tells apart what is expanded; of: whose sections they are, where there are several runs; the kind
// of the headings; for tables, links by row and column and what opens them; all and onAll: the tables with all rows.
export function makeSections(sections, options) {
  return (sections ?? []).flatMap(({ kind, blocks, notes }) => {
    const sentences = blocks.flatMap((block) => block.sentences ?? []);
    if (kind === "answer") {
      return [options.of && make("h2", {}, `Answer${options.of}`), make("div", { class: "answer" }, sentences.map((text) => make("p", {}, text)))];
    }
    return [...blocks.flatMap((block) => makeBlock(block, options)), makeTerms(notes)];
  }).flat(2).filter(Boolean);
}
