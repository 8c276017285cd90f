"""Blocks of rows, as file readers yield them."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rows", "rebatch"]

Rows = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64] | None]
"""Values, class codes and weights of consecutive rows."""


def rebatch(parts: Iterable[Rows], size: int) -> Iterator[Rows]:
    """Yield the rows in batches of `size`; the last batch may be smaller.

    Examples
    --------
    >>> parts = [(np.zeros((n, 1)), np.zeros(n, dtype=np.int32), None) for n in (1, 4, 2)]
    >>> [len(y) for _, y, _ in rebatch(parts, 3)]
    [3, 3, 1]
    """
    pending: list[Rows] = []
    n = 0
    for x, y, weight in parts:
        start = 0
        while start < len(y):
            stop = min(len(y), start + size - n)
            pending.append((x[start:stop], y[start:stop], None if weight is None else weight[start:stop]))
            n, start = n + stop - start, stop
            if n == size:
                yield _concatenate(pending)
                pending, n = [], 0
    if n:
        yield _concatenate(pending)


def _concatenate(parts: Sequence[Rows]) -> Rows:
    x, y, weight = zip(*parts, strict=True)
    weights = [w for w in weight if w is not None]
    return np.concatenate(x), np.concatenate(y), np.concatenate(weights) if weights else None
