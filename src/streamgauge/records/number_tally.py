"""Tallies of numeric targets: weighted sums of amounts, such as errors, one by one and as columns."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, nearest
from streamgauge.records.columns import SharedColumn, protect, protect_fields
from streamgauge.records.readings import Trace
from streamgauge.records.tally import Column, Tallies, Tally

__all__ = [
    "NUMBER_STATISTICS",
    "NumberTallies",
    "NumberTally",
    "ScoredNumbers",
    "compute_amounts",
    "fill_abstentions",
    "join_tallies",
]

ROUNDING = 1e-13
"""Targets that vary by less than this share of their squares, counted from the origin, are all the same."""

SMALLEST = float(np.finfo(np.float64).eps)
"""The least magnitude by which an error is divided, as in scikit-learn."""


@dataclass(frozen=True)
class ScoredNumbers:
    """The rows that a tally of a numeric target covers, oldest first, for measures that no sums give.

    Parameters
    ----------
    y_true, y_pred
        Targets and predictions, float64 [n]; a learner that abstains has the prediction of the mean baseline.
    weight
        Instance weights, float64 [n]; None means 1 for all.

    Examples
    --------
    >>> ScoredNumbers(np.array([1.0, 2.0]), np.array([1.5, 2.0])).weight is None
    True
    """

    y_true: Column
    y_pred: Column
    weight: Column | None = None

    def __post_init__(self) -> None:
        protect_fields(self)


@dataclass(frozen=True)
class _Scored:
    """What amounts are computed from: targets, predictions, and what both baselines predict."""

    y_true: Column
    y_pred: Column
    mean: Column
    last: Column
    abstained: NDArray[np.bool_]
    origin: float

    @cached_property
    def error(self) -> Column:
        error: Column = self.y_pred - self.y_true
        return error

    @cached_property
    def absolute(self) -> Column:
        return np.abs(self.error)

    @cached_property
    def centred(self) -> Column:
        return self.y_true - self.origin


_AMOUNTS: Mapping[str, Callable[[_Scored], Column]] = {
    "error": lambda rows: rows.error,
    "absolute_error": lambda rows: rows.absolute,
    "squared_error": lambda rows: rows.error * rows.error,
    "percentage_error": lambda rows: rows.absolute / np.maximum(np.abs(rows.y_true), SMALLEST),
    "target": lambda rows: rows.centred,
    "squared_target": lambda rows: rows.centred * rows.centred,
    "mean_absolute_error": lambda rows: np.abs(rows.mean - rows.y_true),
    "mean_squared_error": lambda rows: (rows.mean - rows.y_true) * (rows.mean - rows.y_true),
    "no_change_absolute_error": lambda rows: np.abs(rows.last - rows.y_true),
    "no_change_squared_error": lambda rows: (rows.last - rows.y_true) * (rows.last - rows.y_true),
    "abstained": lambda rows: rows.abstained.astype(np.float64),
}

NUMBER_STATISTICS = (*_AMOUNTS, "pinball(QUANTILE)", "huber(DELTA)")
"""The sums that a tally of a numeric target can hold. Some forgettings also keep the ``rows`` themselves."""


def _pinball(rows: _Scored, quantile: float) -> Column:
    below = -rows.error
    return np.maximum(quantile * below, (quantile - 1.0) * below)


def _huber(rows: _Scored, delta: float) -> Column:
    return np.where(rows.absolute <= delta, 0.5 * rows.error * rows.error, delta * (rows.absolute - 0.5 * delta))


_WITH_OPTION: Mapping[str, Callable[[_Scored, float], Column]] = {"pinball": _pinball, "huber": _huber}


def _find_amount(statistic: str) -> Callable[[_Scored], Column]:
    if statistic in _AMOUNTS:
        return _AMOUNTS[statistic]
    option = re.fullmatch(r"(pinball|huber)\((.+)\)", statistic)
    if option:
        compute, value = _WITH_OPTION[option[1]], float(option[2])
        return lambda rows: compute(rows, value)
    near = nearest(statistic, _AMOUNTS)
    hint = f"did you mean {near}?" if near else f"there are {', '.join(NUMBER_STATISTICS)}"
    msg = f"there is no statistic {statistic!r} of numeric targets: {hint}"
    raise StreamgaugeError(msg)


def fill_abstentions(trace: Trace) -> Trace:
    """Return a trace of numbers in which a row without a prediction has that of the mean baseline.

    Examples
    --------
    >>> y, baseline = np.array([1.0, 2.0]), np.array([4.0, 5.0])
    >>> fill_abstentions(Trace(np.arange(2), y, np.array([1.0, np.nan]), baseline, baseline)).y_pred.tolist()
    [1.0, 5.0]
    """
    silent = np.isnan(trace.y_pred)
    return replace(trace, y_pred=np.where(silent, trace.majority_hit, trace.y_pred)) if silent.any() else trace


def compute_amounts(trace: Trace, statistics: Sequence[str], origin: float = 0.0) -> Column:
    """Return the amounts of each statistic for the rows of a trace, float64 [statistics, rows].

    Examples
    --------
    >>> y, baseline = np.array([1.0, 2.0]), np.array([4.0, 4.0])
    >>> trace = Trace(np.arange(2), y, np.array([1.5, 0.0]), baseline, baseline)
    >>> compute_amounts(trace, ["absolute_error", "pinball(0.75)", "mean_absolute_error"]).tolist()
    [[0.5, 2.0], [0.125, 1.5], [3.0, 2.0]]
    """
    filled = fill_abstentions(trace)
    rows = _Scored(
        y_true=filled.y_true,
        y_pred=filled.y_pred,
        mean=trace.majority_hit,
        last=trace.no_change_hit,
        abstained=np.isnan(trace.y_pred),
        origin=origin,
    )
    amounts = np.empty((len(statistics), len(trace)))
    for index, statistic in enumerate(statistics):
        amounts[index] = _find_amount(statistic)(rows)
    return amounts


@dataclass(frozen=True)
class NumberTally:
    """The sums that measures of a numeric target are computed from, weighted, and faded or windowed by a forgetting.

    Parameters
    ----------
    total
        The weight of all rows.
    sums
        The weighted sum of each statistic, by its name in `NUMBER_STATISTICS`. Targets are counted from the origin of
        the schema's target.
    width
        The number of rows that the tally covers, whatever their weights.
    rows
        The rows that it covers, one by one, if a measure needs them.

    Examples
    --------
    >>> NumberTally(4.0, {"absolute_error": 6.0}, 4).column("absolute_error")
    6.0
    """

    total: float
    sums: Mapping[str, float]
    width: int
    rows: ScoredNumbers | None = None

    def column(self, statistic: str) -> float:
        """Return a sum; raise if it was not kept."""
        return float(NumberTallies.stack([self]).column(statistic)[0])


@dataclass(frozen=True)
class NumberTallies(Sequence[NumberTally]):
    """Many tallies of a numeric target as columns.

    Parameters
    ----------
    total
        The weight of all rows, float64 [s].
    sums
        The sums by statistic, each float64 [s].
    width
        The number of rows that each covers, int64 [s].
    rows
        The rows that each covers, if a measure needs them.

    Examples
    --------
    >>> tallies = NumberTallies.stack([NumberTally(4.0, {"absolute_error": 6.0}, 4)])
    >>> tallies.column("absolute_error").tolist(), len(tallies), tallies[0].total
    ([6.0], 1, 4.0)
    """

    total: Column
    sums: Mapping[str, Column]
    width: NDArray[np.int64]
    rows: NDArray[np.object_] | None = None

    def __post_init__(self) -> None:
        protect_fields(self)
        vars(self)["sums"] = {name: protect(column) for name, column in self.sums.items()}

    @classmethod
    def stack(cls, tallies: Iterable[NumberTally]) -> "NumberTallies":
        """Stack tallies into columns."""
        parts = list(tallies)
        rows = np.empty(len(parts), dtype=np.object_)
        rows[:] = [part.rows for part in parts]
        return cls(
            total=np.array([part.total for part in parts]),
            sums={name: np.array([part.sums[name] for part in parts]) for name in (parts[0].sums if parts else ())},
            width=np.array([part.width for part in parts], dtype=np.int64),
            rows=rows if parts and parts[0].rows is not None else None,
        )

    @classmethod
    def join(cls, parts: "Sequence[Sequence[NumberTally]]") -> "NumberTallies":
        """Join tallies one after the other."""
        columns = [part if isinstance(part, NumberTallies) else cls.stack(part) for part in parts]
        if len(columns) == 1:
            return columns[0]
        first = columns[0]
        return cls(
            total=np.concatenate([column.total for column in columns]),
            sums={name: np.concatenate([column.sums[name] for column in columns]) for name in first.sums},
            width=np.concatenate([column.width for column in columns]),
            rows=None if first.rows is None else np.concatenate([column.rows for column in columns]),
        )

    def __len__(self) -> int:
        return len(self.width)

    def select(self, indices: NDArray[np.intp] | slice) -> "NumberTallies":
        """Return some of the tallies."""
        return NumberTallies(
            total=self.total[indices],
            sums={name: column[indices] for name, column in self.sums.items()},
            width=self.width[indices],
            rows=None if self.rows is None else self.rows[indices],
        )

    @overload
    def __getitem__(self, index: int) -> NumberTally: ...
    @overload
    def __getitem__(self, index: slice) -> "NumberTallies": ...
    def __getitem__(self, index: int | slice) -> "NumberTally | NumberTallies":
        if isinstance(index, slice):
            return self.select(index)
        return NumberTally(
            total=float(self.total[index]),
            sums={name: float(column[index]) for name, column in self.sums.items()},
            width=int(self.width[index]),
            rows=None if self.rows is None else self.rows[index],
        )

    def __iter__(self) -> Iterator[NumberTally]:
        return (self[index] for index in range(len(self)))

    def column(self, statistic: str) -> Column:
        """Return a sum; raise if it was not kept."""
        if statistic not in self.sums:
            msg = f"the tally holds no {statistic}: build the forgetting with statistics=({statistic!r},)"
            raise StreamgaugeError(msg)
        return self.sums[statistic]

    @property
    def support(self) -> Column:
        """The weight of each class: there are none, [s, 0]."""
        return np.zeros((len(self), 0))

    @property
    def predicted(self) -> Column:
        """The weight of each predicted class: there are none, [s, 0]."""
        return self.support

    @SharedColumn
    def target_variation(self) -> Column:
        """The sum of the squared differences of targets from their mean, [s]; 0 if it is no more than rounding."""
        with np.errstate(divide="ignore", invalid="ignore"):
            target, squares = self.column("target"), self.column("squared_target")
            variation = squares - target * (target / self.total)
        return np.where(variation > ROUNDING * squares, variation, 0.0)


def join_tallies(parts: Sequence[Sequence[Tally]] | Sequence[Sequence[NumberTally]]) -> Tallies | NumberTallies:
    """Return several series of tallies as columns, one after the other, of classes or of a numeric target.

    Examples
    --------
    >>> len(join_tallies([[NumberTally(4.0, {}, 4)], [NumberTally(2.0, {}, 2)]]))
    2
    """
    first = parts[0]
    if isinstance(first, NumberTallies) or (not isinstance(first, Tallies) and isinstance(first[0], NumberTally)):
        return NumberTallies.join(parts)  # type: ignore[arg-type]
    return Tallies.join(parts)  # type: ignore[arg-type]
