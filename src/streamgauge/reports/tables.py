"""Tables for the terminal: where each learner stands, and which differences are real."""

from collections.abc import Sequence
from itertools import groupby

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamgauge._format.numbers import (
    RATE,
    format_difference,
    format_p_value,
    format_spread,
    format_value,
    label_measure,
    to_difference_unit,
)
from streamgauge._format.text import count, make_printable
from streamgauge.records import Resources, RunData, Verdict
from streamgauge.reports.abstentions import abstentions
from streamgauge.reports.alarms import score_table, scores_of
from streamgauge.reports.comparisons import Comparison, by_pair, interval_text
from streamgauge.reports.costs import cost_cells, cost_columns
from streamgauge.reports.series import Panel, panels

__all__ = ["costs_table", "live_verdicts", "pairs_table", "results_table", "summary"]

MOST_UNDECIDED = 3
"""So many pairs of which nothing is known yet are named."""


def summary(results: RunData, comparisons: Sequence[Comparison] = ()) -> RenderableType:
    """Show an evaluation: what went wrong, if anything did, the results, the pairs, and each verdict with its warnings.

    Examples
    --------
    >>> from rich.console import Console
    >>> Console().print(summary(Results.from_readings((), n_rows=250, complete=False)))
    Cut short after 250 rows: every number is of these rows only.
    There are no readings.
    """
    parts: list[RenderableType] = []
    if not results.complete:
        parts.append(
            Text(f"Cut short after {count(results.n_rows, 'row')}: every number is of these rows only.", "bold")
        )
    parts.extend(
        Text(f"{make_printable(str(failure))}; it has no readings from there on.", "bold")
        for failure in results.failures
    )
    parts.append(results_table(results))
    if scores := scores_of(results):
        parts += [Text("Alarms", "bold"), score_table(scores)]
    if results.feedback is not None and results.feedback.sentence:
        parts.append(Text(results.feedback.sentence))
    parts.extend(Text(make_printable(sentence)) for sentence in abstentions(results))
    if results.resources is not None:
        parts.append(costs_table(results.resources, results.learners))
    if comparisons:
        parts.append(pairs_table(comparisons))
        parts.append(_verdicts(comparisons))
    if results.verdicts:
        parts.append(live_verdicts(results.verdicts))
    return Group(*parts)


def results_table(results: RunData) -> RenderableType:
    """Tabulate per learner the mean over folds of each measure at the last row, a table for each forgetting.

    Rates are in percent, with the standard deviation over folds; the best mean of a column is bold and starred.

    Examples
    --------
    >>> from rich.console import Console
    >>> from streamgauge.records import Reading
    >>> readings = tuple(Reading(99, "tree", fold, "kappa", "Landmark()", 0.5 + fold / 10) for fold in (0, 1))
    >>> table = results_table(Results.from_readings(readings, n_rows=99))
    >>> Console(width=60).print(table)  # doctest: +NORMALIZE_WHITESPACE
    After 99 rows, over Landmark()
      learner        kappa %
     ────────────────────────
      tree       55.00 ±7.07
    <BLANKLINE>
    Mean over 2 folds ± standard deviation, in percent.
    """
    shown = panels(results)
    if not shown:
        return Text("There are no readings.")
    parts: list[RenderableType] = []
    for forgetting, group in groupby(shown, key=lambda panel: panel.forgetting):
        of_forgetting = list(group)
        n_rows = count(int(of_forgetting[0].rows[-1]), "row")
        parts += [Text(f"After {n_rows}, over {make_printable(forgetting)}", "bold"), _forgetting_table(of_forgetting)]
    return Group(*parts, _legend(shown))


def costs_table(cost: Resources, learners: Sequence[str]) -> Table:
    """Tabulate what each learner cost: means over folds, the largest model of any, the 99th percentile of predicting.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> results = evaluate(SEA(n_rows=100), NoChange(), resources=True)
    >>> costs_table(results.resources, results.learners).row_count
    1
    """
    table = _plain_table()
    # A long name is folded, so that the figures stay whole.
    table.add_column("learner", overflow="fold")
    for heading in cost_columns(cost):
        table.add_column(heading, justify="right", no_wrap=True)
    for place, learner in enumerate(learners):
        table.add_row(make_printable(learner), *cost_cells(cost, place))
    return table


def pairs_table(comparisons: Sequence[Comparison]) -> Table:
    """Tabulate the difference of each pair of learners, its interval and the p-value of each test.

    Examples
    --------
    >>> pairs_table([]).row_count
    0
    """
    tests = list(dict.fromkeys(comparison.test for comparison in comparisons))
    table = _plain_table()
    table.add_column("pair", overflow="fold")
    rates = all(comparison.unit == RATE for comparison in comparisons)
    units = f"\n({to_difference_unit(RATE, short=True)})" if rates else ""
    table.add_column(f"difference, interval{units}", justify="right", no_wrap=True)
    for test in tests:
        table.add_column(Text(f"p\n{make_printable(test)}"), justify="right")
    for pair in by_pair(comparisons):
        p_values = {comparison.test: format_p_value(comparison.p_value) for comparison in pair}
        lead = pair[0]
        names = Text(make_printable(lead.first) + "\nminus " + make_printable(f"{lead.second}, {lead.measure}"))
        table.add_row(names, Text(_estimate(pair, with_unit=not rates)), *(p_values.get(test, "") for test in tests))
    return table


