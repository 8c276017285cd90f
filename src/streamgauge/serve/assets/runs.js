// The list of runs with their progress, and which of them are shown.
import { byId, make, show } from "./dom.js";
import * as format from "./format.js";

const WORDS = { running: "running", complete: "finished", "cut short": "cut short", failed: "failed", died: "died" };

export const makeBadge = (state) => make("span", { class: `badge ${state.replace(" ", "-")}` }, WORDS[state] ?? state);

export function makeProgress(run) {
  if (run.state !== "running") return null;
  return make("progress", { max: run.total || 1, value: run.total ? run.n_rows : null, "aria-label": `rows read by ${format.runName(run)}` });
}

export const computeSpeed = (run) => (run.seconds > 0 ? run.n_rows / run.seconds : null);

function makeEntry(run, selected, { onOnly, onToggle }) {
  const name = format.runName(run);
  const box = make("input", {
    type: "checkbox", "data-key": `box ${run.id}`, checked: selected.has(run.id), "aria-label": `Show ${name} together with others`,
    onchange: () => onToggle(run.id),
  });
  box.checked = selected.has(run.id);
  const facts = [run.experiment, run.title ? null : run.stream, format.plural(run.learners.length, "learner"), run.n_folds > 1 ? `${run.n_folds} folds` : null];
  const button = make(
    "button",
    { type: "button", "data-key": `run ${run.id}`, class: "run", "aria-current": selected.has(run.id) ? "true" : null, onclick: () => onOnly(run.id) },
    make("span", { class: "run-name" }, name),
    make("span", { class: "run-facts" }, facts.filter(Boolean).join(" · ")),
    make("span", { class: "run-state" }, makeBadge(run.state), ` ${format.short(run.n_rows)} rows`, makeProgress(run)),
  );
  return make("li", { class: selected.has(run.id) ? "chosen" : null }, box, button);
}

export function showRuns(state, hooks) {
  const wanted = byId("find").value.trim().toLowerCase();
  const text = (run) => `${run.id} ${run.title} ${run.experiment} ${run.stream} ${run.learners.join(" ")} ${run.state}`.toLowerCase();
  const matches = state.runs.filter((run) => !wanted || text(run).includes(wanted));
  const selected = new Set(state.selected);
  const limit = 200;
  show(byId("runs"), matches.slice(0, limit).map((run) => makeEntry(run, selected, hooks)));
  const hidden = matches.length > limit ? `, the first ${limit} are listed: search for the others` : "";
  const none = "There are no runs yet: start one here, or on the command line with --out.";
  byId("runs-note").textContent = state.runs.length ? `${format.plural(matches.length, "run")}${hidden}` : none;
}
