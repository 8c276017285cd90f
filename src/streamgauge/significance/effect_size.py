"""How large a difference is: with many rows every real difference is significant, however small."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from streamgauge.significance.fold_tests import checked_differences

__all__ = ["Effect", "effect_size"]


@dataclass(frozen=True)
class Effect:
    """How large the difference of two learners over folds or streams is.

    Parameters
    ----------
    difference
        The mean of first minus second.
    median
        The median of the means of all two differences (Hodges and Lehmann): few odd folds do not move it.
    interval
        Where that median truly lies, with confidence ``1 - alpha`` whatever the distribution, if it is symmetric; None
        where there are too few differences.
    standardised
        The mean by the standard deviation; NaN where all are equal.
    wins, ties, losses
        How often the first is better, as good, and worse.
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
    """Tell how large a difference is, from one difference a fold or stream.

    The interval holds the values that the exact Wilcoxon test, without ties, would not reject.

    Parameters
    ----------
    differences
        The value of the first learner less that of the second.
    greater_is_better
        Whether a greater value is better; decides what a win is.
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
    values = checked_differences(differences, alpha)
    i, j = np.triu_indices(len(values))
    means = np.sort((values[i] + values[j]) / 2)
    outside = _left_out(len(values), alpha)
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


def _left_out(n: int, alpha: float) -> int:
    """Find the greatest rank sum that Wilcoxon's exact test rejects at; -1 where there is none."""
    chances = np.zeros(n * (n + 1) // 2 + 1)
    chances[0] = 1.0
    for rank in range(1, n + 1):
        chances[rank:] += chances[:-rank].copy()
        chances /= 2
    return int((2 * np.cumsum(chances) <= alpha).sum()) - 1
