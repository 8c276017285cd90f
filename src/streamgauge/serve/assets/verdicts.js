// Live verdicts on pairs of learners: a matrix of all, and a card with the interval of each.
import { byId, make, show } from "./dom.js";
import * as format from "./format.js";

const SIGNS = { better: "▲", worse: "▼", equivalent: "≈", undecided: "·" };
const FEW = 6;

const findOutcome = (verdict, learner) => {
  if (verdict.outcome === "first") return verdict.first === learner ? "better" : "worse";
  if (verdict.outcome === "second") return verdict.second === learner ? "better" : "worse";
  return verdict.outcome;
};

// Shows a pair from the view of the learner that is ahead, so that no difference is below zero.
const turnToLeader = (verdict) => (verdict.difference < 0 ? {
  ...verdict, first: verdict.second, second: verdict.first, difference: -verdict.difference,
  interval: verdict.interval && verdict.interval.map((end) => -end).reverse(),
  outcome: { first: "second", second: "first" }[verdict.outcome] ?? verdict.outcome,
} : verdict);

function makeMatrix(learners, verdicts, onPair) {
  const byPair = new Map(verdicts.flatMap((v) => [[`${v.first}\0${v.second}`, v], [`${v.second}\0${v.first}`, v]]));
  const makeCell = (first, second) => {
    const verdict = byPair.get(`${first}\0${second}`);
    if (!verdict) return make("td", {}, first === second ? "" : format.MISSING);
    const outcome = findOutcome(verdict, first);
    const text = `${first} ${{ better: "is better than", worse: "is worse than", equivalent: "is equivalent to", undecided: "against" }[outcome]} ${second}${outcome === "undecided" ? ": undecided" : ""}`;
    const button = make("button", { type: "button", title: text, "aria-label": text, "data-key": `cell ${first} ${second}`, onclick: () => onPair(verdict) }, SIGNS[outcome]);
    return make("td", { class: outcome }, button);
  };
  const head = make("tr", {}, make("td"), learners.map((name, i) => make("th", { scope: "col", title: name }, String(i + 1))));
  const rows = learners.map((name, i) =>
    make("tr", {}, make("th", { scope: "row" }, `${i + 1} ${name}`), learners.map((other) => makeCell(name, other))));
  return make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "matrix of verdicts" },
    make("table", { class: "matrix" }, make("thead", {}, head), make("tbody", {}, rows)));
}

// Draws the interval of the difference around zero; differences that do not matter (the rope) are shaded.
function drawInterval(verdict) {
  const ends = [...(verdict.interval ?? []), verdict.difference ?? 0, 1.5 * (verdict.rope ?? 0)].map(Math.abs);
  const limit = Math.max(0.001, ...ends);
  const toX = (value) => 100 + (96 * Math.max(-limit, Math.min(limit, value))) / limit;
  const [low, high] = verdict.interval ?? [verdict.difference, verdict.difference];
  const rope = verdict.rope ? make("rect", { class: "rope", x: toX(-verdict.rope), y: 2, width: toX(verdict.rope) - toX(-verdict.rope), height: 20 }) : null;
  return make("svg", { class: `interval ${verdict.outcome}`, viewBox: "0 0 200 24", "aria-hidden": "true" }, rope,
    make("line", { class: "zero", x1: 100, x2: 100, y1: 1, y2: 23 }),
    verdict.interval ? make("line", { class: "reach", x1: toX(low), x2: toX(high), y1: 12, y2: 12 }) : null,
    verdict.difference === null ? null : make("circle", { cx: toX(verdict.difference), cy: 12, r: 5 }));
}

function makeCard(verdict, { onPair, drawn }) {
  const texts = [`${verdict.first} − ${verdict.second}: ${format.difference(verdict.difference)} pp`];
  if (verdict.interval) texts.push(`${format.difference(verdict.interval[0])} to ${format.difference(verdict.interval[1])}`);
  const button = onPair && make("button", { type: "button", "data-key": `pair ${verdict.first} ${verdict.second}`, "aria-pressed": String(drawn(verdict)), onclick: () => onPair(verdict) }, "Curve");
  return make("li", { class: `card ${verdict.outcome}` },
    make("p", { class: "sentence" }, verdict.sentence),
    make("div", { class: "estimate" }, drawInterval(verdict), make("span", {}, texts.join(", ")), button));
}

export function showVerdicts(runs, all, hooks) {
  const parts = runs.filter(({ details }) => details.verdicts?.length).map(({ details }) => {
    const rank = (v) => ({ first: 0, second: 0, equivalent: 1 }[v.outcome] ?? 2);
    const verdicts = details.verdicts.map(turnToLeader).sort((a, b) => rank(a) - rank(b) || Math.abs(b.difference ?? 0) - Math.abs(a.difference ?? 0));
    const decided = verdicts.filter((v) => v.outcome !== "undecided").length;
    const shown = all.has(details.id) ? verdicts : verdicts.slice(0, FEW);
    const more = verdicts.length > FEW && make("button", { type: "button", "data-key": `all ${details.id}`, "aria-expanded": String(all.has(details.id)), onclick: () => hooks.onAll(details.id) },
      all.has(details.id) ? "Show fewer" : `Show all ${verdicts.length} pairs`);
    return [
      make("h2", {}, runs.length > 1 ? `Verdicts of ${format.runName(details)}` : "Verdicts"),
      make("p", { class: "note" }, `${decided} of ${format.plural(verdicts.length, "pair")} decided, on accuracy`),
      details.learners.length > 3 && makeMatrix(details.learners, verdicts, (v) => hooks.onPair(details, v)),
      make("ul", { class: "cards" }, shown.map((v) => makeCard(v, {
        onPair: details.state === "running" || details.has_pairs ? () => hooks.onPair(details, v) : null, drawn: (pair) => hooks.isDrawn(pair) }))),
      more,
    ];
  });
  show(byId("verdicts"), parts.flat());
}
