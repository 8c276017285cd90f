// The head of the shown run, and the buttons that choose what is shown of it.
import { byId, make, show } from "./dom.js";
import * as format from "./format.js";
import { badge, progress, speed } from "./runs.js";

const figure = (name, value, hint) => make("div", { class: "figure", title: hint ?? null }, make("dt", {}, name), make("dd", {}, value));

// How it stands with a live source: how far it is ahead, and what became of its events as far as there is any.
function sourceFigures(source) {
  const parts = Object.entries(source ?? {}).filter(([name, value]) => typeof value === "number" && (name === "lag" || value));
  return parts.map(([name, value]) => figure(name === "lag" ? "lag of the source" : name.replaceAll("_", " "), format.count(value), name === "lag" ? "How many events the source is ahead of the run" : null));
}

function figures(details) {
  const running = details.state === "running";
  const pace = running ? details.pace ?? speed(details) : speed(details);
  const left = running && details.total && pace ? (details.total - details.n_rows) / pace : null;
  return [
    figure("rows", `${format.count(details.n_rows)}${details.total && details.total !== details.n_rows ? ` of ${format.count(details.total)}` : ""}`),
    figure("rows a second", pace ? format.short(pace) : format.MISSING),
    figure("time", details.seconds ? format.duration(details.seconds) : format.MISSING),
    left !== null && figure("left", format.duration(left)),
    details.n_folds > 1 && figure("folds", String(details.n_folds)),
    ...sourceFigures(details.source),
  ];
}

export function showHead(state, runs, { onStop }) {
  const parts = runs.map(({ id, details }) => {
    const running = details.state === "running";
    return make("article", { class: "head" },
      make("div", { class: "title" }, make("h1", {}, details.title || (id === "." ? details.stream ?? "This run" : id)), badge(details.state),
        running && state.canStart && make("button", { type: "button", "data-key": `stop ${id}`, onclick: () => onStop(id) }, "Stop")),
      make("p", { class: "lead", title: details.stream ?? null }, [details.stream, details.scheme, details.described?.labelling].filter(Boolean).join(" · ")),
      progress(details), make("dl", { class: "figures" }, figures(details)));
  });
  const none = make("div", { class: "empty" }, make("h1", {}, state.runs.length ? "Choose a run" : "No run is here yet"),
    make("p", {}, "A run that is given this folder with --out appears here by itself, while it goes on:"),
    make("pre", {}, "streamgauge evaluate --stream SEA --rows 10000000 --learner HoeffdingTree \\\n  --learner NaiveBayes --out RESULTS/sea"));
  show(byId("head"), parts.length ? parts : none);
}

const toggle = (name, pressed, onClick, key, title) =>
  make("button", { type: "button", class: "chip", "aria-pressed": String(pressed), "data-key": key, title: title ?? null, onclick: onClick }, name);

const group = (label, ...children) => make("div", { class: "group", role: "group", "aria-label": label }, make("span", { class: "label", "aria-hidden": "true" }, label), ...children);

function measuresGroup(state, measures, onMeasure) {
  if (measures.length <= 8) return group("Measures", measures.map((name) => toggle(name, state.measures.includes(name), () => onMeasure(name), `measure ${name}`)));
  const rest = measures.filter((name) => !state.measures.includes(name));
  const select = make("select", { "data-key": "measures", "aria-label": "Add a measure", onchange: (event) => onMeasure(event.target.value) },
    make("option", { value: "" }, "add…"), rest.map((name) => make("option", { value: name }, name)));
  return group("Measures", state.measures.map((name) => toggle(name, true, () => onMeasure(name), `measure ${name}`)), select);
}

function forgettingGroup(state, forgettings, onForgetting) {
  if (forgettings.length < 2) return null;
  const select = make("select", { "data-key": "forgetting", "aria-label": "Forgetting", onchange: (event) => onForgetting(event.target.value) },
    forgettings.map((name) => make("option", { value: name, selected: name === state.forgetting }, name)));
  return group("Forgetting", select);
}

export function showControls(state, { measures, forgettings, costs, folded, shown }, hooks) {
  const running = shown.some(({ details }) => details.state === "running");
  const paused = state.paused ? `Resume${state.missed ? ` (${format.count(state.missed)} new)` : ""}` : "Pause";
  const button = (name, label, onclick, key) => make("button", { type: "button", "aria-label": label, title: label, "data-key": key, onclick }, name);
  show(byId("controls"),
    measuresGroup(state, measures, hooks.onMeasure), forgettingGroup(state, forgettings, hooks.onForgetting),
    Object.keys(costs).length ? group("Costs", Object.entries(costs).map(([name, [title]]) => toggle(title, state.costs.includes(name), () => hooks.onCost(name), `cost ${name}`))) : null,
    folded ? toggle("fold bands", state.bands, hooks.onBands, "bands", "The lowest and the highest fold") : null,
    group("Rows", button("←", "Earlier rows", () => hooks.onMove(-0.25, 1), "left"), button("→", "Later rows", () => hooks.onMove(0.25, 1), "right"),
      button("+", "Zoom in", () => hooks.onMove(0, 0.5), "in"), button("−", "Zoom out", () => hooks.onMove(0, 2), "out"),
      make("button", { type: "button", "data-key": "all", disabled: !state.view, onclick: hooks.onAllRows }, "All rows")),
    group("Export", make("button", { type: "button", "data-key": "csv", onclick: hooks.onTable }, "CSV"), make("button", { type: "button", "data-key": "png", onclick: hooks.onPicture }, "PNG")),
    running || state.paused ? make("button", { type: "button", class: state.paused ? "strong" : null, "data-key": "pause", "aria-pressed": String(state.paused), onclick: hooks.onPause }, paused) : null);
}
