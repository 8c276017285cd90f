// The page: its state, the data it holds, and how both are updated.
import { buildQuery, fetchCurves, getJson, Live, postJson, Refusal } from "./api.js";
import { Chart } from "./charts.js";
import { showControls, showHead } from "./controls.js";
import { byId, show } from "./dom.js";
import { groupRuns, showExperiment, showExperiments } from "./experiments.js";
import { exportPicture, exportTable } from "./exports.js";
import * as format from "./format.js";
import { clearStyles } from "./keys.js";
import { showRuns } from "./runs.js";
import { openForm } from "./start.js";
import { getPlaces, panelKey, Store } from "./store.js";
import { showLegend, showMore, showNotices, showValues } from "./tables.js";
import { showVerdicts } from "./verdicts.js";

const COSTS = { cpu_seconds: ["CPU time", "seconds"], n_bytes: ["memory", "bytes"], ram_hours: ["RAM-hours", "GB·h"] };

const state = {
  runs: [], selected: [], details: new Map(), measures: [], forgetting: null, costs: [], pairs: [],
  hidden: new Set(), view: null, x: null, paused: false, bands: true, cursor: null, all: new Set(), awaited: null, missed: 0,
  compared: null, // the measure of the verdicts
  experiment: null, // the experiment that is shown in place of runs
};
const store = new Store();
const charts = new Map();
let loading = 0;
let ready = false; // then the first run that appears is selected

// The selection is part of the address, so that it can be bookmarked and shared.
function saveAddress() {
  const parts = state.experiment ? [["experiment", state.experiment]] : [
    ...state.selected.map((id) => ["run", id]), ...state.measures.map((name) => ["measure", name]), ["under", state.forgetting],
    ...state.costs.map((name) => ["cost", name]), ["x", state.view?.x ?? state.x], ["from", state.view?.from], ["to", state.view?.to],
  ];
  history.replaceState(null, "", `#${buildQuery(parts)}`);
}

function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  state.experiment = parts.get("experiment");
  state.selected = state.experiment ? [] : parts.getAll("run");
  state.measures = parts.getAll("measure");
  state.forgetting = parts.get("under");
  state.costs = parts.getAll("cost").filter((name) => name in COSTS);
  const [from, to] = [Number(parts.get("from")), Number(parts.get("to"))];
  const zoomed = parts.has("to") && to > from;
  state.x = ["row", "time"].find((x) => x === parts.get("x")) ?? (zoomed ? "row" : null);
  state.view = zoomed ? { from, to, x: state.x } : null;
}

// Whether the x axis can show times: the rows of all shown runs carry them, all as dates or all as seconds.
const isDated = ({ id }) => rowTimes.showDates(...store.getEnds(id, "time"));
function hasTimes() {
  const runs = listShown();
  return runs.length > 0 && runs.every(({ id }) => store.hasTimes(id)) && new Set(runs.map(isDated)).size === 1;
}

// What the x axis shows: times where it can, unless rows were asked for.
const getX = () => (state.x !== "row" && hasTimes() ? "time" : "row");
const getView = () => (state.view?.x === getX() ? state.view : null);
const getAxis = () => (getX() === "row" ? "rows" : isDated(listShown()[0]) ? "dates" : "seconds");

const listShown = () => state.selected.filter((id) => state.details.has(id)).map((id) => ({ id, details: state.details.get(id) }));
const listAll = (axis) => [...new Set(listShown().flatMap(({ details }) => details[axis] ?? []))];

// Drops measures and forgettings that no run has, and selects the first if none is left.
function fixSelection() {
  const [measures, forgettings] = [listAll("measures"), listAll("forgettings")];
  state.measures = state.measures.filter((name) => measures.includes(name));
  if (!state.measures.length) state.measures = measures.slice(0, 2);
  if (!forgettings.includes(state.forgetting)) state.forgetting = forgettings[0] ?? null;
}

// The server sends the words for each forgetting, such as "over the last 1,000 rows".
const describeForgetting = (name) => listShown().map(({ details }) => details.forgetting_texts?.[name]).find(Boolean) ?? name;

function listPanels() {
  const withCosts = listShown().some(({ details }) => details.with_costs);
  return [
    ...state.measures.map((name) => ({ kind: "measure", name, under: state.forgetting })),
    ...(withCosts ? state.costs.map((name) => ({ kind: "cost", name, under: "" })) : []),
    ...state.pairs.map(([name, under, measure]) => ({ kind: "pair", name, under, measure })),
  ];
}

