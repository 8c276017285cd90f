"""Sections of the page on what was found, what it cost, who was taken for whom, and how learners rank."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.markup import Markup, join_markup, tag
from streamgauge._format.numbers import format_p_value
from streamgauge.records import RunData
from streamgauge.reports.charts import Chart, figure_of
from streamgauge.reports.comparisons import Comparison, by_pair
from streamgauge.reports.costs import cost_cells, cost_columns
from streamgauge.reports.document import Grid, ranking_document
from streamgauge.reports.history import moments_of
from streamgauge.reports.matrices import p_matrix
from streamgauge.reports.pareto import standings
from streamgauge.reports.sections import learner_head, scrolled, section
from streamgauge.reports.svg import pareto_picture, ranks_picture
from streamgauge.significance import Ranking

__all__ = [
    "chart_section",
    "confusion_data",
    "confusion_section",
    "costs_section",
    "matrix_section",
    "ranking_sections",
    "words_section",
]

MOST_CLASSES = 12
"""Up to so many classes the page shows confusion matrices."""

MOST_SHARES = 12_000
"""How many numbers of confusion matrices a page holds."""


def words_section(found: Sequence[str], unsure: Sequence[str]) -> Markup:
    """Say what was found and what cannot be concluded.

    Examples
    --------
    >>> words_section([], [])
    ''
    """
    parts = [
        tag("div", tag("h3", title), tag("ul", *(tag("li", sentence) for sentence in sentences)))
        for title, sentences in (("What was found", found), ("What cannot be concluded", unsure))
        if sentences
    ]
    return section("In words", tag("div", *parts, class_="findings")) if parts else Markup()


def chart_section(title: str, *parts: Chart | Markup | None, note: str = "") -> Markup:
    """Put charts under a heading; nothing where there are none.

    Examples
    --------
    >>> chart_section("Labels", None)
    ''
    """
    figures = [figure_of(part) if isinstance(part, Chart) else part for part in parts if part]
    if not figures:
        return Markup()
    noted = tag("p", note, class_="note") if note else Markup()
    return section(title, tag("div", *figures, class_="charts"), noted)


def costs_section(results: RunData, chart: Chart | None) -> Markup:
    """Tabulate what the learners cost, draw it along the stream, and the measure against it.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> costs_section(evaluate(SEA(n_rows=100), NoChange()), None)
    ''
    """
    cost = results.resources
    if cost is None or chart is None:
        return Markup()
    head = tag("tr", *(tag("th", column, scope="col") for column in ("Learner", *cost_columns(cost))))
    rows = [
        tag("tr", learner_head(place, name), *(tag("td", cell) for cell in cost_cells(cost, place)))
        for place, name in enumerate(results.learners)
    ]
    note = (
        "Means over folds, for the learner alone: reading and scoring are not charged. rows/s: how many rows of the "
        "stream it keeps up with, predicting and learning. Model: the largest of any fold. "
        "p99: the 99th percentile of predicting a row, of the slowest fold. RAM-hours: gigabytes of the model times "
        "hours of CPU."
    )
    parts = [
        scrolled(tag("thead", head), rows),
        tag("p", note, class_="note"),
        tag("div", figure_of(chart), class_="charts"),
    ]
    measure = results.measures[0]
    defined = [name for name in results.learners if results.final(name, measure).n_defined]
    if len(defined) > 1:
        words = "Filled: on the Pareto front, beaten by nobody in both. Left is cheap; the scale is logarithmic."
        picture = pareto_picture(standings([results]), measure, results.unit(measure))
        title = f"{measure} over {results.forgettings[0]} against RAM-hours"
        parts += [tag("h3", title), picture, tag("p", words, class_="note")]
    return section("What it cost", *parts)


def confusion_data(results: RunData) -> dict[str, object] | None:
    """Give the confusion matrices that the script shows, at as many moments as there is room for.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> confusion_data(evaluate(SEA(n_rows=100), NoChange(), every=50))["rows"]
    [50, 100]
    """
    kept = _shown_confusions(results)
    if kept is None:
        return None
    at, shares = kept
    confusions = results.confusions
    assert confusions is not None
    told = np.where(np.isnan(shares), -1, np.round(1000 * shares)).astype(int)
    return {"rows": confusions.rows[at].tolist(), "shares": told.tolist()}


def confusion_section(results: RunData) -> Markup:
    """Show the confusion matrix of each learner after the last row; the script can go back along the run.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> "<input" in confusion_section(evaluate(SEA(n_rows=100), NoChange(), every=50))
    True
    """
    kept = _shown_confusions(results)
    if kept is None or results.confusions is None:
        return Markup()
    at, shares = kept
    last = f"after {int(results.confusions.rows[at[-1]]):,} rows"
    slider = tag("input", type="range", min=0, max=len(at) - 1, value=len(at) - 1, aria_label="moment of the run")
    moment = tag("label", slider, tag("output", last), class_="moment screen")
    tables = (
        _confusion_table(place, name, shares[-1, place], results.confusions.classes)
        for place, name in enumerate(results.learners)
    )
    forgetting = results.forgettings[_liveliest(results)]
    note = f"Percent of each true class (rows) by prediction (columns), over {forgetting}, all folds together."
    return section(
        "Who is taken for whom", moment, tag("div", *tables, class_="matrices"), tag("p", note, class_="note")
    )


def matrix_section(comparisons: Sequence[Comparison]) -> Markup:
    """Show the p-values of all pairs of three or more learners as a matrix.

    Examples
    --------
    >>> matrix_section([])
    ''
    """
    if len(by_pair(comparisons)) < 3:
        return Markup()
    return section("p-values of the pairs", _p_table(comparisons))


def ranking_sections(ranking: Ranking) -> Markup:
    """Show how learners rank over streams: in words, as a diagram, and by pairs.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> ranking_sections(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"])).count("<section")
    5
    """
    found, unsure, values, pairs = ranking_document(ranking).blocks
    assert isinstance(values, Grid)
    assert isinstance(pairs, Grid)
    words = words_section(getattr(found, "sentences", ()), getattr(unsure, "sentences", ()))
    note = "Left is best. A bar joins learners that cannot be told apart; each of them has a dot on it."
    return join_markup(
        words,
        section("Mean ranks", ranks_picture(ranking), tag("p", note, class_="note")),
        _grid_section(values),
        section("Won, tied and lost", _wins_table(ranking), tag("p", "Row against column.", class_="note")),
        section("p-values of the pairs", _p_table(ranking), _grid_table(pairs), tag("p", pairs.note, class_="note")),
    )


def _shown_confusions(results: RunData) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
    """Choose the moments to show, and give the shares [moment, learner, true, predicted] there."""
    kept = results.confusions
    if kept is None or not len(kept.rows) or len(kept.classes) > MOST_CLASSES:
        return None
    each = math.prod(kept.weights.shape[1:2]) * len(kept.classes) * (len(kept.classes) + 1)
    at = moments_of(len(kept.rows), max(2, MOST_SHARES // each))
    shares = kept.shares[at][:, :, _liveliest(results)]
    return at, shares


def _liveliest(results: RunData) -> int:
    """Give the place of a forgetting that shows the present rather than the whole past, where there is one."""
    return next((f for f, name in enumerate(results.forgettings) if not name.startswith("Landmark")), 0)


def _confusion_table(place: int, name: str, shares: NDArray[np.float64], classes: Sequence[str]) -> Markup:
    head = tag("tr", tag("th", "true", scope="col"), *(tag("th", label, scope="col") for label in (*classes, "none")))
    rows = (
        tag("tr", tag("th", label, scope="row"), *(_share_cell(share) for share in line))
        for label, line in zip(classes, shares.tolist(), strict=True)
    )
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="confusion", data_learner=place)
    return tag("div", tag("h3", name), tag("div", table, class_="scroll", tabindex=0, role="group", aria_label=name))


def _share_cell(share: float) -> Markup:
    if math.isnan(share):
        return tag("td", "")
    return tag("td", f"{100 * share:.1f}", class_=f"shade-{round(10 * share)}")


def _p_table(found: Ranking | Sequence[Comparison]) -> Markup:
    matrix = p_matrix(found)
    cells = [
        [(format_p_value(p), "shade-5 claimed" if sure else "") if math.isfinite(p) else ("", "") for p, sure in line]
        for line in (
            list(zip(*columns, strict=True))
            for columns in zip(matrix.p_values.tolist(), matrix.significant.tolist(), strict=True)
        )
    ]
    return join_markup(_matrix_table(matrix.learners, cells), tag("p", f"{matrix.title}.", class_="note"))


def _wins_table(ranking: Ranking) -> Markup:
    place = [ranking.learners.index(name) for name in ranking.order]
    won, tied = ranking.wins, ranking.ties
    n = max(len(ranking.streams), 1)

    def cell(i: int, j: int) -> tuple[str, str]:
        told = f"{won[i, j]}/{tied[i, j]}/{won[j, i]}"
        return ("", "") if i == j else (told, f"shade-{round(6 * won[i, j] / n)}")

    return _matrix_table(ranking.order, [[cell(i, j) for j in place] for i in place])


def _matrix_table(names: Sequence[str], cells: Sequence[Sequence[tuple[str, str]]]) -> Markup:
    head = tag("tr", tag("th", ""), *(tag("th", name, scope="col") for name in names))
    rows = (
        tag("tr", tag("th", name, scope="row"), *(tag("td", text, class_=kind or None) for text, kind in line))
        for name, line in zip(names, cells, strict=True)
    )
    return scrolled(tag("thead", head), rows, "matrix")


def _grid_table(grid: Grid) -> Markup:
    head = tag("tr", *(tag("th", column, scope="col") for column in grid.columns))
    rows = (
        tag("tr", tag("th", name, scope="row"),
            *(tag("td", tag("span", cell.text, class_="mean"), class_="best" if cell.best else None) for cell in cells))
        for name, cells in grid.rows
    )  # fmt: skip
    return scrolled(tag("thead", head), rows)


def _grid_section(grid: Grid) -> Markup:
    return section(grid.title, _grid_table(grid), tag("p", grid.note, class_="note") if grid.note else "")
