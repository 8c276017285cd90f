"""Figures of the runs that go on, in the text form of Prometheus."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from numbers import Real

from streamgauge._engine.journal import JournalView
from streamgauge.errors import StreamgaugeError
from streamgauge.serve.run_folders import Library

__all__ = ["TYPE", "metrics_text"]

TYPE = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[str, Mapping[str, str], float]

FAMILIES = {
    "streamgauge_runs": ("gauge", "Runs in the results folder by state."),
    "streamgauge_rows_total": ("counter", "Rows of the stream that a run has read."),
    "streamgauge_run_seconds": ("gauge", "Seconds since a run started."),
    "streamgauge_measure": ("gauge", "The last reading of a measure, the mean over folds."),
    "streamgauge_learner_cpu_seconds": ("gauge", "CPU time of a learner, the mean over folds."),
    "streamgauge_learner_bytes": ("gauge", "Memory of a learner, the mean over folds."),
    "streamgauge_alarms_total": ("counter", "Alarms of a detector."),
    "streamgauge_failures": ("gauge", "Learners that have failed, over folds."),
    "streamgauge_source_lag": ("gauge", "How many events a live source is ahead of a run."),
    "streamgauge_source": ("gauge", "What became of the events of a live source."),
    "streamgauge_pages": ("gauge", "Pages that watch."),
}


def metrics_text(library: Library, n_pages: int = 0) -> str:
    """Write the figures; only of runs that go on, so that their number stays small.

    Examples
    --------
    >>> import tempfile
    >>> print(metrics_text(Library(tempfile.mkdtemp())).splitlines()[-1])
    streamgauge_pages 0
    """
    samples: dict[str, list[Sample]] = {family: [] for family in FAMILIES}
    for sample in _samples(library):
        samples[sample[0]].append(sample)
    samples["streamgauge_pages"].append(("streamgauge_pages", {}, n_pages))
    lines = []
    for family, (kind, help_text) in FAMILIES.items():
        if samples[family]:
            lines += [f"# HELP {family} {help_text}", f"# TYPE {family} {kind}", *_lines(samples[family])]
    return "\n".join(lines) + "\n"


def _lines(samples: Iterable[Sample]) -> Iterator[str]:
    for family, labels, value in samples:
        written = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
        yield f"{family}{{{written}}} {_number(value)}" if written else f"{family} {_number(value)}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return "NaN" if value != value else f"{value:.10g}"  # noqa: PLR0124


def _samples(library: Library) -> Iterator[Sample]:
    runs = library.runs()
    states = Counter(run.summary()["state"] for run in runs)
    for state in ("running", "complete", "cut short", "failed", "died"):
        yield "streamgauge_runs", {"state": state}, states[state]
    for run in runs:
        try:
            view = run.journal()
            if view is not None and view.state == "running":
                yield from _samples_of(run.name, view)
        except StreamgaugeError:
            continue


def _samples_of(name: str, view: JournalView) -> Iterator[Sample]:
    status, run = view.status(), {"run": name, "stream": str(view.about.get("stream"))}
    yield "streamgauge_rows_total", run, float(status.get("n_rows") or 0)
    yield "streamgauge_run_seconds", run, float(status.get("seconds") or 0.0)
    yield "streamgauge_failures", run, len(status.get("failures") or ())
    for what, number in (status.get("source") or {}).items():
        if isinstance(number, Real) and not isinstance(number, bool):
            family, of = ("streamgauge_source_lag", {}) if what == "lag" else ("streamgauge_source", {"of": what})
            yield family, {**run, **of}, float(number)
    alarms: Counter[tuple[str, str, str]] = Counter()
    for event in view.events()[1]:
        alarms[event["learner"], event["detector"], event["kind"]] += event["n"]
    for (learner, detector, kind), n in alarms.items():
        yield "streamgauge_alarms_total", {**run, "learner": learner, "detector": detector, "kind": kind}, n
    yield from _last_readings(run, view)


def _last_readings(run: Mapping[str, str], view: JournalView) -> Iterator[Sample]:
    layout, last = view.layout, view.records()[1][-1:]
    if not len(last):
        return
    for place, learner in enumerate(layout.learners):
        of = {**run, "learner": learner}
        for forgetting in layout.forgettings:
            for measure in layout.measures:
                value = layout.curve(last, measure, forgetting)[0][0, place]
                yield "streamgauge_measure", {**of, "measure": measure, "forgetting": forgetting}, float(value)
        if layout.with_costs:
            yield "streamgauge_learner_cpu_seconds", of, float(layout.cost(last, "cpu_seconds")[0, place])
            yield "streamgauge_learner_bytes", of, float(layout.cost(last, "n_bytes")[0, place])
