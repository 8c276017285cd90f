"""Alarms for showing: marks on the curves, and how good they are where the true drifts are known."""

from collections.abc import Mapping, Sequence
from math import isfinite

from rich import box
from rich.table import Table
from rich.text import Text

from streamgauge._format.markup import Markup, tag
from streamgauge._format.numbers import MISSING
from streamgauge._format.text import count, make_printable
from streamgauge.drift import AlarmScore, score_results
from streamgauge.records import RunData
from streamgauge.reports.sections import scrolled, section

__all__ = ["alarm_marks", "alarms_section", "score_cells", "score_columns", "score_table", "scores_of"]

MOST_MARKS = 2_000
"""How many places along a curve can be marked: more than a screen has columns."""

COLUMNS = ("alarms", "found", "mean delay", "median delay", "false", "again", "precision", "recall", "F1")
"""What is told of alarms."""


def alarm_marks(results: RunData) -> list[list[int]]:
    """Give what is marked on curves: row, position of the learner, and 2 for a drift or 1 for a warning.

    Alarms that would fall on the same place of a screen are one mark.

    Examples
    --------
    >>> from streamgauge.records import Alarm
    >>> import numpy as np
    >>> alarms = (Alarm(100, "a", 0, "DDM"), Alarm(101, "a", 1, "DDM"), Alarm(9000, "a", 0, "DDM", "warning"))
    >>> grid = np.ones((1, 1, 1, 1, 1))
    >>> alarm_marks(RunData(np.array([9999]), grid, ("a",), ("L",), ("m",), (), 9999, complete=True, alarms=alarms))
    [[100, 0, 2], [9000, 0, 1]]
    """
    width = max(1, results.n_rows // MOST_MARKS)
    marks: dict[tuple[int, str, str], list[int]] = {}
    for alarm in results.alarms:
        place = (alarm.row // width, alarm.learner, alarm.kind)
        kind = 2 if alarm.kind == "drift" else 1
        marks.setdefault(place, [alarm.row, results.learners.index(alarm.learner), kind])
    return list(marks.values())


def scores_of(results: RunData) -> dict[str, AlarmScore]:
    """Give the scores of alarms by the name of learner, detector and fold, and of the baselines beside them.

    Examples
    --------
    >>> scores_of(Results.from_readings((), n_rows=100))
    {}
    """
    if not results.n_rows:
        return {}
    found = score_results(results)
    folded = results.n_folds > 1
    named = {
        f"{detector} on {learner}" + (f", fold {fold}" if folded else ""): score
        for (learner, detector, fold), score in found.items()
    }
    return with_baselines(named) if results.drifts else named


def with_baselines(scores: Mapping[str, AlarmScore]) -> dict[str, AlarmScore]:
    """Put beside scores those of detectors that look at nothing.

    Examples
    --------
    >>> from streamgauge.drift import score_alarms
    >>> list(with_baselines({"DDM": score_alarms([5], [3], n_rows=10)}))
    ['DDM', 'always', 'never', '1 random alarm']
    """
    beside: dict[str, AlarmScore] = {}
    for score in scores.values():
        for name, baseline in score.baselines.items():
            if name == "random" and not score.n_alarms:
                continue
            title = name if name != "random" else count(score.n_alarms, "random alarm")
            beside.setdefault(title, baseline)
    return {**scores, **beside}


def score_table(scores: Mapping[str, AlarmScore]) -> Table:
    """Tabulate scores of alarms for the terminal.

    Examples
    --------
    >>> score_table({}).row_count
    0
    """
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=0)
    table.add_column("detector", overflow="fold", min_width=10)
    for column in score_columns(scores):
        table.add_column(column, justify="right")
    for name, score in scores.items():
        table.add_row(Text(make_printable(name)), *score_cells(score)[: len(score_columns(scores))])
    return table


def alarms_section(results: RunData) -> Markup:
    """Make the section of the page on alarms; nothing where no detector watched.

    Examples
    --------
    >>> alarms_section(Results.from_readings((), n_rows=100))
    ''
    """
    scores = scores_of(results)
    if not scores:
        return Markup()
    columns = score_columns(scores)
    head = tag("tr", tag("th", "detector", scope="col"), *(tag("th", column, scope="col") for column in columns))
    rows = (
        tag(
            "tr",
            tag("th", make_printable(name), scope="row"),
            *(tag("td", cell) for cell in score_cells(score)[: len(columns)]),
        )
        for name, score in scores.items()
    )
    note = (
        f"Against {count(len(results.drifts), 'true drift')}: the first alarm from a drift to half of the way to the "
        "next finds it, more there say it again, all others are false. The last rows are of detectors that look "
        "at nothing: one that is no better has found nothing."
        if results.drifts
        else "The stream tells of no drift, so nobody knows which alarms are right."
    )
    return section("Alarms", scrolled(tag("thead", head), rows), tag("p", note, class_="note"))


def score_columns(scores: Mapping[str, AlarmScore]) -> Sequence[str]:
    """Name what can be told: without a known drift no alarm is right or wrong.

    Examples
    --------
    >>> score_columns({})
    ('alarms',)
    """
    return COLUMNS if any(score.n_drifts for score in scores.values()) else COLUMNS[:1]


def score_cells(score: AlarmScore) -> Sequence[str]:
    """Tell how good alarms are.

    Examples
    --------
    >>> from streamgauge.drift import score_alarms
    >>> score_cells(score_alarms([5], [3], n_rows=10))[:2]
    ['1', '1 of 1']
    """
    detected = f"{score.n_detected:,} of {score.n_drifts:,}"
    delays = (_number(score.mean_delay, ",.0f"), _number(score.median_delay, ",.0f"))
    rates = (_number(rate, ".3f") for rate in (score.precision, score.recall, score.f1))
    return [f"{score.n_alarms:,}", detected, *delays, f"{score.n_false:,}", f"{score.n_repeated:,}", *rates]


def _number(value: float, form: str) -> str:
    return format(value, form) if isfinite(value) else MISSING
