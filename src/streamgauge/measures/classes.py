"""Rates of one class, and their averages over classes: the averaging is in the name.

A class is *absent* if no row of the tally has it. ``_macro`` is the mean over the classes that are present,
``_weighted`` the mean weighted by their frequency, and ``_micro`` is computed from the counts summed over all classes.
The rate of a class is undefined if its denominator is 0, such as the precision of a class that was never predicted: it
is NaN and left out of the averages; an average is NaN if nothing is left. ``undefined=`` sets a number instead, like
`zero_division` in scikit-learn. An abstention is a prediction of no class.
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Self

import numpy as np

from streamgauge.errors import StreamgaugeError, require_between, unknown_name
from streamgauge.measures.functions import Column, OverTallies, divide, format_option
from streamgauge.records import Schema, Tallies, sum_classes

__all__ = [
    "AVERAGES",
    "COUNTS",
    "PER_CLASS",
    "Averaged",
    "ClassMeasure",
    "CountOfClass",
    "FBeta",
    "OfClass",
    "find_rate",
]

Parts = tuple[Column, Column]

AVERAGES = {
    "macro": "mean over the classes",
    "micro": "from the counts of all classes",
    "weighted": "mean over the classes weighted by frequency",
}
"""The averages over classes, with a description."""


@dataclass(frozen=True)
class Rate:
    """A rate of one class.

    Parameters
    ----------
    title, description
        The rate in words.
    parts
        Returns numerator and denominator by class, each [tallies, classes].
    greater_is_better
        Whether a greater rate is better.
    """

    title: str
    description: str
    parts: Callable[[Tallies], Parts]
    greater_is_better: bool = True


def _count_true_negatives(tallies: Tallies) -> Column:
    return np.maximum(tallies.negatives - tallies.false_positives, 0.0)


def _compute_npv(tallies: Tallies) -> Parts:
    true_negatives = _count_true_negatives(tallies)
    return true_negatives, true_negatives + tallies.false_negatives


PER_CLASS: dict[str, Rate] = {
    "precision": Rate(
        "Precision", "share of the predictions of a class that are right", lambda t: (t.right, t.predicted)
    ),
    "recall": Rate("Recall", "share of the rows of a class that are predicted right", lambda t: (t.right, t.support)),
    "f1": Rate("F1", "harmonic mean of precision and recall", lambda t: (2.0 * t.right, t.support + t.predicted)),
    "specificity": Rate(
        "Specificity",
        "share of the rows of other classes that are not predicted as the class",
        lambda t: (_count_true_negatives(t), t.negatives),
    ),
    "npv": Rate(
        "Negative predictive value",
        "share of the rows not predicted as a class that are of other classes",
        _compute_npv,
    ),
    "false_positive_rate": Rate(
        "False positive rate",
        "share of the rows of other classes that are predicted as the class",
        lambda t: (t.false_positives, t.negatives),
        greater_is_better=False,
    ),
    "jaccard": Rate(
        "Jaccard index",
        "right predictions of a class per row that is of it or predicted as it",
        lambda t: (t.right, t.support + t.false_positives),
    ),
    "g_mean_precision_recall": Rate(
        "Geometric mean of precision and recall",
        "square root of their product",
        lambda t: (t.right, np.sqrt(t.support * t.predicted)),
    ),
}
"""The rates of one class by name."""

COUNTS: dict[str, Callable[[Tallies], Column]] = {
    "tp": lambda t: t.right,
    "tn": _count_true_negatives,
    "fp": lambda t: t.false_positives,
    "fn": lambda t: t.false_negatives,
}
"""The counts of one class by name, each [tallies, classes]."""


def make_f_rate(beta: float) -> Rate:
    """Return F-beta of one class.

    Examples
    --------
    >>> make_f_rate(0.5).title
    'F0.5'
    """
    square = beta * beta
    return Rate(
        f"F{format_option(beta)}",
        f"harmonic mean of precision and recall, with {beta:g} times the importance for recall",
        lambda t: ((1.0 + square) * t.right, square * t.support + t.predicted),
    )


def find_rate(name: str) -> Rate | None:
    """Return the rate of one class with a name such as ``recall`` or ``f2``; None if there is none.

    Examples
    --------
    >>> find_rate("f2").title, find_rate("f") is None
    ('F2', True)
    """
    beta = re.fullmatch(r"f(\d+(?:\.\d+)?)", name)
    if name in PER_CLASS or beta is None:
        return PER_CLASS.get(name)
    require_between("beta", float(beta[1]), 0.0, 1e6)
    return make_f_rate(float(beta[1]))


def require_rate(name: str) -> Rate:
    """Return the rate of one class by name; raise if there is none."""
    rate = find_rate(name)
    if rate is None:
        raise unknown_name(kind="measure of a class", name=name, known=PER_CLASS)
    return rate


@dataclass(frozen=True)
class Averaged(OverTallies):
    """An average of a rate over classes; see `streamgauge.measures.classes` for absent classes.

    NaN if no class has a defined value.

    Parameters
    ----------
    of
        The rate: precision, recall, f1, specificity, npv, false_positive_rate, jaccard or g_mean_precision_recall
        (which has no micro average).
    average
        macro, micro or weighted.
    undefined
        The value of a class whose rate is undefined; NaN leaves it out.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)
    >>> Averaged("recall", "macro").name, round(Averaged("recall", "macro")(tally), 4)
    ('recall_macro', 0.7024)
    >>> print(Averaged("recall", "macro").__doc__.splitlines()[0])
    Recall (share of the rows of a class that are predicted right): mean over the classes.
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
        rate = PER_CLASS[self.of]
        summary = f"{rate.title} ({rate.description}): {AVERAGES[self.average]}."
        object.__setattr__(self, "__doc__", f"{summary}\n\nNaN if no class has a defined value.\n")

    @property
    def name(self) -> str:
        """The name in results and tables."""
        return f"{self.of}_{self.average}{_format_suffix(self.undefined)}"

    @property
    def greater_is_better(self) -> bool:  # type: ignore[override]
        """Whether a greater value is better."""
        return PER_CLASS[self.of].greater_is_better

    def values(self, tallies: Tallies) -> Column:
        """Return the values for many tallies."""
        return average_classes(tallies, self.of, PER_CLASS[self.of].parts(tallies), self.average, self.undefined)