def live_verdicts(verdicts: Sequence[Verdict]) -> RenderableType:
    """List what was known of each pair while the run went on, and since which row; those undecided come last.

    Examples
    --------
    >>> from rich.console import Console
    >>> known = Verdict("a", "b", "first", 4000, 0.03, (0.01, 0.05), 0.01, 0.05, 1, "equal", "two_way_sequence")
    >>> Console(width=99).print(live_verdicts([known]))
    While it ran, by accuracy (all right with a chance of 95 %; up to 1 % point does not matter)
    • a is better than b, known since row 4,000; at the end a is ahead by 3.00 % points [+1.00, +5.00]
    """
    one = verdicts[0]
    sure, rope = f"{100 * (1 - one.alpha):g} %", f"{100 * one.rope:g} % point{'s' if one.rope != 0.01 else ''}"
    head = f"While it ran, by accuracy (all right with a chance of {sure}; up to {rope} does not matter)"
    listed = Table.grid(padding=(0, 1))
    undecided = [verdict for verdict in verdicts if verdict.row is None]
    for verdict in [v for v in verdicts if v.row is not None] + undecided[:MOST_UNDECIDED]:
        listed.add_row("•", Text(make_printable(f"{verdict}; at the end {_standing(verdict)}")))
    if len(undecided) > MOST_UNDECIDED:
        listed.add_row("•", Text(f"{count(len(undecided) - MOST_UNDECIDED, 'more pair')} undecided yet"))
    return Group(Text(head, "bold"), listed)


def _standing(verdict: Verdict) -> str:
    """Say who is ahead now, and by how much."""
    ahead, turn = (verdict.first, 1.0) if verdict.difference >= 0.0 else (verdict.second, -1.0)
    ends = sorted(turn * bound for bound in verdict.interval or ())
    interval = f" [{', '.join(map(format_difference, ends))}]" if ends else ""
    return f"{ahead} is ahead by {format_value(turn * verdict.difference)} % points{interval}"


def _estimate(pair: Sequence[Comparison], *, with_unit: bool) -> str:
    """Put the difference of a pair, with its interval if any of its tests gives one."""
    best = next((comparison for comparison in pair if comparison.interval is not None), pair[0])
    unit = f" {to_difference_unit(best.unit, short=True)}" if with_unit else ""
    return (
        " ".join(part for part in (format_difference(best.difference, best.unit), interval_text(best)) if part) + unit
    )


def _forgetting_table(of_forgetting: Sequence[Panel]) -> Table:
    table = _plain_table()
    table.add_column("learner", overflow="fold")
    for panel in of_forgetting:
        table.add_column(Text(label_measure(make_printable(panel.measure), panel.unit)), justify="right", no_wrap=True)
    learners = dict.fromkeys(learner for panel in of_forgetting for learner in panel.values)
    for learner in learners:
        table.add_row(Text(make_printable(learner)), *(_final_text(panel, learner) for panel in of_forgetting))
    return table


def _final_text(panel: Panel, learner: str) -> Text:
    final = panel.finals.get(learner)
    if final is None:
        return Text("")
    folds = f" ({final.n_defined}/{len(final.folds)})" if 0 < final.n_defined < len(final.folds) else ""
    value = f"{format_value(final.mean, panel.unit)} {format_spread(final.deviation, panel.unit)}".strip() + folds
    best = learner in panel.best
    return Text(value + ("*" if best else " "), style="bold" if best else "")


def _legend(shown: Sequence[Panel]) -> Text:
    n_folds = max(panel.n_folds for panel in shown)
    finals = [final for panel in shown for final in panel.finals.values()]
    parts = [f"Mean over {n_folds} folds ± standard deviation" if n_folds > 1 else "One fold"]
    if any(panel.unit == RATE for panel in shown):
        parts.append("in percent" if all(panel.unit == RATE for panel in shown) else "rates in percent")
    if any(len(panel.values) > 1 for panel in shown):
        parts.append("* the best mean")
    if any(0 < final.n_defined < len(final.folds) for final in finals):
        parts.append("(m/n) defined in m of n folds only")
    return Text(", ".join(parts) + ".", "dim")


def _verdicts(comparisons: Sequence[Comparison]) -> Table:
    """List the verdict of each pair, and below it what to know before believing its tests."""
    listed = Table.grid(padding=(0, 1))
    for pair in by_pair(comparisons):
        listed.add_row("•", Text(make_printable(pair[0].sentence)))
        for comparison in pair:
            about = f"{comparison.test}: " if len(pair) > 1 else ""
            for warning in comparison.warnings:
                listed.add_row("", Text(f"! {make_printable(about + warning)}", "dim"))
    return listed


def _plain_table() -> Table:
    return Table(box=box.SIMPLE_HEAD, header_style="bold")
