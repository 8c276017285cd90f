// Live verdicts on one model, and on pairs of learners in one measure: a matrix of all, and a table with a line for each,
// the decided ones first. Above and below them stand the sections of the report of a finished run.
import { byId, make, show } from "./dom.js";
import * as format from "./format.js";
import { drawInterval, makeEstimate, makeSections, makeTerms, makeVerdictTable } from "./sections.js";

const SIGNS = { better: "▲", worse: "▼", equivalent: "≈", undecided: "·" };
const ORDER = { first: 0, second: 0, equivalent: 1, broken: 0, kept: 1 };

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

const WORDS = { first: "better", second: "better" };
const makeOutcome = (outcome) => make("td", { class: "text" }, make("span", { class: `badge ${outcome}` }, WORDS[outcome] ?? outcome));

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

export function showVerdicts(runs, state, hooks) {
  show(byId("answers"), runs.map(({ details }) => {
    const of = runs.length > 1 ? ` of ${format.runName(details)}` : "";
    return makeSections(details.overview, { key: details.id, of });
  }).flat(4));
  show(byId("verdicts"), runs.map(({ details }) => {
    const of = runs.length > 1 ? ` of ${format.runName(details)}` : "";
    return [
      makeModelPart(details, of, state, hooks),
      details.verdicts?.length ? makePairPart(details, of, state, hooks) : [],
      makeSections(details.details, { key: details.id, of, all: state.all, onAll: hooks.onAll }),
    ];
  }).flat(4));
}
