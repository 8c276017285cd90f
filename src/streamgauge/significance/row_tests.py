"""Tests over rows, and the variance of a difference of accuracies over folds and rows."""

import math
from functools import cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge._format.numbers import format_ratio
from streamgauge.errors import StreamgaugeError, require_at_least, require_between, unknown_name
from streamgauge.records import PairSums
from streamgauge.significance.comparison import MODELS, Comparison, significance_test

__all__ = ["combine_variances", "compute_variance_parts", "estimate_two_way", "mcnemar"]

MIN_BLOCKS = 30
"""The variance over fewer blocks of rows is too noisy to use."""

FEW_DISCORDANT = 25
"""With fewer rows that only one got right, McNemar's test is exact instead of the chi-square approximation."""

Variant = Literal["auto", "chi_square", "corrected", "exact", "mid_p"]

VARIANT_TITLES: dict[Variant, str] = {
    "corrected": "McNemar with continuity correction",
    "exact": "exact McNemar",
    "mid_p": "mid-p McNemar",
}
"""The variants of McNemar's test that have a name of their own, and their names in prose."""


def estimate_two_way(pair: PairSums) -> tuple[float, float, tuple[str, ...]]:
    """Return the mean difference of the accuracies over folds x rows, its variance, and warnings.

    With D the mean of all ``d[i, t]``, the variance of D is ``max(f + r - b, f, r)``: f is the variance of the fold
    means divided by k, r that of the row means divided by n, b that of all differences divided by ``k n`` (which f and
    r both contain). If f and r are 0, the variance is b. If errors are autocorrelated, r is computed over blocks of
    rows, and a warning reports it. This is `two_way_t` for independent rows, from sums that live verdicts can keep.

    Examples
    --------
    >>> scored = np.array([8, 8, 8, 8])
    >>> pair = PairSums("a", "b", 8, scored, np.array([3, 3, 3, 3]), np.array([1, 0, 1, 1]), 2.4375, True)
    >>> estimate_two_way(pair)[:2]
    (0.28125, 0.0281982421875)
    """
    _require_enough(pair)
    parts = np.array(compute_variance_parts(pair))
    spread, in_blocks = combine_variances(parts, len(pair.block_sums))
    warnings: tuple[str, ...] = ()
    if in_blocks:
        text = (
            f"errors are autocorrelated (block variance {format_ratio(parts[4] / parts[2])} that of independent rows): "
            "the interval is computed over blocks"
        )
        warnings = (text,)
    return float(parts[0]), float(spread), warnings


def compute_variance_parts(pair: PairSums) -> tuple[float, ...]:
    """Return the mean difference, and its variance by folds, by rows, by both and by blocks of rows.

    Examples
    --------
    >>> scored = np.array([8, 8, 8, 8])
    >>> pair = PairSums("a", "b", 8, scored, np.array([3, 3, 3, 3]), np.array([1, 0, 1, 1]), 2.4375, True)
    >>> len(compute_variance_parts(pair))
    5
    """
    return _native.two_way(
        int(pair.n_rows),
        pair.only_first - pair.only_second,
        int((pair.only_first + pair.only_second).sum()),
        round(pair.sum_squared_means * pair.n_folds**2),
        pair.block_scored,
        pair.block_sums,
    )


