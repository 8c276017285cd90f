"""Corrections for multiple testing.

Each function maps the p-values of single tests to adjusted ones. Rejecting those of at most alpha bounds by alpha the
probability of even one false rejection (`holm`, `hommel`, `shaffer` and `bergmann_hommel`) or the expected share of
false ones among the rejections (`benjamini_hochberg` and `e_benjamini_hochberg`).
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge.errors import StreamgaugeError, require_between

__all__ = [
    "CORRECTIONS",
    "benjamini_hochberg",
    "bergmann_hommel",
    "e_benjamini_hochberg",
    "holm",
    "hommel",
    "shaffer",
]

MAX_PARTITIONED = 9
"""The limit of learners for Bergmann and Hommel's procedure: nine have 21,147 partitions, ten have 115,975."""


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values adjusted by Holm's procedure: the smallest of m is multiplied by m, the next by m - 1, and so on.

    It is valid under any dependence between the tests.

    References
    ----------
    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> holm([0.001, 0.01, 0.03, 0.04, 0.2]).round(4).tolist()
    [0.005, 0.04, 0.09, 0.09, 0.2]
    """
    single = _check_p_values(p_values)
    return _step_down(single, np.arange(len(single), 0, -1))


def hommel(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values adjusted by Hommel's procedure, the closure of Simes' test; none is greater than by Holm.

    It is valid for tests that are independent or positively dependent.

    References
    ----------
    G. Hommel, A stagewise rejective multiple test procedure based on a modified Bonferroni test, Biometrika 75, 1988.

    Examples
    --------
    >>> hommel([0.001, 0.01, 0.03, 0.04, 0.2]).round(4).tolist()
    [0.005, 0.04, 0.06, 0.08, 0.2]
    """
    single = _check_p_values(p_values)
    n = len(single)
    rising = np.argsort(single, kind="stable")
    p = single[rising]
    adjusted = p.copy()
    # For each size of a set of hypotheses: the largest Simes p-value of a set that contains the hypothesis. It is that
    # of the hypothesis and the largest others.
    for size in range(n, 1, -1):
        largest = p[n - size + 1 :]
        simes = float((size * largest / np.arange(2, size + 1)).min())
        worst = np.minimum(size * p, simes)
        worst[n - size + 1 :] = min(simes, size * float(p[n - size]))
        adjusted = np.maximum(adjusted, worst)
    in_order = np.empty(n)
    in_order[rising] = np.minimum(adjusted, 1.0)
    return in_order


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values adjusted by Benjamini and Hochberg: at most alpha of the rejections are false on average.

    It is valid for tests that are independent or positively dependent.

    References
    ----------
    Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, Journal of the Royal Statistical Society B 57,
    1995.

    Examples
    --------
    >>> benjamini_hochberg([0.001, 0.01, 0.03, 0.04, 0.2]).round(4).tolist()
    [0.005, 0.025, 0.05, 0.05, 0.2]
    """
    single = _check_p_values(p_values)
    n = len(single)
    falling = np.argsort(-single, kind="stable")
    adjusted = np.empty(n)
    adjusted[falling] = np.minimum(np.minimum.accumulate(single[falling] * n / np.arange(n, 0, -1)), 1.0)
    return adjusted


def shaffer(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return the p-values of all pairs of learners adjusted by Shaffer's static procedure.

    If two learners differ, a third cannot equal both. So after i rejections fewer hypotheses can be true at once than
    Holm's procedure assumes, and no p-value is greater than by Holm.

    Parameters
    ----------
    p_values
        One per pair of k learners, ``k (k - 1) / 2`` in total, in any order.

    References
    ----------
    J. P. Shaffer, Modified sequentially rejective multiple test procedures, Journal of the American Statistical
    Association 81, 1986.

    Examples
    --------
    >>> shaffer([0.01, 0.03, 0.04]).round(4).tolist()
    [0.03, 0.03, 0.04]
    """
    single = _check_p_values(p_values)
    n_pairs, n_learners = len(single), _count_learners("Shaffer's procedure", len(single))
    possible = np.array(sorted(_count_true_at_once(n_learners)))
    left = np.arange(n_pairs, 0, -1)
    return _step_down(single, possible[np.searchsorted(possible, left, side="right") - 1])


