// The heading of the shown runs, and the controls that select what is shown.
import { byId, make, show } from "./dom.js";
import * as format from "./format.js";
import { computeSpeed, makeBadge, makeProgress } from "./runs.js";

const makeFigure = (name, value, hint) => make("div", { class: "figure", title: hint ?? null }, make("dt", {}, name), make("dd", {}, value));

// The figures of a live source: its lag, and the number of events by outcome.
function makeSourceFigures(source) {
  const parts = Object.entries(source ?? {}).filter(([name, value]) => typeof value === "number" && (name === "lag" || value));
  return parts.map(([name, value]) => makeFigure(name === "lag" ? "source lag" : name.replaceAll("_", " "), format.count(value), name === "lag" ? "Events of the source that the run has not read yet" : null));
}

function makeFigures(details) {
  const running = details.state === "running";
  const pace = running ? details.pace ?? computeSpeed(details) : computeSpeed(details);
  const left = running && details.total && pace ? (details.total - details.n_rows) / pace : null;
  return [
    makeFigure("rows", `${format.count(details.n_rows)}${details.total && details.total !== details.n_rows ? ` of ${format.count(details.total)}` : ""}`),
    makeFigure("rows per second", pace ? format.short(pace) : format.MISSING),
    makeFigure("time", details.seconds ? format.duration(details.seconds) : format.MISSING),
    left !== null && makeFigure("time left", format.duration(left)),
    details.n_folds > 1 && makeFigure("folds", String(details.n_folds)),
    ...makeSourceFigures(details.source),
  ];
}

export function showHead(state, runs, { onStop }) {
  const parts = runs.map(({ id, details }) => {
    const running = details.state === "running";
    return make("article", { class: "head" },
      make("div", { class: "title" }, make("h1", {}, details.title || (id === "." ? details.stream ?? "This run" : id)), makeBadge(details.state),
        running && state.canStart && make("button", { type: "button", "data-key": `stop ${id}`, onclick: () => onStop(id) }, "Stop")),
      make("p", { class: "lead", title: details.stream ?? null }, [details.stream, details.scheme, details.described?.labelling].filter(Boolean).join(" · ")),
      makeProgress(details), make("dl", { class: "figures" }, makeFigures(details)));
  });
  const none = make("div", { class: "empty" }, make("h1", {}, state.runs.length ? "Choose a run" : "There are no runs yet"),
    make("p", {}, "A run that writes to this folder with --out appears here as soon as it starts:"),
    make("pre", {}, "streamgauge evaluate --stream SEA --rows 10000000 --learner HoeffdingTree \\\n  --learner NaiveBayes --out RESULTS/sea"));
  show(byId("head"), parts.length ? parts : none);
}

const makeToggle = (name, pressed, onClick, key, title) =>
  make("button", { type: "button", class: "chip", "aria-pressed": String(pressed), "data-key": key, title: title ?? null, onclick: onClick }, name);

const makeGroup = (label, ...children) => make("div", { class: "group", role: "group", "aria-label": label }, make("span", { class: "label", "aria-hidden": "true" }, label), ...children);

function makeMeasures(state, measures, onMeasure) {
  if (measures.length <= 8) return makeGroup("Measures", measures.map((name) => makeToggle(name, state.measures.includes(name), () => onMeasure(name), `measure ${name}`)));
  const rest = measures.filter((name) => !state.measures.includes(name));
  const select = make("select", { "data-key": "measures", "aria-label": "Add a measure", onchange: (event) => onMeasure(event.target.value) },
    make("option", { value: "" }, "add…"), rest.map((name) => make("option", { value: name }, name)));
  return makeGroup("Measures", state.measures.map((name) => makeToggle(name, true, () => onMeasure(name), `measure ${name}`)), select);
}

function makeForgettings(state, forgettings, { describeForgetting, onForgetting }) {
  if (forgettings.length < 2) return null;
  const select = make("select", { "data-key": "forgetting", "aria-label": "Forgetting", onchange: (event) => onForgetting(event.target.value) },
    forgettings.map((name) => make("option", { value: name, selected: name === state.forgetting }, describeForgetting(name))));
  return makeGroup("Forgetting", select);
}

export function showControls(state, { measures, forgettings, costs, folded, shown, x, view }, hooks) {
  const running = shown.some(({ details }) => details.state === "running");
  const paused = state.paused ? `Resume${state.missed ? ` (${format.count(state.missed)} new)` : ""}` : "Pause";
  const makeButton = (name, label, onclick, key) => make("button", { type: "button", "aria-label": label, title: label, "data-key": key, onclick }, name);
  show(byId("controls"),
    makeMeasures(state, measures, hooks.onMeasure), makeForgettings(state, forgettings, hooks),
    Object.keys(costs).length ? makeGroup("Costs", Object.entries(costs).map(([name, [title]]) => makeToggle(title, state.costs.includes(name), () => hooks.onCost(name), `cost ${name}`))) : null,
    folded ? makeToggle("fold bands", state.bands, hooks.onBands, "bands", "Range from the lowest to the highest fold") : null,
    x ? makeGroup("Over", makeToggle("time", x === "time", () => hooks.onX("time"), "x time"), makeToggle("rows", x === "row", () => hooks.onX("row"), "x row")) : null,
    makeGroup("Rows", makeButton("←", "Earlier rows", () => hooks.onMove(-0.25, 1), "left"), makeButton("→", "Later rows", () => hooks.onMove(0.25, 1), "right"),
      makeButton("+", "Zoom in", () => hooks.onMove(0, 0.5), "in"), makeButton("−", "Zoom out", () => hooks.onMove(0, 2), "out"),
      make("button", { type: "button", "data-key": "all", disabled: !view, onclick: hooks.onAllRows }, "All rows")),
    makeGroup("Export", make("button", { type: "button", "data-key": "csv", onclick: hooks.onTable }, "CSV"), make("button", { type: "button", "data-key": "png", onclick: hooks.onPicture }, "PNG")),
    running || state.paused ? make("button", { type: "button", class: state.paused ? "strong" : null, "data-key": "pause", "aria-pressed": String(state.paused), onclick: hooks.onPause }, paused) : null);
}
