"""A report as blocks of sentences and tables, whatever it is written in."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from streamgauge._format.numbers import format_p_value, format_spread, format_value, label_measure
from streamgauge._format.text import count, shorten_stream_name, shorten_stream_names
from streamgauge.records import RunData
from streamgauge.reports.alarms import score_cells, score_columns, scores_of
from streamgauge.reports.comparisons import (
    Comparison,
    by_pair,
    difference_heading,
    difference_text,
    interval_text,
    shared_unit,
)
from streamgauge.reports.costs import cost_cells, cost_columns
from streamgauge.reports.findings import findings, limits, ranking_findings, ranking_limits
from streamgauge.reports.series import Panel, panels
from streamgauge.reports.title import lead, part_of, title_of
from streamgauge.significance import POST_HOCS, Ranking

__all__ = ["Cell", "Document", "Grid", "Sentences", "document_of", "ranking_document"]


@dataclass(frozen=True)
class Cell:
    """What stands in a table.

    Examples
    --------
    >>> Cell("87.20", best=True).worse
    False
    """

    text: str
    best: bool = False
    worse: bool = False


@dataclass(frozen=True)
class Grid:
    """A table: the name of each row stands in its first column.

    Examples
    --------
    >>> Grid("Costs", ("learner", "CPU s"), (("tree", (Cell("1.2"),)),)).note
    ''
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    note: str = ""


@dataclass(frozen=True)
class Sentences:
    """Sentences under a heading.

    Examples
    --------
    >>> Sentences("What was found", ("tree is better than bayes.",)).title
    'What was found'
    """

    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Document:
    """A report: a title, a lead, and blocks; that of one run also has the short name of its stream.

    Examples
    --------
    >>> Document("tree", "Evaluated on 10 rows.", ()).blocks
    ()
    """

    title: str
    lead: str
    blocks: tuple[Grid | Sentences, ...]
    stream: str = ""


def document_of(results: RunData, comparisons: Sequence[Comparison] = ()) -> Document:
    """Put together the report of a run.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> document = document_of(evaluate(SEA(n_rows=1000), NaiveBayes()))
    >>> [block.title for block in document.blocks]
    ['What cannot be concluded', 'After 1,000 rows, over Landmark()', 'Labels']
    """
    shown = panels(results)
    grids = [_finals(list(group), comparisons) for _, group in groupby(shown, key=lambda panel: panel.forgetting)]
    blocks: list[Grid | Sentences] = []
    if found := findings(results, comparisons):
        blocks.append(Sentences("What was found", tuple(found)))
    blocks.append(Sentences("What cannot be concluded", tuple(limits(results, comparisons))))
    blocks += grids
    if comparisons:
        blocks.append(_pairs(comparisons))
    blocks += _beside(results)
    stream = shorten_stream_name(str(part_of(results.description, "stream").get("name", "")))
    return Document(title_of(results), lead(results), tuple(blocks), stream)


def ranking_document(ranking: Ranking) -> Document:
    """Put together the report of many learners on many streams.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> document = ranking_document(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"]))
    >>> [block.title for block in document.blocks][:2]
    ['What was found', 'What cannot be concluded']
    """
    title = f"{count(len(ranking.learners), 'learner')} on {count(len(ranking.streams), 'stream')}"
    words = (
        f"Compared by {ranking.measure}; the pairs by {POST_HOCS[ranking.post_hoc]}, at a level of {ranking.alpha:g}."
    )
    return Document(
        title,
        words,
        (
            Sentences("What was found", tuple(ranking_findings(ranking))),
            Sentences("What cannot be concluded", tuple(ranking_limits(ranking))),
            _values(ranking),
            _ranked_pairs(ranking),
        ),
    )


def _finals(shown: Sequence[Panel], comparisons: Sequence[Comparison]) -> Grid:
    """Tabulate where each learner stands; the best is marked, and who is really worse than it."""
    panel = shown[0]
    leads = [pair[0] for pair in by_pair(comparisons)]
    columns = tuple(label_measure(panel.measure, panel.unit) for panel in shown)
    rows = tuple(
        (learner, tuple(_final(panel, learner, _worse(panel, leads)) for panel in shown)) for learner in panel.values
    )
    tested = sorted({panel.measure for panel in shown for lead in leads if _is_of(lead, panel)})
    folds = f"Mean over {panel.n_folds} folds ± standard deviation." if panel.n_folds > 1 else "One fold."
    best = " Bold: the best mean." if len(panel.values) > 1 else ""
    marks = f" *: really worse than the best, by the first test of the pair ({', '.join(tested)})." if tested else ""
    title = f"After {int(panel.rows[-1]):,} rows, over {panel.forgetting}"
    return Grid(title, ("learner", *columns), rows, folds + best + marks)


