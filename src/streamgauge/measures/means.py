"""Means of the recalls of the classes that occur, in which every class has the same weight."""

import numpy as np

from streamgauge.measures.functions import Column, over_tallies
from streamgauge.records import Tallies, sum_classes

__all__ = ["balanced_accuracy", "g_mean", "harmonic_mean"]


@over_tallies()
def balanced_accuracy(tallies: Tallies) -> Column:
    """Arithmetic mean of the recalls of the classes that occur; equal to ``recall_macro``.

    NaN if no class occurs.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(balanced_accuracy(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.7024
    """
    return sum_classes(np.where(tallies.present, tallies.recall, 0.0)) / tallies.n_present


@over_tallies()
def g_mean(tallies: Tallies) -> Column:
    """Geometric mean of the recalls of the classes that occur; 0 if one of them is never recognised.

    NaN if no class occurs.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(g_mean(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.6901
    """
    # logarithms, since the product of many recalls could underflow; log(0) is -inf, and exp(-inf) is 0
    logs = sum_classes(np.where(tallies.present, np.log(tallies.recall), 0.0))
    return np.exp(logs / tallies.n_present)


@over_tallies()
def harmonic_mean(tallies: Tallies) -> Column:
    """Harmonic mean of the recalls of the classes that occur, which stays close to the lowest one.

    0 if a class that occurs is never recognised. NaN if no class occurs.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(harmonic_mean(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.678

    References
    ----------
    Bifet et al., "Efficient online evaluation of big data stream classifiers", 2015, section 5.2.
    """
    return tallies.n_present / sum_classes(np.where(tallies.present, 1.0 / tallies.recall, 0.0))


__test__ = {m.name: m.__doc__ for m in (balanced_accuracy, g_mean, harmonic_mean)}
