"""Fewer points of a curve without hiding an extreme: what a screen, or a file that must not grow, has room for."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Buckets"]

Columns = NDArray[np.float64]


@dataclass(frozen=True)
class Buckets:
    """Consecutive points put into buckets, of each of which the first and the last point stay.

    What those two carry is asked for by kind; columns are float64 [n, c].

    Parameters
    ----------
    starts
        Where each bucket begins, ascending from 0.
    n
        How many points there are.

    Examples
    --------
    >>> wave = np.array([[0.0], [0.3], [0.9], [0.1], [0.2], [0.0]])
    >>> buckets = Buckets.of_count(6, limit=4)
    >>> buckets.kept.tolist(), buckets.extremes(wave).ravel().tolist()
    ([0, 1, 4, 5], [0.0, 0.9, 0.1, 0.0])
    """

    starts: NDArray[np.int64]
    n: int

    @classmethod
    def of_count(cls, n: int, limit: int) -> "Buckets":
        """Choose buckets of equal numbers, so that at most `limit` (4 or more) points stay; the ends are by themselves.

        Examples
        --------
        >>> Buckets.of_count(3, limit=4).kept.tolist()
        [0, 1, 2]
        """
        if n <= limit:
            return cls(np.arange(n), n)
        edges = np.linspace(1, n - 1, limit // 2).astype(np.int64)
        return cls(np.concatenate(([0], edges)), n)

    @classmethod
    def of_rows(cls, rows: NDArray[np.int64], limit: int) -> "Buckets":
        """Choose buckets of equal numbers of rows, a power of two, so that at most `limit` points stay.

        Such buckets lie within each other. So what was thinned can be thinned again, with the same result as at once,
        and no extreme wanders.

        Examples
        --------
        >>> Buckets.of_rows(np.array([1, 2, 3, 4, 5, 6, 7, 8]), limit=6).kept.tolist()
        [0, 3, 4, 6, 7]
        """
        n = len(rows)
        if n <= limit:
            return cls(np.arange(n), n)
        width = 1
        while True:
            width *= 2
            bucket = (rows[:-1] - 1) // width
            starts = np.flatnonzero(np.concatenate(([True], np.diff(bucket) > 0)))
            if 2 * len(starts) + 1 <= limit:
                return cls(np.concatenate((starts, [n - 1])), n)

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        """The last point of each bucket."""
        return np.append(self.starts[1:], [self.n] if self.n else []).astype(np.int64) - 1

    @cached_property
    def _is_kept(self) -> NDArray[np.bool_]:
        """Which of the first and last points of the buckets, in turn, are one for itself."""
        return np.column_stack((np.ones(len(self.starts), dtype=np.bool_), self._ends > self.starts)).ravel()

    @cached_property
    def kept(self) -> NDArray[np.int64]:
        """The positions of the points that stay, ascending."""
        return np.column_stack((self.starts, self._ends)).ravel()[self._is_kept]

    def sampled(self, columns: Columns) -> Columns:
        """Give what the points that stay carry themselves."""
        return columns[self.kept]

    def latest(self, columns: Columns) -> Columns:
        """Give what was known at the points that stay: where a point says nothing (NaN), what was said last."""
        said = np.where(np.isnan(columns), 0, np.arange(len(columns))[:, None])
        return np.take_along_axis(columns, np.maximum.accumulate(said, axis=0), axis=0)[self.kept]

    def extremes(self, columns: Columns) -> Columns:
        """Give the least and the greatest of each bucket, in the order in which they came."""
        if not self.n:
            return columns
        least, greatest = np.fmin.reduceat(columns, self.starts), np.fmax.reduceat(columns, self.starts)
        falls = self._first_places(columns, greatest) < self._first_places(columns, least)
        return self._in_turn(np.where(falls, greatest, least), np.where(falls, least, greatest))

    def lowest(self, columns: Columns) -> Columns:
        """Give the least of each bucket, at both of its points."""
        if not self.n:
            return columns
        least = np.fmin.reduceat(columns, self.starts)
        return self._in_turn(least, least)

    def highest(self, columns: Columns) -> Columns:
        """Give the greatest of each bucket, at both of its points."""
        return -self.lowest(-columns)

    def _first_places(self, columns: Columns, wanted: Columns) -> NDArray[np.int64]:
        """Give where each column of each bucket first has its wanted value."""
        sizes = self._ends - self.starts + 1
        places = np.arange(len(columns))[:, None]
        found = np.where(columns == np.repeat(wanted, sizes, axis=0), places, len(columns))
        return np.asarray(np.minimum.reduceat(found, self.starts))

    def _in_turn(self, first: Columns, second: Columns) -> Columns:
        both = np.stack((first, second), axis=1).reshape(2 * len(first), first.shape[1])
        return both[self._is_kept]
