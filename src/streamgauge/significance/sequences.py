"""Confidence sequences: intervals that hold the truth at all rows at once, so one may look at any time and stop."""

import math

import numpy as np

from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.records import PairSums
from streamgauge.significance.evidence import STAKES
from streamgauge.significance.rows import two_way_variance

__all__ = ["asymptotic_radius", "empirical_bernstein", "two_way_sequence"]

COSTS = -np.log1p(-STAKES) - STAKES


def empirical_bernstein(
    total: float, total_of_squares: float, n_rows: int, *, alpha: float = 0.05
) -> tuple[float, float]:
    """Give the interval of a confidence sequence for the mean of values in [-1, 1]; exact, and drift may move the mean.

    It is for the mean so far of what each value was expected to be, given the past.

    Parameters
    ----------
    total, total_of_squares
        The sums of the values and of their squares so far. For the difference of two models in one fold, ``a - b`` and
        ``a + b`` with a and b the rows that only the first, and only the second, got right.
    n_rows
        How many values there were.
    alpha
        The chance that the sequence is ever wrong.

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
        msg = f"sums of {n_rows} values in [-1, 1] are not {total} and, of squares, {total_of_squares}"
        raise StreamgaugeError(msg)
    reach = bernstein_reach(total_of_squares, alpha)
    return max((total - reach) / n_rows, -1.0), min((total + reach) / n_rows, 1.0)


def bernstein_log_e(total: float, total_of_squares: float) -> float:
    """Give the logarithm of the evidence that values have a mean above 0.

    Examples
    --------
    >>> round(math.exp(bernstein_log_e(200, 4000)), 4)
    14.3917
    """
    logs = STAKES * total - COSTS * total_of_squares
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).mean()))


def bernstein_reach(total_of_squares: float, alpha: float) -> float:
    """Give how far a sum may be from what was expected.

    Examples
    --------
    >>> round(bernstein_reach(100, 0.05), 4)
    39.0538
    """
    from scipy.optimize import brentq  # noqa: PLC0415

    squares, enough = max(total_of_squares, 1.0), math.log(2 / alpha)
    high = 1.0
    while bernstein_log_e(high, squares) < enough:
        high *= 2
    return float(brentq(lambda total: bernstein_log_e(total, squares) - enough, 0.0, high, xtol=1e-12, rtol=1e-14))


def asymptotic_radius(n_rows: int, variance: float, *, alpha: float = 0.05, best_at: float = 1000.0) -> float:
    """Give the half-width of the asymptotic confidence sequence of a mean.

    Parameters
    ----------
    n_rows
        How many values there were.
    variance
        Their variance.
    alpha
        The chance that the sequence is ever wrong, after many rows.
    best_at
        About after how many rows, times the variance, it is to be narrowest.

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
    log = 2 * math.log(1 / alpha)
    scale = (log + math.log(1 + log)) / best_at
    inflated = n_rows * variance * scale + 1
    return math.sqrt(2 * inflated / (n_rows**2 * scale) * math.log(math.sqrt(inflated) / alpha))


def two_way_sequence(pair: PairSums, *, alpha: float = 0.05, horizon: int = 20_000) -> tuple[float, float]:
    """Give the interval of the two-way confidence sequence of the difference: a two-way t to look at any time.

    It sees the luck of the seeds and that of the rows. Asymptotic: it holds after enough rows.

    Parameters
    ----------
    pair
        The sums of two learners so far, over folds that scored the same rows.
    alpha
        The chance that the sequence is ever wrong.
    horizon
        About how many rows there will be; decides where it is narrowest, never whether it holds.

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
    difference, variance, _ = two_way_variance(pair)
    radius = two_way_radius(pair.n_rows, pair.n_folds, variance, alpha, horizon)
    return max(difference - radius, -1.0), min(difference + radius, 1.0)


def two_way_radius(n_rows: int, n_folds: int, variance: float, alpha: float, horizon: int) -> float:
    """Give the half-width of the two-way confidence sequence, from the variance of the mean difference.

    Examples
    --------
    >>> round(two_way_radius(20_000, 10, 5.14e-5, 0.05, 20_000), 5)
    0.0259
    """
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415

    for_few_folds = float(stdtrit(n_folds - 1, 1 - alpha / 2) / ndtri(1 - alpha / 2))
    return for_few_folds * asymptotic_radius(n_rows, n_rows * variance, alpha=alpha, best_at=horizon / 4)