const hasPanel = (details, panel) => {
  if (panel.kind === "measure") return details.measures.includes(panel.name) && details.forgettings.includes(panel.under);
  if (panel.kind === "pair") return (details.verdicts ?? []).some((verdict) => isPairOf(verdict, [panel.name, panel.under, panel.measure]));
  return Boolean(details.with_costs);
};

function describePanel(panel) {
  if (panel.kind === "cost") return { title: COSTS[panel.name][0], unit: COSTS[panel.name][1], lower: true };
  if (panel.kind === "pair") return describePair(panel);
  const facts = listShown().map(({ details }) => details.measure_facts?.[panel.name]).find(Boolean) ?? {};
  const unit = facts.unit ?? "rate";
  return { title: unit === "rate" ? `${panel.name} %` : panel.name, unit, lower: facts.greater_is_better === false, under: describeForgetting(panel.under) };
}

function describePair({ name, under, measure }) {
  const verdict = listShown().flatMap(({ details }) => details.verdicts ?? []).find((candidate) => isPairOf(candidate, [name, under, measure]));
  const words = [`difference of ${measure}`, format.differenceUnit(verdict?.unit)].filter(Boolean).join(", ");
  return { title: `${name} − ${under}`, unit: verdict?.unit ?? "rate", under: verdict?.greater_is_better === false ? `${words}; less is better` : words, neutral: true, margin: verdict?.rope ?? 0 };
}

// Lists every learner of every shown run, with the index of its colour.
function listLines() {
  const several = state.selected.length > 1;
  return listShown().flatMap(({ id, details }) => details.learners.map((learner, k) => ({ id, k, learner, run: several ? format.runName(details) : null, failures: details.failures ?? [] })))
    .map((line, index) => ({ ...line, index, key: `${line.id}\0${line.learner}` }))
    .map((line) => ({ ...line, shown: !state.hidden.has(line.key), failed: line.failures.some((f) => f.learner === line.learner) }));
}

function listMarks() {
  const indices = new Map(listLines().filter((line) => line.shown).map((line) => [line.key, line.index]));
  const x = getX();
  const alarms = listShown().flatMap(({ id, details }) => (details.alarms ?? [])
    .map(({ row, kind, learner }) => ({ place: store.findPlace(id, row, x), kind, index: indices.get(`${id}\0${learner}`) })));
  const first = listShown()[0];
  const drifts = (first?.details.drifts ?? []).map(({ position, width }) => ({
    start: store.findPlace(first.id, position, x), stop: store.findPlace(first.id, position + width, x) }));
  return { alarms: alarms.filter((alarm) => alarm.index !== undefined), drifts };
}

// ---- drawing

function updateCharts() {
  const wanted = new Map(listPanels().map((panel) => [panelKey(panel), panel]));
  for (const [name, chart] of charts) {
    if (wanted.has(name)) continue;
    chart.destroy();
    chart.figure.remove();
    charts.delete(name);
  }
  for (const [name, panel] of wanted) {
    if (charts.has(name)) continue;
    const hooks = { ...describePanel(panel), getView, listMarks, onView: setView, onMove: move, onCursor: setCursor };
    charts.set(name, new Chart(panel, hooks));
  }
  const figures = [...wanted.keys()].map((name) => charts.get(name).figure);
  if (figures.some((figure, i) => byId("charts").children[i] !== figure)) byId("charts").replaceChildren(...figures);
}

function listChartLines(panel) {
  const all = listLines();
  const [x, view] = [getX(), getView()];
  const known = listShown().filter(({ id, details }) => hasPanel(details, panel) && store.getShown(id, panel, view));
  return known.flatMap(({ id }) => {
    const data = store.getShown(id, panel, view);
    return data.curves.map((columns, k) => {
      const isPair = panel.kind === "pair";
      const line = all.find((candidate) => candidate.id === id && (isPair ? candidate.learner === panel.name : candidate.k === k));
      return {
        key: isPair ? `${id} ${panelKey(panel)}` : line.key, index: line?.index ?? 0, shown: isPair || line.shown,
        places: getPlaces(data, x), columns: state.bands || isPair ? columns : columns.slice(0, 1),
      };
    });
  });
}

