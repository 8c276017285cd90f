"""Fixed bins of the probability of one of two classes, from which areas under curves are computed."""

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native

__all__ = ["N_BINS", "find_bins", "rank_bins"]

TAIL = 2.0 ** np.arange(-21.0, -5.0)
"""The edges below 1/32: each bin covers a doubling, so that small probabilities differ."""

EDGES = np.concatenate([TAIL, np.arange(1, 32) / 32, 1.0 - TAIL[::-1]])
"""The edges of the bins, mirrored at one half; between 1/32 and 31/32 they have equal distances."""

N_BINS = len(EDGES) + 1
"""The number of bins."""


def find_bins(share: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the bin of each probability.

    Examples
    --------
    >>> N_BINS, find_bins(np.array([0.0, 0.001, 0.49, 0.51, 1.0])).tolist()
    (64, [0, 12, 31, 32, 63])
    """
    return EDGES.searchsorted(share, side="right")


def rank_bins(bins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how votes rank the rows of two classes, as in `Tally.ranks`, from their numbers by class and bin.

    Parameters
    ----------
    bins
        The rows of each class by bin of the probability of the second class, float64 [s, 2, bins].

    Examples
    --------
    >>> bins = np.zeros((1, 2, N_BINS))
    >>> bins[0, 0, :2], bins[0, 1, 1:3] = 5.0, 5.0
    >>> rank_bins(bins)[0, 0].tolist()
    [[0.875, 0.875], [0.875, 0.875]]
    """
    ranks = np.full((len(bins), 4, 2, 2), np.nan)
    for code, (own, others) in enumerate(((bins[:, 0, ::-1], bins[:, 1, ::-1]), (bins[:, 1], bins[:, 0]))):
        roc, precision = _native.rank_votes(np.ascontiguousarray(own), np.ascontiguousarray(others))
        ranks[:, 0, code], ranks[:, 2, code] = roc[:, None], precision[:, None]
    return ranks
