"""The t test over folds that reckons with what the folds learnt in common."""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.significance.comparison import SEEDS, Comparison
from streamgauge.significance.fold_tests import checked_differences

__all__ = ["FOLDED", "corrected_t", "five_by_two", "held_out_ratio"]

FOLDED = ("Bootstrap", "CrossValidation", "Split")
"""The schemes whose folds learn different rows."""


def held_out_ratio(scheme: str, n_folds: int) -> float:
    """Give how many rows a fold leaves for testing per row it learns.

    Parameters
    ----------
    scheme
        ``CrossValidation``: 1 / (k - 1). ``Bootstrap``: 1 / (e - 1), for a row has no weight in a fold with chance
        1 / e. ``Split``: k - 1.
    n_folds
        How many folds there are.

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
    raise unknown_name(kind="scheme with folds", name=scheme, known=FOLDED)


def corrected_t(differences: ArrayLike, ratio: float, *, alpha: float = 0.05) -> Comparison:
    """Test the mean difference with the corrected t of Nadeau and Bengio.

    The variance of the mean is ``s^2 (1 / k + ratio)`` rather than ``s^2 / k``: folds that learn the same rows go
    together. The statistic is a t with ``k - 1`` degrees of freedom. It is meant for folds that test the rows they did
    not learn; where all folds test all rows it is conservative as to the seeds, and blind to the luck of the rows.

    Parameters
    ----------
    differences
        The value of the first learner less that of the second, one number a fold.
    ratio
        Rows tested per row learnt, as `held_out_ratio` gives them; 0 for the paired t.
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

    values = checked_differences(differences, alpha)
    if not 0.0 <= ratio < math.inf:
        msg = f"ratio = {ratio!r}: rows tested per row learnt are a number of at least 0"
        raise StreamgaugeError(msg)
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
        warnings=(
            ("all differences are equal, so nothing shows how far chance would move them",)
            if equal and difference
            else ()
        ),
    )


def five_by_two(differences: ArrayLike, *, statistic: Literal["f", "t"] = "f", alpha: float = 0.05) -> Comparison:
    """Test the differences of five repetitions of cross-validation with two folds.

    The statistic ``f`` is Alpaydin's, an F with 10 and 5 degrees of freedom, of all ten differences; ``t`` is
    Dietterich's, a t with 5 degrees of freedom, of the first difference alone, over the variance within repetitions.

    Parameters
    ----------
    differences
        The value of the first learner less that of the second, [5, 2] or the same ten one after the other.
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

    values = checked_differences(np.asarray(differences, dtype=np.float64).reshape(-1), alpha)
    if len(values) != 10:
        msg = f"a 5x2 test takes the differences of 5 repetitions of 2 folds, not {len(values)} numbers"
        raise StreamgaugeError(msg)
    within = float(values.reshape(5, 2).var(axis=1, ddof=1).sum())
    if within == 0.0:
        msg = "the two folds of each repetition differ alike, so nothing shows how far chance would move them"
        raise StreamgaugeError(msg)
    if statistic == "f":
        found, told = float((values**2).sum()) / (2 * within), float(values.mean())
        p_value = float(fdtrc(10, 5, found))
    else:
        found, told = float(values[0]) / math.sqrt(within / 5), float(values[0])
        p_value = 2 * float(stdtr(5, -abs(found)))
    return Comparison(
        test="five_by_two",
        statistic=found,
        p_value=p_value,
        direction=int(np.sign(told)),
        difference=float(values.mean()),
        interval=None,
        alpha=alpha,
        null=SEEDS,
        basis="5 repetitions of 2 folds",
    )
