"""Tests over rows: the luck of single rows is seen, and in the two-way t that of folds as well."""

import math
from functools import cache
from statistics import mean, variance
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge._format.numbers import format_ratio
from streamgauge.errors import StreamgaugeError, require_at_least, require_between, unknown_name
from streamgauge.records import PairSums
from streamgauge.significance.comparison import ALGORITHMS, MODELS, SEEDS, Comparison

__all__ = ["mcnemar", "two_way_spread", "two_way_t", "two_way_variance"]

FEWEST_BLOCKS = 30
"""A variance between fewer blocks of rows is too rough to use."""

NEVER = 1e300
"""A ratio that no variances have."""

FEW_DISCORDANT = 25
"""Below so many rows that only one got right, the chi-square approximation gives way to the exact test."""

Variant = Literal["auto", "chi_square", "corrected", "exact", "mid_p"]


def two_way_t(pair: PairSums, *, alpha: float = 0.05) -> Comparison:
    """Test the mean difference over folds x rows, seeing the luck of the seeds and the luck of the rows.

    With D the mean of all ``d[i, t]``, the variance of D is ``max(f + r - b, f, r)``: f that of the fold means by k,
    r that of the row means by n, b that of all differences by ``k n`` (which f and r both contain). The statistic is
    ``D / sqrt(variance)``, a t with ``k - 1`` degrees of freedom. (Where f and r are 0, the variance is b.)

    Where neighbouring rows go together, r is taken from sums over blocks of rows instead; the outcome then says so.
    Where the folds did not score the same rows, it is a paired t over folds.

    Parameters
    ----------
    pair
        The sums of the two learners.
    alpha
        The level; the interval has confidence ``1 - alpha``.

    Examples
    --------
    >>> scored = np.array([8, 8, 8, 8])
    >>> pair = PairSums("a", "b", 8, scored, np.array([3, 3, 3, 3]), np.array([1, 0, 1, 1]), 2.4375, True)
    >>> outcome = two_way_t(pair)
    >>> outcome.difference, round(outcome.statistic, 4), round(outcome.p_value, 4)
    (0.28125, 1.6749, 0.1926)
    """
    require_between("alpha", alpha, 0.0, 1.0)
    _check(pair)
    if not pair.crossed:
        return _paired_t(pair, alpha)
    return _t_outcome(pair, *two_way_variance(pair), alpha)


def two_way_variance(pair: PairSums) -> tuple[float, float, tuple[str, ...]]:
    """Give the mean difference over folds x rows, its variance as `two_way_t` has it, and what is to be said of it.

    Examples
    --------
    >>> scored = np.array([8, 8, 8, 8])
    >>> pair = PairSums("a", "b", 8, scored, np.array([3, 3, 3, 3]), np.array([1, 0, 1, 1]), 2.4375, True)
    >>> two_way_variance(pair)[:2]
    (0.28125, 0.0281982421875)
    """
    _check(pair)
    k = pair.n_folds
    of_folds = pair.only_first - pair.only_second
    discordant, squares = int((pair.only_first + pair.only_second).sum()), round(pair.sum_squared_means * k * k)
    blocks = (pair.block_scored, pair.block_sums)
    parts = np.array(_native.two_way(int(pair.n_rows), of_folds, discordant, squares, *blocks))
    n_blocks = len(pair.block_sums)
    variance, in_blocks = two_way_spread(parts, n_blocks)
    warnings: tuple[str, ...] = ()
    if in_blocks:
        text = (
            f"neighbouring rows go together (the variance over {n_blocks} blocks of rows is "
            f"{format_ratio(parts[4] / parts[2])} that of independent rows), so the interval counts blocks and is wider"
        )
        warnings = (text,)
    return float(parts[0]), float(variance), warnings


