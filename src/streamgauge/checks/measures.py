"""The contract of a measure."""

from copy import deepcopy
from math import isinf, isnan

import numpy as np

from streamgauge._foreign import find_task_name, list_needed_statistics
from streamgauge.measures import OverTallies
from streamgauge.protocols import Measure
from streamgauge.randomness import below, uniform
from streamgauge.records import (
    Attribute,
    NumberTally,
    NumericTarget,
    Schema,
    ScoredNumbers,
    ScoredRows,
    Tally,
    Trace,
    compute_amounts,
)
from streamgauge.tasks import Regression

__all__ = ["check_measure"]

N_TALLIES = 100


def check_measure(measure: Measure, seed: int = 1) -> None:
    """Raise an AssertionError unless a measure keeps its contract.

    No tally has a better value than a perfect one, unless the measure only describes; a value is never infinite, and
    NaN only if the docstring mentions NaN; measuring changes nothing.

    Examples
    --------
    >>> from streamgauge.measures import accuracy
    >>> check_measure(accuracy)
    """
    describes = isinstance(measure, OverTallies) and measure.describes
    if find_task_name(measure) == Regression.name:
        _check_measure_of_numbers(measure, seed, describes=describes)
        return
    for n_classes in (2, 3, 10):
        best = measure_checked(measure, perfect_tally(n_classes))
        require(not isnan(best), measure, f"is NaN for a perfect tally of {n_classes} classes")
        for number in range(N_TALLIES):
            value = measure_checked(measure, random_tally(n_classes, seed, number))
            better = value > best if measure.greater_is_better else value < best
            require(
                describes or not better, measure, f"is {value} for some tally, better than {best} for a perfect one"
            )
    for tally in corner_tallies():
        measure_checked(measure, tally)


N_ATTRIBUTES = 3


def _check_measure_of_numbers(measure: Measure, seed: int, *, describes: bool) -> None:
    """Raise unless a measure of numeric targets keeps its contract."""
    bound = measure.bind(NUMBERS) if isinstance(measure, OverTallies) else measure
    best = measure_checked(bound, number_tally(bound, seed, 0, error=0.0))
    require(not isnan(best), measure, "is NaN for a perfect tally")
    for number in range(N_TALLIES):
        value = measure_checked(bound, number_tally(bound, seed, number, error=1.0))
        better = value > best if measure.greater_is_better else value < best
        require(describes or not better, measure, f"is {value} for some tally, better than {best} for a perfect one")
    for n_rows in (0, 1):
        measure_checked(bound, number_tally(bound, seed, 0, error=0.0, n_rows=n_rows))


NUMBERS = Schema(tuple(Attribute(f"a{i}") for i in range(N_ATTRIBUTES)), target=NumericTarget())


def number_tally(measure: Measure, seed: int, number: int, *, error: float, n_rows: int = 30) -> NumberTally:
    """Return a tally of random numbers that holds what a measure needs; with an error of 0 predictions are perfect.

    Examples
    --------
    >>> from streamgauge.measures import mae
    >>> number_tally(mae, 1, 0, error=0.0).column("absolute_error")
    0.0
    """
    y, noise, mean, last, weight = uniform(seed, "numbers", number, 0, 5 * n_rows).reshape(5, n_rows)
    trace = Trace(np.arange(n_rows), y, y + error * (noise - 0.5), mean, last, weight=weight)
    statistics = [name for name in list_needed_statistics(measure) if name != "rows"]
    sums = compute_amounts(trace, statistics) @ weight
    rows = ScoredNumbers(y, trace.y_pred, weight)
    return NumberTally(float(weight.sum()), dict(zip(statistics, sums.tolist(), strict=True)), n_rows, rows)


def measure_checked(measure: Measure, tally: Tally | NumberTally) -> float:
    """Return the value of a measure for a tally, after checking it.

    Examples
    --------
    >>> from streamgauge.measures import accuracy
    >>> measure_checked(accuracy, perfect_tally(2))
    1.0
    """
    before = deepcopy(tally)
    value = measure(tally)  # type: ignore[arg-type]
    require(_are_same(before, tally), measure, "changes the tally")
    require(isinstance(value, float), measure, f"returns {value!r}, which is not a float")
    if isinf(value):  # a tally takes longer to print than to measure
        require(condition=False, measure=measure, fault=f"is {value} for {tally}")
    if isnan(value) and "NaN" not in (measure.__doc__ or ""):
        require(condition=False, measure=measure, fault=f"is NaN for {tally}, and its docstring does not say when")
    return value


