// The answers of a finished run and its comparisons at the end; live verdicts on one model, and on pairs of learners in
// one measure: a matrix of all, and a table with a line for each, the decided ones first.
import { byId, make, show } from "./dom.js";
import * as format from "./format.js";

const SIGNS = { better: "▲", worse: "▼", equivalent: "≈", undecided: "·" };
const FEW = 10;
const ORDER = { first: 0, second: 0, equivalent: 1, broken: 0, kept: 1 };
const SPAN = 200; // the width of a drawing

const findOutcome = (verdict, learner) => {
  if (verdict.outcome === "first") return verdict.first === learner ? "better" : "worse";
  if (verdict.outcome === "second") return verdict.second === learner ? "better" : "worse";
  return verdict.outcome;
};

// A pair from the view of the learner that is ahead, so that no lead is below zero.
function turnToLeader(verdict) {
  const sign = verdict.greater_is_better === false ? -1 : 1;
  const isTurned = sign * verdict.difference < 0;
  const turn = isTurned ? -sign : sign;
  const [ahead, behind] = isTurned ? [verdict.second, verdict.first] : [verdict.first, verdict.second];
  const reach = verdict.interval && verdict.interval.map((end) => turn * end).sort((a, b) => a - b);
  return { ...verdict, ahead, behind, reach, lead: verdict.difference === null ? null : Math.abs(verdict.difference) };
}

const makeTerms = (terms) => (terms ?? []).length > 0 && make("p", { class: "note terms" }, terms.join(" "));

function makeMatrix(learners, verdicts, onPair) {
  const byPair = new Map(verdicts.flatMap((v) => [[`${v.first}\0${v.second}`, v], [`${v.second}\0${v.first}`, v]]));
  const makeCell = (first, second) => {
    const verdict = byPair.get(`${first}\0${second}`);
    if (!verdict) return make("td", {}, first === second ? "" : format.MISSING);
    const outcome = findOutcome(verdict, first);
    const text = `${first} ${{ better: "is better than", worse: "is worse than", equivalent: "is equivalent to", undecided: "against" }[outcome]} ${second}${outcome === "undecided" ? ": undecided" : ""}`;
    const button = make("button", { type: "button", title: text, "aria-label": text, "data-key": `cell ${first} ${second}`, disabled: !onPair, onclick: () => onPair(verdict) }, SIGNS[outcome]);
    return make("td", { class: outcome }, button);
  };
  const head = make("tr", {}, make("td"), learners.map((name, i) => make("th", { scope: "col", title: name }, String(i + 1))));
  const rows = learners.map((name, i) =>
    make("tr", {}, make("th", { scope: "row" }, `${i + 1} ${name}`), learners.map((other) => makeCell(name, other))));
  return make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "matrix of verdicts" },
    make("table", { class: "matrix" }, make("thead", {}, head), make("tbody", {}, rows)));
}

// Draws an interval and the estimate in it around a middle; what is up to the margin away from that is shaded.
function drawInterval(outcome, interval, estimate, middle, margin) {
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

const WORDS = { first: "better", second: "better" };
const makeOutcome = (outcome) => make("td", { class: "text" }, make("span", { class: `badge ${outcome}` }, WORDS[outcome] ?? outcome));

function makeEstimate(drawing, text, further) {
  return [make("td", { class: "drawing" }, drawing), make("td", { class: "text estimate" }, text, further && make("small", { class: "left" }, further))];
}

function makeRow(verdict, { onPair, drawn }) {
  const { ahead, lead, reach, unit } = verdict;
  const number = lead === null ? "not defined now" : lead ? `${ahead} is ahead by ${format.lead(lead, unit)}` : "no difference";
  const ends = reach ? ` [${reach.map((end) => format.difference(end, unit)).join(", ")}]` : "";
  const left = verdict.rows_left ? `about ${format.count(verdict.rows_left.toPrecision(2))} more rows if the difference stays as it is` : null;
  const button = onPair && make("button", { type: "button", "data-key": `pair ${verdict.first} ${verdict.second} ${verdict.measure}`, "aria-label": `Curve of ${verdict.first} and ${verdict.second}`, "aria-pressed": String(drawn(verdict)), onclick: () => onPair(verdict) }, "Curve");
  return make("tr", { class: `verdict ${verdict.outcome}` }, makeOutcome(verdict.outcome), make("td", { class: "text sentence" }, verdict.sentence),
    makeEstimate(drawInterval(verdict.outcome, reach, lead, 0, verdict.rope ?? 0), make("span", {}, number + ends), left),
    onPair && make("td", {}, button));
}

function makeModelRow(verdict) {
  const ends = verdict.interval ? ` [${verdict.interval.map((end) => format.value(end, verdict.unit)).join(", ")}]` : "";
  const text = `${verdict.measure} ${format.amount(verdict.value, verdict.unit)}${ends}, limit ${format.amount(verdict.limit, verdict.unit)}`;
  return make("tr", { class: `verdict ${verdict.outcome}` }, makeOutcome(verdict.outcome), make("td", { class: "text sentence" }, verdict.sentence),
    makeEstimate(drawInterval(verdict.outcome, verdict.interval, verdict.value, verdict.limit, 0), make("span", {}, text)));
}

const sortVerdicts = (verdicts) => verdicts.map(turnToLeader)
  .sort((a, b) => (ORDER[a.outcome] ?? 2) - (ORDER[b.outcome] ?? 2) || (b.lead ?? 0) - (a.lead ?? 0));

// The table of some verdicts: all of them, or the first few with a button for the rest.
function makeVerdictTable(key, titles, rows, noun, all, onAll) {
  const isAll = all.has(key);
  const more = rows.length > FEW && make("button", { type: "button", "data-key": `all ${key}`, "aria-expanded": String(isAll), onclick: () => onAll(key) },
    isAll ? "Show fewer" : `Show all ${format.plural(rows.length, noun)}`);
  const head = make("tr", {}, titles.map(([title, span]) => make("th", { scope: "col", class: "text", colspan: span }, title)));
  return [make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "table of verdicts" },
    make("table", { class: "verdicts" }, make("thead", {}, head), make("tbody", {}, isAll ? rows : rows.slice(0, FEW)))), more];
}

