"""Ranks over streams, and tests based on ranks alone: Friedman's and Nemenyi's."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations
from operator import add

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.significance.fold_tests import double_ranks

__all__ = ["Friedman", "critical_difference", "friedman", "mean_rank_p_values", "nemenyi_p_values", "ranks_of"]

MAX_RANKINGS = 100_000
"""The limit of rankings per stream that are enumerated for an exact p-value."""


def ranks_of(values: ArrayLike, *, greater_is_better: bool = True) -> NDArray[np.float64]:
    """Return the ranks of learners on each stream: the best has rank 1, ties share the mean of their ranks.

    Parameters
    ----------
    values
        One number per stream and learner, [streams, learners].
    greater_is_better
        Whether a greater value is better.

    Examples
    --------
    >>> ranks_of([[0.9, 0.8, 0.8], [0.7, 0.6, 0.9]]).tolist()
    [[1.0, 2.5, 2.5], [2.0, 3.0, 1.0]]
    """
    table = _check_values(values)
    return np.array([double_ranks(-row if greater_is_better else row) for row in table]) / 2


@dataclass(frozen=True)
class Friedman:
    """The outcome of Friedman's test.

    Parameters
    ----------
    chi_square, p_value
        Friedman's statistic, a chi-square with ``k - 1`` degrees of freedom, and its p-value.
    iman_davenport, iman_davenport_p
        The less conservative statistic of Iman and Davenport, an F with ``k - 1`` and ``(k - 1)(N - 1)`` degrees of
        freedom, and its p-value. If all streams rank alike, the F is infinite and the p-value exact.
    exact_p
        The exact p-value if streams and learners are few enough to enumerate; else None.

    Examples
    --------
    >>> outcome = Friedman(9.28, 0.0258, 3.69, 0.0198)
    >>> outcome.iman_davenport, outcome.best_p
    (3.69, 0.0198)
    """

    chi_square: float
    p_value: float
    iman_davenport: float
    iman_davenport_p: float
    exact_p: float | None = None

    @property
    def best_p(self) -> float:
        """The most accurate p-value: the exact one if known, since both approximations are poor for few streams."""
        return self.iman_davenport_p if self.exact_p is None else self.exact_p


def friedman(values: ArrayLike, *, corrected_for_ties: bool = True) -> Friedman:
    """Test whether learners have the same mean rank over independent streams.

    The rows of the table must be streams, not folds: folds of one stream share its rows and are not independent.

    Parameters
    ----------
    values
        One number per stream and learner, [streams, learners].
    corrected_for_ties
        Whether to reduce the expected variance for ties. Demšar 2006 does not.

    References
    ----------
    M. Friedman, The use of ranks to avoid the assumption of normality, Journal of the American Statistical
    Association 32, 1937; R. L. Iman and J. M. Davenport, Approximations of the critical region of the Friedman
    statistic, Communications in Statistics 9, 1980.

    Examples
    --------
    >>> outcome = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.6, 0.8], [0.9, 0.8, 0.7]])
    >>> outcome.chi_square, round(outcome.iman_davenport, 4), round(outcome.iman_davenport_p, 4)
    (3.5, 2.3333, 0.178)
    >>> round(outcome.exact_p, 4)
    0.2731
    """
    from scipy.special import chdtrc, fdtrc  # noqa: PLC0415

    ranks = ranks_of(values)
    n, k = ranks.shape
    _require_enough(n, k)
    between = float(((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum())
    # Without ties the ranks of a stream have the squared deviations of 1, ..., k.
    within = float(((ranks - (k + 1) / 2) ** 2).sum()) if corrected_for_ties else n * k * (k * k - 1) / 12
    chi_square = (k - 1) * between / within if within else 0.0
    rest = n * (k - 1) - chi_square
    if rest > 1e-9:
        statistic = (n - 1) * chi_square / rest
        f_p_value = float(fdtrc(k - 1, (k - 1) * (n - 1), statistic))
    else:
        statistic, f_p_value = math.inf, _compute_agreement_chance(ranks)
    return Friedman(
        chi_square=chi_square,
        p_value=float(chdtrc(k - 1, chi_square)),
        iman_davenport=statistic,
        iman_davenport_p=f_p_value,
        exact_p=_compute_exact_p(ranks),
    )


def _compute_exact_p(ranks: NDArray[np.float64]) -> float | None:
    """Return the probability that random rankings spread the rank sums at least this far; None if it takes too long.

    The distribution of the rank sums is built up stream by stream. Learners are exchangeable, so sums are kept sorted.
    """
    n, k = ranks.shape
    if math.factorial(k) > MAX_RANKINGS:
        return None
    doubled = np.rint(2.0 * ranks).astype(np.int64)  # ties have halves
    chances = {(0,) * k: 1.0}
    for stream_ranks in doubled.tolist():
        orders = Counter(permutations(stream_ranks))
        if len(chances) * len(orders) > MAX_RANKINGS:
            return None
        after: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for sums, chance in chances.items():
            for order, ways in orders.items():
                after[tuple(sorted(map(add, sums, order)))] += chance * ways / math.factorial(k)
        chances = after

    def measure_spread(sums: Iterable[int]) -> int:
        return sum((value - n * (k + 1)) ** 2 for value in sums)

    observed = measure_spread(doubled.sum(axis=0).tolist())
    return min(1.0, math.fsum(chance for sums, chance in chances.items() if measure_spread(sums) >= observed))


def _compute_agreement_chance(ranks: NDArray[np.float64]) -> float:
    """Return the probability that all streams rank the learners like the first."""
    n, k = ranks.shape
    _, tied = np.unique(ranks[0], return_counts=True)
    n_orders = math.factorial(k) // math.prod(math.factorial(size) for size in tied.tolist())
    return math.pow(n_orders, 1 - n)


def critical_difference(n_learners: int, n_streams: int, *, alpha: float = 0.05) -> float:
    """Return the critical difference of mean ranks of Nemenyi's test.

    It is ``q sqrt(k (k + 1) / (6 N))`` with q the quantile of the studentised range of k means divided by ``sqrt(2)``.

    References
    ----------
    J. Demšar, Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning Research 7,
    2006.

    Examples
    --------
    >>> round(critical_difference(4, 14), 4)
    1.2536
    """
    from scipy.stats import studentized_range  # noqa: PLC0415

    require_between("alpha", alpha, 0.0, 1.0, open_high=True)
    require_at_least("n_learners", n_learners, 2)
    require_at_least("n_streams", n_streams, 1)
    quantile = float(studentized_range.ppf(1 - alpha, n_learners, np.inf)) / math.sqrt(2)
    return quantile * _compute_rank_error(n_learners, n_streams)


def nemenyi_p_values(mean_ranks: ArrayLike, n_streams: int) -> NDArray[np.float64]:
    """Return Nemenyi's p-value of each pair of learners, [learners, learners], adjusted for all pairs.

    Examples
    --------
    >>> nemenyi_p_values([1.5, 3.0, 1.5], 10).round(4).tolist()
    [[1.0, 0.0023, 1.0], [0.0023, 1.0, 0.0023], [1.0, 0.0023, 1.0]]
    """
    from scipy.stats import studentized_range  # noqa: PLC0415

    distances = _compute_distances(mean_ranks, n_streams)
    k = len(distances)
    table = np.ones((k, k))
    upper = np.triu_indices(k, 1)
    table[upper] = np.clip(studentized_range.sf(math.sqrt(2) * distances[upper], k, np.inf), 0.0, 1.0)
    return np.minimum(table, table.T)


def mean_rank_p_values(mean_ranks: ArrayLike, n_streams: int) -> NDArray[np.float64]:
    """Return the p-value of each pair by the normal test of its mean ranks, [learners, learners]; not adjusted.

    Examples
    --------
    >>> mean_rank_p_values([1.5, 3.0, 1.5], 10).round(4)[0].tolist()
    [1.0, 0.0008, 1.0]
    """
    from scipy.special import ndtr  # noqa: PLC0415

    p_values: NDArray[np.float64] = 2 * ndtr(-_compute_distances(mean_ranks, n_streams))
    return p_values


def _compute_distances(mean_ranks: ArrayLike, n_streams: int) -> NDArray[np.float64]:
    """Return the distances between mean ranks, in standard errors."""
    ranks = np.asarray(mean_ranks, dtype=np.float64)
    return np.abs(ranks[:, None] - ranks) / _compute_rank_error(len(ranks), n_streams)


def _compute_rank_error(n_learners: int, n_streams: int) -> float:
    return math.sqrt(n_learners * (n_learners + 1) / (6 * n_streams))


def _check_values(values: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        msg = f"ranks need a table [streams, learners], not an array of shape {table.shape}"
        raise StreamgaugeError(msg)
    if not np.isfinite(table).all():
        stream, learner = np.argwhere(~np.isfinite(table))[0]
        msg = f"the value of learner {learner} on stream {stream} is {table[stream, learner]}: it cannot be ranked"
        raise StreamgaugeError(msg)
    return table


def _require_enough(n_streams: int, n_learners: int) -> None:
    if n_streams < 2 or n_learners < 2:
        msg = (
            f"a ranking needs at least 2 learners on at least 2 streams, not {n_learners} on {n_streams}:"
            " evaluate the same learners on more streams"
        )
        raise StreamgaugeError(msg)