let scheduled = false;
let hadTimes = false; // as the controls have it
function draw() {
  if (scheduled || document.hidden) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    const axis = getAxis();
    if (hasTimes() !== hadTimes) updateControls();
    hadTimes = hasTimes();
    for (const chart of charts.values()) {
      const lines = listChartLines(chart.panel);
      if (lines.length) chart.draw(lines, axis);
    }
    updateTexts();
    if (charts.size && !document.documentElement.dataset.drawn) {
      performance.mark("drawn");
      document.documentElement.dataset.drawn = "true";
    }
  });
}

function updateTexts() {
  const runs = listShown();
  showHead(state, runs, { onStop: stop });
  showNotices(runs, state.forgetting);
  showLegend(runs, listPanels());
  const [x, view, place] = [getX(), getView(), state.cursor];
  const columns = listPanels().filter((panel) => panel.kind !== "pair").map((panel) => ({
    ...describePanel(panel), under: null, getValue: (line) => store.getValue(line.id, panel, line.k, place, view, x) }));
  const at = describePlace(runs, place, x);
  const caption = state.forgetting ? `${at}, ${describeForgetting(state.forgetting)}` : at;
  showValues(listLines(), columns, caption, toggleLearner);
  showVerdicts(runs, state, { onPair: togglePair, onAll: toggleAll, onCompared: setCompared, isDrawn });
  showMore(runs);
}

// Describes where values were read: at the cursor, or at the last reading.
function describePlace(runs, place, x) {
  const last = Math.max(0, ...runs.map(({ id }) => store.getEnds(id, "row")[1]));
  if (!last) return "At the last reading";
  const start = place === null ? "At the last reading, " : "At ";
  if (x === "row") return `${start}row ${format.count(place ?? last)}`;
  const [first, end] = findExtent();
  const moment = rowTimes.makeTimeFormat(first, end)(place ?? end);
  const row = runs.length > 1 ? null : place === null ? last : store.findRow(runs[0].id, place, x);
  return `${start}${moment}${row === null ? "" : `, row ${format.count(row)}`}`;
}

function updateControls() {
  const shown = listShown();
  showControls(state, {
    measures: listAll("measures"), forgettings: listAll("forgettings"), shown,
    costs: shown.some(({ details }) => details.with_costs) ? COSTS : {}, folded: shown.some(({ details }) => details.n_folds > 1),
    x: hasTimes() ? getX() : null, view: getView(),
  }, {
    onMeasure: (name) => { toggleIn(state.measures, name); if (!state.measures.length) state.measures = [name]; load(); },
    describeForgetting,
    onForgetting: (name) => { state.forgetting = name; load(); },
    onCost: (name) => { toggleIn(state.costs, name); load(); },
    onBands: () => { state.bands = !state.bands; updateControls(); draw(); },
    onX: setX, onPause: pause, onMove: move, onAllRows: () => setView(null),
    onTable: () => exportTable(state, getView(), listPanels()), onPicture: () => exportPicture([...charts.values()], listLines()),
  });
}

function updateRuns() {
  showExperiments(state, openExperiment);
  showRuns(state, { onOnly: (id) => select([id]), onToggle: toggleRun });
}

// ---- an experiment

let view = null; // what the server says of the experiment
let viewed = ""; // the experiment and its finished runs as the server saw them

const updateExperiment = () => showExperiment(state, view, { onRun: (id) => select([id]) });

async function openExperiment(name) {
  if (name !== state.experiment) view = null;
  state.experiment = name;
  viewed = "";
  select([]);
  await refreshExperiment();
}

// Asks again once other runs of the experiment are finished.
async function refreshExperiment() {
  const name = state.experiment;
  if (!name) return;
  const runs = groupRuns(state.runs).get(name) ?? [];
  const now = JSON.stringify([name, runs.map((run) => [run.id, run.state])]);
  updateExperiment();
  if (now === viewed) return;
  viewed = now;
  try {
    const found = await getJson(`/api/experiment?${buildQuery([["name", name]])}`);
    if (name === state.experiment) view = found;
  } catch (error) {
    notify(error.message);
  }
  updateExperiment();
}

// ---- selecting

const toggleIn = (list, name) => (list.includes(name) ? list.splice(list.indexOf(name), 1) : list.push(name));
const isPairOf = (verdict, [a, b, measure]) => measure === verdict.measure
  && ((a === verdict.first && b === verdict.second) || (a === verdict.second && b === verdict.first));
const isDrawn = (verdict) => state.pairs.some((pair) => isPairOf(verdict, pair));

function toggleLearner(name) {
  if (!state.hidden.delete(name)) state.hidden.add(name);
  draw();
}

