"""Downsampling of curves without hiding extremes, for screens and for files of bounded size."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Buckets"]

Columns = NDArray[np.float64]


@dataclass(frozen=True)
class Buckets:
    """Buckets of consecutive points; of each bucket the first and the last point are kept.

    The values at the two kept points are chosen per method. Columns are float64 [n, c].

    Parameters
    ----------
    starts
        First index of each bucket, ascending from 0.
    n
        Number of points.

    Examples
    --------
    >>> wave = np.array([[0.0], [0.3], [0.9], [0.1], [0.2], [0.0]])
    >>> buckets = Buckets.from_count(6, limit=4)
    >>> buckets.indices.tolist(), buckets.take_extremes(wave).ravel().tolist()
    ([0, 1, 4, 5], [0.0, 0.9, 0.1, 0.0])
    """

    starts: NDArray[np.int64]
    n: int

    @classmethod
    def from_count(cls, n: int, limit: int) -> "Buckets":
        """Return buckets of equal size that keep at most `limit` (4 or more) points; both ends are kept.

        Examples
        --------
        >>> Buckets.from_count(3, limit=4).indices.tolist()
        [0, 1, 2]
        """
        if n <= limit:
            return cls(np.arange(n), n)
        edges = np.linspace(1, n - 1, limit // 2).astype(np.int64)
        return cls(np.concatenate(([0], edges)), n)

    @classmethod
    def from_rows(cls, rows: NDArray[np.int64], limit: int) -> "Buckets":
        """Return buckets that span an equal number of rows, a power of two, and keep at most `limit` points.

        Such buckets are nested: downsampling twice gives the same result as downsampling once, and no extreme moves.

        Examples
        --------
        >>> Buckets.from_rows(np.array([1, 2, 3, 4, 5, 6, 7, 8]), limit=6).indices.tolist()
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
        """Last index of each bucket."""
        return np.append(self.starts[1:], [self.n] if self.n else []).astype(np.int64) - 1

    @cached_property
    def _is_distinct(self) -> NDArray[np.bool_]:
        """Which of the alternating first and last points are distinct: a bucket of one point has no last one."""
        return np.column_stack((np.ones(len(self.starts), dtype=np.bool_), self._ends > self.starts)).ravel()

    @cached_property
    def indices(self) -> NDArray[np.int64]:
        """Indices of the kept points, ascending."""
        return np.column_stack((self.starts, self._ends)).ravel()[self._is_distinct]

    def take_points(self, columns: Columns) -> Columns:
        """Return the values at the kept points."""
        return columns[self.indices]

    def take_latest(self, columns: Columns) -> Columns:
        """Return the values at the kept points; NaN is replaced by the last value before it."""
        known = np.where(np.isnan(columns), 0, np.arange(len(columns))[:, None])
        return np.take_along_axis(columns, np.maximum.accumulate(known, axis=0), axis=0)[self.indices]

    def take_extremes(self, columns: Columns) -> Columns:
        """Return the minimum and the maximum of each bucket, in order of occurrence."""
        if not self.n:
            return columns
        least, greatest = np.fmin.reduceat(columns, self.starts), np.fmax.reduceat(columns, self.starts)
        falls = self._find_first(columns, greatest) < self._find_first(columns, least)
        return self._interleave(np.where(falls, greatest, least), np.where(falls, least, greatest))

    def take_minima(self, columns: Columns) -> Columns:
        """Return the minimum of each bucket, at both of its points."""
        if not self.n:
            return columns
        least = np.fmin.reduceat(columns, self.starts)
        return self._interleave(least, least)

    def take_maxima(self, columns: Columns) -> Columns:
        """Return the maximum of each bucket, at both of its points."""
        return -self.take_minima(-columns)

    def _find_first(self, columns: Columns, wanted: Columns) -> NDArray[np.int64]:
        """Return the index at which each column of each bucket first has its wanted value."""
        sizes = self._ends - self.starts + 1
        indices = np.arange(len(columns))[:, None]
        matches = np.where(columns == np.repeat(wanted, sizes, axis=0), indices, len(columns))
        return np.asarray(np.minimum.reduceat(matches, self.starts))

    def _interleave(self, first: Columns, second: Columns) -> Columns:
        both = np.stack((first, second), axis=1).reshape(2 * len(first), first.shape[1])
        return both[self._is_distinct]
