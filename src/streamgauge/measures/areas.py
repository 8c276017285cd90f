"""Areas under curves: how well votes rank the rows of one class before those of others.

Exact over `Window`, `TimeWindow` and `Tumbling`, which then keep the votes of their rows. Under the other forgettings
the votes are kept in bins that halve towards 0 and 1, each halving cut into 16 (fewer from 23 classes on, so that a
state stays below 8 MB; more than 90 classes are refused): rows of two classes in one bin count as tied. By at most
how much the area may be off for that, `roc_auc_margin` tells.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import unknown_name
from streamgauge.measures.classes import class_code, code_of
from streamgauge.measures.functions import OverTallies, over_tallies
from streamgauge.records import Schema, Tallies

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

Column = NDArray[np.float64]

ROC, TIED, PRECISION = 0, 1, 2
AREAS = {"roc_auc": ROC, "pr_auc": PRECISION}
"""The areas that can be told of one class."""


@over_tallies(statistics=("ranks",))
def roc_auc_ovr_macro(tallies: Tallies) -> Column:
    """Area under the ROC curve of each class against all others, mean over the classes.

    The probability that a row of the class gets a greater share of the votes for it than a row of another class; ties
    count half. For two classes it is the plain ROC-AUC. Classes without rows, or without rows of others, are left out.

    NaN where fewer than two classes occur.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> ranks = np.array([[[0.75, 0.75], [0.75, 0.75]], np.zeros((2, 2)), np.ones((2, 2))])
    >>> roc_auc_ovr_macro(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, ranks=ranks))
    0.75
    """
    return mean_where_known(_against_all(tallies, ROC), None)


@over_tallies(statistics=("ranks",))
def roc_auc_ovr_weighted(tallies: Tallies) -> Column:
    """Area under the ROC curve of each class against all others, mean weighted by how often the classes occur.

    NaN where fewer than two classes occur. See `roc_auc_ovr_macro`.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> ranks = np.array([[[0.5, 0.5], [1.0, 1.0]], np.zeros((2, 2)), np.ones((2, 2))])
    >>> roc_auc_ovr_weighted(Tally(np.diag([1.0, 3.0]), np.zeros(2), 0.0, 0.0, 4, ranks=ranks))
    0.875
    """
    return mean_where_known(_against_all(tallies, ROC), tallies.support)


@over_tallies(statistics=("ranks",))
def roc_auc_ovo_macro(tallies: Tallies) -> Column:
    """Area under the ROC curve of each class against each other, mean over all pairs (Hand and Till's M).

    It does not depend on how often the classes occur. Pairs of which one class has no rows are left out.

    NaN where fewer than two classes occur.

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
    return mean_where_known(_against_each(tallies, ROC), None)


@over_tallies(statistics=("ranks",))
def pr_auc_ovr_macro(tallies: Tallies) -> Column:
    """Area under the precision-recall curve of each class against all others, mean over the classes.

    It is the average precision: the mean over the rows of a class of the precision down to each, without
    interpolation. Classes without rows, or without rows of others, are left out.

    NaN where fewer than two classes occur.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> ranks = np.array([np.ones((2, 2)), np.zeros((2, 2)), [[0.5, 0.5], [0.7, 0.7]]])
    >>> round(pr_auc_ovr_macro(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, ranks=ranks)), 4)
    0.6
    """
    return mean_where_known(_against_all(tallies, PRECISION), None)


@over_tallies(statistics=("ranks",))
def pr_auc_ovr_weighted(tallies: Tallies) -> Column:
    """Area under the precision-recall curve of each class against all others, weighted by how often they occur.

    NaN where fewer than two classes occur. See `pr_auc_ovr_macro`.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> ranks = np.array([np.ones((2, 2)), np.zeros((2, 2)), [[0.5, 0.5], [1.0, 1.0]]])
    >>> pr_auc_ovr_weighted(Tally(np.diag([1.0, 3.0]), np.zeros(2), 0.0, 0.0, 4, ranks=ranks))
    0.875
    """
    return mean_where_known(_against_all(tallies, PRECISION), tallies.support)


@over_tallies(statistics=("ranks",))
def pr_auc_ovo_macro(tallies: Tallies) -> Column:
    """Area under the precision-recall curve of each class against each other, mean over all pairs.

    NaN where fewer than two classes occur. See `pr_auc_ovr_macro`.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> ranks = np.array([np.ones((2, 2)), np.zeros((2, 2)), [[0.9, 0.8], [0.6, 0.9]]])
    >>> pr_auc_ovo_macro(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, ranks=ranks))
    0.7
    """
    return mean_where_known(_against_each(tallies, PRECISION), None)


@over_tallies(greater_is_better=False, statistics=("ranks",))
def roc_auc_margin(tallies: Tallies) -> Column:
    """By how much the areas under ROC curves may be off at most, for pairs of rows that are tied: half their share.

    The greatest over the classes and pairs of classes. Over windows, which are exact, it tells of votes that are truly
    equal; under other forgettings also of those that only lie in one bin.

    NaN where fewer than two classes occur.

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
class AreaOfClass(OverTallies):
    """The area under a curve of one class against all others. By name: ``roc_auc[up]``, ``pr_auc[up]``.

    NaN where the class, or every other class, has no rows.

    Parameters
    ----------
    measure
        roc_auc or pr_auc.
    of
        The name of the class, or its code as a whole number.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> ranks = np.array([[[0.5, 0.5], [0.75, 0.75]], np.zeros((2, 2)), np.ones((2, 2))])
    >>> AreaOfClass("roc_auc", 1)(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, ranks=ranks))
    0.75
    """

    measure: str
    of: str | int
    code: int | None = None

    def __post_init__(self) -> None:
        if self.measure not in AREAS:
            raise unknown_name(kind="area", name=self.measure, known=AREAS)

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.measure}[{self.of}]"

    @property
    def statistics(self) -> tuple[str, ...]:  # type: ignore[override]
        """What it needs of a tally."""
        return ("ranks",)

    def bound(self, schema: Schema) -> "AreaOfClass":
        """Find the class in a schema."""
        return replace(self, code=class_code(self.of, schema))

    def values(self, tallies: Tallies) -> Column:
        """Measure many tallies."""
        code = code_of(self.name, self.of, self.code, tallies)
        area: Column = tallies.column("ranks")[:, AREAS[self.measure], code, code]
        return area


def mean_where_known(values: Column, weight: Column | None) -> Column:
    """Give the means over the last axis of the values that are not NaN; NaN where there are none.

    Examples
    --------
    >>> mean_where_known(np.array([[0.5, np.nan, 1.0]]), None).tolist()
    [0.75]
    """
    known = ~np.isnan(values)
    weights = known.astype(np.float64) if weight is None else np.where(known, weight, 0.0)
    means: Column = np.where(known, values * weights, 0.0).sum(axis=-1) / weights.sum(axis=-1)
    return means


def _against_all(tallies: Tallies, area: int) -> Column:
    diagonal: Column = np.diagonal(tallies.column("ranks")[:, area], axis1=1, axis2=2)
    return diagonal


def _against_each(tallies: Tallies, area: int) -> Column:
    pairs = ~np.eye(tallies.n_classes, dtype=np.bool_)
    areas: Column = tallies.column("ranks")[:, area][:, pairs]
    return areas


__test__ = {
    one.name: one.__doc__
    for one in (
        roc_auc_ovr_macro,
        roc_auc_ovr_weighted,
        roc_auc_ovo_macro,
        pr_auc_ovr_macro,
        pr_auc_ovr_weighted,
        pr_auc_ovo_macro,
        roc_auc_margin,
    )
}
