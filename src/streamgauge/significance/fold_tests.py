"""Exact tests over folds: one difference a fold, of any measure.

Their p-values hold for folds whose learners have independent seeds, whatever rows the folds share, and they speak of
the given stream only.
"""

import math
from collections.abc import Sequence
from statistics import mean
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge.errors import StreamgaugeError, require_between, unknown_name
from streamgauge.significance.comparison import SEEDS, Comparison

__all__ = ["checked_differences", "double_ranks", "fold_outcome", "sign_test", "slack", "wilcoxon"]

SLACK = 1e-12
"""Differences that are nearer than rounding errors of rates can be are equal."""

Zeros = Literal["drop", "pratt"]
Variant = Literal["exact", "normal", "corrected"]


def sign_test(differences: ArrayLike, *, alpha: float = 0.05) -> Comparison:
    """Test whether one learner wins in more folds than chance allows; exact.

    Ties are left out: with w wins and l losses, p is twice the chance of at least ``max(w, l)`` heads in ``w + l``
    throws of a coin. The statistic is the number of wins of the first.

    Parameters
    ----------
    differences
        The value of the first learner less that of the second, one number a fold.
    alpha
        The level.

    Examples
    --------
    >>> outcome = sign_test([0.02, 0.01, 0.03, -0.01, 0.02, 0.05, 0.01, 0.02, 0.03, 0.01])
    >>> outcome.statistic, round(outcome.p_value, 4)
    (9, 0.0215)
    """
    from scipy.special import bdtr  # noqa: PLC0415

    values = checked_differences(differences, alpha)
    wins, losses = int(np.sum(values > 0)), int(np.sum(values < 0))
    decided = wins + losses
    p_value = min(1.0, 2 * float(bdtr(min(wins, losses), decided, 0.5))) if decided else 1.0
    direction = int(np.sign(wins - losses))
    return fold_outcome("sign", wins, p_value, direction, values, alpha)


def wilcoxon(
    differences: ArrayLike, *, zeros: Zeros = "drop", variant: Variant = "exact", alpha: float = 0.05
) -> Comparison:
    """Test whether the differences of the folds lie around 0: the signed-rank test of Wilcoxon; exact.

    Zeros are left out, ties share the mean of their ranks, and the p-value counts the signs that would give so small
    a sum of ranks, whatever ties there are. The statistic is the smaller of the two rank sums.

    Parameters
    ----------
    differences
        The value of the first learner less that of the second, one number a fold.
    zeros
        ``drop`` leaves them out before ranking; ``pratt`` ranks them, too, and leaves their ranks out.
    variant
        ``exact``; ``normal``, the approximation for many folds; ``corrected``, that with a correction for continuity.
    alpha
        The level.

    References
    ----------
    F. Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1(6), 1945; J. W. Pratt, Remarks on
    zeros and ties in the Wilcoxon signed rank procedures, Journal of the American Statistical Association 54, 1959.

    Examples
    --------
    >>> outcome = wilcoxon([0.07, -0.01, -0.02, 1.37, 0.60, 1.42, 2.18, 1.04, 2.39, 0.03])
    >>> outcome.statistic, outcome.p_value
    (3.0, 0.009765625)
    """
    values = checked_differences(differences, alpha)
    for kind, name, known in (("treatment of zeros", zeros, Zeros), ("variant of Wilcoxon", variant, Variant)):
        if name not in get_args(known):
            raise unknown_name(kind=kind, name=name, known=get_args(known))
    nonzero = values[values != 0.0]
    ranks = double_ranks(np.abs(values))[values != 0.0] if zeros == "pratt" else double_ranks(np.abs(nonzero))
    positive = int(ranks[nonzero > 0].sum())
    negative = int(ranks.sum()) - positive
    smaller = min(positive, negative)
    if variant == "exact":
        p_value = min(1.0, 2 * _chance_of_at_most(smaller, ranks))
    else:
        p_value = _normal_chance(smaller, ranks, corrected=variant == "corrected")
    direction = int(np.sign(positive - negative))
    return fold_outcome("wilcoxon", smaller / 2, p_value, direction, values, alpha)