function togglePair(_, verdict) {
  if (isDrawn(verdict)) state.pairs = state.pairs.filter((pair) => !isPairOf(verdict, pair));
  else {
    const sides = [verdict.ahead, verdict.behind]; // in the order in which the curve is above zero
    if (verdict.greater_is_better === false) sides.reverse();
    state.pairs = [...state.pairs, [...sides, verdict.measure]].slice(-4);
  }
  load();
}

function setCompared(measure) {
  state.compared = measure;
  updateTexts();
}

function toggleAll(id) {
  if (!state.all.delete(id)) state.all.add(id);
  updateTexts();
}

function toggleRun(id) {
  const selected = state.selected.includes(id) ? state.selected.filter((other) => other !== id) : [...state.selected, id];
  select(selected.length ? selected.slice(-8) : [id]);
}

function select(ids) {
  if (ids.length && state.experiment) {
    state.experiment = null;
    view = null;
  }
  byId("study").hidden = !state.experiment;
  byId("head").hidden = Boolean(state.experiment);
  if (ids.length) byId("study").replaceChildren();
  state.selected = ids;
  state.view = null;
  state.pairs = [];
  state.cursor = null;
  state.details = new Map([...state.details].filter(([id]) => ids.includes(id)));
  store.retain(ids);
  openRuns();
}

function setCursor(place) {
  if (place === state.cursor) return;
  state.cursor = place;
  draw();
}

function setX(x) {
  state.x = x;
  state.cursor = null;
  setView(null);
}

// Returns the first and the last place of all shown runs.
function findExtent() {
  const ends = listShown().map(({ id }) => store.getEnds(id, getX()));
  return [Math.min(...ends.map(([first]) => first)), Math.max(...ends.map(([, last]) => last))];
}

// Shifts the view by a share of its width, and scales the width by a factor.
function move(shift, factor) {
  const [first, last] = findExtent();
  const { from, to } = getView() ?? { from: first, to: last };
  const width = Math.max(getX() === "row" ? 2 : 0, (to - from) * factor);
  const middle = (from + to) / 2 + shift * (to - from);
  if (width >= last - first) return setView(null);
  const start = Math.max(first, Math.min(last - width, middle - width / 2));
  setView({ from: start, to: start + width });
}

let refineTimer;
function setView(view) {
  const x = getX();
  state.view = view && (x === "row" ? { from: Math.max(0, Math.floor(view.from)), to: Math.ceil(view.to), x } : { ...view, x });
  saveAddress();
  updateControls();
  draw();
  clearTimeout(refineTimer);
  refineTimer = setTimeout(refine, 150);
}

// Loads more points of the rows in view than the whole curve has there.
async function refine() {
  const [view, current] = [getView(), loading];
  if (!view) return;
  await forEachCurve(async (id, panel) => {
    const data = await fetchCurves(id, panel, view, Store.POINTS);
    if (view === state.view && current === loading) store.putFiner(id, panel, view, data);
  });
  draw();
}

function pause() {
  state.paused = !state.paused;
  state.missed = 0;
  updateControls();
  if (!state.paused) load();
}

async function stop(id) {
  try {
    await postJson("/api/stop", { id });
  } catch (error) {
    notify(error.message);
  }
}

// ---- loading and news

const forEachCurve = (work) => Promise.all(listShown().flatMap(({ id, details }) => listPanels().filter((panel) => hasPanel(details, panel)).map((panel) => work(id, panel))));

async function openRuns() {
  const current = ++loading;
  updateRuns();
  let failed = false;
  const entries = await Promise.all(state.selected.map(async (id) => {
    try {
      return [id, await getJson(`/api/run?${buildQuery([["id", id]])}`)];
    } catch (error) {
      if (error instanceof Refusal) return [id, null]; // the run does not exist
      failed = true;
      return [id, state.details.get(id) ?? null];
    }
  }));
  if (current !== loading) return;
  if (failed) setTimeout(openRuns, 2_000);
  state.details = new Map(entries.filter(([, details]) => details));
  const shared = listAll("forgettings").filter((name) => listShown().every(({ details }) => details.forgettings.includes(name)));
  if (shared.length && !shared.includes(state.forgetting)) state.forgetting = shared[0]; // one that all runs have
  await load();
}

