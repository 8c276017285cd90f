// Tables: values of the learners, alarms, the settings of the run, and in what several runs differ.
import { byId, make, show } from "./dom.js";
import * as format from "./format.js";
import { makeKey } from "./keys.js";

const makeScrollable = (label, table) => make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": label }, table);

// lines: [{ key, index, run, learner, shown, failed }], columns: [{ title, unit, lower, getValue(line) }]
export function showValues(lines, columns, caption, onToggle) {
  const best = columns.map((column) => {
    const values = lines.filter((line) => line.shown).map((line) => column.getValue(line)).filter((v) => v !== null && v !== undefined);
    if (values.length < 2 || column.neutral) return null;
    return column.lower ? Math.min(...values) : Math.max(...values);
  });
  const head = make("tr", {}, make("th", { scope: "col" }, "learner"),
    columns.map((column) => make("th", { scope: "col" }, column.title, column.under ? make("small", {}, column.under) : null)));
  const row = (line) => make("tr", { class: line.shown ? null : "off" },
    make("th", { scope: "row" }, make("button", { type: "button", class: "learner", "data-key": `learner ${line.key}`, "aria-pressed": String(line.shown), title: line.shown ? "Hide its curves" : "Show its curves", onclick: () => onToggle(line.key) },
      makeKey(line.index), make("span", {}, line.learner, line.run ? make("small", {}, line.run) : null, line.failed ? make("small", { class: "warning" }, "failed") : null))),
    columns.map((column, i) => {
      const value = column.getValue(line);
      return make("td", { class: best[i] !== null && value === best[i] ? "best" : null, "data-label": column.title }, format.value(value, column.unit));
    }));
  const table = make("table", { class: columns.length > 1 ? "values stacked" : "values" }, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, lines.map(row)));
  show(byId("values"), lines.length ? makeScrollable("values of the learners", table) : "");
}

function makeAlarms(details) {
  const groups = new Map();
  for (const alarm of details.alarms ?? []) {
    const name = `${alarm.learner}\0${alarm.detector}`;
    const group = groups.get(name) ?? { learner: alarm.learner, detector: alarm.detector, drift: 0, warning: 0, last: 0 };
    group[alarm.kind] += alarm.n;
    if (alarm.kind === "drift") group.last = Math.max(group.last, alarm.row);
    groups.set(name, group);
  }
  if (!groups.size) return null;
  const head = make("tr", {}, ["learner", "detector", "drifts", "warnings", "last drift at row"].map((name) => make("th", { scope: "col", class: name === "detector" ? "text" : null }, name)));
  const rows = [...groups.values()].map((g) => make("tr", {}, make("th", { scope: "row" }, g.learner), make("td", { class: "text" }, g.detector),
    make("td", {}, format.count(g.drift)), make("td", {}, format.count(g.warning)), make("td", {}, g.drift ? format.count(g.last) : format.MISSING)));
  return [make("h2", {}, "Drift alarms"), makeScrollable("drift alarms", make("table", {}, make("thead", {}, head), make("tbody", {}, rows)))];
}

function makeSettings(details) {
  const facts = { ...details.described, folds: details.n_folds, forgettings: (details.forgettings ?? []).join(", "), started: format.time(details.started) };
  const shown = Object.entries(facts).filter(([, fact]) => fact !== null && fact !== undefined && String(fact) !== "");
  return make("details", { class: "options" }, make("summary", {}, "Settings"),
    make("dl", {}, shown.flatMap(([name, fact]) => [make("dt", {}, name), make("dd", {}, Array.isArray(fact) ? fact.join(", ") : String(fact))])));
}

export function showMore(runs) {
  const open = [...document.querySelectorAll("details.options")].map((node) => node.open);
  show(byId("more"), runs.map(({ details }) => [
    runs.length > 1 ? make("h2", { class: "of" }, format.runName(details)) : null, makeAlarms(details), makeSettings(details)]).flat(3));
  [...document.querySelectorAll("details.options")].forEach((node, i) => { node.open = open[i] ?? false; });
}

// What the marks in the charts are.
export function showLegend(runs, panels) {
  const has = (part) => runs.some(({ details }) => (details[part] ?? []).length);
  byId("legend").textContent = [
    has("alarms") && "Triangles: alarms of drift detectors, in the colour of their learner, pale for warnings.",
    has("drifts") && "Grey lines: true drifts of the stream.",
    panels.some((panel) => panel.kind === "pair") && "Shaded around zero: differences within the margin.",
    runs.some(({ details }) => details.n_folds > 1) && "Bands: from the lowest to the highest fold.",
  ].filter(Boolean).join(" ");
}

const SETTINGS = {
  stream: (d) => d.stream, scheme: (d) => d.scheme, rows: (d) => format.count(d.n_rows), folds: (d) => String(d.n_folds), labelling: (d) => d.described?.labelling,
  seed: (d) => d.described?.seed, score: (d) => d.described?.score, forgetting: (d) => (d.forgettings ?? []).map((name) => d.forgetting_texts?.[name] ?? name), measures: (d) => d.measures,
};

// In what several runs differ, so that a difference of settings is not read as one of learners.
function makeDifferences(runs) {
  const text = (fact) => (Array.isArray(fact) ? fact.join(", ") : String(fact ?? "")) || format.MISSING;
  const rows = Object.entries(SETTINGS).map(([name, get]) => [name, runs.map(({ details }) => text(get(details)))]).filter(([, facts]) => new Set(facts).size > 1);
  if (runs.length < 2) return null;
  if (!rows.length) return make("p", { class: "note" }, "These runs have the same stream and settings.");
  const head = make("tr", {}, make("th", { scope: "col" }, "setting"), runs.map(({ details }) => make("th", { scope: "col", class: "text" }, format.runName(details))));
  const table = make("table", { class: "differences" }, make("caption", {}, `These runs differ in ${rows.map(([name]) => name).join(", ")}: their values cannot be compared as those of one run.`),
    make("thead", {}, head), make("tbody", {}, rows.map(([name, facts]) => make("tr", {}, make("th", { scope: "row" }, name), facts.map((fact) => make("td", { class: "text" }, fact))))));
  return makeScrollable("differences of the runs", table);
}

// A forgetting or a measure that a shown run lacks leaves dashes in the tables.
function listGaps(runs, chosen) {
  return runs.filter(({ details }) => chosen && !(details.forgettings ?? []).includes(chosen)).map(({ details }) =>
    `${format.runName(details)} has no values with ${chosen}; it has ${(details.forgettings ?? []).join(", ")}.`);
}

export function showNotices(runs, forgetting) {
  const texts = runs.flatMap(({ details }) => [
    ...(details.failures ?? []).map((f) => `Learner ${f.learner} failed in fold ${f.fold} at row ${format.count(f.row)}: ${f.error}`),
    details.state === "failed" ? `The run ${format.runName(details)} failed: ${details.reason}` : null,
    details.state === "died" ? `The run ${format.runName(details)} ended without an error message; the page shows what it had done until then.` : null,
    details.state === "cut short" ? `The run ${format.runName(details)} was cut short${details.reason ? ` (${details.reason})` : ""} after ${format.count(details.n_rows)} rows.` : null,
  ]).filter(Boolean);
  const banners = [...texts, ...listGaps(runs, forgetting)].map((text) => make("p", { class: "banner", role: "status" }, text));
  show(byId("notices"), ...[...banners, makeDifferences(runs)].filter(Boolean));
}
