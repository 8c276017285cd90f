"""The sign-flip test over folds: were the two learners exchangeable, a difference could have either sign."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge import randomness
from streamgauge.errors import require_at_least
from streamgauge.significance.comparison import Comparison
from streamgauge.significance.fold_tests import checked_differences, fold_outcome, slack

__all__ = ["all_flips", "random_flips", "sign_flip"]

MOST_FOLDS = 20
"""Up to so many folds all signs are tried; beyond, random ones."""


def sign_flip(differences: ArrayLike, *, alpha: float = 0.05, n_flips: int = 100_000, seed: int = 1) -> Comparison:
    """Test whether the mean of the differences is 0, by turning their signs round in all ways.

    The p-value is the share of the sign vectors whose sum is at least as far from 0. It is exact for up to 20 folds;
    for more, random sign vectors stand for all, and the p-value still never lies too low on average. The statistic is
    the mean difference.

    Parameters
    ----------
    differences
        The value of the first learner less that of the second, one number a fold.
    alpha
        The level.
    n_flips
        How many sign vectors are tried for more than 20 folds.
    seed
        Decides these.

    References
    ----------
    R. A. Fisher, The design of experiments, 1935.

    Examples
    --------
    >>> sign_flip([0.07, -0.01, -0.02, 1.37, 0.60, 1.42, 2.18, 1.04, 2.39, 0.03]).p_value
    0.009765625
    """
    values = checked_differences(differences, alpha)
    require_at_least("n_flips", n_flips, 1)
    seen = abs(float(values.sum()))
    if len(values) <= MOST_FOLDS:
        sums = np.zeros(1)
        for value in values[1:].tolist():
            sums = np.concatenate((sums + value, sums - value))
        # A sign vector and its opposite give the same: the first sign stays.
        extreme = np.abs(sums + values[0]) >= seen - slack(np.array([seen]))
    else:
        extreme = np.abs(random_flips(len(values), n_flips, seed) @ values) >= seen - slack(np.array([seen]))
    direction = int(np.sign(values.sum())) if seen > slack(values) else 0
    return fold_outcome("sign_flip", float(values.mean()), float(extreme.mean()), direction, values, alpha)


def all_flips(n_folds: int) -> NDArray[np.float64]:
    """Give all sign vectors of so many folds, those and their opposites counted once; the first has no minus.

    Examples
    --------
    >>> all_flips(3).astype(int).tolist()
    [[1, 1, 1], [1, -1, 1], [1, 1, -1], [1, -1, -1]]
    """
    numbers = np.arange(2 ** (n_folds - 1))
    flips = np.ones((len(numbers), n_folds))
    flips[:, 1:] -= 2.0 * (numbers[:, None] >> np.arange(n_folds - 1) & 1)
    return flips


def random_flips(n_folds: int, n_flips: int, seed: int) -> NDArray[np.float64]:
    """Draw sign vectors; the first has no minus.

    Examples
    --------
    >>> random_flips(4, 2, seed=1)[0].tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    flips = np.stack(
        [1.0 - 2.0 * (randomness.uniform(seed, "flips", fold, 0, n_flips) < 0.5) for fold in range(n_folds)], axis=1
    )
    flips[0] = 1.0
    return flips
