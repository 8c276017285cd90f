"""Measures of counts: the shares of right and wrong predictions and of abstentions."""

import numpy as np

from streamgauge.measures.functions import Column, divide, over_tallies
from streamgauge.records import Tallies, sum_classes

__all__ = ["abstentions", "accuracy", "accuracy_when_predicting", "coverage", "error"]


@over_tallies()
def accuracy(tallies: Tallies) -> Column:
    """Share of the weight with a right prediction; an abstention is wrong.

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> accuracy(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100))
    0.65
    """
    return divide(tallies.hits, tallies.total)


@over_tallies(greater_is_better=False)
def error(tallies: Tallies) -> Column:
    """Share of the weight with a wrong prediction or none: the mean 0/1 loss.

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> error(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100))
    0.35
    """
    return divide(tallies.misses, tallies.total)


@over_tallies()
def coverage(tallies: Tallies) -> Column:
    """Share of the weight with a prediction.

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> coverage(Tally(np.array([[6.0, 1.0], [0.0, 2.0]]), np.array([0.0, 1.0]), 0.0, 0.0, 10))
    0.9
    """
    return np.where(tallies.total > 0.0, 1.0 - sum_classes(tallies.abstained) / tallies.total, np.nan)


@over_tallies()
def accuracy_when_predicting(tallies: Tallies) -> Column:
    """Share of right predictions among all predictions; abstentions are left out, so read it with `coverage`.

    NaN if there was no prediction.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> accuracy_when_predicting(Tally(np.array([[6.0, 1.0], [0.0, 1.0]]), np.array([0.0, 2.0]), 0.0, 0.0, 10))
    0.875
    """
    return divide(tallies.hits, tallies.hits + sum_classes(tallies.false_positives))


@over_tallies(greater_is_better=False, unit="rows")
def abstentions(tallies: Tallies) -> Column:
    """Weight of the rows without a prediction: their number if all weights are 1.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> abstentions(Tally(np.eye(2), np.array([2.0, 1.0]), 0.0, 0.0, 5))
    3.0
    """
    return sum_classes(tallies.abstained)


__test__ = {m.name: m.__doc__ for m in (accuracy, error, coverage, accuracy_when_predicting, abstentions)}
