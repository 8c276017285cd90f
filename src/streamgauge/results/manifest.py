"""The manifest of saved results, typed: what ``manifest.json`` holds, read and written in one place."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self, TypedDict, cast

import numpy as np

from streamgauge.records import (
    Alarm,
    BlockLayout,
    Differences,
    EarlierVerdict,
    Failure,
    Feedback,
    LabelEstimate,
    ModelVerdict,
    PairSums,
    Resources,
    Verdict,
)
from streamgauge.records.blocks import BASELINES, make_layout
from streamgauge.records.manifest import RunManifest
from streamgauge.records.tally import STATISTICS
from streamgauge.results.results import Results
from streamgauge.results.tables import COST_TOTALS

__all__ = ["DifferenceFacts", "ResourceFacts", "ResultsManifest", "build_manifest"]


class DifferenceFacts(TypedDict):
    """How the differences of pairs were tested while the run went on; the differences are in a table."""

    pairs: list[list[str]]
    alpha: float
    test: str
    measures: list[str]


class ResourceFacts(TypedDict):
    """The costs of whole runs, arrays of learners and folds; those at readings are in a table."""

    n_predicted: list[Any]
    n_learnt: list[Any]
    latency: list[Any]
    n_timed: list[Any]
    n_late: list[Any]
    percentiles: list[float]
    peak_rss: int | None
    cpu_clock: str


@dataclass(frozen=True)
class ResultsManifest(RunManifest):
    """The manifest of a run that has ended, and what was found that is no table.

    Parameters
    ----------
    complete, n_rows, n_folds
        As in `Results`.
    alarms, pairs, verdicts, model_verdicts, label_estimates, failures, classes, feedback
        As in `Results`.
    differences, blocks, resources
        What describes the tables of these; None if the run has none.
    files
        The checksums of the files beside it; None before they are written.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> manifest = ResultsManifest.of(evaluate(SEA(n_rows=100), NoChange()))
    >>> manifest.complete, ResultsManifest.from_json(manifest.to_json()).to_json() == manifest.to_json()
    (True, True)
    """

    complete: bool
    n_rows: int
    n_folds: int
    alarms: tuple[Alarm, ...]
    pairs: tuple[PairSums, ...]
    verdicts: tuple[Verdict, ...]
    model_verdicts: tuple[ModelVerdict, ...]
    label_estimates: tuple[LabelEstimate, ...]
    failures: tuple[Failure, ...]
    classes: tuple[str, ...] | None
    differences: DifferenceFacts | None
    blocks: BlockLayout | None
    feedback: Feedback | None
    resources: ResourceFacts | None
    files: Mapping[str, str] | None = None

    @classmethod
    def of(cls, results: Results) -> Self:
        """Return the manifest of results on this machine."""
        return cls.here(
            results.learners,
            results.forgettings,
            results.measures,
            results.description,
            complete=results.complete,
            n_rows=results.n_rows,
            n_folds=results.n_folds,
            alarms=results.alarms,
            pairs=results.pairs,
            verdicts=results.verdicts,
            model_verdicts=results.model_verdicts,
            label_estimates=results.label_estimates,
            failures=results.failures,
            classes=None if results.classes is None else tuple(results.classes),
            differences=_describe_differences(results.differences),
            blocks=None if results.blocks is None else results.blocks.layout,
            feedback=results.feedback,
            resources=_summarise_resources(results.resources),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the manifest as JSON values; NaN, which JSON lacks, becomes null."""
        facts = super().to_json()
        for name in _RECORDS:
            facts[name] = [_to_json(asdict(record)) for record in facts[name]]
        for name in ("blocks", "feedback"):
            facts[name] = None if facts[name] is None else _to_json(asdict(facts[name]))
        if self.files is None:
            del facts["files"]
        return facts

    @classmethod
    def _parse(cls, facts: Mapping[str, Any]) -> dict[str, Any]:
        parsed = {field.name: facts[field.name] for field in fields(cls) if field.name != "files"}
        parsed |= super()._parse(facts)
        for name, parse in _RECORDS.items():
            parsed[name] = tuple(map(parse, facts[name]))
        parsed["classes"] = None if facts["classes"] is None else tuple(map(str, facts["classes"]))
        parsed["blocks"] = _parse_layout(facts["blocks"])
        parsed["feedback"] = _parse_feedback(facts["feedback"])
        return {**parsed, "files": facts.get("files")}


