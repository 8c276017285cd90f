"""Tests of the losses of two models, row by row: McNemar and Q with forgetting, and Diebold-Mariano.

Their arguments are columns: per row whether a model was right, or its loss. The models are fixed and the rows random.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.significance.comparison import MODELS, Comparison, significance_test

__all__ = ["diebold_mariano", "mcnemar_curve", "mean_loss", "q_statistic"]

Scale = Literal["published", "calibrated"]


def mcnemar_curve(
    first_correct: ArrayLike,
    second_correct: ArrayLike,
    *,
    width: int | None = None,
    factor: float = 1.0,
    scale: Scale = "published",
) -> NDArray[np.float64]:
    """Return McNemar's signed statistic after each row, over all rows, a window of rows, or with fading.

    With a the rows that the first got wrong and the second right, and b the opposite, it is
    ``sign(a - b) (a - b)^2 / (a + b)``: above 0 where the first is worse, as `q_statistic` is. With fading, a and b are
    multiplied by `factor` at every row.

    At one row chosen in advance, chance exceeds 6.635 once in a hundred times, over all rows or a window. A curve has
    many rows, so it exceeds it somewhere: over a long stream for any two models, even of the same algorithm (Bifet et
    al. 2015 found 0.42 to 0.80 of such pairs rejected). Use it as a plot only; for anytime-valid verdicts use
    `anytime_mcnemar`.

    Parameters
    ----------
    first_correct, second_correct
        Whether each model was right, row by row.
    width
        Rows of the window; None for all rows.
    factor
        The fading factor, in (0, 1]; 1 for no fading.
    scale
        ``published`` as in the papers; ``calibrated`` multiplies the faded statistic by ``1 + factor``, since the
        published one is about half as large as a chi-square.

    References
    ----------
    J. Gama, R. Sebastião and P. P. Rodrigues, Issues in evaluation of stream learning algorithms, KDD 2009.

    Examples
    --------
    >>> mcnemar_curve([1, 1, 1, 0], [0, 0, 1, 1]).round(3).tolist()
    [-1.0, -2.0, -2.0, -0.333]
    >>> mcnemar_curve([1, 1, 1, 0], [0, 0, 1, 1], width=2).tolist()
    [-1.0, -2.0, -1.0, 1.0]
    """
    first, second = _check_columns(first_correct, second_correct)
    if not np.isin(first, (0.0, 1.0)).all() or not np.isin(second, (0.0, 1.0)).all():
        msg = "McNemar needs whether each model was right, row by row: True or False"
        raise StreamgaugeError(msg)
    excess = _sum(second - first, width, factor)
    discordant = _sum(np.abs(first - second), width, factor)
    statistic = np.sign(excess) * excess**2 / np.where(discordant > 0.0, discordant, 1.0)
    return statistic * (1.0 + factor) if scale == "calibrated" and factor < 1.0 else statistic


def mean_loss(loss: ArrayLike, *, width: int | None = None, factor: float = 1.0, chunk: int = 1) -> NDArray[np.float64]:
    """Return the mean of any loss after each row, over all rows, a window of rows, or with fading.

    It is the prequential error ``S_i / B_i`` of Gama et al.: with fading ``S_i = L_i + factor * S_(i-1)`` and
    ``B_i = n_i + factor * B_(i-1)``. The loss may be of any kind, such as the squared error of a regression.

    Parameters
    ----------
    loss
        The loss of a model, row by row.
    width
        Rows of the window; None for all rows.
    factor
        The fading factor, in (0, 1]; 1 for no fading.
    chunk
        The number of rows between two fadings; see `Fading`.

    References
    ----------
    J. Gama, R. Sebastião and P. P. Rodrigues, Issues in evaluation of stream learning algorithms, KDD 2009.

    Examples
    --------
    >>> mean_loss([4.0, 0.0, 1.0, 1.0], factor=0.5).round(3).tolist()
    [4.0, 1.333, 1.143, 1.067]
    >>> mean_loss([4.0, 0.0, 1.0, 1.0], width=2).tolist()
    [4.0, 2.0, 0.5, 1.0]
    """
    (values,) = _check_columns(loss)
    means: NDArray[np.float64] = _sum(values, width, factor, chunk) / _sum(np.ones(len(values)), width, factor, chunk)
    return means


def q_statistic(
    first_loss: ArrayLike,
    second_loss: ArrayLike,
    *,
    width: int | None = None,
    factor: float = 1.0,
    chunk: int = 1,
) -> NDArray[np.float64]:
    """Return ``log(S_first / S_second)`` of the summed losses after each row: below 0 where the first is better.

    Losses must be at least 0. The result is NaN until both sums are above 0. Use it as a plot; it is not a test.

    Parameters
    ----------
    first_loss, second_loss
        The loss of each model, row by row; any loss.
    width
        Rows of the window; None for all rows.
    factor
        The fading factor, in (0, 1]; 1 for no fading.
    chunk
        The number of rows between two fadings; see `Fading`.

    References
    ----------
    J. Gama, R. Sebastião and P. P. Rodrigues, Issues in evaluation of stream learning algorithms, KDD 2009.

    Examples
    --------
    >>> q_statistic([1, 0, 0, 1], [0, 1, 1, 1]).round(3).tolist()
    [nan, 0.0, -0.693, -0.405]
    """
    first, second = _check_columns(first_loss, second_loss)
    if min(first.min(initial=0.0), second.min(initial=0.0)) < 0.0:
        msg = "the Q statistic needs losses of at least 0"
        raise StreamgaugeError(msg)
    sums = [_sum(loss, width, factor, chunk) for loss in (first, second)]
    defined = (sums[0] > 0.0) & (sums[1] > 0.0)
    ratio = np.divide(sums[0], sums[1], out=np.full(len(first), np.nan), where=defined)
    logs: NDArray[np.float64] = np.log(ratio)
    return logs


@significance_test("diebold_mariano", title="Diebold-Mariano", over="losses")
def diebold_mariano(
    first_loss: ArrayLike, second_loss: ArrayLike, *, lags: int | None = None, alpha: float = 0.05
) -> Comparison:
    """Test whether two models have the same mean loss, with autocorrelated differences.

    The statistic is the mean of ``second - first`` divided by its standard error, asymptotically normal: above 0 where
    the first is better. The variance is that of Newey and West, with weights that decrease to 0 after `lags` rows.

    Parameters
    ----------
    first_loss, second_loss
        The loss of each model, row by row; any loss.
    lags
        Over how many rows differences may be correlated; by default ``4 (n / 100)^(2/9)``, 0 for independent rows.
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
    first, second = _check_columns(first_loss, second_loss)
    n = len(first)
    if n < 2:
        msg = f"Diebold-Mariano needs at least 2 rows, not {n}"
        raise StreamgaugeError(msg)
    lags = math.floor(4 * (n / 100) ** (2 / 9)) if lags is None else lags
    require_at_least("lags", lags, 0)
    gains = second - first
    difference, error = float(gains.mean()), math.sqrt(_estimate_long_run_variance(gains, min(lags, n - 1)) / n)
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


