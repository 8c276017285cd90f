"""Curves for drawing: the mean over folds with its lowest and highest fold, thinned without hiding an extreme."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.downsample import Buckets
from streamgauge.reports.series import Panel

__all__ = ["Curve", "curves_of", "over_folds", "thinned"]


@dataclass(frozen=True)
class Curve:
    """What is drawn for one learner: float64 [n] each, NaN where there is a gap.

    Examples
    --------
    >>> Curve(np.array([0.5]), np.array([0.4]), np.array([0.6])).mean.tolist()
    [0.5]
    """

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def curves_of(panel: Panel) -> dict[str, Curve]:
    """Give per learner the mean, the lowest and the highest fold at each row of a panel.

    Examples
    --------
    >>> panel = Panel("accuracy", "Landmark()", np.array([10]), {"tree": np.array([[0.5], [0.75]])})
    >>> curves_of(panel)["tree"].mean.tolist()
    [0.625]
    """
    return {learner: over_folds(values) for learner, values in panel.values.items()}


def thinned(
    rows: NDArray[np.int64], by_learner: dict[str, Curve], limit: int
) -> tuple[NDArray[np.int64], dict[str, Curve]]:
    """Thin curves to at most `limit` points each (4 or more), at rows that all of them share, as `Buckets` choose them.

    Examples
    --------
    >>> wave = np.array([0.0, 0.3, 0.9, 0.1, 0.2, 0.0])
    >>> rows, thin = thinned(np.arange(6), {"tree": Curve(wave, wave, wave)}, limit=4)
    >>> rows.tolist(), thin["tree"].mean.tolist()
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


def over_folds(values: NDArray[np.float64]) -> Curve:
    """Summarise the folds [k, n] that have a value at each row.

    Examples
    --------
    >>> over_folds(np.array([[0.5, np.nan], [0.75, 0.25]])).high.tolist()
    [0.75, 0.25]
    """
    finite = np.where(np.isfinite(values), values, np.nan)
    with warnings.catch_warnings():
        # A row without any value is a gap, which NaN says well; NumPy warns of it all the same.
        warnings.simplefilter("ignore", RuntimeWarning)
        return Curve(np.nanmean(finite, axis=0), np.nanmin(finite, axis=0), np.nanmax(finite, axis=0))
