// The form that starts a run: streams, learners and all other parts are picked from lists, their options filled in.
import { getJson, postJson } from "./api.js";
import { byId, make } from "./dom.js";

const FILE = "a file in this folder…";
const NONE = "none";
const EMPTY = { streams: [], learners: [], schemes: [], forgettings: [], measures: [], detectors: [], options: {} };

const splitLines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

const makeField = (label, input, hint) => make("label", {}, make("span", {}, label), input, hint ? make("small", {}, hint) : null);

const makeChoices = (texts, value) => texts.map((text) => make("option", { value: text, selected: text === value }, text));

function makeOption({ name, default: usual, required, choices }) {
  const input = choices.length
    ? make("select", { name }, makeChoices(choices, usual))
    : make("input", { name, required, placeholder: usual || (required ? "required" : NONE), autocomplete: "off" });
  const getText = () => {
    const text = input.value.trim();
    return text && text !== usual ? `${name}=${text}` : null;
  };
  return { field: makeField(name.replaceAll("_", " "), input), getText };
}

// A part of a run: its name from a list, and its options as a form.
function makePicker(label, names, options, value, extra = []) {
  let fields = [];
  const select = make("select", { "aria-label": label }, makeChoices([...extra, ...names], value));
  const path = make("input", { "aria-label": `${label}: the file`, placeholder: "rows.csv", autocomplete: "off" });
  const form = make("div", { class: "fields small" });
  const box = make("details", { class: "options" }, make("summary", {}, "Options"), form);
  const node = make("div", { class: "picker" }, select, path, box);
  const update = () => {
    const known = options[select.value] ?? [];
    fields = known.map(makeOption);
    form.replaceChildren(...fields.map(({ field }) => field));
    path.hidden = select.value !== FILE;
    path.required = select.value === FILE;
    box.hidden = !known.length;
    box.open = known.some(({ required }) => required);
  };
  select.addEventListener("change", update);
  update();
  const getText = () => {
    if (select.value === FILE) return path.value.trim();
    if (select.value === NONE) return "";
    const texts = fields.map((field) => field.getText()).filter(Boolean);
    return texts.length ? `${select.value}(${texts.join(", ")})` : select.value;
  };
  return { node, getText, select };
}

// A list of learners, each with a button that removes it.
function makeLearners(choices, values) {
  const pickers = new Set();
  const list = make("div", { class: "learners" });
  const add = (value) => {
    const picker = makePicker("Learner", choices.learners, choices.options.learners ?? {}, value);
    const row = make("div", { class: "picked" }, picker.node, make("button", { type: "button", "aria-label": "Remove this learner", onclick: () => {
      if (pickers.size < 2) return;
      pickers.delete(picker);
      row.remove();
    } }, "Remove"));
    pickers.add(picker);
    list.append(row);
    return picker;
  };
  values.forEach(add);
  const more = make("button", { type: "button", onclick: () => add(choices.learners.find((name) => ![...pickers].some(({ select }) => select.value === name))).select.focus() }, "Add a learner");
  return { node: make("fieldset", {}, make("legend", {}, "Learners"), list, more), getTexts: () => [...pickers].map((picker) => picker.getText()) };
}

const makeSet = (title, picker, hint) => make("fieldset", {}, make("legend", {}, title), picker.node, hint ? make("small", {}, hint) : null);

export async function openForm(onStarted) {
  const dialog = byId("start");
  let choices;
  try {
    choices = await getJson("/api/choices");
  } catch (error) {
    choices = EMPTY;
  }
  const pick = (label, family, value, extra) => makePicker(label, choices[family], choices.options[family] ?? {}, value, extra);
  const stream = pick("Stream", "streams", "SEA", [FILE]);
  const learners = makeLearners(choices, ["HoeffdingTree", "NaiveBayes"]);
  const scheme = pick("Scheme", "schemes", "Bootstrap");
  const forgetting = pick("Forgetting", "forgettings", "Window");
  const detector = pick("Drift detector", "detectors", NONE, [NONE]);
  const rows = make("input", { name: "rows", type: "number", min: 1, value: 1000000 });
  const measures = make("select", { name: "measures", multiple: true, size: 5 }, choices.measures.map((name) => make("option", { value: name, selected: ["accuracy", "kappa_m"].includes(name) }, name)));
  const name = make("input", { name: "name", placeholder: "generated", pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*" });
  const error = make("p", { class: "banner", role: "alert", hidden: true });
  const form = make("form", { method: "dialog" },
    make("h2", { id: "start-title" }, "New run"),
    make("div", { class: "fields" }, makeSet("Stream", stream, "a generator, a data set, or a file in the results folder"), learners.node,
      makeSet("Scheme", scheme), makeSet("Forgetting", forgetting), makeSet("Drift detector", detector),
      makeField("Rows", rows, "required for endless streams"), makeField("Measures", measures, "several with Ctrl"), makeField("Name", name)),
    error,
    make("div", { class: "actions" },
      make("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), make("button", { type: "submit", class: "strong" }, "Start")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const wanted = {
      stream: stream.getText(), learners: learners.getTexts(), scheme: scheme.getText(), forgettings: splitLines(forgetting.getText()),
      measures: [...measures.selectedOptions].map((option) => option.value), detectors: splitLines(detector.getText()), name: name.value,
      rows: rows.value ? Number(rows.value) : null,
    };
    try {
      const started = await postJson("/api/start", wanted);
      dialog.close();
      onStarted(started.id);
    } catch (failure) {
      error.textContent = failure.message;
      error.hidden = false;
      error.scrollIntoView({ block: "nearest" });
    }
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}
