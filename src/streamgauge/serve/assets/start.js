// The form that starts a run.
import { getJson, postJson } from "./api.js";
import { byId, make } from "./dom.js";

const splitLines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

const makeField = (label, input, hint) => make("label", {}, make("span", {}, label), input, hint ? make("small", {}, hint) : null);

function makeSuggestions(id, names) {
  return make("datalist", { id }, names.map((name) => make("option", { value: name })));
}

export async function openForm(onStarted) {
  const dialog = byId("start");
  let choices;
  try {
    choices = await getJson("/api/choices");
  } catch (error) {
    choices = { streams: [], learners: [], schemes: [], forgettings: [], measures: [], detectors: [] };
  }
  const stream = make("input", { name: "stream", list: "streams", required: true, value: "SEA", autocomplete: "off" });
  const rows = make("input", { name: "rows", type: "number", min: 1, value: 1000000 });
  const learners = make("textarea", { name: "learners", rows: 3, required: true }, "HoeffdingTree\nNaiveBayes");
  const scheme = make("input", { name: "scheme", list: "schemes", value: "Bootstrap(10)", autocomplete: "off" });
  const forgettings = make("input", { name: "forgettings", list: "forgettings", value: "Window(1000)", autocomplete: "off" });
  const measures = make("select", { name: "measures", multiple: true, size: 5 }, choices.measures.map((name) => make("option", { value: name, selected: ["accuracy", "kappa_m"].includes(name) }, name)));
  const detectors = make("input", { name: "detectors", list: "detectors", placeholder: "none", autocomplete: "off" });
  const name = make("input", { name: "name", placeholder: "generated", pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*" });
  const error = make("p", { class: "banner", role: "alert", hidden: true });
  const form = make("form", { method: "dialog" },
    make("h2", { id: "start-title" }, "New run"),
    make("div", { class: "fields" },
      makeField("Stream", stream, "a generator, a data set, or a file in the results folder"),
      makeField("Rows", rows, "required for endless streams"),
      makeField("Learners", learners, `one per line, such as ${choices.learners.slice(0, 3).join(", ")}`),
      makeField("Scheme", scheme), makeField("Forgetting", forgettings), makeField("Measures", measures), makeField("Drift detector", detectors), makeField("Name", name)),
    error,
    make("div", { class: "actions" },
      make("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), make("button", { type: "submit", class: "strong" }, "Start")),
    makeSuggestions("streams", choices.streams), makeSuggestions("schemes", choices.schemes), makeSuggestions("forgettings", choices.forgettings), makeSuggestions("detectors", choices.detectors));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const wanted = {
      stream: stream.value, learners: splitLines(learners.value), scheme: scheme.value, forgettings: splitLines(forgettings.value),
      measures: [...measures.selectedOptions].map((option) => option.value), detectors: splitLines(detectors.value), name: name.value,
      rows: rows.value ? Number(rows.value) : null,
    };
    try {
      const started = await postJson("/api/start", wanted);
      dialog.close();
      onStarted(started.id);
    } catch (failure) {
      error.textContent = failure.message;
      error.hidden = false;
    }
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}