def two_way_spread(parts: NDArray[np.float64], n_blocks: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Put the parts of the variance of mean differences together; tell also which were taken from blocks of rows.

    Parameters
    ----------
    parts
        The mean difference, and the variances of folds, of rows, of both and of blocks, float64 [5] or [pairs, 5].
    n_blocks
        How many blocks of rows there are.

    Examples
    --------
    >>> variance, in_blocks = two_way_spread(np.array([0.1, 2.0, 3.0, 1.0, 30.0]), 40)
    >>> variance.item(), in_blocks.item()
    (31.0, True)
    """
    _, folds, rows, both, blocked = parts.T
    in_blocks = (rows > 0.0) & (blocked > _usual_ratio(n_blocks) * rows)
    rows = np.where(in_blocks, blocked, rows)
    # Folds alike and rows alike need not mean that all differences are: then they count as independent.
    spread = np.maximum(np.maximum(folds + rows - both, folds), rows)
    return np.where(spread > 0.0, spread, both), in_blocks


@cache
def _usual_ratio(n_blocks: int) -> float:
    """Find how much greater a variance by blocks can be than one by rows by chance: once in 1,000 for any number."""
    from scipy.special import chdtri  # noqa: PLC0415

    # Were rows independent, the ratio of the two would be a chi-square by its degrees of freedom.
    return float(chdtri(n_blocks - 1, 0.001)) / (n_blocks - 1) if n_blocks >= FEWEST_BLOCKS else NEVER


def mcnemar(
    only_first: int,
    only_second: int,
    n_rows: int | None = None,
    *,
    variant: Variant = "auto",
    alpha: float = 0.05,
) -> Comparison:
    """Test whether two trained models are right equally often, from the rows that only one of them got right.

    The statistic is ``sign(a - b) (a - b)^2 / (a + b)``, a signed chi-square with 1 degree of freedom. The rows must
    be those of one fold: a row tested in many folds is still one observation.

    Over a long stream any two models differ, even two of one algorithm; Bifet et al. 2015 saw 0.42 to 0.80 of such
    pairs rejected. It says nothing of the algorithms.

    Parameters
    ----------
    only_first, only_second
        Rows that only the first, and only the second, got right.
    n_rows
        All rows, for the difference and its interval; None leaves these out.
    variant
        ``chi_square``; ``corrected`` for continuity; ``exact``, a sign test; ``mid_p``, the exact test less half the
        chance of what was seen; ``auto`` is exact below 25 rows that differ and ``chi_square`` from there on.
    alpha
        The level.

    References
    ----------
    Q. McNemar, Note on the sampling error of the difference between correlated proportions, Psychometrika 12, 1947.

    Examples
    --------
    >>> outcome = mcnemar(60, 40, 1000)
    >>> outcome.statistic, round(outcome.p_value, 4), outcome.difference
    (4.0, 0.0455, 0.02)
    """
    require_between("alpha", alpha, 0.0, 1.0)
    require_at_least("only_first", only_first, 0)
    require_at_least("only_second", only_second, 0)
    if variant not in get_args(Variant):
        raise unknown_name(kind="variant of McNemar", name=variant, known=get_args(Variant))
    discordant, excess = only_first + only_second, only_first - only_second
    if n_rows is not None:
        require_at_least("n_rows", n_rows, max(discordant, 1))
    if variant == "auto":
        variant = "exact" if discordant < FEW_DISCORDANT else "chi_square"
    size = max(abs(excess) - 1, 0) if variant == "corrected" else abs(excess)
    direction = (excess > 0) - (excess < 0)
    return Comparison(
        test="mcnemar",
        statistic=direction * size**2 / discordant if discordant else 0.0,
        p_value=_mcnemar_p(only_first, only_second, size, variant),
        direction=direction,
        difference=None if n_rows is None else excess / n_rows,
        interval=None if n_rows is None else _paired_interval(discordant, excess, n_rows, alpha),
        alpha=alpha,
        null=MODELS,
        basis=f"{discordant:,} rows that only one got right" + ("" if n_rows is None else f" of {n_rows:,}"),
    )


def _mcnemar_p(only_first: int, only_second: int, size: int, variant: Variant) -> float:
    from scipy.special import bdtr, chdtrc  # noqa: PLC0415

    discordant, fewer = only_first + only_second, min(only_first, only_second)
    if not discordant:
        return 1.0
    if variant in ("chi_square", "corrected"):
        return float(chdtrc(1, size**2 / discordant))
    at_most = float(bdtr(fewer, discordant, 0.5))
    if variant == "mid_p":
        fewer_than = float(bdtr(fewer - 1, discordant, 0.5)) if fewer else 0.0
        return min(1.0, at_most + fewer_than)
    return min(1.0, 2 * at_most)


def _paired_interval(discordant: int, excess: int, n_rows: int, alpha: float) -> tuple[float, float]:
    from scipy.special import ndtri  # noqa: PLC0415

    error = math.sqrt(discordant - excess**2 / n_rows) / n_rows
    reach = float(ndtri(1 - alpha / 2)) * error
    return excess / n_rows - reach, excess / n_rows + reach


def _check(pair: PairSums) -> None:
    if pair.n_folds < 2:
        msg = (
            f"a two-way t of {pair.first} and {pair.second} needs at least 2 folds, not {pair.n_folds}:"
            " evaluate with Bootstrap, CrossValidation or Split, or test with McNemar"
        )
        raise StreamgaugeError(msg)
    fewest = int(pair.n_scored.min())
    if fewest < 2:
        fold = int(pair.n_scored.argmin())
        msg = f"a two-way t needs at least 2 scored rows in each fold; fold {fold} has {fewest}"
        raise StreamgaugeError(msg)


def _paired_t(pair: PairSums, alpha: float) -> Comparison:
    differences = pair.fold_differences.tolist()
    return _t_outcome(pair, mean(differences), variance(differences) / pair.n_folds, (), alpha)


def _t_outcome(pair: PairSums, difference: float, spread: float, warnings: tuple[str, ...], alpha: float) -> Comparison:
    from scipy.special import stdtr, stdtrit  # noqa: PLC0415

    freedom = pair.n_folds - 1
    error = math.sqrt(spread)
    statistic = difference / error if error > 0.0 else 0.0
    if error == 0.0 and difference != 0.0:
        statistic = math.copysign(math.inf, difference)
        warnings = (*warnings, "all differences are equal, so nothing shows how far chance would move them")
    reach = float(stdtrit(freedom, 1 - alpha / 2)) * error
    return Comparison(
        test="two_way_t" if pair.crossed else "paired_t",
        statistic=statistic,
        p_value=2 * float(stdtr(freedom, -abs(statistic))),
        direction=(difference > 0) - (difference < 0),
        difference=difference,
        interval=(difference - reach, difference + reach),
        alpha=alpha,
        null=ALGORITHMS if pair.crossed else SEEDS,
        basis=f"{pair.n_folds} folds x {pair.n_rows:,} rows" if pair.crossed else f"{pair.n_folds} folds",
        first=pair.first,
        second=pair.second,
        warnings=warnings,
    )