def build_manifest(results: Results) -> dict[str, Any]:
    """Return what was run, where and with which versions, so that it can be repeated.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> build_manifest(evaluate(SEA(n_rows=100), NoChange()))["complete"]
    True
    """
    return ResultsManifest.of(results).to_json()


def _describe_differences(differences: Differences | None) -> DifferenceFacts | None:
    if differences is None:
        return None
    return {
        "pairs": [list(pair) for pair in differences.pairs],
        "alpha": differences.alpha,
        "test": differences.test,
        "measures": [column[2] for column in differences.columns],
    }


def _summarise_resources(resources: Resources | None) -> ResourceFacts | None:
    if resources is None:
        return None
    facts = {
        **_to_json({name: getattr(resources, name) for name in COST_TOTALS}),
        "percentiles": list(resources.percentiles),
        "peak_rss": resources.peak_rss,
        "cpu_clock": resources.cpu_clock,
    }
    return cast("ResourceFacts", facts)


def _to_json(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts with arrays as lists; NaN, which JSON lacks, becomes null."""
    return {
        name: np.where(np.isnan(value), None, value).tolist()  # type: ignore[call-overload]
        if isinstance(value, np.ndarray)
        else (None if isinstance(value, float) and math.isnan(value) else value)
        for name, value in facts.items()
    }


def _parse_layout(facts: dict[str, Any] | None) -> BlockLayout | None:
    if facts is None:
        return None
    known = {*STATISTICS, BASELINES}
    kept = (name for name in facts["statistics"] if name in known or not facts["n_classes"])
    return make_layout(facts["n_classes"], tuple(kept))


def _parse_feedback(facts: dict[str, Any] | None) -> Feedback | None:
    return None if facts is None else Feedback(**{**facts, "n_scored": np.asarray(facts["n_scored"])})


def _parse_pair(facts: dict[str, Any]) -> PairSums:
    columns: dict[str, Any] = {name: np.asarray(v) if isinstance(v, list) else v for name, v in facts.items()}
    return PairSums(**columns)


def _parse_estimate(facts: dict[str, Any]) -> LabelEstimate:
    ends = ("labelled_interval", "powered_interval")
    parsed = {name: None if facts[name] is None else tuple(facts[name]) for name in ends}
    numbers = ("labelled", "powered", "unlabelled", "width_ratio", "best_ratio")
    unknown = {name: math.nan for name in numbers if facts[name] is None}
    return LabelEstimate(**{**facts, **parsed, **unknown})


def _parse_verdict(facts: dict[str, Any]) -> dict[str, Any]:
    interval, earlier = facts["interval"], facts.get("earlier")
    parsed = {
        "interval": None if interval is None else tuple(interval),
        "earlier": None if earlier is None else EarlierVerdict(**earlier),
    }
    unknown = {name: math.nan for name in ("difference", "value", "limit") if facts.get(name, 0.0) is None}
    return {**facts, **parsed, **unknown}


_RECORDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "alarms": lambda facts: Alarm(**facts),
    "pairs": _parse_pair,
    "verdicts": lambda facts: Verdict(**_parse_verdict(facts)),
    "model_verdicts": lambda facts: ModelVerdict(**_parse_verdict(facts)),
    "label_estimates": _parse_estimate,
    "failures": lambda facts: Failure(**facts),
}
"""The fields that are records, and how each is read."""
