"""Curves for drawing: the mean over folds with its lowest and highest fold, thinned without hiding an extreme."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.reports.panels import Panel

__all__ = ["Curve", "curves", "thinned"]


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


def curves(panel: Panel) -> dict[str, Curve]:
    """Give per learner the mean, the lowest and the highest fold at each row of a panel.

    Examples
    --------
    >>> panel = Panel("accuracy", "Landmark()", np.array([10]), {"tree": np.array([[0.5], [0.75]])})
    >>> curves(panel)["tree"].mean.tolist()
    [0.625]
    """
    return {learner: _over_folds(values) for learner, values in panel.values.items()}


def thinned(
    rows: NDArray[np.int64], by_learner: dict[str, Curve], limit: int
) -> tuple[NDArray[np.int64], dict[str, Curve]]:
    """Thin curves to at most `limit` points each (4 or more), at rows that all of them share.

    The first and the last point stay. Those between are put in buckets of equal numbers; of each bucket two points
    are left, at its first and last row, which carry the least and the greatest mean of the bucket in the order in
    which they came, and the lowest and the highest fold. So no extreme is lost, and none moves by more than a bucket.

    Examples
    --------
    >>> wave = np.array([0.0, 0.3, 0.9, 0.1, 0.2, 0.0])
    >>> rows, thin = thinned(np.arange(6), {"tree": Curve(wave, wave, wave)}, limit=4)
    >>> rows.tolist(), thin["tree"].mean.tolist()
    ([0, 1, 4, 5], [0.0, 0.9, 0.1, 0.0])
    """
    if len(rows) <= limit:
        return rows, by_learner
    edges = np.linspace(1, len(rows) - 1, limit // 2).astype(np.int64)
    starts, stops = edges[:-1], edges[1:]
    kept = np.concatenate(([0], np.column_stack((starts, stops - 1)).ravel(), [len(rows) - 1]))
    return rows[kept], {learner: _thin(curve, starts) for learner, curve in by_learner.items()}


def _over_folds(values: NDArray[np.float64]) -> Curve:
    """Summarise the folds [k, n] that have a value at each row."""
    finite = np.where(np.isfinite(values), values, np.nan)
    with warnings.catch_warnings():
        # A row without any value is a gap, which NaN says well; NumPy warns of it all the same.
        warnings.simplefilter("ignore", RuntimeWarning)
        return Curve(np.nanmean(finite, axis=0), np.nanmin(finite, axis=0), np.nanmax(finite, axis=0))


def _thin(curve: Curve, starts: NDArray[np.int64]) -> Curve:
    """Keep two points of each bucket of the inner points, beside the first and the last point."""
    mean, low, high = (values[:-1] for values in (curve.mean, curve.low, curve.high))
    least, greatest = np.fmin.reduceat(mean, starts), np.fmax.reduceat(mean, starts)
    bucket = np.searchsorted(starts, np.arange(1, len(mean)), side="right") - 1
    falls = _first_in_bucket(mean[1:] == greatest[bucket], bucket, len(starts)) < _first_in_bucket(
        mean[1:] == least[bucket], bucket, len(starts)
    )
    pairs = np.where(falls[:, None], np.column_stack((greatest, least)), np.column_stack((least, greatest)))
    return Curve(
        _between_ends(curve.mean, pairs.ravel()),
        _between_ends(curve.low, np.repeat(np.fmin.reduceat(low, starts), 2)),
        _between_ends(curve.high, np.repeat(np.fmax.reduceat(high, starts), 2)),
    )


def _first_in_bucket(marked: NDArray[np.bool_], bucket: NDArray[np.int64], n_buckets: int) -> NDArray[np.int64]:
    """Give the position of the first marked point of each bucket."""
    first = np.full(n_buckets, len(marked), dtype=np.int64)
    positions = np.flatnonzero(marked)
    np.minimum.at(first, bucket[positions], positions)
    return first


def _between_ends(whole: NDArray[np.float64], inner: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate((whole[:1], inner, whole[-1:]))
