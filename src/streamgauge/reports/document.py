"""Reports as documents: the blocks of one run, and of a ranking."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from streamgauge._format.numbers import (
    MISSING,
    RATE,
    format_p_value,
    format_spread,
    format_value,
    label_measure,
    to_difference_unit,
)
from streamgauge._format.text import count, describe_forgetting, shorten_stream_name, shorten_stream_names
from streamgauge.records import EarlierVerdict, LabelEstimate, ModelVerdict, RunData, Verdict
from streamgauge.reports.alarms import format_score, list_score_columns, score_alarms_by_name
from streamgauge.reports.calibration import build_calibration_grid
from streamgauge.reports.costs import format_costs, list_cost_columns
from streamgauge.reports.findings import (
    find_shared_unit,
    format_estimate,
    format_interval,
    format_such_streams,
    group_by_pair,
    label_difference,
    label_p,
    list_findings,
    list_limitations,
    list_ranking_findings,
    list_ranking_limitations,
)
from streamgauge.reports.headline import write_headline, write_ranking_headline
from streamgauge.reports.label_estimates import describe_estimates, tabulate_estimates, title_estimates
from streamgauge.reports.model import Cell, Document, Grid, Sentences, drop_empty_columns
from streamgauge.reports.ranked import build_leading_grids
from streamgauge.reports.series import Series, list_series
from streamgauge.reports.title import build_title, describe_run, get_part
from streamgauge.reports.verdicts import VerdictLine, group_verdicts, sort_model_verdicts
from streamgauge.significance import POST_HOCS, Comparison, Ranking
from streamgauge.significance.verdict_terms import describe_verdicts

__all__ = [
    "build_document",
    "build_ranked_pairs_grid",
    "build_ranking_document",
    "build_streams_grid",
]


def build_document(results: RunData, comparisons: Sequence[Comparison] = ()) -> Document:
    """Return the report of a run.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> document = build_document(evaluate(SEA(n_rows=1000), NaiveBayes()))
    >>> [block.title for block in document.blocks]
    ['Answer', 'Limitations', 'After 1,000 rows, over all rows', 'Labels']
    """
    blocks: list[Grid | Sentences] = []
    if headline := write_headline(results, comparisons):
        blocks.append(Sentences("Answer", tuple(headline)))
    blocks += build_leading_grids(results, comparisons)
    if findings := list_findings(results, comparisons):
        blocks.append(Sentences("Findings", tuple(findings)))
    blocks.append(Sentences("Limitations", tuple(list_limitations(results, comparisons))))
    for _, group in groupby(list_series(results), key=lambda series: series.forgetting):
        blocks.append(_build_finals_grid(list(group), comparisons))
    if comparisons:
        blocks.append(_build_tests_grid(comparisons))
    blocks += _build_verdict_grids(results.verdicts)
    if results.model_verdicts:
        blocks.append(_build_model_verdicts_grid(results.model_verdicts))
    if results.label_estimates:
        blocks.append(_build_estimates_grid(results.label_estimates))
    blocks += _build_other_grids(results)
    stream = shorten_stream_name(str(get_part(results.description, "stream").get("name", "")))
    return Document(build_title(results), describe_run(results), tuple(blocks), stream)


def build_ranking_document(ranking: Ranking, tables: Sequence[Grid] = ()) -> Document:
    """Return the report of a ranking over streams.

    Parameters
    ----------
    ranking
        The ranking.
    tables
        Tables of the values by stream, with their deviations; by default that of the values that were ranked.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> document = build_ranking_document(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"]))
    >>> [block.title for block in document.blocks][:2]
    ['Answer', 'accuracy % by stream']
    """
    title = f"{count(len(ranking.learners), 'learner')} on {count(len(ranking.streams), 'stream')}"
    post_hoc = POST_HOCS[ranking.post_hoc]
    return Document(
        title,
        f"Compared by {ranking.subject}; post-hoc test of the pairs: {post_hoc}, at level {ranking.alpha:g}.",
        (
            Sentences("Answer", (write_ranking_headline(ranking),)),
            *(tables or (build_streams_grid(ranking),)),
            Sentences("Findings", tuple(list_ranking_findings(ranking))),
            Sentences("Limitations", tuple(list_ranking_limitations(ranking))),
            build_ranked_pairs_grid(ranking),
        ),
    )


def _build_finals_grid(all_series: Sequence[Series], comparisons: Sequence[Comparison]) -> Grid:
    """Return the final results with one forgetting; the best is marked, and learners significantly worse than it."""
    first = all_series[0]
    tests = [pair[0] for pair in group_by_pair(comparisons)]
    columns = tuple(label_measure(series.measure, series.unit) for series in all_series)
    rows = tuple(
        (learner, tuple(_build_final_cell(series, learner, _find_worse(series, tests)) for series in all_series))
        for learner in first.values
    )
    tested = sorted({series.measure for series in all_series for test in tests if _is_test_of(test, series)})
    folds = f"Mean over {first.n_folds} folds ± standard deviation." if first.n_folds > 1 else "One fold."
    best = " Bold: best mean." if len(first.values) > 1 else ""
    measures = ", ".join(tested)
    marks = f" †: significantly worse than the best, by the first test of the pair ({measures})." if tested else ""
    title = f"After {int(first.rows[-1]):,} rows, {describe_forgetting(first.forgetting)}"
    return Grid(title, ("learner", *columns), rows, folds + best + marks)


def _build_final_cell(series: Series, learner: str, worse: frozenset[str]) -> Cell:
    final = series.finals[learner]
    text = f"{format_value(final.mean, series.unit)} {format_spread(final.deviation, series.unit)}".strip()
    return Cell(text, best=learner in series.best, worse=learner in worse)


def _is_test_of(test: Comparison, series: Series) -> bool:
    """Return whether a test was of the measure of a series, over the same rows, and not of a mean of readings."""
    return (test.measure, test.forgetting) == (series.measure, series.forgetting) and test.n_readings is None


def _find_worse(series: Series, tests: Sequence[Comparison]) -> frozenset[str]:
    """Return the learners that are significantly worse than the best of a series."""
    claims = [test for test in tests if _is_test_of(test, series) and test.better in series.best]
    return frozenset(test.second if test.first in series.best else test.first for test in claims)


def _build_tests_grid(comparisons: Sequence[Comparison]) -> Grid:
    shared = find_shared_unit(comparisons)
    with_streams = any(test.such_streams is not None for test in comparisons)
    rows = tuple(
        (
            f"{test.first} minus {test.second}, {test.measure}",
            tuple(
                Cell(text)
                for text in (
                    test.title,
                    format_estimate(test, shared),
                    format_interval(test),
                    format_p_value(test.deciding_p),
                    *(format_such_streams(test) if with_streams else ()),
                )
            ),
        )
        for pair in group_by_pair(comparisons)
        for test in pair
    )
    p_value = label_p(comparisons)
    columns = ("pair", "test", label_difference(shared), "interval on this stream", p_value)
    adjustment = comparisons[0].adjustment
    note = "Tests that are valid once, after the last row." + (f" Adjusted by {adjustment}." if adjustment else "")
    return Grid("Pairwise tests", (*columns, *(("for such streams", p_value) if with_streams else ())), rows, note)


def _build_verdict_grids(verdicts: Sequence[Verdict]) -> list[Grid]:
    """Return a table of live verdicts for each measure; what they have in common is below the last one."""
    grids = []
    for group in group_verdicts(verdicts):
        conditions = ", ".join(filter(None, group.conditions))
        lead = ", ".join(filter(None, ("ahead by", to_difference_unit(group.lines[0].verdict.unit, short=True))))
        columns = ("pair", "verdict now", "since row", lead, "interval", "rows left", "before")
        rows = [(f"{line.ahead} against {line.behind}", _list_verdict_cells(line)) for line in group.lines]
        title = f"Live verdicts on {group.measure}"
        grids.append(
            drop_empty_columns(Grid(title, columns, tuple(rows), f"{conditions[:1].upper()}{conditions[1:]}."))
        )
    terms = " ".join(describe_verdicts(verdicts).terms)
    return [*grids[:-1], *(replace(grid, note=f"{grid.note} {terms}") for grid in grids[-1:])]


def _list_verdict_cells(line: VerdictLine) -> tuple[Cell, ...]:
    verdict = line.verdict
    lead, left = format_value(line.lead, verdict.unit), verdict.rows_left
    return (
        Cell(_name_outcome(verdict, verdict.outcome) + _quote_note(verdict, line.sentence)),
        Cell(_format_row(verdict.row)),
        Cell(lead),
        Cell(line.interval or MISSING),
        Cell(MISSING if left is None else f"about {float(f'{left:.2g}'):,.0f}"),
        Cell(_format_earlier(verdict, verdict.earlier)),
    )


def _name_outcome(verdict: Verdict, outcome: str) -> str:
    better = {"first": verdict.first, "second": verdict.second}.get(outcome)
    return outcome if better is None else f"{better} is better"


def _quote_note(verdict: Verdict | ModelVerdict, sentence: str) -> str:
    """Return the note of a verdict that is in its sentence, and so not among what all verdicts have in common."""
    return f" ({verdict.note})" if verdict.note and verdict.note in sentence else ""


def _format_row(row: int | None) -> str:
    return MISSING if row is None else f"{row:,}"


def _format_earlier(verdict: Verdict | ModelVerdict, earlier: EarlierVerdict | None) -> str:
    if earlier is None:
        return MISSING
    outcome = _name_outcome(verdict, earlier.outcome) if isinstance(verdict, Verdict) else earlier.outcome
    return f"{outcome}, row {earlier.since:,} to {earlier.until:,}"


def _build_model_verdicts_grid(verdicts: Sequence[ModelVerdict]) -> Grid:
    verdicts = sort_model_verdicts(verdicts)
    described, rows = describe_verdicts(verdicts), []
    for verdict, sentence in zip(verdicts, described.sentences, strict=True):
        unit = "%" if verdict.unit == RATE else f" {verdict.unit}".rstrip()
        ends = ", ".join(format_value(end, verdict.unit) for end in verdict.interval or ())
        texts = (
            verdict.requirement,
            f"{verdict.outcome}{_quote_note(verdict, sentence)}",
            _format_row(verdict.row),
            f"{format_value(verdict.value, verdict.unit)}{unit}" if math.isfinite(verdict.value) else MISSING,
            f"[{ends}]" if ends else MISSING,
            _format_row(verdict.since or None),
            _format_earlier(verdict, verdict.earlier),
        )
        rows.append((verdict.learner, tuple(map(Cell, texts))))
    columns = ("learner", "requirement", "verdict now", "since row", "value", "interval", "of rows from", "before")
    note = f"Anytime-valid at {100 * (1 - verdicts[0].alpha):g}%. {' '.join(described.terms)}"
    return drop_empty_columns(Grid("Live verdicts on one model", columns, tuple(rows), note))


def _build_estimates_grid(estimates: Sequence[LabelEstimate]) -> Grid:
    columns, all_cells = tabulate_estimates(estimates)
    rows = tuple(
        (f"{estimate.learner}, {estimate.measure}", tuple(Cell(" ".join(filter(None, cell))) for cell in cells))
        for estimate, cells in zip(estimates, all_cells, strict=True)
    )
    return Grid(title_estimates(estimates), ("learner", *columns), rows, " ".join(describe_estimates(estimates)))


def _build_other_grids(results: RunData) -> list[Grid]:
    """Return the tables of calibration, alarms, costs and labels, if there are any."""
    grids = []
    if (calibration := build_calibration_grid(results)) is not None:
        grids.append(calibration)
    if scores := score_alarms_by_name(results):
        columns = list_score_columns(scores)
        rows = tuple(
            (name, tuple(Cell(text) for text in format_score(score)[: len(columns)])) for name, score in scores.items()
        )
        grids.append(Grid("Alarms", ("detector", *columns), rows))
    if (cost := results.resources) is not None:
        rows = tuple((name, tuple(Cell(t) for t in format_costs(cost, m))) for m, name in enumerate(results.learners))
        note = "Means over folds; model size and latency are the maximum of any fold."
        grids.append(Grid("Cost", ("learner", *list_cost_columns(cost)), rows, note))
    if (feedback := results.feedback) is not None:
        counts = {
            "arrived": feedback.n_revealed,
            "pending at the end": feedback.n_owed,
            "hidden": feedback.n_hidden,
            "unknown": feedback.n_unknown,
            "scored per fold": round(float(feedback.n_scored.mean())),
            "left out": feedback.n_left_out,
        }
        rows = tuple((name, (Cell(f"{n:,}"),)) for name, n in counts.items())
        grids.append(Grid("Labels", ("labels", "rows"), rows))
    return grids


def build_streams_grid(ranking: Ranking) -> Grid:
    """Return the values of all learners on all streams, with the mean ranks.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> build_streams_grid(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"])).columns
    ('stream', 'tree', 'bayes')
    """
    best, streams = ranking.ranks == ranking.ranks.min(axis=1, keepdims=True), shorten_stream_names(ranking.streams)
    rows = [
        (
            stream,
            tuple(
                Cell(format_value(value, ranking.unit), bool(first))
                for value, first in zip(values, firsts, strict=True)
            ),
        )
        for stream, values, firsts in zip(streams, ranking.values.tolist(), best.tolist(), strict=True)
    ]
    means = ranking.mean_ranks
    rows.append(("mean rank", tuple(Cell(f"{mean:.2f}", bool(mean == means.min())) for mean in means.tolist())))
    title = f"{label_measure(ranking.measure, ranking.unit)} by stream"
    return Grid(title, ("stream", *ranking.learners), tuple(rows), "Bold: best.")


def build_ranked_pairs_grid(ranking: Ranking) -> Grid:
    """Return the wins and p-values of all pairs of a ranking.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> build_ranked_pairs_grid(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"])).rows[0][0]
    'tree against bayes'
    """
    rows = tuple(
        (
            f"{pair.first} against {pair.second}",
            (
                Cell(f"{pair.wins}/{pair.ties}/{pair.losses}"),
                Cell(format_p_value(pair.p_value)),
                Cell(format_p_value(pair.adjusted), best=pair.adjusted <= ranking.alpha),
                Cell(ranking.better(pair) or MISSING),
            ),
        )
        for pair in ranking.pairs
    )
    note = f"Wins, ties and losses of the first. Bold: at most {ranking.alpha:g}."
    return Grid("Pairs over streams", ("pair", "wins/ties/losses", "p", "adjusted p", "better"), rows, note)
