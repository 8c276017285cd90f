"""Thinning of long curves for showing, which hides no extreme: a billion rows open as quickly as a thousand."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Thinning"]

Column = NDArray[np.float64]


class Thinning:
    """A choice of at most `limit` of n points (4 or more), the same for all curves that share their rows.

    The first and the last point stay. Those between are put in buckets of equal numbers; of each bucket two points are
    left, at its first and last row, which carry the least and the greatest value of the bucket in the order in which
    they came. So no extreme is lost, and none moves by more than a bucket. Where there are not more points than the
    limit, all stay as they are.

    Parameters
    ----------
    n
        How many points there are.
    limit
        How many may stay.

    Examples
    --------
    >>> thinning = Thinning(6, limit=4)
    >>> wave = np.array([0.0, 0.3, 0.9, 0.1, 0.2, 0.0])
    >>> thinning.rows(np.arange(6)).tolist(), thinning.line(wave).tolist()
    ([0, 1, 4, 5], [0.0, 0.9, 0.1, 0.0])
    """

    def __init__(self, n: int, limit: int) -> None:
        self.kept: NDArray[np.int64] | None = None
        """Which points stay, int64; None for all."""
        if n <= max(limit, 4):
            return
        edges = np.linspace(1, n - 1, max(limit, 4) // 2).astype(np.int64)
        self._starts = edges[:-1]
        inner = np.column_stack((self._starts, edges[1:] - 1)).ravel()
        self.kept = np.concatenate(([0], inner, [n - 1]))

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the rows of the points that stay."""
        return rows if self.kept is None else rows[self.kept]

    def line(self, values: Column) -> Column:
        """Thin a line: of each bucket the least and the greatest value stay, in the order in which they came."""
        if self.kept is None:
            return values
        starts, inner = self._starts, values[:-1]
        least, greatest = np.fmin.reduceat(inner, starts), np.fmax.reduceat(inner, starts)
        bucket = np.searchsorted(starts, np.arange(1, len(inner)), side="right") - 1
        falls = _first(inner[1:] == greatest[bucket], bucket, len(starts)) < _first(
            inner[1:] == least[bucket], bucket, len(starts)
        )
        pairs = np.where(falls[:, None], np.column_stack((greatest, least)), np.column_stack((least, greatest)))
        return _between_ends(values, pairs.ravel())

    def floor(self, values: Column) -> Column:
        """Thin the lower edge of a band: of each bucket the least value stays, at both of its points."""
        return values if self.kept is None else self._edge(values, np.fmin)

    def ceiling(self, values: Column) -> Column:
        """Thin the upper edge of a band: of each bucket the greatest value stays, at both of its points."""
        return values if self.kept is None else self._edge(values, np.fmax)

    def _edge(self, values: Column, extreme: np.ufunc) -> Column:
        return _between_ends(values, np.repeat(extreme.reduceat(values[:-1], self._starts), 2))


def _first(marked: NDArray[np.bool_], bucket: NDArray[np.int64], n_buckets: int) -> NDArray[np.int64]:
    """Give the position of the first marked point of each bucket."""
    first = np.full(n_buckets, len(marked), dtype=np.int64)
    positions = np.flatnonzero(marked)
    np.minimum.at(first, bucket[positions], positions)
    return first


def _between_ends(whole: Column, inner: Column) -> Column:
    return np.concatenate((whole[:1], inner, whole[-1:]))
