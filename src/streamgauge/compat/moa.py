"""Measures as MOA's evaluators define them, to match its numbers.

Use them with ``Landmark(moa_compatible=True)``, which counts as MOA's BasicClassificationPerformanceEvaluator, and
``Window(width, moa_compatible=True)``, which counts as its WindowClassificationPerformanceEvaluator. MOA shows percent;
these are rates. docs/differences.md lists the differences from our own measures and their reasons.
"""

import numpy as np
from numpy.typing import NDArray

from streamgauge.measures import accuracy, kappa, over_tallies
from streamgauge.protocols import Measure
from streamgauge.records import Tallies, sum_classes

__all__ = ["MEASURES", "moa_f1", "moa_kappa_m", "moa_kappa_temporal", "moa_precision", "moa_recall"]

Column = NDArray[np.float64]


@over_tallies()
def moa_kappa_m(tallies: Tallies) -> Column:
    """Kappa M by plain division: NaN if learner and baseline are perfect, minus infinity if only the baseline is.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(moa_kappa_m(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    -0.1667
    """
    return (tallies.hits - tallies.majority_hits) / (tallies.total - tallies.majority_hits)


@over_tallies()
def moa_kappa_temporal(tallies: Tallies) -> Column:
    """Kappa Temporal by plain division: NaN if learner and baseline are perfect, minus infinity if only the latter is.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> moa_kappa_temporal(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100))
    0.3
    """
    return (tallies.hits - tallies.no_change_hits) / (tallies.total - tallies.no_change_hits)


@over_tallies()
def moa_precision(tallies: Tallies) -> Column:
    """Mean precision of all classes; NaN if one of them was never predicted.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(moa_precision(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.6717
    """
    return sum_classes(tallies.right / tallies.predicted) / tallies.n_classes


@over_tallies()
def moa_recall(tallies: Tallies) -> Column:
    """Mean recall of all classes; NaN if one of them does not occur.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(moa_recall(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.7024
    """
    return sum_classes(tallies.recall) / tallies.n_classes


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
"""The measures by MOA's names; values are rates, not percent."""

__test__ = {
    measure.name: measure.__doc__ for measure in (moa_kappa_m, moa_kappa_temporal, moa_precision, moa_recall, moa_f1)
}
