"""Alarms of drift detectors: marks on curves, and scores against the known drifts."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import isfinite

import numpy as np

from streamgauge._format.numbers import MISSING
from streamgauge._format.text import count
from streamgauge.drift import AlarmScore, score_results
from streamgauge.drift.score import list_detectors
from streamgauge.records import Alarm, RunData
from streamgauge.reports.model import Cell, Grid

__all__ = [
    "add_baselines",
    "build_alarms_grid",
    "format_score",
    "list_alarm_marks",
    "list_score_columns",
    "score_alarms_by_name",
    "tabulate_scores",
]

MAX_MARKS = 2_000
"""The number of distinct positions along a curve: more than a screen has columns."""

COLUMNS = ("alarms", "detected", "mean delay", "median delay", "false", "repeated", "precision", "recall", "F1")


def list_alarm_marks(results: RunData) -> list[list[int]]:
    """Return the marks on curves: row, index of the learner, and 2 for a drift or 1 for a warning.

    Alarms at the same position of the screen share a mark.

    Examples
    --------
    >>> from streamgauge.records import Alarm
    >>> import numpy as np
    >>> alarms = (Alarm(100, "a", 0, "DDM"), Alarm(101, "a", 1, "DDM"), Alarm(9000, "a", 0, "DDM", "warning"))
    >>> grid = np.ones((1, 1, 1, 1, 1))
    >>> run = RunData(np.array([9999]), grid, ("a",), ("L",), ("m",), (), 9999, complete=True, alarms=alarms)
    >>> list_alarm_marks(run)
    [[100, 0, 2], [9000, 0, 1]]
    """
    width = max(1, results.n_rows // MAX_MARKS)
    marks: dict[tuple[int, str, str], list[int]] = {}
    for alarm in results.alarms:
        position = (alarm.row // width, alarm.learner, alarm.kind)
        kind = 2 if alarm.kind == "drift" else 1
        marks.setdefault(position, [alarm.row, results.learners.index(alarm.learner), kind])
    return list(marks.values())


def score_alarms_by_name(results: RunData) -> dict[str, AlarmScore]:
    """Return the scores of alarms by the name of detector, learner and fold, followed by those of the baselines.

    Examples
    --------
    >>> score_alarms_by_name(RunData.from_readings((), n_rows=100))
    {}
    """
    if not results.n_rows:
        return {}
    folded = results.n_folds > 1
    scores = {
        f"{detector} on {learner}" + (f", fold {fold}" if folded else ""): score
        for (learner, detector, fold), score in score_results(results).items()
    }
    return add_baselines(scores) if results.drifts else scores


def add_baselines(scores: Mapping[str, AlarmScore]) -> dict[str, AlarmScore]:
    """Return the scores followed by those of baseline detectors, which ignore the data.

    Examples
    --------
    >>> from streamgauge.drift import score_alarms
    >>> list(add_baselines({"DDM": score_alarms([5], [3], n_rows=10)}))
    ['DDM', 'always', 'never', '1 random alarm']
    """
    baselines: dict[str, AlarmScore] = {}
    for score in scores.values():
        for name, baseline in score.baselines.items():
            if name == "random" and not score.n_alarms:
                continue
            title = name if name != "random" else count(score.n_alarms, "random alarm")
            baselines.setdefault(title, baseline)
    return {**scores, **baselines}


def tabulate_scores(scores: Mapping[str, AlarmScore], note: str = "") -> Grid:
    """Return a table of alarm scores.

    Examples
    --------
    >>> tabulate_scores({}).columns
    ('detector', 'alarms')
    """
    columns = list_score_columns(scores)
    rows = tuple((name, tuple(map(Cell, format_score(score)[: len(columns)]))) for name, score in scores.items())
    return Grid("Alarms", ("detector", *columns), rows, note)


def build_alarms_grid(results: RunData) -> Grid | None:
    """Return the table of alarms; None without detectors.

    Examples
    --------
    >>> build_alarms_grid(RunData.from_readings((), n_rows=100)) is None
    True
    """
    if not results.drifts:
        return _count_alarms(results)
    scores = score_alarms_by_name(results)
    if not scores:
        return None
    drifts = count(len(results.drifts), "true drift")
    note = (
        f"Scored against {drifts}: the first alarm between a drift and the midpoint to the next one detects it, further"
        " alarms there are repeated, all others are false. The last rows are baselines that ignore the data."
    )
    return tabulate_scores(scores, note)


def _count_alarms(results: RunData) -> Grid | None:
    """Return how many alarms each detector raised for each learner, and where, if the true drifts are unknown."""
    found: dict[tuple[str, str], list[Alarm]] = {
        (learner, detector): [] for learner, detector in product(results.learners, list_detectors(results))
    }
    for alarm in results.alarms:
        if alarm.kind == "drift" and (alarm.learner, alarm.detector) in found:
            found[alarm.learner, alarm.detector].append(alarm)
    if not (found and results.n_rows):
        return None
    rows = []
    for (learner, detector), alarms in found.items():
        numbers = np.bincount([alarm.fold for alarm in alarms], minlength=results.n_folds)
        least, most = int(numbers.min()), int(numbers.max())
        ends = _format_ends([alarm.row for alarm in alarms])
        cells = (f"{least:,}" if least == most else f"{least:,} to {most:,}", *ends)
        rows.append((f"{detector} on {learner}", tuple(map(Cell, cells))))
    columns = ("detector", "alarms a fold" if results.n_folds > 1 else "alarms", "first, row", "last, row")
    note = "The true drifts of the stream are unknown, so the alarms cannot be scored."
    return Grid("Alarms", columns, tuple(rows), note)


def _format_ends(rows: Sequence[int]) -> tuple[str, str]:
    return (f"{min(rows):,}", f"{max(rows):,}") if rows else (MISSING, MISSING)


def list_score_columns(scores: Mapping[str, AlarmScore]) -> Sequence[str]:
    """Return the headings of scores; without a known drift alarms can only be counted.

    Examples
    --------
    >>> list_score_columns({})
    ('alarms',)
    """
    return COLUMNS if any(score.n_drifts for score in scores.values()) else COLUMNS[:1]


def format_score(score: AlarmScore) -> Sequence[str]:
    """Return the cells of a score.

    Examples
    --------
    >>> from streamgauge.drift import score_alarms
    >>> format_score(score_alarms([5], [3], n_rows=10))[:2]
    ['1', '1 of 1']
    """
    detected = f"{score.n_detected:,} of {score.n_drifts:,}"
    delays = (_format_number(score.mean_delay, ",.0f"), _format_number(score.median_delay, ",.0f"))
    rates = (_format_number(rate, ".3f") for rate in (score.precision, score.recall, score.f1))
    return [f"{score.n_alarms:,}", detected, *delays, f"{score.n_false:,}", f"{score.n_repeated:,}", *rates]


def _format_number(value: float, spec: str) -> str:
    return format(value, spec) if isfinite(value) else MISSING
