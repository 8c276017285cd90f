"""What a gauge exports to monitoring systems."""

from collections.abc import Iterator, Mapping, Sequence

from streamgauge._format.metrics_text import Sample, format_samples
from streamgauge.gauge.reading import GaugeReading
from streamgauge.gauge.waiting import JoinCounts
from streamgauge.records import ModelVerdict, Verdict

__all__ = ["format_metrics"]

FAMILIES = {
    "streamgauge_rows_total": ("counter", "Rows that a gauge has scored."),
    "streamgauge_measure": ("gauge", "Current value of a measure."),
    "streamgauge_alarms_total": ("counter", "Alarms of a detector."),
    "streamgauge_verdict": ("gauge", "What holds now of two models in a measure: 1 for the current outcome."),
    "streamgauge_model_verdict": ("gauge", "What holds now of a model and a budget: 1 for the current outcome."),
    "streamgauge_model_value": ("gauge", "Value of the measure that a budget limits."),
    "streamgauge_model_limit": ("gauge", "Limit of a budget."),
    "streamgauge_predictions": ("gauge", "Predictions and labels that came with a key, by what happened to them."),
}


def format_metrics(
    name: str,
    reading: GaugeReading,
    n_alarms: Mapping[tuple[str, str, str], int],
    verdicts: Sequence[Verdict | ModelVerdict],
    counts: JoinCounts,
) -> str:
    """Return the metrics of a gauge in the text format of Prometheus."""
    return format_samples(FAMILIES, _collect(name, reading, n_alarms, verdicts, counts))


def _collect(
    name: str,
    reading: GaugeReading,
    n_alarms: Mapping[tuple[str, str, str], int],
    verdicts: Sequence[Verdict | ModelVerdict],
    counts: JoinCounts,
) -> Iterator[Sample]:
    own = {"gauge": name}
    yield "streamgauge_rows_total", own, reading.row
    for one in reading:
        labels = {**own, "model": one.learner, "measure": one.measure, "forgetting": one.forgetting}
        yield "streamgauge_measure", labels, one.value
    for (model, detector, kind), n in n_alarms.items():
        yield "streamgauge_alarms_total", {**own, "model": model, "detector": detector, "kind": kind}, n
    for verdict in verdicts:
        if isinstance(verdict, Verdict):
            labels = {**own, "first": verdict.first, "second": verdict.second, "measure": verdict.measure}
            yield "streamgauge_verdict", {**labels, "outcome": verdict.outcome}, 1
            continue
        labels = {**own, "model": verdict.learner, "requirement": verdict.requirement}
        yield "streamgauge_model_verdict", {**labels, "outcome": verdict.outcome}, 1
        yield "streamgauge_model_value", {**labels, "measure": verdict.measure}, verdict.value
        yield "streamgauge_model_limit", {**labels, "measure": verdict.measure}, verdict.limit
    for outcome, n in vars(counts).items():
        yield "streamgauge_predictions", {**own, "of": outcome}, n