def bergmann_hommel(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return the p-values of all pairs of at most 9 learners adjusted by Bergmann and Hommel's procedure.

    Which pairs can be equal at once, and no others, is known: those within the groups of a partition of the learners.
    The adjusted p-value of a pair is the largest, over all partitions with both in one group, of the number of equal
    pairs times their least p-value. None is greater than by Shaffer.

    Parameters
    ----------
    p_values
        One per pair of k learners, in the order of ``itertools.combinations(range(k), 2)``.

    References
    ----------
    B. Bergmann and G. Hommel, Improvements of general multiple test procedures for redundant systems of hypotheses, in
    Multiple Hypotheses Testing, Springer, 1988; S. García and F. Herrera, An extension on "Statistical comparisons of
    classifiers over multiple data sets" for all pairwise comparisons, Journal of Machine Learning Research 9, 2008.

    Examples
    --------
    >>> bergmann_hommel([0.001, 0.01, 0.02, 0.03, 0.04, 0.2]).round(4).tolist()
    [0.006, 0.03, 0.04, 0.09, 0.09, 0.2]
    """
    single = _check_p_values(p_values)
    name = "Bergmann and Hommel's procedure"
    n_learners = _count_learners(name, len(single))
    if n_learners > MAX_PARTITIONED:
        msg = f"{name} takes at most {MAX_PARTITIONED} learners, not {n_learners}: use Shaffer's or Holm's"
        raise StreamgaugeError(msg)
    groups = np.array(_partition(n_learners))
    first, second = np.triu_indices(n_learners, 1)
    equal = groups[:, first] == groups[:, second]
    products = equal.sum(axis=1) * np.where(equal, single, 1.0).min(axis=1, initial=1.0)
    adjusted: NDArray[np.float64] = np.where(equal, products[:, np.newaxis], 0.0).max(axis=0, initial=0.0)
    return np.minimum(adjusted, 1.0)


def e_benjamini_hochberg(e_values: ArrayLike, *, alpha: float = 0.05) -> NDArray[np.bool_]:
    """Return which hypotheses to reject by their e-values; at most alpha of the rejections are false on average.

    With the e-values of m hypotheses in descending order, the i greatest are rejected for the greatest i whose e-value
    is at least ``m / (i alpha)``. It is valid under any dependence, and at any time if the e-values are those of
    e-processes.

    References
    ----------
    R. Wang and A. Ramdas, False discovery rate control with e-values, Journal of the Royal Statistical Society B 84,
    2022.

    Examples
    --------
    >>> e_benjamini_hochberg([100, 60, 3, 1, 0.2]).tolist()
    [True, True, False, False, False]
    """
    require_between("alpha", alpha, 0.0, 1.0)
    values = np.asarray(e_values, dtype=np.float64)
    if values.ndim != 1 or not (values >= 0.0).all():
        msg = "e-values must be a column of numbers of at least 0"
        raise StreamgaugeError(msg)
    falling = np.argsort(-values, kind="stable")
    enough = values[falling] * np.arange(1, len(values) + 1) >= len(values) / alpha
    n_rejected = int(np.flatnonzero(enough)[-1]) + 1 if enough.any() else 0
    rejected = np.zeros(len(values), dtype=np.bool_)
    rejected[falling[:n_rejected]] = True
    return rejected


def _check_p_values(p_values: ArrayLike) -> NDArray[np.float64]:
    single = np.asarray(p_values, dtype=np.float64)
    if single.ndim != 1 or not ((single >= 0.0) & (single <= 1.0)).all():
        msg = "p-values must be a column of numbers in [0, 1]"
        raise StreamgaugeError(msg)
    return single


def _count_learners(procedure: str, n_pairs: int) -> int:
    """Return the number of learners that have a number of pairs."""
    n_learners = (1 + math.isqrt(1 + 8 * n_pairs)) // 2
    if n_learners * (n_learners - 1) // 2 != n_pairs:
        msg = f"{procedure} needs the p-values of all pairs of k learners (1, 3, 6, 10, ...), not {n_pairs}"
        raise StreamgaugeError(msg)
    return n_learners


def _partition(n_learners: int) -> list[tuple[int, ...]]:
    """Return all partitions of learners into groups, each as the group of every learner."""
    partitions: list[tuple[int, ...]] = [()]
    for _ in range(n_learners):
        partitions = [(*groups, group) for groups in partitions for group in range(max(groups, default=-1) + 2)]
    return partitions


def _step_down(single: NDArray[np.float64], factors: NDArray[np.int_]) -> NDArray[np.float64]:
    """Multiply the p-values, in ascending order, by the factors, and make them non-decreasing."""
    rising = np.argsort(single, kind="stable")
    adjusted = np.empty(len(single))
    adjusted[rising] = np.minimum(np.maximum.accumulate(single[rising] * factors), 1.0)
    return adjusted


@cache
def _count_true_at_once(n_learners: int) -> frozenset[int]:
    """Return how many pairs can be equal at once: learners partition into groups of equals."""
    if n_learners < 2:
        return frozenset({0})
    return frozenset(
        size * (size - 1) // 2 + rest
        for size in range(1, n_learners + 1)
        for rest in _count_true_at_once(n_learners - size)
    )


CORRECTIONS: dict[str, tuple[str, Callable[[ArrayLike], NDArray[np.float64]]]] = {
    "holm": ("Holm", holm),
    "hommel": ("Hommel", hommel),
    "shaffer": ("Shaffer", shaffer),
    "bergmann_hommel": ("Bergmann-Hommel", bergmann_hommel),
    "benjamini_hochberg": ("Benjamini-Hochberg", benjamini_hochberg),
}
"""The corrections of p-values by name: their titles and functions."""
