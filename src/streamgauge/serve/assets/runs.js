// The list of runs: which there are, how far they are, and which are shown.
import { byId, make, show } from "./dom.js";
import * as format from "./format.js";

const WORDS = { running: "running", complete: "finished", "cut short": "cut short", failed: "failed", died: "died" };

export const badge = (state) => make("span", { class: `badge ${state.replace(" ", "-")}` }, WORDS[state] ?? state);

export function progress(run) {
  if (run.state !== "running") return null;
  return make("progress", { max: run.total || 1, value: run.total ? run.n_rows : null, "aria-label": `rows read by ${format.named(run)}` });
}

export const speed = (run) => (run.seconds > 0 ? run.n_rows / run.seconds : null);

function entry(run, chosen, { onOnly, onToggle }) {
  const name = format.named(run);
  const box = make("input", {
    type: "checkbox", "data-key": `box ${run.id}`, checked: chosen.has(run.id), "aria-label": `Show ${name} beside others`,
    onchange: () => onToggle(run.id),
  });
  box.checked = chosen.has(run.id);
  const facts = [run.experiment, run.title ? null : run.stream, format.plural(run.learners.length, "learner"), run.n_folds > 1 ? `${run.n_folds} folds` : null];
  const button = make(
    "button",
    { type: "button", "data-key": `run ${run.id}`, class: "run", "aria-current": chosen.has(run.id) ? "true" : null, onclick: () => onOnly(run.id) },
    make("span", { class: "run-name" }, name),
    make("span", { class: "run-facts" }, facts.filter(Boolean).join(" · ")),
    make("span", { class: "run-state" }, badge(run.state), ` ${format.short(run.n_rows)} rows`, progress(run)),
  );
  return make("li", { class: chosen.has(run.id) ? "chosen" : null }, box, button);
}

export function showRuns(state, hooks) {
  const wanted = byId("find").value.trim().toLowerCase();
  const text = (run) => `${run.id} ${run.title} ${run.experiment} ${run.stream} ${run.learners.join(" ")} ${run.state}`.toLowerCase();
  const found = state.runs.filter((run) => !wanted || text(run).includes(wanted));
  const chosen = new Set(state.selected);
  const most = 200;
  show(byId("runs"), found.slice(0, most).map((run) => entry(run, chosen, hooks)));
  const hidden = found.length > most ? `, of which ${most} are listed: find the others by name` : "";
  const none = "No run is here yet: give a run --out, or start one.";
  byId("runs-note").textContent = state.runs.length ? `${format.plural(found.length, "run")}${hidden}` : none;
}
