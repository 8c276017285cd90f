"""Confidence sequences: intervals that hold at all rows simultaneously, so a run may be stopped at any time."""

import math
from functools import cache, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.records import PairSums
from streamgauge.significance.e_values import STAKES
from streamgauge.significance.row_tests import combine_variances, compute_variance_parts, estimate_two_way

__all__ = [
    "MIN_LIVE_ROWS",
    "asymptotic_radius",
    "bernstein_log_e",
    "bernstein_radius",
    "block_radius",
    "boundary_factor",
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


def boundary_factor(n_rows: float, first_row: float, *, alpha: float = 0.05) -> float:
    """Return how many standard errors a mean may be from its expectation, at all looks from the first one on.

    It is the boundary of Robbins and Siegmund, ``sqrt(a^2 + log(n_rows / first_row))``, which a Brownian motion crosses
    with probability alpha at any time after the first look: it holds for ever and grows slowly.

    Parameters
    ----------
    n_rows, first_row
        The rows of this look and of the first one.
    alpha
        The probability that the mean is ever further away, after many rows.

    References
    ----------
    H. Robbins and D. Siegmund, Boundary crossing probabilities for the Wiener process and sample sums, Annals of
    Mathematical Statistics 41, 1970.

    Examples
    --------
    >>> round(boundary_factor(200, 200), 3), round(boundary_factor(20_000, 200), 3)
    (2.795, 3.524)
    """
    return math.sqrt(_find_start(alpha) ** 2 + math.log(max(n_rows / first_row, 1.0)))


@cache
def _find_start(alpha: float) -> float:
    """Return the boundary of Robbins and Siegmund at the first look, by bisection."""
    low, high = 0.0, 40.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        density = math.exp(-middle * middle / 2) / math.sqrt(2 * math.pi)
        crossing = math.erfc(middle / math.sqrt(2)) + 2 * middle * density
        low, high = (middle, high) if crossing > alpha else (low, middle)
    return high


def block_radius(
    variance: ArrayLike, *, n_rows: int, first_row: int, n_blocks: int, n_folds: int = 1, alpha: float = 0.05
) -> NDArray[np.float64]:
    """Return the half-width of the confidence sequence of a value whose variance was estimated from blocks and folds.

    It is `boundary_factor` standard errors, corrected for variances that are known from few blocks (a t quantile with
    the same tail) or few folds (the ratio of the usual t and normal quantiles), whichever is more.

    Parameters
    ----------
    variance
        The variance of the value, with the luck of rows, seeds and folds.
    n_rows, first_row
        The rows of this look and of the first one.
    n_blocks, n_folds
        How many blocks of rows and folds there are.
    alpha
        The probability that the sequence is ever wrong, after many rows.

    Examples
    --------
    >>> block_radius([1e-4], n_rows=5000, first_row=200, n_blocks=40).round(4)
    array([0.036])
    """
    factor = _compute_factor(n_rows, first_row, n_blocks, n_folds, alpha)
    radius: NDArray[np.float64] = factor * np.sqrt(np.asarray(variance, dtype=np.float64))
    return radius


@lru_cache(1024)
def _compute_factor(n_rows: int, first_row: int, n_blocks: int, n_folds: int, alpha: float) -> float:
    """Return the standard errors that an interval spans to each side."""
    from scipy.special import ndtr, stdtrit  # noqa: PLC0415

    factor = boundary_factor(n_rows, first_row, alpha=alpha)
    for_blocks = -float(stdtrit(n_blocks - 1, float(ndtr(-factor))))
    return max(for_blocks, factor * _correct_for_few_folds(n_folds, alpha) if n_folds > 1 else 0.0)


MIN_LIVE_ROWS = 200
"""The rows of the first look of an asymptotic confidence sequence."""


def two_way_sequence(pair: PairSums, *, alpha: float = 0.05) -> tuple[float, float]:
    """Return the interval of the two-way confidence sequence of the difference: an anytime-valid two-way t.

    It accounts for the variance of the seeds and of the rows. It is asymptotic: there is none before 200 rows.

    Parameters
    ----------
    pair
        The sums of two learners so far, over folds that scored the same rows.
    alpha
        The probability that the sequence is ever wrong.

    Examples
    --------
    >>> scored = np.array([8, 8, 8, 8])
    >>> pair = PairSums("a", "b", 8, scored, np.array([3, 3, 3, 3]), np.array([1, 0, 1, 1]), 2.4375, True)
    >>> two_way_sequence(pair)
    (-1.0, 1.0)
    """
    if not pair.crossed:
        msg = f"a two-way sequence of {pair.first} and {pair.second} needs folds that test the same rows"
        raise StreamgaugeError(msg)
    estimate_two_way(pair)  # raises if there are too few folds or rows
    parts = np.array([compute_variance_parts(pair)])
    middle, radius = two_way_radius(parts, pair.n_rows, len(pair.block_sums), pair.n_folds, alpha)
    return max(float(middle[0] - radius[0]), -1.0), min(float(middle[0] + radius[0]), 1.0)


def two_way_radius(
    parts: NDArray[np.float64], n_rows: int, n_blocks: int, n_folds: int, alpha: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean differences and half-widths of the two-way confidence sequence, from the parts of variances.

    Examples
    --------
    >>> middle, radius = two_way_radius(np.array([[0.02, 1e-5, 4e-5, 1e-6, 4e-5]]), 20_000, 40, 10, 0.05)
    >>> middle.tolist(), radius.round(4).tolist()
    ([0.02], [0.0285])
    """
    middle: NDArray[np.float64] = parts[:, 0]
    if n_rows < MIN_LIVE_ROWS:
        return middle, np.full(len(parts), 2.0)
    variance, in_blocks = combine_variances(parts, n_blocks)

    def compute_radius(n: int) -> NDArray[np.float64]:
        return block_radius(variance, n_rows=n_rows, first_row=MIN_LIVE_ROWS, n_blocks=n, n_folds=n_folds, alpha=alpha)

    return middle, np.where(in_blocks, compute_radius(max(n_blocks, 2)), compute_radius(n_rows))


@cache
def _correct_for_few_folds(n_folds: int, alpha: float) -> float:
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415

    return float(stdtrit(n_folds - 1, 1 - alpha / 2) / ndtri(1 - alpha / 2))