async function load() {
  const current = ++loading;
  fixSelection();
  saveAddress();
  updateCharts();
  updateControls();
  try {
    await forEachCurve(async (id, panel) => {
      const data = await fetchCurves(id, panel, null, Store.POINTS);
      if (current === loading) store.put(id, panel, data);
    });
  } catch (error) {
    notify(error.message);
  }
  if (current !== loading) return;
  byId("controls").hidden = !listShown().length;
  subscribe();
  draw();
  if (state.view) refine();
  listShown().filter(({ details }) => details.verdicts === null).forEach(({ id, details }) => loadVerdicts(id, details));
}

// The tests of a finished run are slow, so its curves do not wait for them.
async function loadVerdicts(id, details) {
  details.verdicts = [];
  try {
    Object.assign(details, await getJson(`/api/verdicts?${buildQuery([["id", id]])}`));
  } catch (error) {
    notify(error.message);
  }
  draw();
}

function subscribe() {
  const runs = Object.fromEntries(state.selected.filter((id) => state.details.has(id)).map((id) => [id, store.getPosition(id)]));
  live.subscribe({ runs, panels: listPanels() });
}

function onNews(news) {
  if (news.runs) {
    state.runs = news.runs;
    updateRuns();
    if (state.awaited && news.runs.some((run) => run.id === state.awaited)) {
      const id = state.awaited;
      state.awaited = null;
      select([id]);
    } else if (ready && !state.experiment && !state.selected.length && news.runs.length) select([news.runs[0].id]);
    refreshExperiment();
  }
  for (const [id, reason] of Object.entries(news.failed ?? {})) {
    if (state.awaited === id) state.awaited = null;
    notify(`The run ${id} failed: ${reason}`);
  }
  if (!news.watched) return;
  let again = false;
  for (const [id, changes] of Object.entries(news.watched)) again = applyChanges(id, changes) || again;
  if (state.paused) updateControls();
  else if (again) openRuns();
  else draw();
}

// Applies the changes of a run; returns whether it must be loaded again as a whole.
function applyChanges(id, changes) {
  const details = state.details.get(id);
  if (!details) return false;
  if (changes.rows) state.missed += changes.rows.length;
  if (state.paused) return false;
  if (changes.status) {
    details.pace = computePace(details, changes.status);
    Object.assign(details, changes.status);
  }
  if (changes.alarms) details.alarms = changes.alarms;
  if (changes.more_alarms) details.alarms = [...(details.alarms ?? []), ...changes.more_alarms];
  const full = changes.rows && store.append(id, listPanels(), changes);
  return Boolean(changes.again || changes.saved || changes.gone || full);
}

// Rows per second, smoothed.
function computePace(details, status) {
  const seconds = status.updated - details.updated;
  if (!(seconds > 0) || !(status.n_rows >= details.n_rows)) return details.pace ?? null;
  const now = (status.n_rows - details.n_rows) / seconds;
  return details.pace ? 0.7 * details.pace + 0.3 * now : now;
}

let noticeTimer;
function notify(text) {
  byId("link").textContent = text;
  byId("link").className = "bad";
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => onLink(true), 8_000);
}

let wasLost = false;
function onLink(up) {
  byId("link").textContent = up ? "live" : "No connection to the server; the page reconnects by itself.";
  byId("link").className = up ? "good" : "bad";
  if (up && wasLost && !state.paused) openRuns();
  wasLost = !up;
}

function setTheme(next) {
  if (next) localStorage.setItem("theme", next);
  const saved = localStorage.getItem("theme");
  if (saved) document.documentElement.dataset.theme = saved;
  clearStyles();
  for (const chart of charts.values()) chart.redraw();
}

const open = () => (state.experiment ? openExperiment(state.experiment) : openRuns());

readAddress();
setTheme();
const live = new Live({ onNews, onLink });
const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", () => setTheme());
byId("theme").addEventListener("click", () => setTheme((document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark" ? "light" : "dark"));
byId("find").addEventListener("input", updateRuns);
byId("new").addEventListener("click", () => openForm((id) => { state.awaited = id; }));
document.addEventListener("visibilitychange", draw);
addEventListener("hashchange", () => { readAddress(); open(); });

let first = null;
while (!first) {
  try {
    first = await getJson("/api/runs");
  } catch (error) {
    await new Promise((wake) => { setTimeout(wake, 1_000); });
  }
}
state.runs = first.runs;
byId("folder").textContent = first.folder;
byId("new").hidden = !first.can_start;
state.canStart = first.can_start;
if (!state.experiment && !state.selected.length && state.runs.length) state.selected = [state.runs[0].id];
ready = true;
await open();