def checked_differences(differences: ArrayLike, alpha: float) -> NDArray[np.float64]:
    """Give the differences as numbers, with zeros for those that only rounding keeps from it.

    Examples
    --------
    >>> checked_differences([0.1 + 0.2 - 0.3, 0.5], 0.05).tolist()
    [0.0, 0.5]
    """
    require_between("alpha", alpha, 0.0, 1.0)
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2:
        msg = (
            f"a test over folds needs one difference a fold and at least 2 folds, not an array of shape {values.shape}"
        )
        raise StreamgaugeError(msg)
    if not np.isfinite(values).all():
        fold = int(np.flatnonzero(~np.isfinite(values))[0])
        msg = f"the difference of fold {fold} is {values[fold]}: the measure is not defined there, so compare another"
        raise StreamgaugeError(msg)
    return np.where(np.abs(values) <= slack(values), 0.0, values)


def slack(values: NDArray[np.float64]) -> float:
    """Give how near two values may be to count as equal.

    Examples
    --------
    >>> slack(np.array([1.0]))
    2e-12
    """
    return SLACK * (1.0 + float(np.max(np.abs(values), initial=0.0)))


def double_ranks(sizes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rank from 1; ties share the mean of their ranks. Doubled, ranks are whole numbers.

    Examples
    --------
    >>> double_ranks(np.array([0.3, 0.1, 0.3])).tolist()
    [5, 2, 5]
    """
    order = np.argsort(sizes, kind="stable")
    ends_tie = np.diff(sizes[order], append=np.inf) > slack(sizes)
    last = np.flatnonzero(ends_tie) + 1
    first = np.concatenate(([1], last[:-1] + 1)) if len(last) else last
    ranks = np.empty(len(sizes), dtype=np.int64)
    ranks[order] = np.repeat(first + last, last - first + 1)
    return ranks


def _chance_of_at_most(limit: int, ranks: NDArray[np.int64]) -> float:
    """Find the chance that the ranks that get heads sum to at most `limit`, each with a throw of a coin."""
    chances = np.zeros(int(ranks.sum()) + 1)
    chances[0] = 1.0
    for rank in np.sort(ranks).tolist():
        chances[rank:] += chances[:-rank].copy()
        chances /= 2
    return float(chances[: limit + 1].sum())


def _normal_chance(smaller: int, ranks: NDArray[np.int64], *, corrected: bool) -> float:
    """Approximate twice the chance that the ranks that get heads sum to at most so much; all doubled."""
    from scipy.special import ndtr  # noqa: PLC0415

    spread = math.sqrt(float((ranks.astype(np.float64) ** 2).sum()) / 4)
    below = float(ranks.sum()) / 2 - smaller - (1.0 if corrected else 0.0)
    return 2 * float(ndtr(-max(below, 0.0) / spread)) if spread else 1.0


def fold_outcome(
    test: str, statistic: float, p_value: float, direction: int, values: NDArray[np.float64], alpha: float
) -> Comparison:
    """Put together what a test over folds found.

    Examples
    --------
    >>> fold_outcome("sign", 1, 0.5, 1, np.array([0.25, 0.5]), 0.05).difference
    0.375
    """
    difference = mean(values.tolist())
    return Comparison(
        test=test,
        statistic=statistic,
        p_value=p_value,
        direction=direction,
        difference=difference,
        interval=None,
        alpha=alpha,
        null=SEEDS,
        basis=f"{len(values)} folds",
        warnings=tuple(_warnings(values.tolist(), difference * direction, alpha)),
    )


def _warnings(values: Sequence[float], towards: float, alpha: float) -> list[str]:
    warnings = []
    decided = sum(value != 0.0 for value in values)
    least = 2.0 ** (1 - decided)
    if decided > 0 and least > alpha:
        warnings.append(
            f"with {decided} folds that differ no p-value can be below {least:g}, so alpha = {alpha:g} is out of reach:"
            " use more folds"
        )
    if towards < 0.0:
        warnings.append("the mean of the differences points the other way than the test: look at the single folds")
    return warnings
