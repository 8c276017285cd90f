"""Fewer points of a curve without hiding an extreme: what a screen, or a file that must not grow, has room for."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Buckets"]

Columns = NDArray[np.float64]


@dataclass(frozen=True)
class Buckets:
    """Which of `n` points stay where at most `limit` (4 or more) can: the first, the last, and two of each bucket.

    The points between the ends are put in buckets of equal numbers. Of each, its first and its last point stay. What
    they carry is asked for by kind; columns are float64 [n, c].

    Parameters
    ----------
    kept
        The positions that stay, ascending.
    starts
        Where each bucket begins; None where all points stay.

    Examples
    --------
    >>> wave = np.array([[0.0], [0.3], [0.9], [0.1], [0.2], [0.0]])
    >>> buckets = Buckets.of(6, limit=4)
    >>> buckets.kept.tolist(), buckets.extremes(wave).ravel().tolist()
    ([0, 1, 4, 5], [0.0, 0.9, 0.1, 0.0])
    """

    kept: NDArray[np.int64]
    starts: NDArray[np.int64] | None

    @classmethod
    def of(cls, n: int, limit: int) -> "Buckets":
        """Choose the buckets."""
        if n <= limit:
            return cls(np.arange(n), None)
        edges = np.linspace(1, n - 1, limit // 2).astype(np.int64)
        inner = np.column_stack((edges[:-1], edges[1:] - 1)).ravel()
        return cls(np.concatenate(([0], inner, [n - 1])), edges[:-1])

    def sampled(self, columns: Columns) -> Columns:
        """Give what the points that stay carry themselves: right for what only grows."""
        return columns[self.kept]

    def latest(self, columns: Columns) -> Columns:
        """Give what was known at the points that stay: where a point says nothing (NaN), what was said last."""
        said = np.where(np.isnan(columns), 0, np.arange(len(columns))[:, None])
        return np.take_along_axis(columns, np.maximum.accumulate(said, axis=0), axis=0)[self.kept]

    def extremes(self, columns: Columns) -> Columns:
        """Give the least and the greatest of each bucket, in the order in which they came."""
        if self.starts is None:
            return columns
        inner = columns[:-1]
        least, greatest = np.fmin.reduceat(inner, self.starts), np.fmax.reduceat(inner, self.starts)
        falls = _first_places(inner, greatest, self.starts) < _first_places(inner, least, self.starts)
        return self._between_ends(columns, np.where(falls, greatest, least), np.where(falls, least, greatest))

    def lowest(self, columns: Columns) -> Columns:
        """Give the least of each bucket, at both of its points."""
        if self.starts is None:
            return columns
        least = np.fmin.reduceat(columns[:-1], self.starts)
        return self._between_ends(columns, least, least)

    def highest(self, columns: Columns) -> Columns:
        """Give the greatest of each bucket, at both of its points."""
        return -self.lowest(-columns)

    @staticmethod
    def _between_ends(columns: Columns, first: Columns, second: Columns) -> Columns:
        inner = np.stack((first, second), axis=1).reshape(2 * len(first), columns.shape[1])
        return np.concatenate((columns[:1], inner, columns[-1:]))


def _first_places(columns: Columns, wanted: Columns, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give where each column of each bucket first has its wanted value."""
    places = np.arange(len(columns))
    bucket = np.maximum(np.searchsorted(starts, places, side="right") - 1, 0)
    found = np.where(columns == wanted[bucket], places[:, None], len(columns))
    return np.asarray(np.minimum.reduceat(found, starts))
