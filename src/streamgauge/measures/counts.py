"""Measures that only count: how many predictions were right."""

from math import nan

from streamgauge.measures.functions import as_measure
from streamgauge.records import Tally

__all__ = ["accuracy", "error"]


@as_measure(greater_is_better=True)
def accuracy(tally: Tally) -> float:
    """Share of the weight that was predicted right; an abstention is wrong.

    NaN where the tally holds no weight.

    Examples
    --------
    >>> import numpy as np
    >>> accuracy(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100))
    0.65
    """
    return tally.hits / tally.total if tally.total > 0 else nan


@as_measure(greater_is_better=False)
def error(tally: Tally) -> float:
    """Share of the weight that was predicted wrong or not at all: the mean 0/1 loss.

    NaN where the tally holds no weight.

    Examples
    --------
    >>> import numpy as np
    >>> error(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100))
    0.35
    """
    return tally.misses / tally.total if tally.total > 0 else nan
