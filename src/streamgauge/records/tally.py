"""Tallies: the counts that measures are made of, one by one and as columns."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError

__all__ = ["STATISTICS", "Tallies", "Tally", "over_classes"]

STATISTICS = ("squared_weight", "log_loss", "brier", "calibration", "ranks")
"""What a tally holds beyond the counts where a measure asks for it."""

Column = NDArray[np.float64]

FEW = 8
"""Up to so many classes it is quicker to add columns than to let NumPy sum short rows."""


def over_classes(values: Column) -> Column:
    """Sum over the last axis; equal parts have equal sums, to the last bit, however many tallies there are.

    Examples
    --------
    >>> over_classes(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [3.0, 7.0]
    """
    if values.shape[-1] > FEW:
        summed: Column = np.ascontiguousarray(values).sum(axis=-1)
        return summed
    total: Column = values[..., 0] + 0.0
    for code in range(1, values.shape[-1]):
        total += values[..., code]
    return total


@dataclass(frozen=True)
class Tally:
    """The counts that measures are made of; weighted, and faded or windowed by a forgetting.

    Parameters
    ----------
    confusion
        Weight per true class (first axis) and predicted class (second axis), float64 [c, c].
    abstained
        Weight per true class of the rows without a prediction, float64 [c].
    majority_hits, no_change_hits
        Weight of the rows that the majority class and the class seen last got right.
    width
        How many rows the tally covers: those it holds, whatever their weights.
    squared_weight
        Sum of the squared weights of the rows, faded ones as they have faded. This and what follows is None unless a
        measure asks for it.
    log_loss, brier
        Sums of the logarithmic loss, and of half the squared difference of votes and truth.
    calibration
        Weight, confidence and hits by bin of confidence, float64 [3, bins].
    ranks
        How votes rank rows of a class (second axis) and another (third axis), float64 [3, c, c]: areas under ROC
        curves, shares of tied pairs, average precisions; on the diagonals those of a class against all others.

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

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(Tallies.stacked([self]).total[0])

    @cached_property
    def hits(self) -> float:
        """The weight of the rows predicted right."""
        return float(Tallies.stacked([self]).hits[0])

    @cached_property
    def misses(self) -> float:
        """The weight of the rows predicted wrong or not at all; exactly 0 where there are none."""
        return float(Tallies.stacked([self]).misses[0])

    @cached_property
    def support(self) -> Column:
        """The weight of each true class."""
        support: Column = Tallies.stacked([self]).support[0]
        return support

    @cached_property
    def predicted(self) -> Column:
        """The weight of each predicted class."""
        predicted: Column = Tallies.stacked([self]).predicted[0]
        return predicted


@dataclass(frozen=True)
class Tallies(Sequence[Tally]):
    """Many tallies as columns: every field of `Tally` with one more axis in front.

    What several measures need is computed once. A value without weight behind it is NaN.

    Examples
    --------
    >>> tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)
    >>> tallies = Tallies.stacked([tally, tally])
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

    @classmethod
    def stacked(cls, tallies: Iterable[Tally]) -> "Tallies":
        """Make columns of tallies."""
        several = list(tallies)
        columns = ([getattr(tally, part.name) for tally in several] for part in fields(Tally))
        return cls(*(None if column[0] is None else np.asarray(column) for column in columns))  # type: ignore[arg-type]

    @classmethod
    def joined(cls, parts: Sequence[Sequence[Tally]]) -> "Tallies":
        """Put tallies one after the other."""
        columns = [part if isinstance(part, Tallies) else cls.stacked(part) for part in parts]
        if len(columns) == 1:
            return columns[0]
        joined = ([getattr(column, part.name) for column in columns] for part in fields(Tally))
        return cls(*(None if column[0] is None else np.concatenate(column) for column in joined))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self.width)

    @overload
    def __getitem__(self, place: int) -> Tally: ...
    @overload
    def __getitem__(self, place: slice) -> "Tallies": ...
    def __getitem__(self, place: int | slice) -> "Tally | Tallies":
        columns = [getattr(self, part.name) for part in fields(self)]
        if isinstance(place, slice):
            return Tallies(*(None if column is None else column[place] for column in columns))  # type: ignore[arg-type]
        one = [None if column is None else column[place] for column in columns]
        return Tally(*(part.item() if isinstance(part, np.generic) else part for part in one))  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Tally]:
        return (self[place] for place in range(len(self)))

    def column(self, statistic: str) -> Column:
        """Give a statistic that was asked for."""
        column: Column | None = getattr(self, statistic)
        if column is None:
            msg = f"the tally holds no {statistic}: build the forgetting with statistics=({statistic!r},)"
            raise StreamgaugeError(msg)
        return column

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.confusion.shape[-1])

    @cached_property
    def right(self) -> Column:
        """The weight of each class predicted right, [s, c]."""
        return np.ascontiguousarray(np.diagonal(self.confusion, axis1=1, axis2=2))

    @cached_property
    def hits(self) -> Column:
        """The weight of the rows predicted right, [s]."""
        return over_classes(self.right)

    @cached_property
    def wrong(self) -> Column:
        """The confusion without its diagonal, [s, c, c]: sums of it are exactly 0 where nothing is wrong."""
        wrong = self.confusion.copy()
        np.einsum("sii->si", wrong)[...] = 0.0
        return wrong

    @cached_property
    def false_positives(self) -> Column:
        """The weight of the rows of other classes predicted as each class, [s, c]."""
        false_positives: Column = self.wrong.sum(axis=1)
        return false_positives

    @cached_property
    def false_negatives(self) -> Column:
        """The weight of the rows of each class predicted as another, or not at all, [s, c]."""
        return over_classes(self.wrong) + self.abstained

    @cached_property
    def negatives(self) -> Column:
        """The weight of the rows of all other classes, [s, c]."""
        return self.support @ (1.0 - np.eye(self.n_classes))

    @cached_property
    def misses(self) -> Column:
        """The weight of the rows predicted wrong or not at all, [s]; exactly 0 where there are none."""
        return over_classes(self.false_negatives)

    @cached_property
    def total(self) -> Column:
        """The weight of all rows, [s]."""
        return self.hits + self.misses

    @cached_property
    def support(self) -> Column:
        """The weight of each true class, [s, c]."""
        return over_classes(self.confusion) + self.abstained

    @cached_property
    def supported(self) -> Column:
        """The weight of all true classes, [s]."""
        return over_classes(self.support)

    @cached_property
    def predicted(self) -> Column:
        """The weight of each predicted class, [s, c]."""
        predicted: Column = self.confusion.sum(axis=1)
        return predicted

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Which classes have weight, [s, c]."""
        return self.support > 0.0

    @cached_property
    def n_present(self) -> Column:
        """How many classes have weight, [s]."""
        return over_classes(self.present.astype(np.float64))

    @cached_property
    def recall(self) -> Column:
        """The share of each true class that was predicted right, [s, c]; NaN for an absent class."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.right / self.support

    @cached_property
    def shared(self) -> dict[str, tuple[Column, NDArray[np.bool_], bool]]:
        """What measures have computed of these tallies for each other."""
        return {}
