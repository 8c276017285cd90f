// The page: what is chosen, what is known, and how one follows from the other.
import { ask, curves, Live, query, Refusal, send } from "./api.js";
import { Chart } from "./charts.js";
import { showControls, showHead } from "./controls.js";
import { byId, show } from "./dom.js";
import { exportPicture, exportTable } from "./exports.js";
import * as format from "./format.js";
import { forgetColours } from "./keys.js";
import { showRuns } from "./runs.js";
import { openForm } from "./start.js";
import { panelKey, Store } from "./store.js";
import { showMore, showNotices, showValues } from "./tables.js";
import { showVerdicts } from "./verdicts.js";

const COSTS = { cpu_seconds: ["CPU time", "seconds"], n_bytes: ["memory", "bytes"], ram_hours: ["RAM-hours", "GB·h"] };

const state = {
  runs: [], selected: [], details: new Map(), measures: [], forgetting: null, costs: [], pairs: [],
  hidden: new Set(), view: null, paused: false, bands: true, cursor: null, all: new Set(), awaited: null, missed: 0,
};
const store = new Store();
const charts = new Map();
let loading = 0;
let ready = false; // from when on the first run that appears is shown by itself

// What is chosen stands in the address, so that it can be kept, sent and opened again.
function remember() {
  const parts = [
    ...state.selected.map((id) => ["run", id]), ...state.measures.map((name) => ["measure", name]), ["under", state.forgetting],
    ...state.costs.map((name) => ["cost", name]), ["from", state.view?.from], ["to", state.view?.to],
  ];
  history.replaceState(null, "", `#${query(parts)}`);
}

function recall() {
  const parts = new URLSearchParams(location.hash.slice(1));
  state.selected = parts.getAll("run");
  state.measures = parts.getAll("measure");
  state.forgetting = parts.get("under");
  state.costs = parts.getAll("cost").filter((name) => name in COSTS);
  const [from, to] = [Number(parts.get("from")), Number(parts.get("to"))];
  state.view = parts.has("to") && to > from ? { from, to } : null;
}

const shownRuns = () => state.selected.filter((id) => state.details.has(id)).map((id) => ({ id, details: state.details.get(id) }));
const union = (axis) => [...new Set(shownRuns().flatMap(({ details }) => details[axis] ?? []))];

// Keeps what was chosen as far as it is there, and chooses the first where nothing is.
function choose() {
  const [measures, forgettings] = [union("measures"), union("forgettings")];
  state.measures = state.measures.filter((name) => measures.includes(name));
  if (!state.measures.length) state.measures = measures.slice(0, 2);
  if (!forgettings.includes(state.forgetting)) state.forgetting = forgettings[0] ?? null;
}

function panels() {
  const withCosts = shownRuns().some(({ details }) => details.with_costs);
  return [
    ...state.measures.map((name) => ({ kind: "measure", name, under: state.forgetting })),
    ...(withCosts ? state.costs.map((name) => ({ kind: "cost", name, under: "" })) : []),
    ...state.pairs.map(([first, second]) => ({ kind: "pair", name: first, under: second })),
  ];
}

const has = (details, panel) => {
  if (panel.kind === "measure") return details.measures.includes(panel.name) && details.forgettings.includes(panel.under);
  if (panel.kind === "pair") return details.learners.includes(panel.name) && details.learners.includes(panel.under);
  return Boolean(details.with_costs);
};

function factsOf(panel) {
  if (panel.kind === "cost") return { title: COSTS[panel.name][0], unit: COSTS[panel.name][1], lower: true };
  if (panel.kind === "pair") return { title: `${panel.name} − ${panel.under}`, unit: "rate", under: "difference of accuracy, in points", neutral: true };
  const facts = shownRuns().map(({ details }) => details.measure_facts?.[panel.name]).find(Boolean) ?? {};
  const unit = facts.unit ?? "rate";
  return { title: unit === "rate" ? `${panel.name} %` : panel.name, unit, lower: facts.greater_is_better === false, under: panel.under };
}

