"""Effect size: with many rows every real difference is significant, however small."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from streamgauge.significance.fold_tests import check_differences, rank_sum_chances

__all__ = ["Effect", "effect_size"]


@dataclass(frozen=True)
class Effect:
    """The size of the difference between two learners over folds or streams.

    Parameters
    ----------
    difference
        The mean of first minus second.
    median
        The Hodges-Lehmann estimate, robust to outlying folds: the median of the means of all pairs of differences.
    interval
        The confidence interval of that median at confidence ``1 - alpha``, for any symmetric distribution; None if
        there are too few differences.
    standardised
        The mean divided by the standard deviation; NaN if all differences are equal.
    wins, ties, losses
        How often the first is better, equally good, and worse.
    alpha
        The level.

    Examples
    --------
    >>> Effect(0.02, 0.02, (0.01, 0.03), 1.5, 9, 0, 1, 0.05).wins
    9
    """

    difference: float
    median: float
    interval: tuple[float, float] | None
    standardised: float
    wins: int
    ties: int
    losses: int
    alpha: float


def effect_size(differences: ArrayLike, *, greater_is_better: bool = True, alpha: float = 0.05) -> Effect:
    """Return the effect size of one difference per fold or stream.

    The interval contains the values that the exact Wilcoxon test, without ties, would not reject.

    Parameters
    ----------
    differences
        The value of the first learner minus that of the second.
    greater_is_better
        Whether a greater value is better, which decides what a win is.
    alpha
        The level.

    Examples
    --------
    >>> effect = effect_size([0.07, -0.01, -0.02, 1.37, 0.60, 1.42, 2.18, 1.04, 2.39, 0.03])
    >>> effect.wins, effect.ties, effect.losses
    (8, 0, 2)
    >>> round(effect.median, 3), [round(end, 3) for end in effect.interval]
    (0.82, [0.05, 1.61])
    """
    values = check_differences(differences, alpha)
    i, j = np.triu_indices(len(values))
    means = np.sort((values[i] + values[j]) / 2)
    outside = _find_critical_sum(len(values), alpha)
    interval = (float(means[outside]), float(means[-1 - outside])) if outside >= 0 else None
    spread = float(values.std(ddof=1))
    above, below = int((values > 0).sum()), int((values < 0).sum())
    wins, losses = (above, below) if greater_is_better else (below, above)
    return Effect(
        difference=float(values.mean()),
        median=float(np.median(means)),
        interval=interval,
        standardised=float(values.mean()) / spread if spread > 0.0 else float("nan"),
        wins=wins,
        ties=len(values) - wins - losses,
        losses=losses,
        alpha=alpha,
    )


def _find_critical_sum(n: int, alpha: float) -> int:
    """Return the greatest rank sum that Wilcoxon's exact test rejects; -1 if there is none."""
    return int((2 * np.cumsum(rank_sum_chances(np.arange(1, n + 1))) <= alpha).sum()) - 1
