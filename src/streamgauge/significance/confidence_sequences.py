"""Confidence sequences: intervals that hold at all rows simultaneously, so a run may be stopped at any time."""

import math
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.records import PairSums
from streamgauge.significance.e_values import STAKES
from streamgauge.significance.row_tests import estimate_two_way

__all__ = [
    "asymptotic_radius",
    "bernstein_log_e",
    "bernstein_radius",
    "empirical_bernstein",
    "two_way_radius",
    "two_way_sequence",
]

STAKE_PENALTIES = -np.log1p(-STAKES) - STAKES

MAX_NEWTON_STEPS = 200
"""Newton's method needs about a dozen."""


def empirical_bernstein(
    total: float, total_of_squares: float, n_rows: int, *, alpha: float = 0.05
) -> tuple[float, float]:
    """Return the interval of a confidence sequence for the mean of values in [-1, 1]; exact, also under drift.

    It covers the running mean of the conditional expectations of the values given the past.

    Parameters
    ----------
    total, total_of_squares
        The sums of the values and of their squares so far. For the difference of two models in one fold, ``a - b`` and
        ``a + b`` with a and b the rows that only the first, and only the second, got right.
    n_rows
        Number of values.
    alpha
        The probability that the sequence is ever wrong.

    References
    ----------
    S. R. Howard, A. Ramdas, J. McAuliffe and J. Sekhon, Time-uniform, nonparametric, nonasymptotic confidence
    sequences, Annals of Statistics 49, 2021; Y. J. Choe and A. Ramdas, Comparing sequential forecasters, Operations
    Research 72, 2024.

    Examples
    --------
    >>> [round(end, 5) for end in empirical_bernstein(600, 1000, 20_000)]
    [0.02432, 0.03568]
    """
    require_between("alpha", alpha, 0.0, 1.0, open_high=True)
    require_at_least("n_rows", n_rows, 1)
    if not abs(total) <= n_rows or not 0.0 <= total_of_squares <= n_rows:
        sums = f"total = {total} and total_of_squares = {total_of_squares}"
        msg = f"{sums} cannot be the sums of {n_rows} values in [-1, 1]"
        raise StreamgaugeError(msg)
    radius = float(bernstein_radius(total_of_squares, alpha))
    return max((total - radius) / n_rows, -1.0), min((total + radius) / n_rows, 1.0)


def bernstein_log_e(total: ArrayLike, total_of_squares: ArrayLike) -> NDArray[np.float64]:
    """Return the log e-value against the hypothesis that values have a mean of at most 0.

    Examples
    --------
    >>> np.exp(bernstein_log_e([200, 60], [4000, 1000])).round(4).tolist()
    [14.3917, 1.5951]
    """
    return _compute_log_e(np.asarray(total, dtype=np.float64), np.asarray(total_of_squares, dtype=np.float64))[0]


