"""Areas under curves: how well votes rank the rows of one class before those of others.

They are exact over `Window`, `TimeWindow` and `Tumbling`, which keep the votes of their rows. The other forgettings
keep the votes in bins that halve towards 0 and 1, with 16 bins per halving (fewer from 23 classes on, so that a state
stays below 8 MB; more than 90 classes are refused): rows of two classes in the same bin count as tied.
`roc_auc_margin` is the greatest error that this can cause.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from streamgauge.measures.classes import ClassMeasure
from streamgauge.measures.functions import Column, over_tallies
from streamgauge.records import Tallies

__all__ = [
    "AREAS",
    "AreaOfClass",
    "pr_auc_ovo_macro",
    "pr_auc_ovr_macro",
    "pr_auc_ovr_weighted",
    "roc_auc_margin",
    "roc_auc_ovo_macro",
    "roc_auc_ovr_macro",
    "roc_auc_ovr_weighted",
]

ROC, TIED, PRECISION = 0, 1, 2
AREAS = {"roc_auc": ROC, "pr_auc": PRECISION}
"""The areas of one class, with their index in the statistic "ranks"."""


@over_tallies(statistics=("ranks",))
def roc_auc_ovr_macro(tallies: Tallies) -> Column:
    """Area under the ROC curve of each class against all others, mean over the classes.

    It is the probability that a row of the class has a greater share of the votes for the class than a row of another
    class; ties count half. For two classes it is the usual ROC AUC. Classes without rows, or without rows of others,
    are left out.

    NaN if fewer than two classes occur.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> ranks = np.array([[[0.75, 0.75], [0.75, 0.75]], np.zeros((2, 2)), np.ones((2, 2))])
    >>> roc_auc_ovr_macro(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, ranks=ranks))
    0.75
    """
    return average_known(_select_one_vs_rest(tallies, ROC), None)


@over_tallies(statistics=("ranks",))
def roc_auc_ovr_weighted(tallies: Tallies) -> Column:
    """Area under the ROC curve of each class against all others, mean weighted by class frequency.

    NaN if fewer than two classes occur. See `roc_auc_ovr_macro`.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> ranks = np.array([[[0.5, 0.5], [1.0, 1.0]], np.zeros((2, 2)), np.ones((2, 2))])
    >>> roc_auc_ovr_weighted(Tally(np.diag([1.0, 3.0]), np.zeros(2), 0.0, 0.0, 4, ranks=ranks))
    0.875
    """
    return average_known(_select_one_vs_rest(tallies, ROC), tallies.support)


@over_tallies(statistics=("ranks",))
def roc_auc_ovo_macro(tallies: Tallies) -> Column:
    """Area under the ROC curve of each class against each other, mean over all pairs (Hand and Till's M).

    It does not depend on class frequencies. Pairs with a class without rows are left out.

    NaN if fewer than two classes occur.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> ranks = np.array([[[0.9, 0.8], [0.6, 0.9]], np.zeros((2, 2)), np.ones((2, 2))])
    >>> roc_auc_ovo_macro(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, ranks=ranks))
    0.7

    References
    ----------
    Hand and Till, "A simple generalisation of the area under the ROC curve for multiple class classification
    problems", 2001.
    """
    return average_known(_select_one_vs_one(tallies, ROC), None)


@over_tallies(statistics=("ranks",))
def pr_auc_ovr_macro(tallies: Tallies) -> Column:
    """Area under the precision-recall curve of each class against all others, mean over the classes.

    It is the average precision: the precision down to each row of a class, averaged over these rows, without
    interpolation. Classes without rows, or without rows of others, are left out.

    NaN if fewer than two classes occur.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> ranks = np.array([np.ones((2, 2)), np.zeros((2, 2)), [[0.5, 0.5], [0.7, 0.7]]])
    >>> round(pr_auc_ovr_macro(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, ranks=ranks)), 4)
    0.6
    """
    return average_known(_select_one_vs_rest(tallies, PRECISION), None)


@over_tallies(statistics=("ranks",))
def pr_auc_ovr_weighted(tallies: Tallies) -> Column:
    """Area under the precision-recall curve of each class against all others, mean weighted by class frequency.

    NaN if fewer than two classes occur. See `pr_auc_ovr_macro`.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> ranks = np.array([np.ones((2, 2)), np.zeros((2, 2)), [[0.5, 0.5], [1.0, 1.0]]])
    >>> pr_auc_ovr_weighted(Tally(np.diag([1.0, 3.0]), np.zeros(2), 0.0, 0.0, 4, ranks=ranks))
    0.875
    """
    return average_known(_select_one_vs_rest(tallies, PRECISION), tallies.support)


@over_tallies(statistics=("ranks",))
def pr_auc_ovo_macro(tallies: Tallies) -> Column:
    """Area under the precision-recall curve of each class against each other, mean over all pairs.

    NaN if fewer than two classes occur. See `pr_auc_ovr_macro`.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> ranks = np.array([np.ones((2, 2)), np.zeros((2, 2)), [[0.9, 0.8], [0.6, 0.9]]])
    >>> pr_auc_ovo_macro(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, ranks=ranks))
    0.7
    """
    return average_known(_select_one_vs_one(tallies, PRECISION), None)


@over_tallies(greater_is_better=False, statistics=("ranks",))
def roc_auc_margin(tallies: Tallies) -> Column:
    """Greatest possible error of the areas under ROC curves due to ties: half the share of tied pairs of rows.

    It is the maximum over the classes and pairs of classes. Over windows, which are exact, ties are equal votes; with
    other forgettings also votes in the same bin.

    NaN if fewer than two classes occur.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> ranks = np.array([np.ones((2, 2)), [[0.01, 0.01], [0.03, 0.02]], np.ones((2, 2))])
    >>> roc_auc_margin(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, ranks=ranks))
    0.015
    """
    tied = tallies.column("ranks")[:, TIED].reshape(len(tallies), -1)
    known = ~np.isnan(tied)
    return np.where(known.any(axis=-1), 0.5 * np.where(known, tied, 0.0).max(axis=-1), np.nan)


@dataclass(frozen=True)
class AreaOfClass(ClassMeasure):
    """The area under a curve of one class against all others. By name: ``roc_auc[up]``, ``pr_auc[up]``.

    NaN if the class, or every other class, has no rows.

    Parameters
    ----------
    measure
        roc_auc or pr_auc.
    of
        The name of the class, or its code as a whole number.
    code
        The code of the class if it is given by name; an evaluation sets it.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> ranks = np.array([[[0.5, 0.5], [0.75, 0.75]], np.zeros((2, 2)), np.ones((2, 2))])
    >>> AreaOfClass("roc_auc", 1)(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, ranks=ranks))
    0.75
    """

    @classmethod
    def _list_known(cls) -> Iterable[str]:
        return AREAS

    @property
    def statistics(self) -> tuple[str, ...]:  # type: ignore[override]
        """The statistics that it needs beyond counts."""
        return ("ranks",)

    def values(self, tallies: Tallies) -> Column:
        """Return the values for many tallies."""
        code = self.require_code(tallies)
        area: Column = tallies.column("ranks")[:, AREAS[self.measure], code, code]
        return area


def average_known(values: Column, weight: Column | None) -> Column:
    """Return the means over the last axis of the values that are not NaN; NaN if there are none.

    Examples
    --------
    >>> average_known(np.array([[0.5, np.nan, 1.0]]), None).tolist()
    [0.75]
    """
    known = ~np.isnan(values)
    weights = known.astype(np.float64) if weight is None else np.where(known, weight, 0.0)
    means: Column = np.where(known, values * weights, 0.0).sum(axis=-1) / weights.sum(axis=-1)
    return means


def _select_one_vs_rest(tallies: Tallies, area: int) -> Column:
    """Return the areas of each class against all others, [tallies, classes]."""
    areas: Column = np.diagonal(tallies.column("ranks")[:, area], axis1=1, axis2=2)
    return areas


def _select_one_vs_one(tallies: Tallies, area: int) -> Column:
    """Return the areas of each class against each other, [tallies, ordered pairs]."""
    pairs = ~np.eye(tallies.n_classes, dtype=np.bool_)
    areas: Column = tallies.column("ranks")[:, area][:, pairs]
    return areas


__test__ = {
    measure.name: measure.__doc__
    for measure in (
        roc_auc_ovr_macro,
        roc_auc_ovr_weighted,
        roc_auc_ovo_macro,
        pr_auc_ovr_macro,
        pr_auc_ovr_weighted,
        pr_auc_ovo_macro,
        roc_auc_margin,
    )
}
