"""Random numbers by address, never drawn from shared state.

``draw(seed, purpose, fold, row)`` is a pure function, the same in Python and in native code. So batch size,
threads, processes, restarts and clusters cannot change a number.

The rule: with ``sm`` one step of splitmix64 and ``fnv`` the 64-bit FNV-1a hash, the key of a sequence is
``sm(sm(sm(seed) ^ fnv(purpose)) ^ fold)`` and the draw of a row is ``sm(key + row * 0x9e3779b97f4a7c15)``.
"""

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native

__all__ = ["below", "draw", "fold_seed", "poisson", "uniform"]


def draw(seed: int, purpose: str, fold: int, row: int, n: int = 1) -> NDArray[np.uint64]:
    """Draw 64 random bits for each of `n` rows from `row` on.

    Examples
    --------
    >>> draw(1, "weights", 0, row=5, n=3)[1] == draw(1, "weights", 0, row=6)[0]
    np.True_
    """
    return _native.draw(seed, purpose, fold, row, n)


def uniform(seed: int, purpose: str, fold: int, row: int, n: int = 1) -> NDArray[np.float64]:
    """Draw a number in [0, 1) for each of `n` rows from `row` on.

    Examples
    --------
    >>> bool((uniform(1, "labels", 0, row=0, n=1000) < 1.0).all())
    True
    """
    return _native.uniform(seed, purpose, fold, row, n)


def below(seed: int, purpose: str, fold: int, row: int, n: int, limit: int) -> NDArray[np.int64]:
    """Draw a whole number in ``range(limit)`` for each of `n` rows from `row` on.

    Examples
    --------
    >>> sorted(set(below(1, "fold", 0, row=0, n=100, limit=3).tolist()))
    [0, 1, 2]
    """
    return _native.below(seed, purpose, fold, row, n, limit)


def poisson(seed: int, purpose: str, fold: int, row: int, n: int = 1) -> NDArray[np.float64]:
    """Draw a Poisson(1) weight for each of `n` rows from `row` on.

    Examples
    --------
    >>> round(float(poisson(1, "weights", 0, row=0, n=100_000).mean()), 1)
    1.0
    """
    return _native.poisson(seed, purpose, fold, row, n)


def fold_seed(master: int, fold: int, learner_seed: int) -> int:
    """Return the seed of a learner in a fold.

    Seeds are independent over folds, and equal for two learners with the same `learner_seed` (common random numbers).

    Examples
    --------
    >>> fold_seed(1, 0, 7)
    16039768801272104445
    """
    return _native.fold_seed(master, fold, learner_seed)
