"""P-values of many tests at once, made larger so that chance has few occasions.

Each takes the p-values of single tests and gives adjusted ones: rejecting those not above alpha keeps the chance of
even one wrong rejection, over all the tests, at alpha (of `holm`, `hommel` and `shaffer`), or the share of wrong ones
among the rejections, on average (of `benjamini_hochberg` and `e_benjamini_hochberg`).
"""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge.errors import StreamgaugeError, require_between

__all__ = ["benjamini_hochberg", "e_benjamini_hochberg", "holm", "hommel", "shaffer"]


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values as Holm does: the smallest of m counts m times, the next m - 1 times, and so on.

    It holds however the tests depend on each other.

    References
    ----------
    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> holm([0.001, 0.01, 0.03, 0.04, 0.2]).round(4).tolist()
    [0.005, 0.04, 0.09, 0.09, 0.2]
    """
    single = _checked(p_values)
    return _stepped_down(single, np.arange(len(single), 0, -1))


def hommel(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values as Hommel does, by the closure of Simes' test; none is greater than by Holm.

    It holds for tests that are independent or go together, not for any dependence.

    References
    ----------
    G. Hommel, A stagewise rejective multiple test procedure based on a modified Bonferroni test, Biometrika 75, 1988.

    Examples
    --------
    >>> hommel([0.001, 0.01, 0.03, 0.04, 0.2]).round(4).tolist()
    [0.005, 0.04, 0.06, 0.08, 0.2]
    """
    single = _checked(p_values)
    n = len(single)
    rising = np.argsort(single, kind="stable")
    p = single[rising]
    adjusted = p.copy()
    # For each size of a set of hypotheses, the worst p-value by Simes of a set that holds the one at hand: it and the
    # largest others.
    for size in range(n, 1, -1):
        largest = p[n - size + 1 :]
        of_largest = float((size * largest / np.arange(2, size + 1)).min())
        worst = np.minimum(size * p, of_largest)
        worst[n - size + 1 :] = min(of_largest, size * float(p[n - size]))
        adjusted = np.maximum(adjusted, worst)
    back = np.empty(n)
    back[rising] = np.minimum(adjusted, 1.0)
    return back


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values as Benjamini and Hochberg do: at most alpha of those rejected are wrong on average.

    It holds for tests that are independent or go together.

    References
    ----------
    Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, Journal of the Royal Statistical Society B 57,
    1995.

    Examples
    --------
    >>> benjamini_hochberg([0.001, 0.01, 0.03, 0.04, 0.2]).round(4).tolist()
    [0.005, 0.025, 0.05, 0.05, 0.2]
    """
    single = _checked(p_values)
    n = len(single)
    falling = np.argsort(-single, kind="stable")
    adjusted = np.empty(n)
    adjusted[falling] = np.minimum(np.minimum.accumulate(single[falling] * n / np.arange(n, 0, -1)), 1.0)
    return adjusted


def shaffer(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust the p-values of all pairs of some learners as Shaffer does (the static procedure).

    If two learners differ, a third cannot equal both. So after i rejections fewer hypotheses can be true at once than
    Holm reckons with, and no p-value is greater than by Holm.

    Parameters
    ----------
    p_values
        One for each of the ``k (k - 1) / 2`` pairs of k learners, in any order.

    References
    ----------
    J. P. Shaffer, Modified sequentially rejective multiple test procedures, Journal of the American Statistical
    Association 81, 1986.

    Examples
    --------
    >>> shaffer([0.01, 0.03, 0.04]).round(4).tolist()
    [0.03, 0.03, 0.04]
    """
    single = _checked(p_values)
    n_pairs = len(single)
    n_learners = round((1 + (1 + 8 * n_pairs) ** 0.5) / 2)
    if n_learners * (n_learners - 1) // 2 != n_pairs:
        msg = f"Shaffer's procedure takes the p-values of all pairs of some learners: 1, 3, 6, 10, ..., not {n_pairs}"
        raise StreamgaugeError(msg)
    possible = np.array(sorted(_true_at_once(n_learners)))
    left = np.arange(n_pairs, 0, -1)
    return _stepped_down(single, possible[np.searchsorted(possible, left, side="right") - 1])


def e_benjamini_hochberg(e_values: ArrayLike, *, alpha: float = 0.05) -> NDArray[np.bool_]:
    """Say which hypotheses to reject by their e-values, so that at most alpha of those rejected are wrong on average.

    With the e-values of m hypotheses in falling order, the i greatest are rejected for the greatest i whose e-value is
    at least ``m / (i alpha)``. It holds however they depend on each other, and at any time where e-processes gave them.

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
        msg = "e-values are a column of numbers that are at least 0"
        raise StreamgaugeError(msg)
    falling = np.argsort(-values, kind="stable")
    enough = values[falling] * np.arange(1, len(values) + 1) >= len(values) / alpha
    n_rejected = int(np.flatnonzero(enough)[-1]) + 1 if enough.any() else 0
    rejected = np.zeros(len(values), dtype=np.bool_)
    rejected[falling[:n_rejected]] = True
    return rejected


def _checked(p_values: ArrayLike) -> NDArray[np.float64]:
    single = np.asarray(p_values, dtype=np.float64)
    if single.ndim != 1 or not ((single >= 0.0) & (single <= 1.0)).all():
        msg = "p-values are a column of numbers in [0, 1]"
        raise StreamgaugeError(msg)
    return single


def _stepped_down(single: NDArray[np.float64], times: NDArray[np.int_]) -> NDArray[np.float64]:
    """Let the p-values, from the smallest on, count so many times, and never fall."""
    rising = np.argsort(single, kind="stable")
    adjusted = np.empty(len(single))
    adjusted[rising] = np.minimum(np.maximum.accumulate(single[rising] * times), 1.0)
    return adjusted


@cache
def _true_at_once(n_learners: int) -> frozenset[int]:
    """Find how many pairs can be equal at once: the learners fall into groups of equals."""
    if n_learners < 2:
        return frozenset({0})
    return frozenset(
        size * (size - 1) // 2 + rest for size in range(1, n_learners + 1) for rest in _true_at_once(n_learners - size)
    )
