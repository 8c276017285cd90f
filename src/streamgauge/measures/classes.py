"""Measures of one class, and their averages over classes: the averaging is in the name.

What holds for all of them: a class is *absent* where no row of the tally has it. ``_macro`` is the mean over the
classes that are present, ``_weighted`` the mean weighted by how often they occur, ``_micro`` is taken over the sums of
all classes. The value of a class is undefined where its denominator is 0, as the precision of a class that was never
predicted: it is NaN, left out of the averages, and an average is NaN where nothing is left. ``undefined=`` puts a
number instead, as `zero_division` of scikit-learn does. An abstention is a prediction of no class.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_between, unknown_name
from streamgauge.measures.functions import OverTallies, ratio
from streamgauge.records import Schema, Tallies, over_classes

__all__ = ["AVERAGES", "PER_CLASS", "Averaged", "FBeta", "OfClass"]

Column = NDArray[np.float64]
Parts = tuple[Column, Column]

AVERAGES = ("macro", "micro", "weighted")
"""How values of classes are made one."""


def _precision(t: Tallies) -> Parts:
    return t.right, t.predicted


def _recall(t: Tallies) -> Parts:
    return t.right, t.support


def _specificity(t: Tallies) -> Parts:
    return np.maximum(t.negatives - t.false_positives, 0.0), t.negatives


def _npv(t: Tallies) -> Parts:
    true_negatives = np.maximum(t.negatives - t.false_positives, 0.0)
    return true_negatives, true_negatives + t.false_negatives


def _false_positive_rate(t: Tallies) -> Parts:
    return t.false_positives, t.negatives


def _jaccard(t: Tallies) -> Parts:
    return t.right, t.support + t.false_positives


def _g_mean_precision_recall(t: Tallies) -> Parts:
    return t.right, np.sqrt(t.support * t.predicted)


def _f1(t: Tallies) -> Parts:
    return 2.0 * t.right, t.support + t.predicted


PER_CLASS: dict[str, Callable[[Tallies], Parts]] = {
    "precision": _precision,
    "recall": _recall,
    "f1": _f1,
    "specificity": _specificity,
    "npv": _npv,
    "false_positive_rate": _false_positive_rate,
    "jaccard": _jaccard,
    "g_mean_precision_recall": _g_mean_precision_recall,
}
"""What can be told of one class: numerator and denominator by class, each [s, c]."""

SUMMARIES = {
    "precision": "the share of its predictions that are right",
    "recall": "the share of its rows that are predicted right",
    "f1": "the harmonic mean of precision and recall",
    "specificity": "the share of the rows of other classes that are not predicted as it",
    "npv": "the share of the rows not predicted as it that are of other classes (negative predictive value)",
    "false_positive_rate": "the share of the rows of other classes that are predicted as it",
    "jaccard": "rows of it that are predicted right, over all that are of it or predicted as it",
    "g_mean_precision_recall": "the geometric mean of precision and recall",
}
"""Each of them in words."""


@dataclass(frozen=True)
class Averaged(OverTallies):
    """An average over classes of what is told of each; see `streamgauge.measures.classes` for absent classes.

    NaN where no class has a defined value.

    Parameters
    ----------
    of
        What is averaged: precision, recall, f1, specificity, npv, false_positive_rate, jaccard or
        g_mean_precision_recall (which has no micro average).
    average
        macro, micro or weighted.
    undefined
        What the value of a class counts that is not defined; NaN leaves it out.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)
    >>> Averaged("recall", "macro").name, round(Averaged("recall", "macro")(tally), 4)
    ('recall_macro', 0.7024)
    """

    of: str
    average: str = "macro"
    undefined: float = nan

    def __post_init__(self) -> None:
        if self.of not in PER_CLASS:
            raise unknown_name(kind="measure of a class", name=self.of, known=PER_CLASS)
        _check_average(self.average)
        if self.of == "g_mean_precision_recall" and self.average == "micro":
            msg = "g_mean_precision_recall has no micro average: it would be the geometric mean of two accuracies"
            raise StreamgaugeError(msg)

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.of}_{self.average}{_suffix(self.undefined)}"

    @property
    def greater_is_better(self) -> bool:  # type: ignore[override]
        """Whether a greater value is better."""
        return self.of != "false_positive_rate"

    def values(self, tallies: Tallies) -> Column:
        """Measure many tallies."""
        return averaged(tallies, self.of, PER_CLASS[self.of](tallies), self.average, self.undefined)


@dataclass(frozen=True)
class FBeta(OverTallies):
    """F-beta over classes: recall counts `beta` times as much as precision.

    ``(1 + beta^2) tp / (beta^2 support + predicted)`` of each class, then averaged as `Averaged` does. By name:
    ``f2_macro``, ``f0.5_weighted``.

    NaN where no class has a defined value.

    Parameters
    ----------
    beta
        How much recall counts, above 0.
    average
        macro, micro or weighted.
    undefined
        What the value of a class counts that is not defined; NaN leaves it out.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)
    >>> FBeta(2.0).name, round(FBeta(2.0)(tally), 4)
    ('f2_macro', 0.6648)
    """

    beta: float = 2.0
    average: str = "macro"
    undefined: float = nan

    def __post_init__(self) -> None:
        require_between("beta", self.beta, 0.0, 1e6)
        _check_average(self.average)

    @property
    def name(self) -> str:
        """What it is called."""
        return f"f{self.beta:g}_{self.average}{_suffix(self.undefined)}"

    def values(self, tallies: Tallies) -> Column:
        """Measure many tallies."""
        square = self.beta * self.beta
        parts = ((1.0 + square) * tallies.right, square * tallies.support + tallies.predicted)
        return averaged(tallies, f"f{self.beta:g}", parts, self.average, self.undefined)


@dataclass(frozen=True)
class OfClass(OverTallies):
    """What is told of one class. By name: ``recall[up]``.

    NaN where it is not defined for the class, as the recall of a class that does not occur.

    Parameters
    ----------
    measure
        What is told: precision, recall, f1, specificity, npv, false_positive_rate, jaccard or
        g_mean_precision_recall.
    of
        The name of the class, or its code as a whole number.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)
    >>> OfClass("recall", 1).name, round(OfClass("recall", 1)(tally), 4)
    ('recall[1]', 0.8333)
    """

    measure: str
    of: str | int
    code: int | None = None

    def __post_init__(self) -> None:
        if self.measure not in PER_CLASS:
            raise unknown_name(kind="measure of a class", name=self.measure, known=PER_CLASS)

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.measure}[{self.of}]"

    @property
    def greater_is_better(self) -> bool:  # type: ignore[override]
        """Whether a greater value is better."""
        return self.measure != "false_positive_rate"

    def bound(self, schema: Schema) -> "OfClass":
        """Find the class in a schema."""
        return replace(self, code=class_code(self.of, schema))

    def values(self, tallies: Tallies) -> Column:
        """Measure many tallies."""
        part, whole = PER_CLASS[self.measure](tallies)
        code = code_of(self.name, self.of, self.code, tallies)
        return ratio(part[:, code], whole[:, code])


def class_code(of: str | int, schema: Schema) -> int:
    """Find the code of a class by its name, or check a code.

    Examples
    --------
    >>> class_code("down", Schema((), ("up", "down")))
    1
    """
    if isinstance(of, int):
        if not 0 <= of < schema.n_classes:
            msg = f"there is no class with code {of}: there are {schema.n_classes} classes, coded from 0"
            raise StreamgaugeError(msg)
        return of
    if of not in schema.classes:
        raise unknown_name(kind="class", name=of, known=schema.classes)
    return schema.classes.index(of)


def code_of(name: str, of: str | int, code: int | None, tallies: Tallies) -> int:
    """Give the code of a measure's class, once it is known.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> code_of("recall[1]", 1, None, Tallies.stacked([Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2)]))
    1
    """
    found = of if code is None else code
    if isinstance(found, str):
        msg = f"{name} does not know the code of its class: use it in an evaluation, or give the code instead"
        raise StreamgaugeError(msg)
    if not 0 <= found < tallies.n_classes:
        msg = f"{name}: there are {tallies.n_classes} classes, coded from 0"
        raise StreamgaugeError(msg)
    return found


def averaged(tallies: Tallies, of: str, parts: Parts, average: str, undefined: float) -> Column:
    """Average over classes; see the top of this file.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tallies = Tallies.stacked([Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2)])
    >>> averaged(tallies, "recall", (tallies.right, tallies.support), "macro", nan).tolist()
    [1.0]
    """
    part, whole = parts
    if average == "micro":
        values = over_classes(part) / over_classes(whole)
        return values if isnan(undefined) else np.where(np.isnan(values) & (tallies.n_present > 0), undefined, values)
    if of not in tallies.shared:
        values = part / whole
        known = ~np.isnan(values)
        tallies.shared[of] = values, known, bool((tallies.present & known).all())
    values, known, everywhere = tallies.shared[of]
    if everywhere:  # as nearly always, and what weights add up to need not be worked out again
        if average == "macro":
            return over_classes(values) / tallies.n_classes
        return over_classes(values * tallies.support) / tallies.supported
    counted = tallies.present & known
    if not isnan(undefined):
        values, counted = np.where(known, values, undefined), tallies.present
    weights = tallies.support if average == "weighted" else np.ones_like(values)
    values, weights = np.where(counted, values, 0.0), np.where(counted, weights, 0.0)
    return over_classes(values * weights) / over_classes(weights)


def _check_average(average: str) -> None:
    if average not in AVERAGES:
        raise unknown_name(kind="average", name=average, known=AVERAGES)


def _suffix(undefined: float) -> str:
    return "" if isnan(undefined) else f"_or_{undefined:g}"