def _are_same(first: Tally | NumberTally, second: Tally | NumberTally) -> bool:
    if isinstance(first, NumberTally):
        return isinstance(second, NumberTally) and first.sums == second.sums and first.total == second.total
    same: bool = np.array_equal(first.confusion, second.confusion) and np.array_equal(first.abstained, second.abstained)  # type: ignore[union-attr]
    return same


def require(condition: bool, measure: Measure, fault: str) -> None:  # noqa: FBT001
    """Raise with the fault of a measure unless a condition holds.

    Examples
    --------
    >>> from streamgauge.measures import accuracy
    >>> require(False, accuracy, "is wrong")
    Traceback (most recent call last):
    ...
    AssertionError: measure 'accuracy' is wrong
    """
    if not condition:
        msg = f"measure {measure.name!r} {fault}"
        raise AssertionError(msg)


def perfect_tally(n_classes: int) -> Tally:
    """Return a tally of perfect predictions and votes, whose baselines miss half.

    Examples
    --------
    >>> perfect_tally(2).misses
    0.0
    """
    total = 10.0 * n_classes
    calibration, ranks = np.zeros((3, 15)), np.ones((4, n_classes, n_classes))
    calibration[:, -1] = total
    ranks[1::2] = 0.0  # the margins
    classes = np.repeat(np.arange(n_classes, dtype=np.int32), 10)
    sums = (total, 0.0, 0.0, calibration, ranks, ScoredRows(classes, classes, np.eye(n_classes)[classes]))
    return Tally(10.0 * np.eye(n_classes), np.zeros(n_classes), total / 2, total / 2, int(total), *sums, total / 2)


def random_tally(n_classes: int, seed: int, number: int) -> Tally:
    """Return a tally of random weights and votes, with no more information than `perfect_tally`.

    Examples
    --------
    >>> random_tally(2, 1, 0).confusion.shape
    (2, 2)
    """
    draws = uniform(seed, "tally", number, 0, n_classes * (n_classes + 1) + 2)
    # Half of the cells are empty, as with classes that are absent.
    cells = np.where(draws[:-2] < 0.5, 0.0, draws[:-2]).reshape(n_classes, n_classes + 1)
    total = float(cells.sum())
    shares = uniform(seed, "tally", number, draws.size, 4 * n_classes * n_classes)
    ranks = np.where(shares < 0.1, np.nan, shares).reshape(4, n_classes, n_classes)
    bins = uniform(seed, "tally", number, draws.size + shares.size, 45).reshape(3, 15) * [[1.0], [0.5], [0.5]]
    calibration = bins / bins[0].sum() * total
    hits = (float(draws[-1]) * total, float(draws[-2]) * total)
    squared, log_loss, brier = total * total / (10.0 * n_classes * shares[0]), total * shares[1], total * shares[2]
    sums = (float(squared), float(log_loss), float(brier))
    y_true, y_pred = (below(seed, "tally", number, start, 50, n_classes).astype(np.int32) for start in (0, 50))
    rows = ScoredRows(y_true, y_pred, uniform(seed, "votes", number, 0, 50 * n_classes).reshape(50, n_classes))
    return Tally(cells[:, 1:], cells[:, 0], *hits, cells.size, *sums, calibration, ranks, rows, hits[0])


def corner_tallies() -> list[Tally]:
    """Return tallies where much is undefined: empty, one class only, all abstained, baselines all correct.

    Examples
    --------
    >>> corner_tallies()[0].total
    0.0
    """
    nothing, one_class = np.zeros((2, 2)), np.diag([5.0, 0.0])
    codes = np.zeros(5, dtype=np.int32)
    rows = ScoredRows(codes, codes, np.zeros((5, 2)))
    no_sums = (
        0.0,
        0.0,
        0.0,
        np.zeros((3, 15)),
        np.full((4, 2, 2), np.nan),
        ScoredRows(codes[:0], codes[:0], np.zeros((0, 2))),
    )
    five = (5.0, 5.0, 5.0, np.ones((3, 15)) / 3.0, np.full((4, 2, 2), np.nan), rows)
    return [
        Tally(nothing, np.zeros(2), 0.0, 0.0, 0, *no_sums, 0.0),
        Tally(one_class, np.zeros(2), 5.0, 5.0, 5, *five, 5.0),
        Tally(one_class[::-1], np.zeros(2), 5.0, 5.0, 5, *five, 5.0),
        Tally(nothing, np.array([3.0, 2.0]), 3.0, 2.0, 5, *five, 3.0),
        Tally(np.ones((2, 2)), np.zeros(2), 4.0, 4.0, 4, *five, 4.0),
    ]
