"""How classes and labels come along a run, and at which of its stops confusion matrices are kept."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge._engine.schedule import Schedule
from streamgauge.records import Batch, Confusions, LabelCounts

__all__ = ["LabelCounter", "confusion_stride", "confusions_of", "label_counts"]

T = TypeVar("T", bound=np.generic)

MOST_CLASSES = 20
"""Up to so many classes confusion matrices are kept."""

FEW_STOPS = 128
"""Up to so many stops all confusion matrices are kept; of more, between this and twice as many."""


class LabelCounter:
    """Counts the rows of each class, and what became of their labels, up to each stop of a run.

    Parameters
    ----------
    n_classes
        How many classes there are.

    Examples
    --------
    >>> from streamgauge.records import Batch
    >>> counter = LabelCounter(2)
    >>> batch = Batch(0, np.zeros((4, 1)), np.array([0, 1, 1, -1], dtype=np.int32))
    >>> counter.count(batch, Schedule(batch), None, [2, 4]).tolist()  # two classes, not known, hidden, revealed
    [[1, 1, 0, 0, 2], [1, 2, 1, 0, 3]]
    """

    def __init__(self, n_classes: int) -> None:
        self.totals = np.zeros(n_classes + 3, dtype=np.int64)
        """What was counted so far, int64: rows by class, not known, hidden, revealed."""

    def count(
        self, batch: Batch, plan: Schedule, hidden: NDArray[np.bool_] | None, reading_rows: Sequence[int]
    ) -> NDArray[np.int64]:
        """Count the rows of a batch; give what was counted up to each of its stops, int64 [stops, n_classes + 3]."""
        n_classes, start = len(self.totals) - 3, batch.start
        if start < 0:
            return np.empty((0, len(self.totals)), dtype=np.int64)
        ends = [*reading_rows, start + len(batch)]
        counts = np.zeros((len(ends), len(self.totals)), dtype=np.int64)
        found = _native.count_labels(np.ascontiguousarray(batch.y), [end - start for end in ends], n_classes)
        by_class = found.reshape(len(ends), n_classes + 1)
        counts[:, :n_classes], counts[:, n_classes] = by_class[:, 1:], by_class[:, 0]
        if hidden is not None:
            piece = np.searchsorted(ends, batch.rows, side="right")
            counts[:, -2] = np.bincount(piece[hidden], minlength=len(ends))
        counts[:, -1] = self._revealed(counts, batch, plan, ends)
        so_far: NDArray[np.int64] = self.totals + np.cumsum(counts, axis=0)
        self.totals = so_far[-1]
        return so_far[:-1]

    @staticmethod
    def _revealed(counts: NDArray[np.int64], batch: Batch, plan: Schedule, ends: Sequence[int]) -> NDArray[np.int64]:
        """Count the labels that came in each piece of the batch."""
        if plan.revealed is None:
            return np.asarray(counts[:, :-3].sum(axis=1))
        piece = np.searchsorted(ends, batch.rows if plan.moves is None else plan.moves.now, side="right")
        return np.bincount(piece[plan.revealed], minlength=len(ends))


Told = Sequence[tuple[NDArray[np.int64] | None, NDArray[T] | None]]
"""Rows and what was told of them, batch by batch."""


def label_counts(told: Told[np.int64], classes: tuple[str, ...]) -> LabelCounts | None:
    """Put together what a `LabelCounter` counted up to the stops of a run, each stop once; None where nothing was.

    Examples
    --------
    >>> counted = np.array([[5, 4, 0, 0, 9], [5, 4, 0, 0, 9]])
    >>> label_counts([(np.array([9, 9]), counted)], ("up", "down")).rows.tolist()
    [9]
    """
    known = [(rows, counts) for rows, counts in told if rows is not None and counts is not None]
    if not known:
        return None
    rows, counted = (np.concatenate(columns) for columns in zip(*known, strict=True))
    once = _last_of_each(rows)
    counted = counted[once]
    return LabelCounts(rows[once], classes, counted[:, :-3], counted[:, -3], counted[:, -2], counted[:, -1])


def confusions_of(told: Told[np.float64], every: int, classes: tuple[str, ...]) -> Confusions | None:
    """Put together the confusion matrices of a run that are evenly spaced, and the last; None where none were kept.

    Examples
    --------
    >>> matrices = np.zeros((3, 1, 1, 2, 3))
    >>> confusions_of([(np.array([10, 20, 25]), matrices)], 10, ("up", "down")).rows.tolist()
    [10, 20, 25]
    """
    known = [(rows, matrices) for rows, matrices in told if rows is not None and matrices is not None]
    if not known:
        return None
    rows, weights = (np.concatenate(columns) for columns in zip(*known, strict=True))
    stride = confusion_stride(max(int(rows[-1]) // every, 1), len(classes)) or 1
    even = (rows % (every * stride) == 0) & _last_of_each(rows)
    even[-1] = True
    return Confusions(rows[even], classes, weights[even])


def _last_of_each(rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say which are the last of equal rows."""
    return np.append(np.diff(rows) > 0, [True])[: len(rows)]


def confusion_stride(place: int, n_classes: int) -> int | None:
    """Say of which stops, counted from 1, confusion matrices are kept by the one at a place: of every so manieth.

    It doubles as the run goes on, so that what is kept grows with the logarithm of its length; None for none at all.

    Examples
    --------
    >>> [confusion_stride(place, 2) for place in (1, 128, 129, 1000)], confusion_stride(1, 100)
    ([1, 1, 2, 8], None)
    """
    return None if n_classes > MOST_CLASSES else 1 << ((place - 1) // FEW_STOPS).bit_length()
