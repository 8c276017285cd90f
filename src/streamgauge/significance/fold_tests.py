"""Tests over folds: one difference per fold, of any measure.

Their p-values hold for folds whose learners have independent seeds, whatever rows the folds share. They are conclusions
about the given stream only.
"""

import math
from collections.abc import Sequence
from statistics import mean
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge import randomness
from streamgauge.errors import StreamgaugeError, require_at_least, require_between, unknown_name
from streamgauge.significance.comparison import SEEDS, SUCH_STREAMS, Comparison, significance_test

__all__ = [
    "RESAMPLING_SCHEMES",
    "all_flips",
    "check_differences",
    "check_ratio",
    "corrected_t",
    "double_ranks",
    "equality_tolerance",
    "five_by_two",
    "held_out_ratio",
    "random_flips",
    "rank_sum_chances",
    "sign_flip",
    "sign_test",
    "wilcoxon",
]

RELATIVE_TOLERANCE = 1e-12
"""Differences closer than the rounding errors of rates count as equal."""

MAX_EXACT_FOLDS = 20
"""Up to this many folds all sign vectors are tried; beyond it, random ones."""

RESAMPLING_SCHEMES = ("Bootstrap", "CrossValidation", "Split")
"""The schemes whose folds learn different rows."""

ALL_EQUAL = "all differences are equal, so their variance cannot be estimated"

Zeros = Literal["drop", "pratt"]
Variant = Literal["exact", "normal", "corrected"]


@significance_test("sign", title="sign test", over="folds")
def sign_test(differences: ArrayLike, *, alpha: float = 0.05) -> Comparison:
    """Test whether one learner wins in more folds than chance allows; exact.

    Ties are left out: with w wins and l losses, p is twice the probability of at least ``max(w, l)`` heads in ``w + l``
    throws of a fair coin. The statistic is the number of wins of the first.

    Parameters
    ----------
    differences
        The value of the first learner minus that of the second, one number per fold.
    alpha
        The level.

    Examples
    --------
    >>> outcome = sign_test([0.02, 0.01, 0.03, -0.01, 0.02, 0.05, 0.01, 0.02, 0.03, 0.01])
    >>> outcome.statistic, round(outcome.p_value, 4)
    (9, 0.0215)
    """
    from scipy.special import bdtr  # noqa: PLC0415

    values = check_differences(differences, alpha)
    wins, losses = int(np.sum(values > 0)), int(np.sum(values < 0))
    decided = wins + losses
    p_value = min(1.0, 2 * float(bdtr(min(wins, losses), decided, 0.5))) if decided else 1.0
    direction = int(np.sign(wins - losses))
    return _build_comparison(values, test="sign", statistic=wins, p_value=p_value, direction=direction, alpha=alpha)


