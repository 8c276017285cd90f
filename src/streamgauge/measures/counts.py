"""Measures that only count: how many predictions were right, and how many there were."""

import numpy as np
from numpy.typing import NDArray

from streamgauge.measures.functions import over_tallies, ratio
from streamgauge.records import Tallies, over_classes

__all__ = ["abstentions", "accuracy", "accuracy_when_predicting", "coverage", "error"]

Column = NDArray[np.float64]


@over_tallies()
def accuracy(tallies: Tallies) -> Column:
    """Share of the weight that was predicted right; an abstention is wrong.

    NaN where the tally holds no weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> accuracy(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100))
    0.65
    """
    return ratio(tallies.hits, tallies.total)


@over_tallies(greater_is_better=False)
def error(tallies: Tallies) -> Column:
    """Share of the weight that was predicted wrong or not at all: the mean 0/1 loss.

    NaN where the tally holds no weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> error(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100))
    0.35
    """
    return ratio(tallies.misses, tallies.total)


@over_tallies()
def coverage(tallies: Tallies) -> Column:
    """Share of the weight for which there was a prediction at all.

    NaN where the tally holds no weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> coverage(Tally(np.array([[6.0, 1.0], [0.0, 2.0]]), np.array([0.0, 1.0]), 0.0, 0.0, 10))
    0.9
    """
    return np.where(tallies.total > 0.0, 1.0 - over_classes(tallies.abstained) / tallies.total, np.nan)


@over_tallies()
def accuracy_when_predicting(tallies: Tallies) -> Column:
    """Share right of the weight for which there was a prediction: abstentions are left out, so read `coverage` too.

    NaN where there was no prediction.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> accuracy_when_predicting(Tally(np.array([[6.0, 1.0], [0.0, 1.0]]), np.array([0.0, 2.0]), 0.0, 0.0, 10))
    0.875
    """
    return ratio(tallies.hits, tallies.hits + over_classes(tallies.false_positives))


@over_tallies(greater_is_better=False, unit="rows")
def abstentions(tallies: Tallies) -> Column:
    """Weight of the rows for which there was no prediction: their number, where all weights are 1.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> abstentions(Tally(np.eye(2), np.array([2.0, 1.0]), 0.0, 0.0, 5))
    3.0
    """
    return over_classes(tallies.abstained)


__test__ = {one.name: one.__doc__ for one in (accuracy, error, coverage, accuracy_when_predicting, abstentions)}
