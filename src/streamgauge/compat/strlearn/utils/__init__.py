"""Helpers of stream-learn."""

import numpy as np
from numpy.typing import NDArray

from streamgauge.compat.strlearn.utils import metrics

__all__ = ["metrics", "scores_to_cummean"]


def scores_to_cummean(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the scores so far, at each chunk.

    Examples
    --------
    >>> scores_to_cummean(np.array([[[1.0], [0.0], [0.5]]])).ravel().tolist()
    [1.0, 0.5, 0.5]
    """
    n_chunks = np.arange(1, scores.shape[1] + 1)
    means: NDArray[np.float64] = np.cumsum(scores, axis=1) / n_chunks[np.newaxis, :, np.newaxis]
    return means