@significance_test("wilcoxon", title="exact Wilcoxon", over="folds")
def wilcoxon(
    differences: ArrayLike, *, zeros: Zeros = "drop", variant: Variant = "exact", alpha: float = 0.05
) -> Comparison:
    """Test whether the differences of the folds are centred on 0: Wilcoxon's signed-rank test; exact.

    Zeros are left out and ties share the mean of their ranks. The p-value counts the sign vectors with at most this
    sum of ranks, so it is exact with ties too. The statistic is the smaller of the two rank sums.

    Parameters
    ----------
    differences
        The value of the first learner minus that of the second, one number per fold.
    zeros
        ``drop`` leaves them out before ranking; ``pratt`` ranks them as well and leaves their ranks out.
    variant
        ``exact``; ``normal``, the approximation for many folds; ``corrected``, the same with a continuity correction.
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
    values = check_differences(differences, alpha)
    for kind, name, known in (("treatment of zeros", zeros, Zeros), ("variant of Wilcoxon", variant, Variant)):
        if name not in get_args(known):
            raise unknown_name(kind=kind, name=name, known=get_args(known))
    nonzero = values[values != 0.0]
    ranks = double_ranks(np.abs(values))[values != 0.0] if zeros == "pratt" else double_ranks(np.abs(nonzero))
    positive = int(ranks[nonzero > 0].sum())
    negative = int(ranks.sum()) - positive
    smaller = min(positive, negative)
    if variant == "exact":
        p_value = min(1.0, 2 * float(rank_sum_chances(ranks)[: smaller + 1].sum()))
    else:
        p_value = _approximate_p(smaller, ranks, corrected=variant == "corrected")
    direction = int(np.sign(positive - negative))
    return _build_comparison(
        values, test="wilcoxon", statistic=smaller / 2, p_value=p_value, direction=direction, alpha=alpha
    )


@significance_test("sign_flip", title="sign-flip test", over="folds")
def sign_flip(differences: ArrayLike, *, alpha: float = 0.05, n_flips: int = 100_000, seed: int = 1) -> Comparison:
    """Test whether the mean of the differences is 0, by flipping their signs in all ways.

    If the two learners were exchangeable, each difference could have either sign. The p-value is the share of the sign
    vectors whose sum is at least as far from 0. It is exact for up to 20 folds; for more, random sign vectors are used
    and the test remains valid. The statistic is the mean difference.

    Parameters
    ----------
    differences
        The value of the first learner minus that of the second, one number per fold.
    alpha
        The level.
    n_flips
        How many sign vectors are drawn for more than 20 folds.
    seed
        The seed for drawing them.

    References
    ----------
    R. A. Fisher, The design of experiments, 1935.

    Examples
    --------
    >>> sign_flip([0.07, -0.01, -0.02, 1.37, 0.60, 1.42, 2.18, 1.04, 2.39, 0.03]).p_value
    0.009765625
    """
    values = check_differences(differences, alpha)
    require_at_least("n_flips", n_flips, 1)
    observed = abs(float(values.sum()))
    limit = observed - equality_tolerance(np.array([observed]))
    if len(values) <= MAX_EXACT_FOLDS:
        sums = np.zeros(1)
        for value in values[1:].tolist():
            sums = np.concatenate((sums + value, sums - value))
        # A sign vector and its opposite have the same absolute sum, so the first sign is fixed.
        extreme = np.abs(sums + values[0]) >= limit
    else:
        extreme = np.abs(random_flips(len(values), n_flips, seed) @ values) >= limit
    direction = int(np.sign(values.sum())) if observed > equality_tolerance(values) else 0
    return _build_comparison(
        values,
        test="sign_flip",
        statistic=float(values.mean()),
        p_value=float(extreme.mean()),
        direction=direction,
        alpha=alpha,
    )


@significance_test("corrected_t", title="corrected t", over="resampled folds")
def corrected_t(differences: ArrayLike, ratio: float, *, alpha: float = 0.05) -> Comparison:
    """Test the mean difference with the corrected t of Nadeau and Bengio.

    The variance of the mean is ``s^2 (1 / k + ratio)`` rather than ``s^2 / k``, because folds that learn the same rows
    are correlated. The statistic is a t with ``k - 1`` degrees of freedom. It is meant for folds that test the rows
    they did not learn. Where all folds test all rows it is conservative about the seeds and ignores the variance of
    the rows.

    Parameters
    ----------
    differences
        The value of the first learner minus that of the second, one number per fold.
    ratio
        Rows tested per row learnt, as `held_out_ratio` returns it; 0 for the paired t.
    alpha
        The level; the interval has confidence ``1 - alpha``.

    References
    ----------
    C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning 52, 2003.

    Examples
    --------
    >>> outcome = corrected_t([0.07, -0.01, -0.02, 1.37, 0.60, 1.42, 2.18, 1.04, 2.39, 0.03], 1 / 9)
    >>> round(outcome.statistic, 4), round(outcome.p_value, 4)
    (2.1511, 0.0599)
    """
    from scipy.special import stdtr, stdtrit  # noqa: PLC0415

    values = check_differences(differences, alpha)
    check_ratio(ratio)
    k, difference = len(values), float(values.mean())
    equal = bool((values == values[0]).all())
    error = 0.0 if equal else math.sqrt(float(values.var(ddof=1)) * (1.0 / k + ratio))
    statistic = math.copysign(math.inf, difference) if equal and difference else difference / (error or 1.0)
    reach = float(stdtrit(k - 1, 1 - alpha / 2)) * error
    return Comparison(
        test="corrected_t",
        statistic=statistic,
        p_value=2 * float(stdtr(k - 1, -abs(statistic))),
        direction=int(np.sign(difference)),
        difference=difference,
        interval=(difference - reach, difference + reach),
        alpha=alpha,
        null=SEEDS,
        basis=f"{k} folds",
        warnings=(ALL_EQUAL,) if equal and difference else (),
    )


@significance_test("five_by_two", title="5x2 cv test", over="5x2 folds")
def five_by_two(differences: ArrayLike, *, statistic: Literal["f", "t"] = "f", alpha: float = 0.05) -> Comparison:
    """Test the differences of five repetitions of two-fold cross-validation.

    The two folds of a repetition share neither the rows that they learn nor those that they test, so the differences
    hold the luck of both: the test is about streams like this one, of half as many rows. After an evaluation with
    ``BatchCrossValidation(2, 5)``, `compare` runs it by the name ``five_by_two``.

    The statistic ``f`` is Alpaydin's: an F with 10 and 5 degrees of freedom, of all ten differences. ``t`` is
    Dietterich's: a t with 5 degrees of freedom, of the first difference alone, over the variance within repetitions.

    Parameters
    ----------
    differences
        The value of the first learner minus that of the second, [5, 2] or the same ten in one column.
    statistic
        ``f`` or ``t``.
    alpha
        The level.

    References
    ----------
    E. Alpaydin, Combined 5x2 cv F test for comparing supervised classification learning algorithms, Neural Computation
    11, 1999; T. G. Dietterich, Approximate statistical tests for comparing supervised classification learning
    algorithms, Neural Computation 10, 1998.

    Examples
    --------
    >>> outcome = five_by_two([0.07, -0.01, -0.02, 1.37, 0.60, 1.42, 2.18, 1.04, 2.39, 0.03])
    >>> round(outcome.statistic, 4), round(outcome.p_value, 4)
    (1.6673, 0.2981)
    """
    from scipy.special import fdtrc, stdtr  # noqa: PLC0415

    values = check_differences(np.asarray(differences, dtype=np.float64).reshape(-1), alpha)
    if len(values) != 10:
        msg = f"a 5x2 test needs the differences of 5 repetitions of 2 folds, not {len(values)} numbers"
        raise StreamgaugeError(msg)
    within = float(values.reshape(5, 2).var(axis=1, ddof=1).sum())
    if within == 0.0 and values.any():
        msg = "the two folds of each repetition have equal differences, so their variance cannot be estimated"
        raise StreamgaugeError(msg)
    if statistic == "f":
        value, tested = float((values**2).sum()) / (2 * within or 1.0), float(values.mean())
        p_value = float(fdtrc(10, 5, value))
    else:
        value, tested = float(values[0]) / math.sqrt(within / 5 or 1.0), float(values[0])
        p_value = 2 * float(stdtr(5, -abs(value)))
    return Comparison(
        test="five_by_two",
        statistic=value,
        p_value=p_value,
        direction=int(np.sign(tested)),
        difference=float(values.mean()),
        interval=None,
        alpha=alpha,
        null=SUCH_STREAMS,
        basis="5 repetitions of 2 folds",
    )


def held_out_ratio(scheme: str, n_folds: int) -> float:
    """Return how many rows a fold tests without learning them, per row it learns.

    Parameters
    ----------
    scheme
        ``CrossValidation``: 1 / (k - 1). ``Bootstrap``: 1 / (e - 1), because a row has weight 0 in a fold with
        probability 1 / e. ``Split``: k - 1.
    n_folds
        Number of folds.

    Examples
    --------
    >>> round(held_out_ratio("CrossValidation", 10), 4), round(held_out_ratio("Bootstrap", 10), 4)
    (0.1111, 0.582)
    """
    require_at_least("n_folds", n_folds, 2)
    if scheme == "CrossValidation":
        return 1.0 / (n_folds - 1)
    if scheme == "Bootstrap":
        return 1.0 / (math.e - 1.0)
    if scheme == "Split":
        return float(n_folds - 1)
    raise unknown_name(kind="scheme with folds", name=scheme, known=RESAMPLING_SCHEMES)


def check_ratio(ratio: float) -> None:
    """Raise if `ratio` cannot be a number of rows tested per row learnt.

    Examples
    --------
    >>> check_ratio(1 / 9)
    """
    if not 0.0 <= ratio < math.inf:
        msg = f"ratio = {ratio!r}: the rows tested per row learnt must be a finite number of at least 0"
        raise StreamgaugeError(msg)


def check_differences(differences: ArrayLike, alpha: float) -> NDArray[np.float64]:
    """Return the differences as float64, with rounding errors around 0 replaced by 0.

    Examples
    --------
    >>> check_differences([0.1 + 0.2 - 0.3, 0.5], 0.05).tolist()
    [0.0, 0.5]
    """
    require_between("alpha", alpha, 0.0, 1.0)
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2:
        msg = f"a test over folds needs one difference per fold and at least 2 folds, not shape {values.shape}"
        raise StreamgaugeError(msg)
    if not np.isfinite(values).all():
        fold = int(np.flatnonzero(~np.isfinite(values))[0])
        msg = f"the difference of fold {fold} is {values[fold]}: the measure is undefined there; compare another one"
        raise StreamgaugeError(msg)
    return np.where(np.abs(values) <= equality_tolerance(values), 0.0, values)


def equality_tolerance(values: NDArray[np.float64]) -> float:
    """Return up to which difference two values count as equal.

    Examples
    --------
    >>> equality_tolerance(np.array([1.0]))
    2e-12
    """
    return RELATIVE_TOLERANCE * (1.0 + float(np.max(np.abs(values), initial=0.0)))


def double_ranks(sizes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return twice the ranks, counted from 1; ties share the mean of their ranks, so twice a rank is an integer.

    Examples
    --------
    >>> double_ranks(np.array([0.3, 0.1, 0.3])).tolist()
    [5, 2, 5]
    """
    order = np.argsort(sizes, kind="stable")
    ends_tie = np.diff(sizes[order], append=np.inf) > equality_tolerance(sizes)
    last = np.flatnonzero(ends_tie) + 1
    first = np.concatenate(([1], last[:-1] + 1)) if len(last) else last
    ranks = np.empty(len(sizes), dtype=np.int64)
    ranks[order] = np.repeat(first + last, last - first + 1)
    return ranks


