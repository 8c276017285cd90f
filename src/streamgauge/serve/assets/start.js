// The form that starts a run.
import { ask, send } from "./api.js";
import { byId, make } from "./dom.js";

const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

const field = (label, input, hint) => make("label", {}, make("span", {}, label), input, hint ? make("small", {}, hint) : null);

function suggestions(id, names) {
  return make("datalist", { id }, names.map((name) => make("option", { value: name })));
}

export async function openForm(onStarted) {
  const dialog = byId("start");
  let choices;
  try {
    choices = await ask("/api/choices");
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
  const name = make("input", { name: "name", placeholder: "made up", pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*" });
  const error = make("p", { class: "banner", role: "alert", hidden: true });
  const form = make("form", { method: "dialog" },
    make("h2", { id: "start-title" }, "New run"),
    make("div", { class: "fields" },
      field("Stream", stream, "a generator, a real stream by its name, or a file in the results folder"),
      field("Rows", rows, "needed where the stream never ends"),
      field("Learners", learners, `one a line, such as ${choices.learners.slice(0, 3).join(", ")}`),
      field("Scheme", scheme), field("Forgetting", forgettings), field("Measures", measures), field("Drift detector", detectors), field("Name", name)),
    error,
    make("div", { class: "actions" },
      make("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), make("button", { type: "submit", class: "strong" }, "Start")),
    suggestions("streams", choices.streams), suggestions("schemes", choices.schemes), suggestions("forgettings", choices.forgettings), suggestions("detectors", choices.detectors));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const wanted = {
      stream: stream.value, learners: lines(learners.value), scheme: scheme.value, forgettings: lines(forgettings.value),
      measures: [...measures.selectedOptions].map((option) => option.value), detectors: lines(detectors.value), name: name.value,
      rows: rows.value ? Number(rows.value) : null,
    };
    try {
      const started = await send("/api/start", wanted);
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