// Every learner of every shown run, with its place in the order of colours.
function lines() {
  const several = state.selected.length > 1;
  return shownRuns().flatMap(({ id, details }) => details.learners.map((learner, k) => ({ id, k, learner, run: several ? format.named(details) : null, failures: details.failures ?? [] })))
    .map((line, place) => ({ ...line, place, key: `${line.id}\0${line.learner}` }))
    .map((line) => ({ ...line, shown: !state.hidden.has(line.key), failed: line.failures.some((f) => f.learner === line.learner) }));
}

function marks() {
  const places = new Map(lines().filter((line) => line.shown).map((line) => [line.key, line.place]));
  const alarms = shownRuns().flatMap(({ id, details }) => (details.alarms ?? []).map((alarm) => ({ ...alarm, place: places.get(`${id}\0${alarm.learner}`) })));
  const first = shownRuns()[0]?.details;
  return { alarms: alarms.filter((alarm) => alarm.place !== undefined), drifts: first?.drifts ?? [] };
}

// ---- drawing

function arrangeCharts() {
  const wanted = new Map(panels().map((panel) => [panelKey(panel), panel]));
  for (const [name, chart] of charts) {
    if (wanted.has(name)) continue;
    chart.destroy();
    chart.figure.remove();
    charts.delete(name);
  }
  for (const [name, panel] of wanted) {
    if (charts.has(name)) continue;
    const hooks = { ...factsOf(panel), view: () => state.view, marks, onView: setView, onMove: move, onCursor: pointAt };
    charts.set(name, new Chart(panel, hooks));
  }
  const figures = [...wanted.keys()].map((name) => charts.get(name).figure);
  if (figures.some((figure, i) => byId("charts").children[i] !== figure)) byId("charts").replaceChildren(...figures);
}

function chartLines(panel) {
  const all = lines();
  const known = shownRuns().filter(({ id, details }) => has(details, panel) && store.shown(id, panel, state.view));
  return known.flatMap(({ id }) => {
    const data = store.shown(id, panel, state.view);
    return data.curves.map((columns, k) => {
      const line = panel.kind === "pair" ? { key: `${id} ${panelKey(panel)}`, place: all.find((l) => l.id === id && l.learner === panel.name)?.place ?? 0, shown: true } : all.find((l) => l.id === id && l.k === k);
      return { key: line.key, place: line.place, shown: line.shown, rows: data.rows, columns: state.bands || panel.kind === "pair" ? columns : columns.slice(0, 1) };
    });
  });
}

let waiting = false;
function draw() {
  if (waiting || document.hidden) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    for (const chart of charts.values()) {
      const drawn = chartLines(chart.panel);
      if (drawn.length) chart.draw(drawn);
    }
    tell();
    if (charts.size && !document.documentElement.dataset.drawn) {
      performance.mark("drawn");
      document.documentElement.dataset.drawn = "true";
    }
  });
}

function tell() {
  const runs = shownRuns();
  const drawn = panels();
  showHead(state, runs, { onStop: stop });
  showNotices(runs);
  const row = state.cursor;
  const columns = drawn.filter((panel) => panel.kind !== "pair").map((panel) => ({
    ...factsOf(panel), under: null, value: (line) => store.valueAt(line.id, panel, line.k, row, state.view) }));
  const last = Math.max(0, ...runs.map(({ id }) => store.lastRow(id)));
  const at = row === null ? `At the last reading${last ? `, row ${format.count(last)}` : ""}` : `At row ${format.count(row)}`;
  const where = state.forgetting ? `${at} · ${state.forgetting}` : at;
  showValues(lines(), columns, where, toggleLearner);
  showVerdicts(runs, state.all, { onPair: togglePair, onAll: toggleAll, isDrawn });
  showMore(runs);
}

function tellChoices() {
  const shown = shownRuns();
  showControls(state, {
    measures: union("measures"), forgettings: union("forgettings"), shown,
    costs: shown.some(({ details }) => details.with_costs) ? COSTS : {}, folded: shown.some(({ details }) => details.n_folds > 1),
  }, {
    onMeasure: (name) => { toggleIn(state.measures, name); if (!state.measures.length) state.measures = [name]; load(); },
    onForgetting: (name) => { state.forgetting = name; load(); },
    onCost: (name) => { toggleIn(state.costs, name); load(); },
    onBands: () => { state.bands = !state.bands; tellChoices(); draw(); },
    onPause: pause, onMove: move, onAllRows: () => setView(null),
    onTable: () => exportTable(state, panels()), onPicture: () => exportPicture([...charts.values()], lines()),
  });
}

