"""The exact sign-flip test over folds with several interim looks."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.significance.fold_tests import all_flips, random_flips

__all__ = ["GroupSequentialSignFlip", "open_ended", "until"]

ALL_FLIPS_UP_TO = 13
N_RANDOM_FLIPS = 8192

Spending = Callable[[int], float]


def open_ended(look: int) -> float:
    """Return the share of alpha to spend up to a look if the number of looks is unknown: ``j / (j + 5)``.

    Examples
    --------
    >>> open_ended(5)
    0.5
    """
    return look / (look + 5)


def until(n_looks: int) -> Spending:
    """Return the spending function for `n_looks` looks: up to look j the share ``(j / J)^2``; costs almost no power.

    Examples
    --------
    >>> until(10)(5)
    0.25
    """
    require_at_least("n_looks", n_looks, 1)
    return lambda look: min(look / n_looks, 1.0) ** 2


class GroupSequentialSignFlip:
    """A sign-flip test of the differences of folds at every look, with error probability alpha over all looks.

    Each look rejects as many sign vectors as its share of alpha allows, those with the greatest sums first. A
    difference is claimed once the observed vector is among them. If the two learners were exchangeable in every fold,
    all sign vectors would be equally likely.

    The times of the looks must be fixed before the first. The differences may be of any measure, with or without
    forgetting.

    Parameters
    ----------
    n_folds
        Number of folds.
    alpha
        The level.
    spending
        The share of alpha spent up to look j = 1, 2, ...: `open_ended`, `until` or another non-decreasing function.
    seed
        The seed for drawing sign vectors, which is done for more than 13 folds.

    Examples
    --------
    >>> test = GroupSequentialSignFlip(8, spending=lambda look: look / (look + 1))
    >>> test.look([0.2, 0.1, -0.1, 0.3, 0.0, 0.1, -0.2, 0.2])
    False
    >>> test.look([0.5, 0.4, 0.1, 0.6, 0.3, 0.2, -0.1, 0.4])
    True
    """

    def __init__(self, n_folds: int, *, alpha: float = 0.05, spending: Spending = open_ended, seed: int = 1) -> None:
        require_at_least("n_folds", n_folds, 2)
        require_between("alpha", alpha, 0.0, 1.0)
        exact = n_folds <= ALL_FLIPS_UP_TO
        self._flips = all_flips(n_folds) if exact else random_flips(n_folds, N_RANDOM_FLIPS, seed)
        if alpha * len(self._flips) < 1:
            msg = f"{n_folds} folds cannot show a difference at alpha = {alpha:g}: use more folds"
            raise StreamgaugeError(msg)
        self.alpha, self.n_looks = alpha, 0
        self._spending = spending
        self._rejected = np.zeros(len(self._flips), dtype=np.bool_)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self._flips.shape[1])

    @property
    def rejected(self) -> bytes:
        """The rejected sign vectors, one bit each."""
        return np.packbits(self._rejected).tobytes()

    @property
    def n_rejected(self) -> int:
        """How many sign vectors were rejected so far."""
        return int(self._rejected.sum())

    def restore(self, n_looks: int, rejected: bytes) -> None:
        """Restore the state of a test with the same folds, level and spending after `n_looks` looks."""
        bits = np.unpackbits(np.frombuffer(rejected, dtype=np.uint8))
        if len(bits) != 8 * -(-len(self._flips) // 8):
            msg = f"the saved sign vectors are not those of {self.n_folds} folds"
            raise StreamgaugeError(msg)
        self.n_looks, self._rejected = n_looks, bits[: len(self._flips)].astype(np.bool_)

    @property
    def claimed(self) -> bool:
        """Whether a look has claimed a difference."""
        return bool(self._rejected[0])

    def supports(self, differences: ArrayLike) -> bool:
        """Return whether the differences would be claimed if this were the only look; every claim is, at its look."""
        sums = np.abs(self._flips @ np.asarray(differences, dtype=np.float64))
        return bool((sums >= sums[0] - 1e-12 * (1.0 + sums[0])).mean() <= self.alpha + 1e-9)

    def look(self, differences: ArrayLike) -> bool:
        """Add the current differences of the folds; return whether a difference can be claimed."""
        values = np.asarray(differences, dtype=np.float64)
        if values.shape != (self.n_folds,) or not np.isfinite(values).all():
            msg = f"a look needs one finite difference for each of the {self.n_folds} folds"
            raise StreamgaugeError(msg)
        self.n_looks += 1
        budget = math.floor(self.alpha * self._spending(self.n_looks) * len(self._flips) + 1e-9) - self.n_rejected
        if budget > 0:
            left = np.flatnonzero(~self._rejected)
            sums = np.abs(self._flips[left] @ values)
            # Sums that tie with the greatest one outside the budget are not rejected either.
            limit = np.sort(sums)[-1 - budget] if len(sums) > budget else -1.0
            self._rejected[left[sums > limit + 1e-12 * (1.0 + max(limit, 0.0))]] = True
        return self.claimed
