"""Tallies: the counts that measures are computed from, one by one and as columns."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records.columns import SharedColumn, protect_fields

__all__ = ["STATISTICS", "ScoredRows", "Tallies", "Tally", "sum_classes"]

STATISTICS = ("squared_weight", "log_loss", "brier", "calibration", "ranks", "majority_all_hits")
"""What a tally holds beyond counts if a measure needs it. Some forgettings also keep the ``rows`` themselves."""

Column = NDArray[np.float64]

FEW = 8
"""Up to this number of classes, adding columns is faster than summing short rows in NumPy."""


def sum_classes(values: Column) -> Column:
    """Sum over the last axis; equal parts have equal sums to the last bit, whatever the number of tallies.

    Examples
    --------
    >>> sum_classes(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [3.0, 7.0]
    """
    if values.shape[-1] > FEW:
        summed: Column = np.ascontiguousarray(values).sum(axis=-1)
        return summed
    total: Column = values[..., 0] + 0.0
    for code in range(1, values.shape[-1]):
        total += values[..., code]
    return total


def _sum_true_classes(confusion: Column) -> Column:
    """Sum over the true classes, the second axis, always in their order."""
    summed: Column = sum_classes(confusion.swapaxes(1, 2)) if confusion.shape[1] <= FEW else confusion.sum(axis=1)
    return summed


def _sum_other_classes(support: Column) -> Column:
    """Sum over all classes but each, [s, c]; as a product of matrices its last bits depend on the number of tallies."""
    n_classes = support.shape[-1]
    if n_classes <= FEW:
        others = (np.delete(support, code, axis=-1) for code in range(n_classes))
        return np.stack([sum_classes(rest) if n_classes > 1 else np.zeros(len(support)) for rest in others], axis=-1)
    summed = np.zeros_like(support)
    summed[:, 1:] = np.cumsum(support[:, :-1], axis=-1)
    summed[:, :-1] += np.cumsum(support[:, :0:-1], axis=-1)[:, ::-1]
    return summed


@dataclass(frozen=True)
class ScoredRows:
    """The rows that a tally covers, oldest first, for measures that cannot be computed from sums.

    Parameters
    ----------
    y_true, y_pred
        Class codes, int32 [n]; `y_pred` may be `ABSTAINED`.
    votes
        Votes for the classes, float64 [n, c].
    weight
        Instance weights, float64 [n]; None means 1 for all.

    Examples
    --------
    >>> codes = np.array([0, 1], dtype=np.int32)
    >>> ScoredRows(codes, codes, np.array([[3.0, 1.0], [0.0, 0.0]])).shares.tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """

    y_true: NDArray[np.int32]
    y_pred: NDArray[np.int32]
    votes: Column
    weight: Column | None = None

    def __post_init__(self) -> None:
        protect_fields(self)

    @property
    def shares(self) -> Column:
        """The votes of each row as shares of their sum; equal shares if there are no votes."""
        # added in the order of the classes, as native code does, so that rows are tied in both or in neither
        total = np.cumsum(self.votes, axis=1)[:, -1:]
        equal = np.full_like(self.votes, 1.0 / self.votes.shape[1])
        return np.divide(self.votes, total, out=equal, where=total > 0.0)


@dataclass(frozen=True)
class Tally:
    """The counts that measures are computed from, weighted, and faded or windowed by a forgetting.

    Parameters
    ----------
    confusion
        Weight per true class (first axis) and predicted class (second axis), float64 [c, c].
    abstained
        Weight per true class of the rows without a prediction, float64 [c].
    majority_hits, no_change_hits
        Weight of the rows that the majority class and the previous class predicted correctly; the majority is that of
        the labels that the forgetting remembers.
    width
        The number of rows that the tally covers, whatever their weights.
    squared_weight
        Sum of the squared weights of the rows, after fading. This and what follows is None unless a measure needs it.
    log_loss, brier
        Sums of the logarithmic loss, and of half the squared difference of votes and truth.
    calibration
        Weight, confidence and hits by bin of confidence, float64 [3, bins].
    ranks
        How votes rank rows of a class (second axis) and another (third axis), float64 [4, c, c]: areas under ROC
        curves, their margins, average precisions, their margins; on the diagonals those of a class against all others.
    rows
        The rows that it covers, one by one.
    majority_all_hits
        Weight of the rows that the majority class of all labels predicted correctly.

    Examples
    --------
    >>> tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)
    >>> tally.total, tally.hits, tally.misses
    (100.0, 65.0, 35.0)
    """

    confusion: Column
    abstained: Column
    majority_hits: float
    no_change_hits: float
    width: int
    squared_weight: float | None = None
    log_loss: float | None = None
    brier: float | None = None
    calibration: Column | None = None
    ranks: Column | None = None
    rows: ScoredRows | None = None
    majority_all_hits: float | None = None

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(Tallies.stack([self]).total[0])

    @cached_property
    def hits(self) -> float:
        """The weight of correct predictions."""
        return float(Tallies.stack([self]).hits[0])

    @cached_property
    def misses(self) -> float:
        """The weight of wrong or missing predictions; exactly 0 if there are none."""
        return float(Tallies.stack([self]).misses[0])

    @cached_property
    def support(self) -> Column:
        """The weight of each true class."""
        support: Column = Tallies.stack([self]).support[0]
        return support

    @cached_property
    def predicted(self) -> Column:
        """The weight of each predicted class."""
        predicted: Column = Tallies.stack([self]).predicted[0]
        return predicted


@dataclass(frozen=True)
class Tallies(Sequence[Tally]):
    """Many tallies as columns: every field of `Tally` with one more axis in front.

    What several measures need is computed once. A ratio without weight is NaN.

    Examples
    --------
    >>> tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)
    >>> tallies = Tallies.stack([tally, tally])
    >>> len(tallies), tallies[1].hits, tallies.recall.shape
    (2, 65.0, (2, 2))
    """

    confusion: Column
    abstained: Column
    majority_hits: Column
    no_change_hits: Column
    width: NDArray[np.int64]
    squared_weight: Column | None = None
    log_loss: Column | None = None
    brier: Column | None = None
    calibration: Column | None = None
    ranks: Column | None = None
    rows: NDArray[Any] | None = None
    majority_all_hits: Column | None = None

    def __post_init__(self) -> None:
        protect_fields(self)

    @classmethod
    def stack(cls, tallies: Iterable[Tally]) -> "Tallies":
        """Stack tallies into columns."""
        rows = list(tallies)
        columns = ([getattr(tally, part.name) for tally in rows] for part in fields(Tally))
        return cls(*(None if column[0] is None else np.asarray(column) for column in columns))  # type: ignore[arg-type]

    @classmethod
    def join(cls, parts: Sequence[Sequence[Tally]]) -> "Tallies":
        """Join tallies one after the other."""
        columns = [part if isinstance(part, Tallies) else cls.stack(part) for part in parts]
        if len(columns) == 1:
            return columns[0]
        joined = ([getattr(column, part.name) for column in columns] for part in fields(Tally))
        return cls(*(None if column[0] is None else np.concatenate(column) for column in joined))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self.width)

    @overload
    def __getitem__(self, index: int) -> Tally: ...
    @overload
    def __getitem__(self, index: slice) -> "Tallies": ...
    def __getitem__(self, index: int | slice) -> "Tally | Tallies":
        columns = [getattr(self, part.name) for part in fields(self)]
        if isinstance(index, slice):
            return Tallies(*(None if column is None else column[index] for column in columns))  # type: ignore[arg-type]
        values = [None if column is None else column[index] for column in columns]
        return Tally(*(part.item() if isinstance(part, np.generic) else part for part in values))  # type: ignore[arg-type]

    def select(self, indices: NDArray[np.intp]) -> "Tallies":
        """Return some of the tallies."""
        columns = [getattr(self, part.name) for part in fields(self)]
        return Tallies(*(None if column is None else column[indices] for column in columns))  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Tally]:
        return (self[index] for index in range(len(self)))

    def column(self, statistic: str) -> Column:
        """Return a statistic; raise if it was not kept."""
        column: Column | None = getattr(self, statistic)
        if column is None:
            msg = f"the tally holds no {statistic}: build the forgetting with statistics=({statistic!r},)"
            raise StreamgaugeError(msg)
        return column

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.confusion.shape[-1])

    @SharedColumn
    def right(self) -> Column:
        """The weight of correct predictions of each class, [s, c]."""
        return np.ascontiguousarray(np.diagonal(self.confusion, axis1=1, axis2=2))

    @SharedColumn
    def hits(self) -> Column:
        """The weight of correct predictions, [s]."""
        return sum_classes(self.right)

    @SharedColumn
    def wrong(self) -> Column:
        """The confusion without its diagonal, [s, c, c]: its sums are exactly 0 if nothing is wrong."""
        wrong = self.confusion.copy()
        np.einsum("sii->si", wrong)[...] = 0.0
        return wrong

    @SharedColumn
    def false_positives(self) -> Column:
        """The weight of the rows of other classes predicted as each class, [s, c]."""
        return _sum_true_classes(self.wrong)

    @SharedColumn
    def false_negatives(self) -> Column:
        """The weight of the rows of each class predicted as another, or not at all, [s, c]."""
        return sum_classes(self.wrong) + self.abstained

    @SharedColumn
    def negatives(self) -> Column:
        """The weight of the rows of all other classes, [s, c]."""
        return _sum_other_classes(self.support)

    @SharedColumn
    def misses(self) -> Column:
        """The weight of wrong or missing predictions, [s]; exactly 0 if there are none."""
        return sum_classes(self.false_negatives)

    @SharedColumn
    def total(self) -> Column:
        """The weight of all rows, [s]."""
        return self.hits + self.misses

    @SharedColumn
    def support(self) -> Column:
        """The weight of each true class, [s, c]."""
        return sum_classes(self.confusion) + self.abstained

    @SharedColumn
    def supported(self) -> Column:
        """The weight of all true classes, [s]."""
        return sum_classes(self.support)

    @SharedColumn
    def predicted(self) -> Column:
        """The weight of each predicted class, [s, c]."""
        return _sum_true_classes(self.confusion)

    @SharedColumn
    def present(self) -> NDArray[np.bool_]:
        """Which classes have weight, [s, c]."""
        return self.support > 0.0

    @SharedColumn
    def n_present(self) -> Column:
        """The number of classes with weight, [s]."""
        return sum_classes(self.present.astype(np.float64))

    @SharedColumn
    def recall(self) -> Column:
        """The share of each true class that was predicted correctly, [s, c]; NaN for an absent class."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.right / self.support

    @cached_property
    def shared(self) -> dict[str, tuple[Column, NDArray[np.bool_], bool]]:
        """A cache of what measures have computed from these tallies."""
        return {}
