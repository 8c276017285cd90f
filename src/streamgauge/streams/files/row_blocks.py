"""What the readers of files give: rows, cut into batches."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rows", "rebatched"]

Rows = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64] | None]
"""Values, class codes and weights of consecutive rows."""


def rebatched(parts: Iterable[Rows], size: int) -> Iterator[Rows]:
    """Cut rows into batches of the same size, but for the last.

    Examples
    --------
    >>> parts = [(np.zeros((n, 1)), np.zeros(n, dtype=np.int32), None) for n in (1, 4, 2)]
    >>> [len(y) for _, y, _ in rebatched(parts, 3)]
    [3, 3, 1]
    """
    waiting: list[Rows] = []
    n = 0
    for x, y, weight in parts:
        at = 0
        while at < len(y):
            stop = min(len(y), at + size - n)
            waiting.append((x[at:stop], y[at:stop], None if weight is None else weight[at:stop]))
            n, at = n + stop - at, stop
            if n == size:
                yield _joined(waiting)
                waiting, n = [], 0
    if n:
        yield _joined(waiting)


def _joined(parts: Sequence[Rows]) -> Rows:
    x, y, weight = zip(*parts, strict=True)
    weights = [w for w in weight if w is not None]
    return np.concatenate(x), np.concatenate(y), np.concatenate(weights) if weights else None
