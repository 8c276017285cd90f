"""The report of a ranking over streams, and p-values of all pairs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from streamgauge._format.markup import join_markup, tag
from streamgauge._format.numbers import (
    format_difference,
    format_p_value,
    format_value,
    label_measure,
    to_difference_unit,
)
from streamgauge._format.text import count, shorten_stream_names
from streamgauge.errors import StreamgaugeError
from streamgauge.reports.findings import group_by_pair, list_ranking_findings, list_ranking_limitations
from streamgauge.reports.headline import write_ranking_headline
from streamgauge.reports.html import build_matrix_table
from streamgauge.reports.model import Cell, Document, Drawing, Grid, Section, Sentences
from streamgauge.reports.paper import describe_ranking_tests
from streamgauge.reports.svg import draw_ranks
from streamgauge.significance import POST_HOCS, Comparison, Ranking, diagram_text

__all__ = ["PMatrix", "build_p_matrix", "build_ranking_document", "draw_p_matrix"]


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


def draw_p_matrix(source: Ranking | Sequence[Comparison]) -> Drawing:
    """Return the p-values of all pairs as a matrix.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> draw_p_matrix(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"])).title
    'p-values by pair'
    """
    matrix = build_p_matrix(source)
    cells = [
        [
            (format_p_value(p), "shade-5 claimed" if significant else "") if math.isfinite(p) else ("", "")
            for p, significant in zip(*line, strict=True)
        ]
        for line in zip(matrix.p_values.tolist(), matrix.significant.tolist(), strict=True)
    ]
    note = tag("p", f"{matrix.title}.", class_="note")
    return Drawing(join_markup(build_matrix_table(matrix.learners, cells), note), "p-values by pair")


def build_ranking_document(
    ranking: Ranking, tables: Sequence[Grid] = (), links: Mapping[str, Mapping[str, str]] | None = None
) -> Document:
    """Return the report of a ranking over streams.

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
    >>> document = build_ranking_document(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"]))
    >>> [section.title for section in document.sections]
    ['', '', 'Mean ranks', 'Summary', 'Pairs over streams']
    """
    first, *others = (replace(grid, links=links or {}) for grid in tables or (_build_streams_grid(ranking),))
    lists = {"Findings": list_ranking_findings(ranking), "Limitations": list_ranking_limitations(ranking)}
    diagram = Drawing(draw_ranks(ranking), text=diagram_text(ranking, width=_choose_width(ranking)))
    ranks_note = "Left is best. A bar joins learners without a significant difference; each of them has a dot on it."
    nemenyi = f"Nemenyi's critical difference of mean ranks: {ranking.critical_difference:.3f}"
    tests = [] if tables else describe_ranking_tests(ranking)  # they stand below each of the tables
    tests += [nemenyi] if ranking.post_hoc == "nemenyi" else []
    sections = (
        Section("", (Sentences("Answer", (write_ranking_headline(ranking),)),), kind="answer"),
        Section("", (first,)),
        Section(count(len(others), "more measure"), tuple(others), kind="folded"),
        Section("Mean ranks", (diagram,), (ranks_note, *([f"{'. '.join(tests)}."] if tests else []))),
        Section("Summary", tuple(Sentences(title, tuple(texts)) for title, texts in lists.items())),
        Section(
            "Pairs over streams",
            (_draw_wins(ranking), draw_p_matrix(ranking), _build_ranked_pairs_grid(ranking)),
            kind="folded",
        ),
    )
    return Document(
        f"{count(len(ranking.learners), 'learner')} on {count(len(ranking.streams), 'stream')}",
        f"Compared by {ranking.subject}; test of the pairs: {POST_HOCS[ranking.post_hoc]}, at level {ranking.alpha:g}.",
        tuple(section for section in sections if section.blocks),
    )


def _choose_width(ranking: Ranking) -> int:
    """Return how wide the diagram may be for its names to fit 80 columns beside it."""
    return max(20, min(60, 72 - max(map(cell_len, ranking.learners))))


def _draw_wins(ranking: Ranking) -> Drawing:
    order = [ranking.learners.index(name) for name in ranking.order]
    won, tied = ranking.wins, ranking.ties
    n_streams = max(len(ranking.streams), 1)

    def build_cell(i: int, j: int) -> tuple[str, str]:
        if i == j:
            return "", ""
        return f"{won[i, j]}/{tied[i, j]}/{won[j, i]}", f"shade-{round(6 * won[i, j] / n_streams)}"

    table = build_matrix_table(ranking.order, [[build_cell(i, j) for j in order] for i in order])
    return Drawing(table, "Wins, ties and losses, row against column")


def _build_streams_grid(ranking: Ranking) -> Grid:
    """Return the values of all learners on all streams, with the mean ranks."""
    best, streams = ranking.ranks == ranking.ranks.min(axis=1, keepdims=True), shorten_stream_names(ranking.streams)
    rows = [
        (
            stream,
            tuple(
                Cell(format_value(value, ranking.unit), best=bool(first))
                for value, first in zip(values, firsts, strict=True)
            ),
        )
        for stream, values, firsts in zip(streams, ranking.values.tolist(), best.tolist(), strict=True)
    ]
    means = ranking.mean_ranks
    rows.append(("mean rank", tuple(Cell(f"{mean:.2f}", best=bool(mean == means.min())) for mean in means.tolist())))
    title = f"{label_measure(ranking.measure, ranking.unit)} by stream"
    return Grid(title, ("stream", *ranking.learners), tuple(rows), "Bold: best.")


def _build_ranked_pairs_grid(ranking: Ranking) -> Grid:
    """Return the wins, the mean difference and the p-value of all pairs of a ranking that were tested."""
    rows = []
    for pair in ranking.pairs:
        if math.isnan(pair.adjusted):
            continue
        wins, losses, lead = pair.wins, pair.losses, pair.difference if ranking.greater_is_better else -pair.difference
        names = [pair.first, pair.second]
        better = ranking.better(pair)
        if better == pair.second or (better is None and (wins - losses, lead) < (0, 0.0)):
            names, wins, losses, lead = names[::-1], losses, wins, -lead
        cells = (
            Cell(f"{wins}/{pair.ties}/{losses}"),
            Cell(format_difference(lead, ranking.unit)),
            Cell(format_p_value(pair.adjusted), best=better is not None),
        )
        rows.append((" vs ".join(names), cells))
    unit = to_difference_unit(ranking.unit, short=True)
    columns = ("pair", "w/t/l", f"lead, {unit}" if unit else "lead", "adjusted p")
    note = (
        "w/t/l: the streams that the first learner won, tied and lost. Lead: by how much its mean over"
        f" streams is better. Test: {POST_HOCS[ranking.post_hoc]}. Bold: the first is better, level {ranking.alpha:g}."
    )
    return Grid("Pairs over streams", columns, tuple(rows), note)
