"""Blocks of rows, as file readers yield them."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rows", "rebatch"]

Rows = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64] | None, NDArray[np.float64] | None]
"""Values, class codes, weights and times of consecutive rows."""


def rebatch(parts: Iterable[Rows], size: int) -> Iterator[Rows]:
    """Yield the rows in batches of `size`; the last batch may be smaller.

    Examples
    --------
    >>> parts = [(np.zeros((n, 1)), np.zeros(n, dtype=np.int32), None, None) for n in (1, 4, 2)]
    >>> [len(y) for _, y, *_ in rebatch(parts, 3)]
    [3, 3, 1]
    """
    pending: list[Rows] = []
    n = 0
    for x, y, weight, time in parts:
        start = 0
        while start < len(y):
            stop = min(len(y), start + size - n)
            rows = slice(start, stop)
            weights, times = None if weight is None else weight[rows], None if time is None else time[rows]
            pending.append((x[rows], y[rows], weights, times))
            n, start = n + stop - start, stop
            if n == size:
                yield _concatenate(pending)
                pending, n = [], 0
    if n:
        yield _concatenate(pending)


def _concatenate(parts: Sequence[Rows]) -> Rows:
    x, y, weight, time = zip(*parts, strict=True)
    return np.concatenate(x), np.concatenate(y), _concatenate_optional(weight), _concatenate_optional(time)


def _concatenate_optional(parts: Iterable[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    present = [part for part in parts if part is not None]
    return np.concatenate(present) if present else None
