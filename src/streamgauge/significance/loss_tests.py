"""Tests of the losses of two models, row by row: McNemar and Q that forget, and Diebold-Mariano.

They take columns: per row whether a model was right, or its loss. The models are given and the rows are chance.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.significance.comparison import MODELS, Comparison

__all__ = ["diebold_mariano", "mcnemar_curve", "q_statistic"]

PLAIN_FADING = 1.0
"""The fading factor that forgets nothing."""

Scale = Literal["published", "calibrated"]


def mcnemar_curve(
    first_correct: ArrayLike,
    second_correct: ArrayLike,
    *,
    width: int | None = None,
    factor: float = PLAIN_FADING,
    scale: Scale = "published",
) -> NDArray[np.float64]:
    """Give McNemar's signed statistic after each row, over all rows, a window of rows, or with rows fading.

    With a and b the rows that only the first, and only the second, got right, it is
    ``sign(a - b) (a - b)^2 / (a + b)``: above 0 where the first is better. Fading, a and b are multiplied by `factor`
    at every row.

    At one row chosen in advance, 6.635 is passed by chance once in a hundred, plain or over a window. A curve is looked
    at more often than once, so it will be passed somewhere: over a long stream by any two models, even of one algorithm
    (Bifet et al. 2015 saw 0.42 to 0.80 of such pairs rejected). It is a picture; for a verdict at any time use
    `anytime_mcnemar`.

    Parameters
    ----------
    first_correct, second_correct
        Whether each model was right, row by row.
    width
        Rows of the window; None for all rows.
    factor
        The fading factor, in (0, 1]; 1 forgets nothing.
    scale
        ``published`` as in the papers; ``calibrated`` multiplies the faded statistic by ``1 + factor``, for without it
        it is about half as large as a chi-square.

    References
    ----------
    J. Gama, R. Sebastião and P. P. Rodrigues, Issues in evaluation of stream learning algorithms, KDD 2009.

    Examples
    --------
    >>> mcnemar_curve([1, 1, 1, 0], [0, 0, 1, 1]).round(3).tolist()
    [1.0, 2.0, 2.0, 0.333]
    >>> mcnemar_curve([1, 1, 1, 0], [0, 0, 1, 1], width=2).tolist()
    [1.0, 2.0, 1.0, -1.0]
    """
    first, second = _columns(first_correct, second_correct)
    if not np.isin(first, (0.0, 1.0)).all() or not np.isin(second, (0.0, 1.0)).all():
        msg = "McNemar takes whether each model was right, row by row: True or False"
        raise StreamgaugeError(msg)
    excess = _summed(first - second, width, factor)
    discordant = _summed(np.abs(first - second), width, factor)
    found = np.sign(excess) * excess**2 / np.where(discordant > 0.0, discordant, 1.0)
    return found * (1.0 + factor) if scale == "calibrated" and factor < 1.0 else found


def q_statistic(
    first_loss: ArrayLike, second_loss: ArrayLike, *, width: int | None = None, factor: float = PLAIN_FADING
) -> NDArray[np.float64]:
    """Give ``log(S_first / S_second)`` of the summed losses after each row: below 0 where the first is better.

    It takes any loss that is not below 0, and is NaN until both sums are above 0. It is a picture, not a test.

    Parameters
    ----------
    first_loss, second_loss
        The loss of each model, row by row.
    width
        Rows of the window; None for all rows.
    factor
        The fading factor, in (0, 1]; 1 forgets nothing.

    References
    ----------
    J. Gama, R. Sebastião and P. P. Rodrigues, Issues in evaluation of stream learning algorithms, KDD 2009.

    Examples
    --------
    >>> q_statistic([1, 0, 0, 1], [0, 1, 1, 1]).round(3).tolist()
    [nan, 0.0, -0.693, -0.405]
    """
    first, second = _columns(first_loss, second_loss)
    if min(first.min(initial=0.0), second.min(initial=0.0)) < 0.0:
        msg = "the Q statistic takes losses that are not below 0"
        raise StreamgaugeError(msg)
    sums = [_summed(loss, width, factor) for loss in (first, second)]
    defined = (sums[0] > 0.0) & (sums[1] > 0.0)
    ratio = np.divide(sums[0], sums[1], out=np.full(len(first), np.nan), where=defined)
    logs: NDArray[np.float64] = np.log(ratio)
    return logs


def diebold_mariano(
    first_loss: ArrayLike, second_loss: ArrayLike, *, lags: int | None = None, alpha: float = 0.05
) -> Comparison:
    """Test whether two models have the same mean loss, where the differences of neighbouring rows may go together.

    The statistic is the mean of ``second - first`` by its standard error, a normal: above 0 where the first is better.
    The variance is that of Newey and West, with weights that fall to 0 after `lags` rows.

    Parameters
    ----------
    first_loss, second_loss
        The loss of each model, row by row; any loss.
    lags
        Over how many rows differences may go together; by default ``4 (n / 100)^(2/9)``, 0 for not at all.
    alpha
        The level; the interval has confidence ``1 - alpha``.

    References
    ----------
    F. X. Diebold and R. S. Mariano, Comparing predictive accuracy, Journal of Business & Economic Statistics 13, 1995;
    W. K. Newey and K. D. West, A simple, positive semi-definite, heteroskedasticity and autocorrelation consistent
    covariance matrix, Econometrica 55, 1987.

    Examples
    --------
    >>> first, second = [0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1]
    >>> outcome = diebold_mariano(first, second, lags=2)
    >>> round(outcome.statistic, 4), round(outcome.p_value, 4)
    (2.5981, 0.0094)
    """
    from scipy.special import ndtr, ndtri  # noqa: PLC0415

    require_between("alpha", alpha, 0.0, 1.0)
    first, second = _columns(first_loss, second_loss)
    n = len(first)
    if n < 2:
        msg = f"Diebold-Mariano needs at least 2 rows, not {n}"
        raise StreamgaugeError(msg)
    lags = math.floor(4 * (n / 100) ** (2 / 9)) if lags is None else lags
    require_at_least("lags", lags, 0)
    gains = second - first
    difference, error = float(gains.mean()), math.sqrt(_newey_west(gains, min(lags, n - 1)) / n)
    statistic = difference / error if error > 0.0 else math.copysign(math.inf, difference) if difference else 0.0
    reach = float(ndtri(1 - alpha / 2)) * error
    direction = (difference > 0) - (difference < 0)
    return Comparison(
        test="diebold_mariano",
        statistic=statistic,
        p_value=2 * float(ndtr(-abs(statistic))),
        direction=-direction,
        difference=-difference,
        interval=(-difference - reach, -difference + reach),
        alpha=alpha,
        null=MODELS,
        basis=f"{n:,} rows, {lags} lags",
        measure="loss",
        greater_is_better=False,
    )


def _newey_west(values: NDArray[np.float64], lags: int) -> float:
    """Give the long-run variance of a column."""
    rest = values - values.mean()
    if not rest.any():
        return 0.0
    variance = float(rest @ rest)
    for lag in range(1, lags + 1):
        variance += 2 * (1 - lag / (lags + 1)) * float(rest[lag:] @ rest[:-lag])
    return max(variance, 0.0) / len(values)


def _columns(first: ArrayLike, second: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    one, other = (np.asarray(column, dtype=np.float64) for column in (first, second))
    if one.ndim != 1 or one.shape != other.shape:
        msg = f"two models are compared by columns of equal length, not of shapes {one.shape} and {other.shape}"
        raise StreamgaugeError(msg)
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        row = int(np.flatnonzero(~(np.isfinite(one) & np.isfinite(other)))[0])
        msg = f"row {row} has no finite value in one of the columns"
        raise StreamgaugeError(msg)
    return one, other


def _summed(values: NDArray[np.float64], width: int | None, factor: float) -> NDArray[np.float64]:
    """Sum a column up to each row, over all rows, a window, or fading."""
    require_between("factor", factor, 0.0, 1.0)
    if width is not None:
        require_at_least("width", width, 1)
        if factor < 1.0:
            msg = "give a width or a fading factor, not both"
            raise StreamgaugeError(msg)
    if factor < 1.0:
        from scipy.signal import lfilter  # noqa: PLC0415

        faded: NDArray[np.float64] = lfilter([1.0], [1.0, -factor], values)
        return faded
    return np.cumsum(values) if width is None or width >= len(values) else _windowed(values, width)


def _windowed(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Sum each window as the end of one block and the start of the next: subtracting would leave roundings."""
    n = len(values)
    blocks = np.pad(values, (0, -n % width)).reshape(-1, width)
    to_here = np.cumsum(blocks, axis=1).reshape(-1)[:n]
    from_here = np.cumsum(blocks[:, ::-1], axis=1)[:, ::-1].reshape(-1)
    starts = np.arange(1 - width, n - width + 1)
    before = (starts > 0) & (starts % width != 0)
    to_here[before] += from_here[starts[before]]
    return to_here