const listRuns = () => showRuns(state, { onOnly: (id) => select([id]), onToggle: toggleRun });

// ---- choosing

const toggleIn = (list, name) => (list.includes(name) ? list.splice(list.indexOf(name), 1) : list.push(name));
const isDrawn = (verdict) => state.pairs.some(([a, b]) => a === verdict.first && b === verdict.second);

function toggleLearner(name) {
  if (!state.hidden.delete(name)) state.hidden.add(name);
  draw();
}

function togglePair(_, verdict) {
  if (isDrawn(verdict)) state.pairs = state.pairs.filter(([a, b]) => a !== verdict.first || b !== verdict.second);
  else state.pairs = [...state.pairs, [verdict.first, verdict.second]].slice(-4);
  load();
}

function toggleAll(id) {
  if (!state.all.delete(id)) state.all.add(id);
  tell();
}

function toggleRun(id) {
  const chosen = state.selected.includes(id) ? state.selected.filter((other) => other !== id) : [...state.selected, id];
  select(chosen.length ? chosen.slice(-8) : [id]);
}

function select(ids) {
  state.selected = ids;
  state.view = null;
  state.pairs = [];
  state.cursor = null;
  state.details = new Map([...state.details].filter(([id]) => ids.includes(id)));
  store.keep(ids);
  open();
}

function pointAt(row) {
  if (row === state.cursor) return;
  state.cursor = row;
  draw();
}

function extent() {
  const ids = state.selected;
  return { from: Math.min(...ids.map((id) => store.firstRow(id))), to: Math.max(...ids.map((id) => store.lastRow(id))) };
}

// Moves by a share of what is shown, and shows a multiple of it.
function move(by, times) {
  const whole = extent();
  const { from, to } = state.view ?? whole;
  const width = Math.max(2, (to - from) * times);
  const middle = (from + to) / 2 + by * (to - from);
  if (width >= whole.to - whole.from) return setView(null);
  const start = Math.max(whole.from, Math.min(whole.to - width, middle - width / 2));
  setView({ from: Math.floor(start), to: Math.ceil(start + width) });
}

let finer;
function setView(view) {
  state.view = view;
  remember();
  tellChoices();
  draw();
  clearTimeout(finer);
  finer = setTimeout(refine, 150);
}

// Asks for more points of the rows that are shown than the whole curve has there.
async function refine() {
  const [view, now] = [state.view, loading];
  if (!view) return;
  await each(async (id, panel) => {
    const found = await curves(id, panel, view, Store.POINTS);
    if (view === state.view && now === loading) store.putFiner(id, panel, view, found);
  });
  draw();
}

function pause() {
  state.paused = !state.paused;
  state.missed = 0;
  tellChoices();
  if (!state.paused) load();
}

async function stop(id) {
  try {
    await send("/api/stop", { id });
  } catch (error) {
    notify(error.message);
  }
}

// ---- loading and news

const each = (work) => Promise.all(shownRuns().flatMap(({ id, details }) => panels().filter((panel) => has(details, panel)).map((panel) => work(id, panel))));

async function open() {
  const mine = ++loading;
  listRuns();
  let missed = false;
  const found = await Promise.all(state.selected.map(async (id) => {
    try {
      return [id, await ask(`/api/run?${query([["id", id]])}`)];
    } catch (error) {
      if (error instanceof Refusal) return [id, null]; // there is no such run
      missed = true;
      return [id, state.details.get(id) ?? null];
    }
  }));
  if (mine !== loading) return;
  if (missed) setTimeout(open, 2_000);
  state.details = new Map(found.filter(([, details]) => details));
  const shared = union("forgettings").filter((name) => shownRuns().every(({ details }) => details.forgettings.includes(name)));
  if (shared.length && !shared.includes(state.forgetting)) state.forgetting = shared[0]; // what all runs can be compared by
  await load();
}

