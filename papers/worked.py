"""Examples that papers work out by hand: a confusion matrix, and the folds of two classifiers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from papers.findings import Claim, Finding, Table, beside
from streamgauge import measures
from streamgauge.records import Tally

__all__ = ["compared", "finding_of", "matrix_finding", "tally_of"]


def tally_of(confusion: Sequence[Sequence[float]]) -> Tally:
    """Make a tally of a confusion matrix, whose rows are the true classes; the majority class is known all along.

    Examples
    --------
    >>> tally_of([[40, 30], [5, 25]]).majority_hits
    70.0
    """
    matrix = np.asarray(confusion, dtype=np.float64)
    support = matrix.sum(axis=1)
    return Tally(matrix, np.zeros(len(matrix)), float(support.max()), float(support.max()), int(matrix.sum()))


def compared(ours: Mapping[str, float], published: Mapping[str, Any], title: str) -> Table:
    """Put figures beside those that were published under the same names.

    Examples
    --------
    >>> compared({"accuracy": 0.65}, {"accuracy": 0.65}, "Measures").rows
    (('accuracy', 0.65, 0.65, 0.0),)
    """
    rows = tuple((name, *beside(value, published.get(name))) for name, value in ours.items())
    return Table(title, ("figure", "ours", "published", "difference"), rows)


def _measured(confusion: Sequence[Sequence[float]]) -> dict[str, float]:
    """Give the measures of a confusion matrix that the papers work out."""
    tally = tally_of(confusion)
    matrix = tally.confusion
    expected = np.outer(matrix.sum(axis=1), matrix.sum(axis=0)) / matrix.sum()
    recall = np.diag(matrix) / matrix.sum(axis=1)
    return {
        "accuracy": measures.accuracy(tally),
        "chance_accuracy": float(np.trace(expected) / matrix.sum()),
        "majority_accuracy": tally.majority_hits / tally.total,
        "kappa": measures.kappa(tally),
        "kappa_m": measures.kappa_m(tally),
        "mcc": measures.mcc(tally),
        "accuracy of class +": float(recall[0]),
        "accuracy of class -": float(recall[1]),
        "arithmetic_mean": measures.balanced_accuracy(tally),
        "geometric_mean": measures.g_mean(tally),
        "harmonic_mean": measures.harmonic_mean(tally),
    }


def matrix_finding(figures: Mapping[str, Any], title: str) -> tuple[Table, Claim]:
    """Put the measures of a published confusion matrix beside the published ones.

    Examples
    --------
    >>> matrix_finding({"confusion": [[75, 8], [7, 10]], "accuracy": 0.85}, "Measures")[1].holds
    True
    """
    told = dict(figures)
    for sign, value in zip("+-", told.pop("class_accuracy", ()), strict=False):
        told[f"accuracy of class {sign}"] = value
    ours = _measured(figures["confusion"])
    table = compared(ours, told, title)
    # The papers round, or cut, to four digits.
    exact = all(abs(ours[name] - told[name]) < 1e-4 for name in ours if name in told)
    return table, Claim("every published measure of the confusion matrix is ours to a unit of its last digit", exact)


def _bars(figure: Any, table: Table) -> None:  # noqa: ANN401  (Matplotlib has no types)
    """Draw our figures and the published ones side by side."""
    axis = figure.subplots()
    names = [str(row[0]) for row in table.rows]
    places = np.arange(len(names))
    axis.barh(places - 0.2, [row[1] for row in table.rows], height=0.4, label="ours")
    axis.barh(places + 0.2, [np.nan if row[2] is None else row[2] for row in table.rows], height=0.4, label="published")
    axis.set_yticks(places, names)
    axis.invert_yaxis()
    axis.axvline(0.0, c="grey", linewidth=0.5)
    axis.set_title(table.title)
    axis.legend()


def finding_of(table: Table, claims: tuple[Claim, ...], notes: tuple[str, ...], *others: Table) -> Finding:
    """Put together a finding that is worked out, not run."""
    return Finding(
        "worked out, no chance in it", (table, *others), lambda figure: _bars(figure, table), claims, notes, size=(7, 4)
    )