def _compute_log_e(
    total: NDArray[np.float64], squares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the log e-value and its derivative with respect to the total."""
    logs = STAKES * total[..., None] - STAKE_PENALTIES * squares[..., None]
    top = logs.max(axis=-1, keepdims=True)
    shares = np.exp(logs - top)
    whole = shares.sum(axis=-1)
    return top[..., 0] + np.log(whole / len(STAKES)), (shares * STAKES).sum(axis=-1) / whole


def bernstein_radius(total_of_squares: ArrayLike, alpha: float) -> NDArray[np.float64]:
    """Return the half-width of the empirical Bernstein interval of a sum.

    Examples
    --------
    >>> bernstein_radius([1.0, 100.0], 0.05).round(4).tolist()
    [12.5682, 39.0538]
    """
    squares = np.maximum(np.asarray(total_of_squares, dtype=np.float64), 1.0)
    threshold = math.log(2 / alpha)
    # Start from the radius of the smallest stake alone. The log e-value is convex in the total, so Newton's method does
    # not overshoot from above.
    radius: NDArray[np.float64] = (threshold + math.log(len(STAKES)) + STAKE_PENALTIES[-1] * squares) / STAKES[-1]
    for _ in range(MAX_NEWTON_STEPS):
        log_e, slope = _compute_log_e(radius, squares)
        step = (log_e - threshold) / slope
        radius = radius - step
        if (np.abs(step) <= 1e-13 * radius).all():
            break
    return radius


def asymptotic_radius(n_rows: int, variance: float, *, alpha: float = 0.05, best_at: float = 1000.0) -> float:
    """Return the half-width of the asymptotic confidence sequence of a mean.

    Parameters
    ----------
    n_rows
        Number of values.
    variance
        Their variance.
    alpha
        The probability that the sequence is ever wrong, after many rows.
    best_at
        The number of rows, times the variance, at which the interval is about narrowest.

    References
    ----------
    I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy and A. Ramdas, Time-uniform central limit theory and asymptotic
    confidence sequences, Annals of Statistics 52, 2024.

    Examples
    --------
    >>> round(asymptotic_radius(1000, 0.2), 5)
    0.04757
    """
    require_at_least("n_rows", n_rows, 1)
    require_between("alpha", alpha, 0.0, 1.0, open_high=True)
    return float(_compute_radius(n_rows, np.float64(variance), alpha, best_at))


def _compute_radius(n_rows: int, variance: ArrayLike, alpha: float, best_at: float) -> NDArray[np.float64]:
    log = 2 * math.log(1 / alpha)
    scale = (log + math.log(1 + log)) / best_at
    inflated = n_rows * scale * np.asarray(variance, dtype=np.float64) + 1
    radius: NDArray[np.float64] = np.sqrt(2 * inflated / (n_rows**2 * scale) * np.log(np.sqrt(inflated) / alpha))
    return radius


def two_way_sequence(pair: PairSums, *, alpha: float = 0.05, horizon: int = 20_000) -> tuple[float, float]:
    """Return the interval of the two-way confidence sequence of the difference: an anytime-valid two-way t.

    It accounts for the variance of the seeds and of the rows. It is asymptotic: valid after enough rows.

    Parameters
    ----------
    pair
        The sums of two learners so far, over folds that scored the same rows.
    alpha
        The probability that the sequence is ever wrong.
    horizon
        The expected number of rows; decides where the interval is narrowest, not whether it is valid.

    Examples
    --------
    >>> scored = np.array([8, 8, 8, 8])
    >>> pair = PairSums("a", "b", 8, scored, np.array([3, 3, 3, 3]), np.array([1, 0, 1, 1]), 2.4375, True)
    >>> two_way_sequence(pair)
    (-1.0, 1.0)
    """
    require_at_least("horizon", horizon, 1)
    if not pair.crossed:
        msg = f"a two-way sequence of {pair.first} and {pair.second} needs folds that test the same rows"
        raise StreamgaugeError(msg)
    difference, variance, _ = estimate_two_way(pair)
    radius = float(two_way_radius(pair.n_rows, pair.n_folds, variance, alpha, horizon))
    return max(difference - radius, -1.0), min(difference + radius, 1.0)


def two_way_radius(n_rows: int, n_folds: int, variance: ArrayLike, alpha: float, horizon: float) -> NDArray[np.float64]:
    """Return the half-width of the two-way confidence sequence, from the variance of each mean difference.

    Examples
    --------
    >>> two_way_radius(20_000, 10, [5.14e-5], 0.05, 20_000).round(5).tolist()
    [0.0259]
    """
    spread = n_rows * np.asarray(variance, dtype=np.float64)
    return _correct_for_few_folds(n_folds, alpha) * _compute_radius(n_rows, spread, alpha, horizon / 4)


@cache
def _correct_for_few_folds(n_folds: int, alpha: float) -> float:
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415

    return float(stdtrit(n_folds - 1, 1 - alpha / 2) / ndtri(1 - alpha / 2))
