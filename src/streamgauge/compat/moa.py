"""Measures as MOA's evaluators define them, for those who must match its numbers.

They go with ``Landmark(moa_compatible=True)``, which counts as its BasicClassificationPerformanceEvaluator does, and
``Window(width, moa_compatible=True)``, as its WindowClassificationPerformanceEvaluator. MOA shows percent; these are
shares. What differs from our own measures, and why, is in docs/differences.md.
"""

import numpy as np
from numpy.typing import NDArray

from streamgauge.measures import accuracy, kappa, over_tallies
from streamgauge.protocols import Measure
from streamgauge.records import Tallies, over_classes

__all__ = ["MEASURES", "moa_f1", "moa_kappa_m", "moa_kappa_temporal", "moa_precision", "moa_recall"]

Column = NDArray[np.float64]


@over_tallies()
def moa_kappa_m(tallies: Tallies) -> Column:
    """Kappa M as MOA divides it: NaN where learner and majority class are perfect, minus infinity where it alone is.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(moa_kappa_m(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    -0.1667
    """
    return (tallies.hits - tallies.majority_hits) / (tallies.total - tallies.majority_hits)


@over_tallies()
def moa_kappa_temporal(tallies: Tallies) -> Column:
    """Kappa Temporal as MOA divides it: NaN where learner and no-change are perfect, minus infinity where it alone is.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> moa_kappa_temporal(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100))
    0.3
    """
    return (tallies.hits - tallies.no_change_hits) / (tallies.total - tallies.no_change_hits)


@over_tallies()
def moa_precision(tallies: Tallies) -> Column:
    """Mean precision of all classes, NaN where one of them was never predicted.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(moa_precision(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.6717
    """
    return over_classes(tallies.right / tallies.predicted) / tallies.n_classes


@over_tallies()
def moa_recall(tallies: Tallies) -> Column:
    """Mean recall of all classes, NaN where one of them does not occur.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(moa_recall(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.7024
    """
    return over_classes(tallies.recall) / tallies.n_classes


@over_tallies()
def moa_f1(tallies: Tallies) -> Column:
    """Harmonic mean of the mean precision and the mean recall, which is not the mean F1 of the classes.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(moa_f1(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.6867
    """
    precision, recall = moa_precision.over(tallies), moa_recall.over(tallies)
    return 2.0 * precision * recall / (precision + recall)


MEASURES: dict[str, Measure] = {
    "classifications correct (percent)": accuracy,
    "Kappa Statistic (percent)": kappa,
    "Kappa Temporal Statistic (percent)": moa_kappa_temporal,
    "Kappa M Statistic (percent)": moa_kappa_m,
    "F1 Score (percent)": moa_f1,
    "Precision (percent)": moa_precision,
    "Recall (percent)": moa_recall,
}
"""What gives MOA's numbers (in shares, not in percent), by the names under which it shows them."""

__test__ = {one.name: one.__doc__ for one in (moa_kappa_m, moa_kappa_temporal, moa_precision, moa_recall, moa_f1)}
