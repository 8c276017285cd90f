"""Curves for drawing: the mean over folds with the lowest and highest fold, downsampled without hiding extremes."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.downsample import Buckets
from streamgauge.reports.series import Series

__all__ = ["Curve", "downsample_curves", "summarise_folds", "summarise_series"]


@dataclass(frozen=True)
class Curve:
    """The curve of one learner: float64 [n] each, NaN where there is a gap.

    Examples
    --------
    >>> Curve(np.array([0.5]), np.array([0.4]), np.array([0.6])).mean.tolist()
    [0.5]
    """

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def summarise_series(series: Series) -> dict[str, Curve]:
    """Return per learner the mean, the lowest and the highest fold at each row of a series.

    Examples
    --------
    >>> series = Series("accuracy", "Landmark()", np.array([10]), {"tree": np.array([[0.5], [0.75]])})
    >>> summarise_series(series)["tree"].mean.tolist()
    [0.625]
    """
    return {learner: summarise_folds(values) for learner, values in series.values.items()}


def downsample_curves(
    rows: NDArray[np.int64], by_learner: dict[str, Curve], limit: int
) -> tuple[NDArray[np.int64], dict[str, Curve]]:
    """Downsample curves to at most `limit` points each (4 or more), at rows that all of them share; see `Buckets`.

    Examples
    --------
    >>> wave = np.array([0.0, 0.3, 0.9, 0.1, 0.2, 0.0])
    >>> rows, curves = downsample_curves(np.arange(6), {"tree": Curve(wave, wave, wave)}, limit=4)
    >>> rows.tolist(), curves["tree"].mean.tolist()
    ([0, 1, 4, 5], [0.0, 0.9, 0.1, 0.0])
    """
    buckets = Buckets.from_count(len(rows), limit)
    return rows[buckets.indices], {
        learner: Curve(
            buckets.take_extremes(curve.mean[:, None])[:, 0],
            buckets.take_minima(curve.low[:, None])[:, 0],
            buckets.take_maxima(curve.high[:, None])[:, 0],
        )
        for learner, curve in by_learner.items()
    }


def summarise_folds(values: NDArray[np.float64]) -> Curve:
    """Return the mean, minimum and maximum of the folds [k, n] that have a value at each row.

    Examples
    --------
    >>> summarise_folds(np.array([[0.5, np.nan], [0.75, 0.25]])).high.tolist()
    [0.75, 0.25]
    """
    finite = np.where(np.isfinite(values), values, np.nan)
    with warnings.catch_warnings():
        # A row without any value is a gap, represented by NaN; NumPy warns nevertheless.
        warnings.simplefilter("ignore", RuntimeWarning)
        return Curve(np.nanmean(finite, axis=0), np.nanmin(finite, axis=0), np.nanmax(finite, axis=0))
