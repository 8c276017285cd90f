"""Learners in the order of their values in each tested measure, with intervals and the group of the best."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np

from streamgauge._format.numbers import (
    MISSING,
    RATE,
    format_difference,
    format_p_value,
    format_value,
    label_measure,
    to_difference_unit,
)
from streamgauge._format.text import describe_forgetting, join_words
from streamgauge.errors import StreamgaugeError
from streamgauge.records import RunData
from streamgauge.reports.findings import group_by_test, label_p
from streamgauge.reports.model import Cell, Grid, drop_empty_columns
from streamgauge.significance import BestGroup, Comparison, best_group
from streamgauge.significance.compare import LANDMARK, choose_measure, compute_over_rows, find_interval

__all__ = ["build_leading_grids", "find_rare_class", "find_value", "format_ends", "title_ranked"]

RARE = 0.2
"""A class is rare if it has less than this share of the rows, and less than half of an equal share."""

RARE_MEASURES = ("kappa_m", "balanced_accuracy", "recall[{}]")
"""What is shown beside the measures of a run with a rare class, since the accuracy hides it."""


def build_leading_grids(results: RunData, comparisons: Sequence[Comparison] = ()) -> list[Grid]:
    """Return the tables that follow the headline on every surface: ranked learners, and what a rare class hides.

    Examples
    --------
    >>> from streamgauge import SEA, compare, evaluate
    >>> results = evaluate(SEA(n_rows=5000), {"majority": "MajorityClass", "bayes": "NaiveBayes"})
    >>> (grid,) = build_leading_grids(results, [compare(results)])
    >>> grid.title, [name for name, _ in grid.rows]
    ('Ranked by accuracy over all rows', ['bayes', 'majority'])
    """
    groups = [(best_group(tests), tests) for tests in group_by_test(comparisons)]
    grids = [_build_ranked_grid(results, group, tests) for group, tests in groups]
    if not grids and len(results.learners) > 1 and results.values.size:
        grids = _build_untested_grids(results)
    return [*grids, *_build_rare_grids(results)]


def find_value(
    results: RunData, learner: str, measure: str, forgetting: str = LANDMARK, *, alpha: float = 0.05
) -> tuple[float | None, tuple[float, float] | None]:
    """Return the value of a learner over all rows with its interval, or its last value under another forgetting.

    Examples
    --------
    >>> from streamgauge import SEA, evaluate
    >>> results = evaluate(SEA(n_rows=2000), ["NaiveBayes", "NoChange"])
    >>> value, (low, high) = find_value(results, "NaiveBayes", "accuracy")
    >>> low < value < high
    True
    """
    is_read = measure in results.measures and forgetting in results.forgettings
    value = results.final(learner, measure, forgetting).mean if is_read else None
    ends = None
    if forgetting == LANDMARK:
        with suppress(StreamgaugeError):  # too few rows or folds: the value alone
            ends = find_interval(results, learner, measure, alpha=alpha)
    if value is None and ends is not None:
        value = (ends[0] + ends[1]) / 2
    if ends is not None and results.unit(measure) == RATE and value is not None and value >= 0.0:
        ends = max(ends[0], 0.0), min(ends[1], 1.0)
    return value, ends


def title_ranked(measure: str, forgetting: str) -> str:
    """Return the title of a table of ranked learners.

    Examples
    --------
    >>> title_ranked("accuracy", "Landmark()")
    'Ranked by accuracy over all rows'
    """
    return f"Ranked by {measure} {describe_forgetting(forgetting)}"


def format_ends(ends: tuple[float, float] | None, unit: str) -> str:
    """Return an interval of values; empty if there is none.

    Examples
    --------
    >>> format_ends((0.5, 0.6), "rate"), format_ends(None, "rate")
    ('[50.00, 60.00]', '')
    """
    return "" if ends is None else f"[{', '.join(format_value(end, unit) for end in ends)}]"


def _build_ranked_grid(results: RunData, group: BestGroup, tests: Sequence[Comparison]) -> Grid:
    unit, measure = results.unit(group.measure), group.measure
    found = {
        name: find_value(results, name, measure, group.forgetting, alpha=group.alpha)
        for name in (*group.members, *group.others)
    }
    against = {
        test.second if test.first == group.best else test.first: test
        for test in tests
        if group.best in (test.first, test.second)
    }
    names = _sort(found, [group.best], greater_is_better=results.greater_is_better(measure))
    rows = []
    for name in names:
        test, leads = against.get(name), name == group.best
        cells = (
            Cell(_format_value(*found[name], unit), best=leads, equal=name in group.members[1:]),
            Cell(MISSING if test is None else _format_lead(test, group.best)),
            Cell(MISSING if test is None else format_p_value(test.deciding_p)),
        )
        rows.append((name, cells))
    level = f"{100 * (1 - group.alpha):g}%"
    lead = f"best ahead by, {to_difference_unit(unit, short=True)}"
    columns = ("learner", f"{label_measure(measure, unit)} [{level}]", lead, label_p(tests))
    deciding = next(iter(against.values()), tests[0])
    alone = f"p adjusted by {deciding.adjustment}, intervals of each pair alone" if deciding.adjustment else ""
    how = ", ".join(filter(None, (f"Tested by {deciding.title}", deciding.question, alone)))
    equal = " °: not distinguishable from it, which does not show that they are equally good."
    title = title_ranked(measure, group.forgetting)
    return drop_empty_columns(
        Grid(title, columns, tuple(rows), f"{how}. Bold: best.{equal * (len(group.members) > 1)}")
    )


def _build_untested_grids(results: RunData) -> list[Grid]:
    """Return the table of untested learners, if there are intervals, which the final results do not have."""
    chosen = choose_measure(results)
    measure = chosen if chosen in results.measures else results.measures[0]
    forgetting = LANDMARK if LANDMARK in results.forgettings else results.forgettings[0]
    unit = results.unit(measure)
    found = {name: find_value(results, name, measure, forgetting) for name in results.learners}
    if all(ends is None for _, ends in found.values()):
        return []
    best = results.best(measure, forgetting)
    rows = [
        (name, (Cell(_format_value(*found[name], unit), best=name in best),))
        for name in _sort(found, sorted(best), greater_is_better=results.greater_is_better(measure))
    ]
    columns = ("learner", f"{label_measure(measure, unit)} [95%]")
    title = title_ranked(measure, forgetting)
    return [Grid(title, columns, tuple(rows), "The differences were not tested. Bold: best.")]


def _sort(
    found: dict[str, tuple[float | None, tuple[float, float] | None]], first: Sequence[str], *, greater_is_better: bool
) -> list[str]:
    """Return the learners, best value first, those without a value last."""

    def key(name: str) -> tuple[bool, float]:
        value = found[name][0]
        is_known = value is not None and bool(np.isfinite(value))
        return not is_known, (-1.0 if greater_is_better else 1.0) * (value or 0.0) if is_known else 0.0

    return sorted(found, key=lambda name: (name not in first, *key(name)))


def _format_value(value: float | None, ends: tuple[float, float] | None, unit: str) -> str:
    return MISSING if value is None else f"{format_value(value, unit)} {format_ends(ends, unit)}".rstrip()


def _format_lead(test: Comparison, best: str) -> str:
    """Return by how much the best learner is ahead of the other, with the interval; above 0 it is better."""
    turn = 1.0 if (test.first == best) == test.greater_is_better else -1.0
    ends = sorted(turn * end for end in test.interval or ())
    interval = f"[{', '.join(format_difference(end, test.unit) for end in ends)}]" if ends else ""
    lead = None if test.difference is None else turn * test.difference
    return f"{format_difference(lead, test.unit)} {interval}".rstrip()


def find_rare_class(results: RunData) -> tuple[str, float] | None:
    """Return the rarest class and its share of the rows; None if it is not rare.

    Examples
    --------
    >>> from streamgauge import SEA, evaluate
    >>> find_rare_class(evaluate(SEA(n_rows=2000), "NaiveBayes")) is None
    True
    """
    counts = results.labels
    if counts is None or not len(counts.rows) or not counts.by_class[-1].sum():
        return None
    shares = counts.by_class[-1] / counts.by_class[-1].sum()
    rarest = int(shares.argmin())
    if not 0.0 < shares[rarest] < min(RARE, 0.5 / len(shares)):
        return None
    return counts.classes[rarest], float(shares[rarest])


def _build_rare_grids(results: RunData) -> Iterator[Grid]:
    """Yield what the accuracy hides if a class is rare: measures over all rows, from counts that every run keeps."""
    rare = find_rare_class(results)
    if rare is None:
        return
    label, share = rare
    read = results.measures if LANDMARK in results.forgettings else ()
    names = [name for name in (text.format(label) for text in RARE_MEASURES) if name not in read]
    values = {}
    for name in names:
        with suppress(StreamgaugeError):  # the results keep no counts of rows, or not by class
            values[name] = compute_over_rows(results, name)
    if values:
        rows = tuple(
            (learner, tuple(Cell(format_value(float(column[index]))) for column in values.values()))
            for index, learner in enumerate(results.learners)
        )
        title = f"Rare class {label} ({100 * share:.2g}% of the rows), over all rows"
        note = f"Accuracy says little about a rare class: look at {join_words(list(values))}."
        yield Grid(title, ("learner", *(f"{name} %" for name in values)), rows, note)
