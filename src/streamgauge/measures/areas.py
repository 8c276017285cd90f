"""Areas under curves: how well votes rank the rows of one class before those of others.

They are exact over `Window`, `TimeWindow` and `Tumbling`, which keep the votes of their rows. The other forgettings
keep the votes in sparse bins, with a sum for each true class that occurs in them. A bin is a single number as long as
the sums of each class voted for are few (4,096 of two classes, 12,288 of six; a quarter in each bucket of
`AdwinWindow`). So areas are exact for some thousand rows, and without limit for votes of few values. Beyond,
neighbouring bins are joined, as often as needed; they stay narrow near 0 and 1, which have bins of their own. The rows
of a joined bin count as tied in ROC curves, and as well mixed in precision-recall curves. `roc_auc_margin` and
`pr_auc_margin` are the greatest errors that this can cause.
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
    "pr_auc_margin",
    "pr_auc_ovo_macro",
    "pr_auc_ovr_macro",
    "pr_auc_ovr_weighted",
    "roc_auc_margin",
    "roc_auc_ovo_macro",
    "roc_auc_ovr_macro",
    "roc_auc_ovr_weighted",
]

ROC, ROC_MARGIN, PRECISION, PRECISION_MARGIN = range(4)
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
    >>> ranks = np.array([[[0.75, 0.75], [0.75, 0.75]], np.zeros((2, 2)), np.ones((2, 2)), np.zeros((2, 2))])
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
    >>> ranks = np.array([[[0.5, 0.5], [1.0, 1.0]], np.zeros((2, 2)), np.ones((2, 2)), np.zeros((2, 2))])
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
    >>> ranks = np.array([[[0.9, 0.8], [0.6, 0.9]], np.zeros((2, 2)), np.ones((2, 2)), np.zeros((2, 2))])
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
    >>> ranks = np.array([np.ones((2, 2)), np.zeros((2, 2)), [[0.5, 0.5], [0.7, 0.7]], np.zeros((2, 2))])
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
    >>> ranks = np.array([np.ones((2, 2)), np.zeros((2, 2)), [[0.5, 0.5], [1.0, 1.0]], np.zeros((2, 2))])
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
    >>> ranks = np.array([np.ones((2, 2)), np.zeros((2, 2)), [[0.9, 0.8], [0.6, 0.9]], np.zeros((2, 2))])
    >>> pr_auc_ovo_macro(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, ranks=ranks))
    0.7
    """
    return average_known(_select_one_vs_one(tallies, PRECISION), None)


@over_tallies(greater_is_better=False, statistics=("ranks",), describes=True)
def roc_auc_margin(tallies: Tallies) -> Column:
    """Greatest possible error of the areas under ROC curves because votes are kept in bins.

    The pairs of rows in one bin count half, and may all be in the right order, or all in the wrong one. It is the
    maximum over the classes and pairs of classes, so that it holds for every average. 0 over windows, which are exact,
    and while every bin is a single number.

    NaN if fewer than two classes occur.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> margins = [[0.005, 0.005], [0.015, 0.01]]
    >>> ranks = np.array([np.ones((2, 2)), margins, np.ones((2, 2)), np.zeros((2, 2))])
    >>> roc_auc_margin(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, ranks=ranks))
    0.015
    """
    return _find_greatest(tallies, ROC_MARGIN)


@over_tallies(greater_is_better=False, statistics=("ranks",), describes=True)
def pr_auc_margin(tallies: Tallies) -> Column:
    """Greatest possible error of the areas under precision-recall curves because votes are kept in bins.

    At best, the rows of the class come first in every bin; at worst, last. It is the maximum over the classes and pairs
    of classes, so that it holds for every average. 0 over windows, which are exact, and while every bin is a single
    number.

    NaN if fewer than two classes occur.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> margins = [[0.005, 0.005], [0.015, 0.01]]
    >>> ranks = np.array([np.ones((2, 2)), np.zeros((2, 2)), np.ones((2, 2)), margins])
    >>> pr_auc_margin(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, ranks=ranks))
    0.015
    """
    return _find_greatest(tallies, PRECISION_MARGIN)


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
    >>> ranks = np.array([[[0.5, 0.5], [0.75, 0.75]], np.zeros((2, 2)), np.ones((2, 2)), np.zeros((2, 2))])
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


def _find_greatest(tallies: Tallies, area: int) -> Column:
    """Return the maxima over all classes and pairs of classes; NaN if none is known."""
    values = tallies.column("ranks")[:, area].reshape(len(tallies), -1)
    known = ~np.isnan(values)
    return np.where(known.any(axis=-1), np.where(known, values, 0.0).max(axis=-1), np.nan)


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
        pr_auc_margin,
    )
}
