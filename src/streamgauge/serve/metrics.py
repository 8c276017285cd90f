"""Metrics of the running evaluations in the text format of Prometheus."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from numbers import Real

from streamgauge._engine.journal import JournalReader
from streamgauge._format.metrics_text import TYPE, Sample, format_samples
from streamgauge.serve.curve_sources import MALFORMED
from streamgauge.serve.run_folders import RunFolders

__all__ = ["TYPE", "format_metrics"]

FAMILIES = {
    "streamgauge_runs": ("gauge", "Runs in the results folder by state."),
    "streamgauge_rows_total": ("counter", "Rows of the stream that a run has read."),
    "streamgauge_run_seconds": ("gauge", "Seconds since a run started."),
    "streamgauge_measure": ("gauge", "Last reading of a measure, mean over folds."),
    "streamgauge_learner_cpu_seconds": ("gauge", "CPU time of a learner, mean over folds."),
    "streamgauge_learner_bytes": ("gauge", "Memory of a learner, mean over folds."),
    "streamgauge_alarms_total": ("counter", "Alarms of a detector."),
    "streamgauge_verdict": ("gauge", "What holds now of two learners in a measure: 1 for the current outcome."),
    "streamgauge_model_verdict": ("gauge", "What holds now of a learner and a requirement: 1 for the current outcome."),
    "streamgauge_model_value": ("gauge", "Value of the measure that a requirement limits."),
    "streamgauge_model_limit": ("gauge", "Limit of a requirement."),
    "streamgauge_failures": ("gauge", "Failed learners, over all folds."),
    "streamgauge_source_lag": ("gauge", "Events of a live source that a run has not read yet."),
    "streamgauge_source": ("gauge", "Events of a live source by outcome."),
    "streamgauge_pages": ("gauge", "Pages that are watching."),
}


def format_metrics(run_folders: RunFolders, n_pages: int = 0) -> str:
    """Return the metrics; only active runs have any, so that the number of series stays small.

    Examples
    --------
    >>> import tempfile
    >>> print(format_metrics(RunFolders(tempfile.mkdtemp())).splitlines()[-1])
    streamgauge_pages 0
    """
    return format_samples(FAMILIES, [*_collect_samples(run_folders), ("streamgauge_pages", {}, n_pages)])


def _collect_samples(run_folders: RunFolders) -> Iterator[Sample]:
    runs = run_folders.list_runs()
    states = Counter(run.summarise()["state"] for run in runs)
    for state in ("running", "complete", "cut short", "failed", "died", "unreadable"):
        yield "streamgauge_runs", {"state": state}, states[state]
    for run in runs:
        try:
            view = run.get_journal()
            if view is not None and view.state == "running":
                yield from list(_collect_run_samples(run.name, view))
        except MALFORMED:  # of one run, which hides no other
            continue


def _collect_run_samples(name: str, view: JournalReader) -> Iterator[Sample]:
    status, run = view.status(), {"run": name, "stream": str(view.run.description["stream"]["name"])}
    yield "streamgauge_rows_total", run, float(status.get("n_rows") or 0)
    yield "streamgauge_run_seconds", run, float(status.get("seconds") or 0.0)
    yield "streamgauge_failures", run, len(status.get("failures") or ())
    for outcome, number in (status.get("source") or {}).items():
        if isinstance(number, Real) and not isinstance(number, bool):
            is_lag = outcome == "lag"
            family, labels = ("streamgauge_source_lag", {}) if is_lag else ("streamgauge_source", {"of": outcome})
            yield family, {**run, **labels}, float(number)
    alarms: Counter[tuple[str, str, str]] = Counter()
    for event in view.events()[1]:
        alarms[event["learner"], event["detector"], event["kind"]] += event["n"]
    for (learner, detector, kind), n in alarms.items():
        yield "streamgauge_alarms_total", {**run, "learner": learner, "detector": detector, "kind": kind}, n
    for verdict in status.get("verdicts") or ():
        names = ("first", "second", "measure", "outcome")
        yield "streamgauge_verdict", {**run, **{name: verdict[name] for name in names}}, 1
    for verdict in status.get("model_verdicts") or ():
        labels = {**run, **{name: verdict[name] for name in ("learner", "requirement")}}
        yield "streamgauge_model_verdict", {**labels, "outcome": verdict["outcome"]}, 1
        value = verdict["value"]
        yield "streamgauge_model_value", {**labels, "measure": verdict["measure"]}, math.nan if value is None else value
        yield "streamgauge_model_limit", {**labels, "measure": verdict["measure"]}, verdict["limit"]
    yield from _collect_readings(run, view)


def _collect_readings(run: Mapping[str, str], view: JournalReader) -> Iterator[Sample]:
    layout, last = view.layout, view.records()[1][-1:]
    if not len(last):
        return
    for index, learner in enumerate(layout.learners):
        labels = {**run, "learner": learner}
        for forgetting in layout.forgettings:
            for measure in layout.measures:
                value = layout.curve(last, measure, forgetting)[0][0, index]
                yield "streamgauge_measure", {**labels, "measure": measure, "forgetting": forgetting}, float(value)
        if layout.with_costs:
            yield "streamgauge_learner_cpu_seconds", labels, float(layout.cost(last, "cpu_seconds")[0, index])
            yield "streamgauge_learner_bytes", labels, float(layout.cost(last, "n_bytes")[0, index])