def rank_sum_chances(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probability of each sum of ranks, from 0 on, where a fair coin decides which ranks are summed.

    Examples
    --------
    >>> rank_sum_chances(np.array([1, 2])).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    chances = np.zeros(int(ranks.sum()) + 1)
    chances[0] = 1.0
    for rank in np.sort(ranks).tolist():
        chances[rank:] += chances[:-rank].copy()
        chances /= 2
    return chances


def all_flips(n_folds: int) -> NDArray[np.float64]:
    """Return all sign vectors, each one and its opposite counted once; the first has no minus.

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
    """Return random sign vectors; the first has no minus.

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


def _approximate_p(smaller: int, ranks: NDArray[np.int64], *, corrected: bool) -> float:
    """Return the two-sided p-value of the normal approximation; all ranks are doubled."""
    from scipy.special import ndtr  # noqa: PLC0415

    spread = math.sqrt(float((ranks.astype(np.float64) ** 2).sum()) / 4)
    below = float(ranks.sum()) / 2 - smaller - (1.0 if corrected else 0.0)
    return 2 * float(ndtr(-max(below, 0.0) / spread)) if spread else 1.0


def _build_comparison(
    values: NDArray[np.float64], *, test: str, statistic: float, p_value: float, direction: int, alpha: float
) -> Comparison:
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
        warnings=tuple(_list_warnings(values.tolist(), difference * direction, alpha)),
    )


def _list_warnings(values: Sequence[float], towards: float, alpha: float) -> list[str]:
    warnings = []
    decided = sum(value != 0.0 for value in values)
    least = 2.0 ** (1 - decided)
    if decided > 0 and least > alpha:
        warnings.append(
            f"with {decided} folds that differ the smallest possible p-value is {least:g}, above alpha = {alpha:g}:"
            " use more folds"
        )
    if towards < 0.0:
        warnings.append("the mean difference and the test point in opposite directions: look at the single folds")
    return warnings
