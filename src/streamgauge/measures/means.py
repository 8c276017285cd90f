"""Means of the recalls of the classes that occur: every class counts alike, however rare."""

import numpy as np
from numpy.typing import NDArray

from streamgauge.measures.functions import over_tallies
from streamgauge.records import Tallies, over_classes

__all__ = ["balanced_accuracy", "g_mean", "harmonic_mean"]

Column = NDArray[np.float64]


@over_tallies()
def balanced_accuracy(tallies: Tallies) -> Column:
    """Arithmetic mean of the recalls of the classes that occur; the same as ``recall_macro``.

    NaN where no class occurs.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(balanced_accuracy(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.7024
    """
    return over_classes(np.where(tallies.present, tallies.recall, 0.0)) / tallies.n_present


@over_tallies()
def g_mean(tallies: Tallies) -> Column:
    """Geometric mean of the recalls of the classes that occur: 0 where one of them is never recognised.

    NaN where no class occurs.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(g_mean(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.6901
    """
    # Logarithms, since the product of many recalls could underflow; that of 0 is -inf, whose exp is 0.
    logs = over_classes(np.where(tallies.present, np.log(tallies.recall), 0.0))
    return np.exp(logs / tallies.n_present)


@over_tallies()
def harmonic_mean(tallies: Tallies) -> Column:
    """Harmonic mean of the recalls of the classes that occur: nearest to the worst of them.

    0 where a class that occurs is never recognised. NaN where no class occurs.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(harmonic_mean(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.678

    References
    ----------
    Bifet et al., "Efficient online evaluation of big data stream classifiers", 2015, section 5.2.
    """
    return tallies.n_present / over_classes(np.where(tallies.present, 1.0 / tallies.recall, 0.0))


__test__ = {one.name: one.__doc__ for one in (balanced_accuracy, g_mean, harmonic_mean)}