async function load() {
  const mine = ++loading;
  choose();
  remember();
  arrangeCharts();
  tellChoices();
  try {
    await each(async (id, panel) => {
      const found = await curves(id, panel, null, Store.POINTS);
      if (mine === loading) store.put(id, panel, found);
    });
  } catch (error) {
    notify(error.message);
  }
  if (mine !== loading) return;
  byId("controls").hidden = !shownRuns().length;
  subscribe();
  draw();
  if (state.view) refine();
  shownRuns().filter(({ details }) => details.verdicts === null).forEach(({ id, details }) => judge(id, details));
}

// The tests of a finished run take a while, so that its curves do not wait for them.
async function judge(id, details) {
  details.verdicts = [];
  try {
    details.verdicts = await ask(`/api/verdicts?${query([["id", id]])}`);
  } catch (error) {
    notify(error.message);
  }
  draw();
}

function subscribe() {
  const runs = Object.fromEntries(state.selected.filter((id) => state.details.has(id)).map((id) => [id, store.place(id)]));
  live.subscribe({ runs, panels: panels() });
}

function onNews(news) {
  if (news.runs) {
    state.runs = news.runs;
    listRuns();
    if (state.awaited && news.runs.some((run) => run.id === state.awaited)) {
      const id = state.awaited;
      state.awaited = null;
      select([id]);
    } else if (ready && !state.selected.length && news.runs.length) select([news.runs[0].id]);
  }
  for (const [id, reason] of Object.entries(news.failed ?? {})) {
    if (state.awaited === id) state.awaited = null;
    notify(`The run ${id} could not be done: ${reason}`);
  }
  if (!news.watched) return;
  let again = false;
  for (const [id, told] of Object.entries(news.watched)) again = take(id, told) || again;
  if (state.paused) tellChoices();
  else if (again) open();
  else draw();
}

// Takes the news of a run; says whether it must be read again as a whole.
function take(id, told) {
  const details = state.details.get(id);
  if (!details) return false;
  if (told.rows) state.missed += told.rows.length;
  if (state.paused) return false;
  if (told.status) {
    details.pace = paceOf(details, told.status);
    Object.assign(details, told.status);
  }
  if (told.alarms) details.alarms = told.alarms;
  if (told.more_alarms) details.alarms = [...(details.alarms ?? []), ...told.more_alarms];
  const full = told.rows && store.append(id, panels(), told);
  return Boolean(told.again || told.saved || told.gone || full);
}

// Rows a second over the last news, smoothed.
function paceOf(details, status) {
  const seconds = status.updated - details.updated;
  if (!(seconds > 0) || !(status.n_rows >= details.n_rows)) return details.pace ?? null;
  const now = (status.n_rows - details.n_rows) / seconds;
  return details.pace ? 0.7 * details.pace + 0.3 * now : now;
}

let quiet;
function notify(text) {
  byId("link").textContent = text;
  byId("link").className = "bad";
  clearTimeout(quiet);
  quiet = setTimeout(() => onLink(true), 8_000);
}

let wasLost = false;
function onLink(up) {
  byId("link").textContent = up ? "live" : "The server is away; the page goes on when it is back.";
  byId("link").className = up ? "good" : "bad";
  if (up && wasLost && !state.paused) open();
  wasLost = !up;
}

function theme(next) {
  if (next) localStorage.setItem("theme", next);
  const kept = localStorage.getItem("theme");
  if (kept) document.documentElement.dataset.theme = kept;
  forgetColours();
  for (const chart of charts.values()) chart.redraw();
}

recall();
theme();
const live = new Live({ onNews, onLink });
const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", () => theme());
byId("theme").addEventListener("click", () => theme((document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark" ? "light" : "dark"));
byId("find").addEventListener("input", listRuns);
byId("new").addEventListener("click", () => openForm((id) => { state.awaited = id; }));
document.addEventListener("visibilitychange", draw);
addEventListener("hashchange", () => { recall(); open(); });

let first = null;
while (!first) {
  try {
    first = await ask("/api/runs");
  } catch (error) {
    await new Promise((wake) => { setTimeout(wake, 1_000); });
  }
}
state.runs = first.runs;
byId("folder").textContent = first.folder;
byId("new").hidden = !first.can_start;
state.canStart = first.can_start;
if (!state.selected.length && state.runs.length) state.selected = [state.runs[0].id];
ready = true;
await open();
