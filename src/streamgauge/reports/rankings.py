"""Rankings and p-values of all pairs on the page."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.markup import Markup, join_markup, tag
from streamgauge._format.numbers import format_p_value
from streamgauge._format.text import count
from streamgauge.errors import StreamgaugeError
from streamgauge.reports.document import build_ranked_pairs_grid, build_streams_grid
from streamgauge.reports.findings import group_by_pair, list_ranking_findings, list_ranking_limitations
from streamgauge.reports.model import Grid
from streamgauge.reports.sections import build_findings_section, build_grid_table, build_scrollable_table, build_section
from streamgauge.reports.svg import draw_ranks
from streamgauge.significance import Comparison, Ranking

__all__ = ["PMatrix", "build_p_matrix", "build_p_matrix_section", "build_ranking_sections"]


@dataclass(frozen=True)
class PMatrix:
    """The p-value of every pair of learners.

    Parameters
    ----------
    learners
        Their names.
    p_values
        float64 [learners, learners], symmetric; NaN on the diagonal and where there is none.
    significant
        Where a difference can be claimed.
    title
        The caption.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> build_p_matrix(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"])).p_values[0, 1].item()
    0.5
    """

    learners: tuple[str, ...]
    p_values: NDArray[np.float64]
    significant: NDArray[np.bool_]
    title: str


def build_p_matrix(source: Ranking | Sequence[Comparison]) -> PMatrix:
    """Return the matrix of the p-values that decide: the adjusted ones of a ranking or of several comparisons.

    Examples
    --------
    >>> build_p_matrix([])
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: there are no pairs of learners with p-values to show
    """
    if isinstance(source, Ranking):
        pairs = [(pair.first, pair.second, pair.adjusted) for pair in source.pairs]
        learners, title, alpha = source.order, f"Adjusted p-values in {source.measure}", source.alpha
    elif source:
        measure, alpha = source[0].measure, source[0].alpha
        tests = [pair[0] for pair in group_by_pair(source) if pair[0].measure == measure]
        pairs = [(test.first, test.second, test.deciding_p) for test in tests]
        learners = tuple(
            dict.fromkeys(name for test in source if test.measure == measure for name in (test.first, test.second))
        )
        title = f"{'Adjusted p' if tests[0].adjusted is not None else 'p'}-values in {measure}"
    else:
        msg = "there are no pairs of learners with p-values to show"
        raise StreamgaugeError(msg)
    p_values = np.full((len(learners), len(learners)), np.nan)
    for first, second, p_value in pairs:
        i, j = learners.index(first), learners.index(second)
        p_values[i, j] = p_values[j, i] = p_value
    return PMatrix(learners, p_values, p_values <= alpha, f"{title} (bold: at most {alpha:g})")


def build_p_matrix_section(comparisons: Sequence[Comparison]) -> Markup:
    """Return the section with the p-values of all pairs of three or more learners as a matrix.

    Examples
    --------
    >>> build_p_matrix_section([])
    ''
    """
    if len(group_by_pair(comparisons)) < 3:
        return Markup()
    return build_section("p-values by pair", _build_p_table(comparisons))


def build_ranking_sections(
    ranking: Ranking, tables: Sequence[Grid] = (), links: Mapping[str, Mapping[str, str]] | None = None
) -> Markup:
    """Return the sections of a ranking: the values on each stream, the mean ranks, what follows, and all pairs.

    Parameters
    ----------
    ranking
        The ranking.
    tables
        Tables of the values by stream, the ranked measure first; by default that of the values that were ranked.
    links
        By the name of a stream in the tables and a learner: the address of its run on the page.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> build_ranking_sections(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"])).count("<section")
    4
    """
    tables, pairs = tables or (build_streams_grid(ranking),), build_ranked_pairs_grid(ranking)
    ranks_note = "Left is best. A bar joins learners without a significant difference; each of them has a dot on it."
    others = [
        join_markup(tag("h3", grid.title), build_grid_table(grid, links=links), tag("p", grid.note, class_="note"))
        for grid in tables[1:]
    ]
    more = tag("details", tag("summary", count(len(others), "more measure")), *others, class_="more")
    pair_tables = (
        tag("h3", "Wins, ties and losses, row against column"),
        _build_wins_table(ranking),
        tag("h3", "p-values by pair"),
        _build_p_table(ranking),
        tag("h3", "All numbers"),
        build_grid_table(pairs),
        tag("p", pairs.note, class_="note"),
    )
    return join_markup(
        build_section(
            tables[0].title,
            build_grid_table(tables[0], links=links),
            tag("p", tables[0].note, class_="note"),
            more if others else "",
        ),
        build_section("Mean ranks", draw_ranks(ranking), tag("p", ranks_note, class_="note")),
        build_findings_section(list_ranking_findings(ranking), list_ranking_limitations(ranking)),
        build_section(
            "Pairs over streams",
            tag("details", tag("summary", count(len(ranking.pairs), "pair")), *pair_tables, class_="more"),
        ),
    )


def _build_p_table(source: Ranking | Sequence[Comparison]) -> Markup:
    matrix = build_p_matrix(source)
    cells = [
        [
            (format_p_value(p), "shade-5 claimed" if significant else "") if math.isfinite(p) else ("", "")
            for p, significant in zip(*line, strict=True)
        ]
        for line in zip(matrix.p_values.tolist(), matrix.significant.tolist(), strict=True)
    ]
    return join_markup(_build_matrix_table(matrix.learners, cells), tag("p", f"{matrix.title}.", class_="note"))


def _build_wins_table(ranking: Ranking) -> Markup:
    order = [ranking.learners.index(name) for name in ranking.order]
    won, tied = ranking.wins, ranking.ties
    n_streams = max(len(ranking.streams), 1)

    def build_cell(i: int, j: int) -> tuple[str, str]:
        if i == j:
            return "", ""
        return f"{won[i, j]}/{tied[i, j]}/{won[j, i]}", f"shade-{round(6 * won[i, j] / n_streams)}"

    return _build_matrix_table(ranking.order, [[build_cell(i, j) for j in order] for i in order])


def _build_matrix_table(names: Sequence[str], cells: Sequence[Sequence[tuple[str, str]]]) -> Markup:
    head = tag("tr", tag("th", ""), *(tag("th", name, scope="col") for name in names))
    rows = (
        tag("tr", tag("th", name, scope="row"), *(tag("td", text, class_=kind or None) for text, kind in line))
        for name, line in zip(names, cells, strict=True)
    )
    return build_scrollable_table(tag("thead", head), rows, "matrix")