def combine_variances(parts: NDArray[np.float64], n_blocks: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the variances of mean differences, and for which of them blocks of rows were used.

    Parameters
    ----------
    parts
        The mean difference, and its variance by folds, by rows, by both and by blocks, float64 [5] or [pairs, 5].
    n_blocks
        Number of blocks of rows.

    Examples
    --------
    >>> variance, in_blocks = combine_variances(np.array([0.1, 2.0, 3.0, 1.0, 30.0]), 40)
    >>> variance.item(), in_blocks.item()
    (31.0, True)
    """
    _, folds, rows, both, blocked = parts.T
    in_blocks = (rows > 0.0) & (blocked > _find_critical_ratio(n_blocks) * rows)
    rows = np.where(in_blocks, blocked, rows)
    # Equal fold means and equal row means do not imply equal differences, which then count as independent.
    spread = np.maximum(np.maximum(folds + rows - both, folds), rows)
    return np.where(spread > 0.0, spread, both), in_blocks


@cache
def _find_critical_ratio(n_blocks: int) -> float:
    """Return the ratio of the variances by blocks and by rows that independent rows exceed once in 1,000 times."""
    from scipy.special import chdtri  # noqa: PLC0415

    # For independent rows the ratio is a chi-square divided by its degrees of freedom.
    # With too few blocks no ratio exceeds it; not infinity, which times 0 is NaN.
    return float(chdtri(n_blocks - 1, 0.001)) / (n_blocks - 1) if n_blocks >= MIN_BLOCKS else 1e300


@significance_test("mcnemar", title="McNemar", over="rows of one fold")
def mcnemar(
    only_first: int,
    only_second: int,
    n_rows: int | None = None,
    *,
    variant: Variant = "auto",
    alpha: float = 0.05,
) -> Comparison:
    """Test whether two trained models are right equally often, from the rows that only one of them got right.

    The statistic is ``sign(a - b) (a - b)^2 / (a + b)``, a signed chi-square with 1 degree of freedom. As in the
    papers, a is the number of rows that the first got wrong and the second right, b the opposite: it is above 0 where
    the first is worse, as the Q statistic is. The rows must be those of one fold: a row tested in many folds is still
    one observation.

    It compares two trained models, not their algorithms. Over a long stream any two models differ, even two of the same
    algorithm: Bifet et al. 2015 found 0.42 to 0.80 of such pairs rejected.

    Parameters
    ----------
    only_first, only_second
        Rows that only the first, and only the second, got right.
    n_rows
        All rows, for the difference and its interval; None omits these.
    variant
        ``chi_square``; ``corrected`` for continuity; ``exact``, a sign test; ``mid_p``, the exact test minus half the
        probability of the observation; ``auto``, exact below 25 discordant rows and ``chi_square`` from there on. In
        `compare` and ``--test`` they are the tests ``mcnemar_corrected``, ``mcnemar_exact`` and ``mcnemar_mid_p``.
    alpha
        The level.

    References
    ----------
    Q. McNemar, Note on the sampling error of the difference between correlated proportions, Psychometrika 12, 1947;
    J. Gama, R. Sebastião and P. P. Rodrigues, Issues in evaluation of stream learning algorithms, KDD 2009; A. Bifet et
    al., Efficient online evaluation of big data stream classifiers, KDD 2015.

    Examples
    --------
    >>> outcome = mcnemar(60, 40, 1000)
    >>> outcome.statistic, round(outcome.p_value, 4), outcome.difference
    (-4.0, 0.0455, 0.02)
    """
    require_between("alpha", alpha, 0.0, 1.0)
    require_at_least("only_first", only_first, 0)
    require_at_least("only_second", only_second, 0)
    if variant not in get_args(Variant):
        raise unknown_name(kind="variant of McNemar", name=variant, known=get_args(Variant))
    discordant, excess = only_first + only_second, only_first - only_second
    if n_rows is not None:
        require_at_least("n_rows", n_rows, max(discordant, 1))
    name = f"mcnemar_{variant}" if variant in VARIANT_TITLES else "mcnemar"
    if variant == "auto":
        variant = "exact" if discordant < FEW_DISCORDANT else "chi_square"
    size = max(abs(excess) - 1, 0) if variant == "corrected" else abs(excess)
    direction = (excess > 0) - (excess < 0)
    total = "" if n_rows is None else f" of {n_rows:,}"
    return Comparison(
        test=name,
        statistic=-direction * size**2 / discordant if direction else 0.0,
        p_value=_compute_mcnemar_p(only_first, only_second, size, variant),
        direction=direction,
        difference=None if n_rows is None else excess / n_rows,
        interval=None if n_rows is None else _compute_paired_interval(discordant, excess, n_rows, alpha),
        alpha=alpha,
        null=MODELS,
        basis=f"{discordant:,} rows that only one got right{total}",
    )


def _register_variant(variant: Variant, title: str) -> None:
    """Register a variant of McNemar's test under a name of its own."""

    def run(only_first: int, only_second: int, n_rows: int | None = None, *, alpha: float = 0.05) -> Comparison:
        return mcnemar(only_first, only_second, n_rows, variant=variant, alpha=alpha)

    run.__name__ = f"mcnemar_{variant}"
    significance_test(run.__name__, title=title, over="rows of one fold")(run)


for _variant, _title in VARIANT_TITLES.items():
    _register_variant(_variant, _title)


def _compute_mcnemar_p(only_first: int, only_second: int, size: int, variant: Variant) -> float:
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


def _compute_paired_interval(discordant: int, excess: int, n_rows: int, alpha: float) -> tuple[float, float]:
    from scipy.special import ndtri  # noqa: PLC0415

    error = math.sqrt(discordant - excess**2 / n_rows) / n_rows
    reach = float(ndtri(1 - alpha / 2)) * error
    return excess / n_rows - reach, excess / n_rows + reach


def _require_enough(pair: PairSums) -> None:
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