const TITLES = [["now"], ["verdict"], ["ahead by", 2]];

function makeModelPart(details, of, state, hooks) {
  const verdicts = details.model_verdicts ?? [];
  if (!verdicts.length) return [];
  const ordered = [...verdicts].sort((a, b) => (ORDER[a.outcome] ?? 2) - (ORDER[b.outcome] ?? 2));
  const counts = ["broken", "kept", "undecided"].map((outcome) => [verdicts.filter((v) => v.outcome === outcome).length, outcome]);
  return [
    make("h2", {}, `Live verdicts on one model${of}`),
    make("p", { class: "note count" }, counts.filter(([n]) => n).map(([n, outcome]) => `${n} ${outcome}`).join(", ")),
    makeVerdictTable(`models ${details.id}`, [["now"], ["verdict"], ["value", 2]], ordered.map(makeModelRow), "verdict", state.all, hooks.onAll),
    makeTerms(details.model_verdict_terms),
  ];
}

function makePairPart(details, of, state, hooks) {
  const measures = [...new Set(details.verdicts.map((v) => v.measure))];
  const measure = measures.includes(state.compared) ? state.compared : measures[0];
  const verdicts = sortVerdicts(details.verdicts.filter((v) => v.measure === measure));
  const { alpha, question, rope, test, unit } = verdicts[0];
  const decided = verdicts.filter((v) => v.outcome !== "undecided").length;
  const chips = measures.length > 1 && make("div", { class: "group", role: "group", "aria-label": "Measure of the verdicts" }, make("span", { class: "label" }, "in"),
    measures.map((name) => make("button", { type: "button", class: "chip", "data-key": `compared ${details.id} ${name}`, "aria-pressed": String(name === measure), onclick: () => hooks.onCompared(name) }, name)));
  const facts = [`${decided} of ${format.plural(verdicts.length, "pair")} decided in ${measure}${question ? ` ${question}` : ""}`,
    `anytime-valid at ${+(100 * (1 - alpha)).toFixed(6)}%`, test === "group_sequential" ? null : `margin ${format.margin(rope, unit)}`];
  const onPair = details.state === "running" || details.has_pairs ? (v) => hooks.onPair(details, v) : null;
  return [
    make("h2", {}, `Live verdicts${of}`), chips,
    make("p", { class: "note count" }, facts.filter(Boolean).join(", ")),
    details.learners.length > 3 && makeMatrix(details.learners, verdicts, onPair),
    makeVerdictTable(details.id, onPair ? [...TITLES, ["difference"]] : TITLES, verdicts.map((v) => makeRow(v, { onPair, drawn: hooks.isDrawn })), "pair", state.all, hooks.onAll),
    makeTerms(details.verdict_terms),
  ];
}

function makeAnswers(details, of) {
  if (!details.answers?.length) return [];
  return [of && make("h2", {}, `Answer${of}`), make("div", { class: "answer" }, details.answers.map((text) => make("p", {}, text)))];
}