@dataclass(frozen=True)
class FBeta(OverTallies):
    """F-beta averaged over classes, in which recall has `beta` times the importance of precision.

    ``(1 + beta^2) tp / (beta^2 support + predicted)`` for each class, averaged like `Averaged`. By name: ``f2_macro``,
    ``f0.5_weighted``.

    NaN if no class has a defined value.

    Parameters
    ----------
    beta
        The importance of recall, above 0.
    average
        macro, micro or weighted.
    undefined
        The value of a class whose rate is undefined; NaN leaves it out.

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
        """The name in results and tables."""
        return f"f{format_option(self.beta)}_{self.average}{_format_suffix(self.undefined)}"

    def values(self, tallies: Tallies) -> Column:
        """Return the values for many tallies."""
        rate = make_f_rate(self.beta)
        return average_classes(tallies, rate.title, rate.parts(tallies), self.average, self.undefined)


@dataclass(frozen=True)
class ClassMeasure(OverTallies):
    """A measure of one class, which is given by name or by code."""

    measure: str
    of: str | int
    code: int | None = None

    def __post_init__(self) -> None:
        if self.measure not in self._list_known():
            raise unknown_name(kind="measure of a class", name=self.measure, known=self._list_known())

    @classmethod
    @abstractmethod
    def _list_known(cls) -> Iterable[str]:
        """Return the names that `measure` may have."""

    @property
    def name(self) -> str:
        """The name in results and tables."""
        return f"{self.measure}[{self.of}]"

    def bind(self, schema: Schema) -> Self:
        """Return the measure with the code that its class has in a schema."""
        return replace(self, code=find_class_code(self.of, schema))

    def require_code(self, tallies: Tallies) -> int:
        """Return the code of the class; raise if it is not known, or not among the classes of tallies."""
        code = self.of if self.code is None else self.code
        if isinstance(code, str):
            msg = f"{self.name} does not know the code of its class: use it in an evaluation, or pass the code instead"
            raise StreamgaugeError(msg)
        if not 0 <= code < tallies.n_classes:
            msg = f"{self.name}: there are {tallies.n_classes} classes, coded from 0"
            raise StreamgaugeError(msg)
        return code


@dataclass(frozen=True)
class OfClass(ClassMeasure):
    """A rate of one class. By name: ``recall[up]``, ``f2[up]``.

    NaN if the rate is undefined, such as the recall of a class that does not occur.

    Parameters
    ----------
    measure
        The rate: precision, recall, f1 (or F-beta with another beta, such as f2 and f0.5), specificity, npv,
        false_positive_rate, jaccard or g_mean_precision_recall.
    of
        The name of the class, or its code as a whole number.
    code
        The code of the class if it is given by name; an evaluation sets it.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)
    >>> OfClass("recall", 1).name, round(OfClass("recall", 1)(tally), 4)
    ('recall[1]', 0.8333)
    """

    def __post_init__(self) -> None:
        require_rate(self.measure)

    @classmethod
    def _list_known(cls) -> Iterable[str]:
        return PER_CLASS

    @property
    def greater_is_better(self) -> bool:  # type: ignore[override]
        """Whether a greater value is better."""
        return require_rate(self.measure).greater_is_better

    def values(self, tallies: Tallies) -> Column:
        """Return the values for many tallies."""
        part, whole = require_rate(self.measure).parts(tallies)
        code = self.require_code(tallies)
        return divide(part[:, code], whole[:, code])


@dataclass(frozen=True)
class CountOfClass(ClassMeasure):
    """A count of one class: true or false positives or negatives. By name: ``tp[up]``; with two classes also ``tp``.

    The counts are weights: numbers of rows if all weights are 1 and nothing fades. An abstention is a false negative
    of the true class, and a true negative of all others.

    Parameters
    ----------
    measure
        tp, tn, fp or fn.
    of
        The name of the class, or its code as a whole number. None is the positive class of two: the second one, with
        code 1.
    code
        The code of the class if it is given by name; an evaluation sets it.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)
    >>> [(name, CountOfClass(name)(tally)) for name in ("tp", "tn", "fp", "fn")]
    [('tp', 25.0), ('tn', 40.0), ('fp', 30.0), ('fn', 5.0)]
    """

    of: str | int | None = None  # type: ignore[assignment]

    @classmethod
    def _list_known(cls) -> Iterable[str]:
        return COUNTS

    @property
    def name(self) -> str:
        """The name in results and tables."""
        return self.measure if self.of is None else super().name

    @property
    def greater_is_better(self) -> bool:  # type: ignore[override]
        """Whether a greater value is better."""
        return self.measure.startswith("t")

    @property
    def unit(self) -> str:  # type: ignore[override]
        """The unit of the values."""
        return "rows"

    def bind(self, schema: Schema) -> Self:
        """Return the measure with the code that its class has in a schema."""
        if self.of is not None:
            return super().bind(schema)
        return replace(self, code=self._choose_positive(schema.n_classes, schema.classes))

    def require_code(self, tallies: Tallies) -> int:
        """Return the code of the class; raise if it is not known, or not among the classes of tallies."""
        unknown = self.of is None and self.code is None
        return self._choose_positive(tallies.n_classes, ()) if unknown else super().require_code(tallies)

    def _choose_positive(self, n_classes: int, classes: Sequence[str]) -> int:
        if n_classes == 2:
            return 1
        example = f", such as {self.measure}[{classes[0]}]" if classes else ""
        msg = f"{self.measure} has no positive class among {n_classes}: write {self.measure}[CLASS]{example}"
        raise StreamgaugeError(msg)

    def values(self, tallies: Tallies) -> Column:
        """Return the values for many tallies."""
        counts: Column = COUNTS[self.measure](tallies)[:, self.require_code(tallies)]
        return counts


def find_class_code(of: str | int, schema: Schema) -> int:
    """Return the code of a class by its name, or a code after a check.

    Examples
    --------
    >>> find_class_code("down", Schema((), ("up", "down")))
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


