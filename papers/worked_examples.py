"""Worked examples of papers: measures of a confusion matrix next to the published ones."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from papers.findings import Claim, Finding, Table, compare
from streamgauge import measures
from streamgauge.records import Tally

__all__ = ["build_finding", "build_tally", "check_matrix", "draw_bars", "tabulate"]


def build_tally(confusion: Sequence[Sequence[float]]) -> Tally:
    """Return the tally of a confusion matrix with true classes in rows; the majority class is known from the start.

    Examples
    --------
    >>> build_tally([[40, 30], [5, 25]]).majority_hits
    70.0
    """
    matrix = np.asarray(confusion, dtype=np.float64)
    most = float(matrix.sum(axis=1).max())
    return Tally(
        confusion=matrix,
        abstained=np.zeros(len(matrix)),
        majority_hits=most,
        no_change_hits=most,
        width=int(matrix.sum()),
    )


def tabulate(ours: Mapping[str, float], published: Mapping[str, Any], title: str) -> Table:
    """Return a table of our values next to those published under the same names.

    Examples
    --------
    >>> tabulate({"accuracy": 0.65}, {"accuracy": 0.65}, "Measures").rows
    (('accuracy', 0.65, 0.65, 0.0),)
    """
    rows = tuple((name, *compare(value, published.get(name))) for name, value in ours.items())
    return Table(title, ("figure", "ours", "published", "difference"), rows)


def _compute_measures(confusion: Sequence[Sequence[float]]) -> dict[str, float]:
    """Return the measures of a confusion matrix that the papers print."""
    tally = build_tally(confusion)
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


def check_matrix(published: Mapping[str, Any], title: str) -> tuple[Table, Claim]:
    """Return the measures of a published confusion matrix next to the published ones, and whether they agree.

    Examples
    --------
    >>> check_matrix({"confusion": [[75, 8], [7, 10]], "accuracy": 0.85}, "Measures")[1].holds
    True
    """
    theirs = dict(published)
    for sign, value in zip("+-", theirs.pop("class_accuracy", ()), strict=False):
        theirs[f"accuracy of class {sign}"] = value
    ours = _compute_measures(published["confusion"])
    # The papers round, or cut, to four digits.
    agree = all(abs(ours[name] - theirs[name]) < 1e-4 for name in ours if name in theirs)
    claim = Claim(
        "every published measure of the confusion matrix agrees with ours to one unit of its last digit", agree
    )
    return tabulate(ours, theirs, title), claim


def draw_bars(table: Table, figure: Any) -> None:  # noqa: ANN401  (Matplotlib has no types)
    """Draw our values and the published ones side by side."""
    axis = figure.subplots()
    positions = np.arange(len(table.rows))
    published = [np.nan if row[2] is None else row[2] for row in table.rows]
    axis.barh(positions - 0.2, [row[1] for row in table.rows], height=0.4, label="ours")
    axis.barh(positions + 0.2, published, height=0.4, label="published")
    axis.set_yticks(positions, [str(row[0]) for row in table.rows])
    axis.invert_yaxis()
    axis.axvline(0.0, c="grey", linewidth=0.5)
    axis.set_title(table.title)
    axis.legend()


def build_finding(table: Table, claims: tuple[Claim, ...], notes: tuple[str, ...], *others: Table) -> Finding:
    """Return the finding of a worked example: the first table is drawn."""
    return Finding(
        basis="computed exactly, without randomness",
        tables=(table, *others),
        draw=partial(draw_bars, table),
        claims=claims,
        notes=notes,
        size=(7, 4),
    )