def _estimate_long_run_variance(values: NDArray[np.float64], lags: int) -> float:
    """Return the long-run variance of a column by Newey and West."""
    rest = values - values.mean()
    if not rest.any():
        return 0.0
    variance = float(rest @ rest)
    for lag in range(1, lags + 1):
        variance += 2 * (1 - lag / (lags + 1)) * float(rest[lag:] @ rest[:-lag])
    return max(variance, 0.0) / len(values)


def _check_columns(*given: ArrayLike) -> list[NDArray[np.float64]]:
    columns = [np.asarray(column, dtype=np.float64) for column in given]
    if columns[0].ndim != 1 or len({column.shape for column in columns}) > 1:
        shapes = " and ".join(str(column.shape) for column in columns)
        msg = f"the columns of two models must have the same length, not shapes {shapes}"
        if len(columns) == 1:
            msg = f"the losses must be one column, not of shape {shapes}"
        raise StreamgaugeError(msg)
    finite = np.logical_and.reduce([np.isfinite(column) for column in columns])
    if not finite.all():
        msg = f"row {int(np.flatnonzero(~finite)[0])} has no finite value in one of the columns"
        raise StreamgaugeError(msg)
    return columns


def _sum(values: NDArray[np.float64], width: int | None, factor: float, chunk: int = 1) -> NDArray[np.float64]:
    """Return the running sums of a column, over all rows, a window, or with fading."""
    require_between("factor", factor, 0.0, 1.0)
    require_at_least("chunk", chunk, 1)
    if width is not None:
        require_at_least("width", width, 1)
        if factor < 1.0:
            msg = "set either width or factor, not both"
            raise StreamgaugeError(msg)
    if factor < 1.0:
        from scipy.signal import lfilter  # noqa: PLC0415

        chunks = np.pad(values, (0, -len(values) % chunk)).reshape(-1, chunk)
        so_far = np.cumsum(chunks, axis=1)
        faded: NDArray[np.float64] = lfilter([1.0], [1.0, -factor], so_far[:, -1])
        so_far[1:] += factor * faded[:-1, None]
        return so_far.reshape(-1)[: len(values)]
    return np.cumsum(values) if width is None or width >= len(values) else _sum_windows(values, width)


def _sum_windows(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Sum each window as the end of one block and the start of the next, without the rounding errors of subtraction."""
    n = len(values)
    blocks = np.pad(values, (0, -n % width)).reshape(-1, width)
    prefix_sums = np.cumsum(blocks, axis=1).reshape(-1)[:n]
    suffix_sums = np.cumsum(blocks[:, ::-1], axis=1)[:, ::-1].reshape(-1)
    starts = np.arange(1 - width, n - width + 1)
    before = (starts > 0) & (starts % width != 0)
    prefix_sums[before] += suffix_sums[starts[before]]
    return prefix_sums