def average_classes(tallies: Tallies, rate: str, parts: Parts, average: str, undefined: float) -> Column:
    """Return the averages of a rate over classes, as the docstring of this module says.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tallies = Tallies.stack([Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2)])
    >>> average_classes(tallies, "recall", (tallies.right, tallies.support), "macro", nan).tolist()
    [1.0]
    """
    part, whole = parts
    if average == "micro":
        values = sum_classes(part) / sum_classes(whole)
        return values if isnan(undefined) else np.where(np.isnan(values) & (tallies.n_present > 0), undefined, values)
    if rate not in tallies.shared:
        values = part / whole
        known = ~np.isnan(values)
        tallies.shared[rate] = values, known, bool((tallies.present & known).all())
    values, known, all_known = tallies.shared[rate]
    if all_known:  # the usual case, in which the sum of the weights is known already
        if average == "macro":
            return sum_classes(values) / tallies.n_classes
        return sum_classes(values * tallies.support) / tallies.supported
    counted = tallies.present & known
    if not isnan(undefined):
        values, counted = np.where(known, values, undefined), tallies.present
    weights = tallies.support if average == "weighted" else np.ones_like(values)
    values, weights = np.where(counted, values, 0.0), np.where(counted, weights, 0.0)
    return sum_classes(values * weights) / sum_classes(weights)


def _check_average(average: str) -> None:
    if average not in AVERAGES:
        raise unknown_name(kind="average", name=average, known=AVERAGES)


def _format_suffix(undefined: float) -> str:
    return "" if isnan(undefined) else f"_or_{format_option(undefined)}"