def _final(panel: Panel, learner: str, worse: frozenset[str]) -> Cell:
    final = panel.finals[learner]
    text = f"{format_value(final.mean, panel.unit)} {format_spread(final.deviation, panel.unit)}".strip()
    return Cell(text, learner in panel.best, learner in worse)


def _is_of(lead: Comparison, panel: Panel) -> bool:
    """Whether a test was of what a panel shows: of its measure, over the same rows."""
    return lead.measure == panel.measure and getattr(lead, "forgetting", panel.forgetting) == panel.forgetting


def _worse(panel: Panel, leads: Sequence[Comparison]) -> frozenset[str]:
    """Name the learners that a test says are worse than the best of a panel."""
    claimed = [lead for lead in leads if _is_of(lead, panel) and getattr(lead, "better", None) in panel.best]
    return frozenset(lead.second if lead.first in panel.best else lead.first for lead in claimed)


def _pairs(comparisons: Sequence[Comparison]) -> Grid:
    shared = shared_unit(comparisons)
    rows = tuple(
        (
            f"{test.first} minus {test.second}, {test.measure}",
            tuple(
                Cell(text)
                for text in (
                    test.test,
                    difference_text(test, shared),
                    interval_text(test),
                    format_p_value(test.p_value),
                )
            ),
        )
        for pair in by_pair(comparisons)
        for test in pair
    )
    return Grid("Pairs and tests", ("pair", "test", difference_heading(shared), "interval", "p"), rows)


def _beside(results: RunData) -> list[Grid]:
    """Tabulate alarms, costs and labels, where there are any."""
    grids = []
    if scores := scores_of(results):
        columns = score_columns(scores)
        rows = tuple(
            (name, tuple(Cell(text) for text in score_cells(score)[: len(columns)])) for name, score in scores.items()
        )
        grids.append(Grid("Alarms", ("detector", *columns), rows))
    if (cost := results.resources) is not None:
        rows = tuple((name, tuple(Cell(t) for t in cost_cells(cost, m))) for m, name in enumerate(results.learners))
        note = "Means over folds; the largest model and the slowest percentile of any fold."
        grids.append(Grid("Costs", ("learner", *cost_columns(cost)), rows, note))
    if (seen := results.feedback) is not None:
        told = {"came": seen.n_revealed, "owed at the end": seen.n_owed, "never come": seen.n_hidden,
                "not known": seen.n_unknown, "scored per fold": round(float(seen.n_scored.mean()))}  # fmt: skip
        grids.append(Grid("Labels", ("labels", "rows"), tuple((name, (Cell(f"{n:,}"),)) for name, n in told.items())))
    return grids


def _values(ranking: Ranking) -> Grid:
    best, streams = ranking.ranks == ranking.ranks.min(axis=1, keepdims=True), shorten_stream_names(ranking.streams)
    rows = [
        (
            stream,
            tuple(Cell(format_value(value, ranking.unit), bool(first)) for value, first in zip(values, firsts, strict=True)),
        )
        for stream, values, firsts in zip(streams, ranking.values.tolist(), best.tolist(), strict=True)
    ]
    means = ranking.mean_ranks
    rows.append(("mean rank", tuple(Cell(f"{mean:.2f}", bool(mean == means.min())) for mean in means.tolist())))
    title = f"{label_measure(ranking.measure, ranking.unit)} by stream"
    return Grid(title, ("stream", *ranking.learners), tuple(rows), "Bold: the best.")


def _ranked_pairs(ranking: Ranking) -> Grid:
    rows = tuple(
        (
            f"{pair.first} against {pair.second}",
            (
                Cell(f"{pair.wins}/{pair.ties}/{pair.losses}"),
                Cell(format_p_value(pair.p_value)),
                Cell(format_p_value(pair.adjusted), best=pair.adjusted <= ranking.alpha),
                Cell(ranking.better(pair) or "–"),  # noqa: RUF001
            ),
        )
        for pair in ranking.pairs
    )
    note = f"Won, tied and lost by the first. Bold: not above {ranking.alpha:g}."
    return Grid("Pairs over streams", ("pair", "won/tied/lost", "p", "adjusted p", "better"), rows, note)
