// Experiments: a list of them with their progress, and the view of one with its ranks, values and runs.
import { byId, make, show } from "./dom.js";
import * as format from "./format.js";
import { makeBadge, makeProgress } from "./runs.js";
import { makeSections } from "./sections.js";

const WIDTH = 316; // of the axis of ranks
const STEP = 40; // between two learners

const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);
const ended = (run) => run.state !== "running";

// The experiments of a list of runs, by name.
export function groupRuns(runs) {
  const groups = new Map();
  for (const run of runs) if (run.experiment) groups.set(run.experiment, [...(groups.get(run.experiment) ?? []), run]);
  return groups;
}

const describeProgress = (runs, planned) => {
  const states = [...new Set(runs.map((run) => run.state))].map((state) => `${runs.filter((run) => run.state === state).length} ${state === "complete" ? "finished" : state}`);
  return `${states.join(", ")}${planned ? ` of ${format.plural(planned, "run")}` : ""}`;
};

export function showExperiments(state, onExperiment) {
  show(byId("experiments"), [...groupRuns(state.runs)].map(([name, runs]) => {
    const chosen = state.experiment === name;
    const running = runs.filter((run) => !ended(run)).length;
    return make("li", { class: chosen ? "chosen" : null },
      make("button", { type: "button", class: "run", "data-key": `experiment ${name}`, "aria-current": chosen ? "true" : null, onclick: () => onExperiment(name) },
        make("span", { class: "run-name" }, name),
        make("span", { class: "run-facts" }, `experiment · ${format.plural(runs.length, "run")}`),
        running ? make("span", { class: "run-state" }, makeBadge("running"), ` ${format.plural(running, "run")}`) : null));
  }));
  byId("experiments").hidden = !byId("experiments").children.length;
}

// Mean ranks: for each learner its name and below it a line, and bars that join those that do not differ.
function makeRanks({ ranks, groups }) {
  const [left, right] = [14, 14 + WIDTH];
  const width = right + 60 + 16 * groups.length;
  const height = 44 + STEP * ranks.length;
  const toX = (mean) => left + (WIDTH * (mean - 1)) / Math.max(ranks.length - 1, 1);
  const toY = (learner) => 34 + STEP * (ranks.findIndex((one) => one.learner === learner) + 0.8);
  const scale = ranks.map((_, i) => [
    make("line", { class: "grid-line", x1: toX(i + 1), x2: toX(i + 1), y1: 34, y2: height }), make("text", { class: "axis", x: toX(i + 1), y: 26, "text-anchor": "middle" }, String(i + 1))]);
  const marks = ranks.map(({ learner, mean }) => [
    make("line", { class: "stem", x1: left, x2: toX(mean), y1: toY(learner), y2: toY(learner) }), make("circle", { cx: toX(mean), cy: toY(learner), r: 5 }),
    make("text", { x: left, y: toY(learner) - 11 }, learner), make("text", { x: toX(mean) + 10, y: toY(learner) + 4 }, mean.toFixed(2))]);
  const bars = groups.map((group, i) => {
    const x = right + 58 + 16 * i;
    return [make("line", { class: "bar", x1: x, x2: x, y1: toY(group[0]), y2: toY(group.at(-1)) }), group.map((learner) => make("circle", { cx: x, cy: toY(learner), r: 4 }))];
  });
  const label = `Mean ranks, best first: ${ranks.map(({ learner, mean }) => `${learner} ${mean.toFixed(2)}`).join(", ")}`;
  return make("div", { class: "pictured" },
    make("svg", { class: "ranks", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, scale.flat(), marks.flat(), bars.flat(2)));
}

function makePart(part, several, onRun) {
  const [answer, table, ...rest] = part.sections;
  const title = several ? make("h2", {}, part.title) : null;
  if (!answer) return [title, make("p", { class: "note" }, part.note)];
  const options = { key: part.title, heading: "h3", links: part.links, onRun };
  return [
    title, makeSections([answer], options), make("p", { class: "note" }, part.note), makeSections([table], options),
    make("h3", {}, "Mean ranks"), makeRanks(part), make("p", { class: "note" }, "Left is best. A bar joins learners without a significant difference; each of them has a dot on it."),
    make("details", { class: "options", "data-key": `more ${part.title}` }, make("summary", {}, "More: other measures, findings, limitations and pairs"),
      makeSections(rest.filter(({ blocks }) => blocks.length), options)),
  ];
}

function makeRunList(runs, onRun) {
  const head = make("tr", {}, ["run", "state", "rows", "learners"].map((title) => make("th", { scope: "col", class: title === "state" ? "text" : null }, title)));
  const rows = runs.map((run) => make("tr", {},
    make("th", { scope: "row" }, make("button", { type: "button", class: "link", "data-key": `listed ${run.id}`, onclick: () => onRun(run.id) }, format.runName(run))),
    make("td", { class: "text", "data-label": "state" }, makeBadge(run.state), makeProgress(run)), make("td", { "data-label": "rows" }, `${format.count(run.n_rows)}${run.total && run.total !== run.n_rows ? ` of ${format.count(run.total)}` : ""}`), make("td", { "data-label": "learners" }, String(run.learners.length))));
  return make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "runs of the experiment" }, make("table", { class: "stacked" }, make("thead", {}, head), make("tbody", {}, rows)));
}

// view: what the server says of the experiment; the states of its runs are those of the list, which is always new.
export function showExperiment(state, view, { onRun }) {
  const runs = state.runs.filter((run) => run.experiment === state.experiment).sort((a, b) => format.runName(a).localeCompare(format.runName(b), "en", { numeric: true }));
  const planned = Math.max(view?.n_runs ?? 0, runs.length);
  const done = sum(runs.map((run) => (ended(run) ? 1 : run.total ? Math.min(1, run.n_rows / run.total) : 0)));
  const open = new Set([...document.querySelectorAll("#study details")].filter((node) => node.open).map((node) => node.dataset.key));
  show(byId("study"),
    make("div", { class: "title" }, make("h1", {}, state.experiment), makeBadge(runs.some((run) => !ended(run)) ? "running" : done < planned ? "cut short" : "complete")),
    make("p", { class: "lead" }, describeProgress(runs, planned)),
    make("progress", { max: planned || 1, value: done, "aria-label": `runs done of the experiment ${state.experiment}` }),
    ...(view?.parts ?? []).flatMap((part) => makePart(part, view.parts.length > 1, onRun)).flat(3).filter(Boolean),
    !view ? make("p", { class: "note" }, "Comparing the finished runs …") : !view.parts.length ? make("p", { class: "note" }, "No run is finished yet.") : null,
    make("h2", {}, "Runs"), makeRunList(runs, onRun));
  document.querySelectorAll("#study details").forEach((node) => { node.open = open.has(node.dataset.key); });
}