// A test at the end in short; its sentence, with everything there is to quote, is in the report.
function makeTestRow(test, withStreams) {
  const { ahead, behind, lead, reach, unit, outcome } = test;
  const words = outcome === "undecided" ? `${ahead} against ${behind}: no difference shown` : `${ahead} is better than ${behind}`;
  const ends = reach ? ` [${reach.map((end) => format.difference(end, unit)).join(", ")}]` : "";
  return make("tr", { class: `verdict ${outcome}` }, makeOutcome(outcome), make("td", { class: "text sentence", title: test.sentence }, words),
    makeEstimate(drawInterval(outcome, reach, lead, 0, 0), make("span", {}, `${format.lead(lead, unit)}${ends}`)), make("td", {}, test.p), withStreams && make("td", {}, test.such_p || format.MISSING));
}

function makeComparisonPart(details, of, state, hooks) {
  if (!details.comparisons?.length) return [];
  const tests = sortVerdicts(details.comparisons);
  const { measure, question, test, adjustment } = tests[0];
  const withStreams = tests.some(({ such_p: p }) => p);
  const titles = [["outcome"], ["pair"], ["ahead by", 2], ["p"], ...(withStreams ? [["p for such streams"]] : [])];
  const note = `Tests of ${measure} that are valid once, after the last row, ${question}: ${test}${adjustment ? `, p-values adjusted by ${adjustment}` : ""}. The report has the sentences to quote.`;
  return [
    make("h2", {}, `Comparisons at the end${of}`),
    make("p", { class: "note count" }, note),
    makeVerdictTable(`tests ${details.id}`, titles, tests.map((one) => makeTestRow(one, withStreams)), "pair", state.all, hooks.onAll),
  ];
}

// Losses that were estimated with few labels, beside the truth; these are no verdicts.
function makeEstimates(details, of) {
  const estimates = details.label_estimates ?? [];
  if (!estimates.length) return [];
  const makeCell = (number, further) => make("td", {}, number, further ? make("small", {}, ` ${further}`) : null);
  const join = (ends) => ends && `[${ends.map((end) => format.value(end, "rate")).join(", ")}]`;
  const { alpha, n_labelled: n, n_rows: rows } = estimates[0];
  const makeRow = (e) => make("tr", {}, make("th", { scope: "row" }, e.learner, make("small", {}, ` ${e.measure}`)),
    n > 0 && [makeCell(format.value(e.powered, "rate"), join(e.powered_interval)), makeCell(format.value(e.labelled, "rate"), join(e.labelled_interval))],
    makeCell(format.value(e.unlabelled, "rate"), e.truth === null ? null : `(${format.difference(e.unlabelled - e.truth)})`), makeCell(format.value(e.truth, "rate")));
  const titles = ["learner", ...(n ? ["labels and confidence, %", "labels alone, %"] : []), "no labels, % (off by)", "truth, %"];
  const size = n ? `${format.plural(n, "label")} of ${format.plural(rows, "row")}; intervals at ${+(100 * (1 - alpha)).toFixed(6)}% for one look, so these are no verdicts`
    : `${format.plural(rows, "row")}; no verdicts, which would hold at any number of looks`;
  const powered = "Labels and confidence: the confidence of the model in the rows without labels is used as well, valid whatever it is worth. ";
  const notes = [...new Set(estimates.map((e) => e.note).filter(Boolean))].map((note) => ` Note: ${note}.`).join("");
  return [
    make("h2", {}, `Estimates ${n ? "from few" : "without"} labels${of}`),
    make("p", { class: "note" }, size),
    make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "estimates from few labels" },
      make("table", { class: "estimates" }, make("thead", {}, make("tr", {}, titles.map((title) => make("th", { scope: "col" }, title)))), make("tbody", {}, estimates.map(makeRow)))),
    make("p", { class: "note terms" }, `${n ? powered : ""}No labels: by the confidence alone, which assumes that it is calibrated on these rows. Truth: over all rows, which no estimate uses.${notes}`),
  ];
}

export function showVerdicts(runs, state, hooks) {
  show(byId("answers"), runs.map(({ details }) => makeAnswers(details, runs.length > 1 ? ` of ${format.runName(details)}` : "")).flat(2));
  show(byId("verdicts"), runs.map(({ details }) => {
    const of = runs.length > 1 ? ` of ${format.runName(details)}` : "";
    return [
      makeModelPart(details, of, state, hooks),
      makeComparisonPart(details, of, state, hooks),
      details.verdicts?.length ? makePairPart(details, of, state, hooks) : [],
      makeEstimates(details, of),
    ];
  }).flat(4));
}
