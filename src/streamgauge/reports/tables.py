"""Tables for the terminal: final results, costs, pairwise tests and live verdicts."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
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
from streamgauge._format.text import count, describe_forgetting, make_printable
from streamgauge.records import LabelEstimate, ModelVerdict, Resources, RunData, Verdict
from streamgauge.reports.alarms import build_score_table, score_alarms_by_name
from streamgauge.reports.costs import format_costs, list_cost_columns
from streamgauge.reports.findings import (
    describe_abstentions,
    format_interval,
    format_such_streams,
    group_by_pair,
    label_p,
)
from streamgauge.reports.headline import write_headline
from streamgauge.reports.label_estimates import describe_estimates, tabulate_estimates, title_estimates
from streamgauge.reports.model import Cell, Grid
from streamgauge.reports.ranked import build_leading_grids
from streamgauge.reports.series import Series, list_series
from streamgauge.reports.verdicts import COMPARISONS_TITLE, group_verdicts, sort_model_verdicts
from streamgauge.significance import Comparison
from streamgauge.significance.verdict_terms import describe_verdicts

__all__ = [
    "StackedTable",
    "build_costs_table",
    "build_estimates_table",
    "build_grid_table",
    "build_pairs_table",
    "build_results_table",
    "build_summary",
    "list_live_verdicts",
    "list_model_verdicts",
]

MAX_UNDECIDED = 3
"""The number of undecided pairs that are listed for each measure."""

MODEL_SIGNS = {"kept": ("✓", "green"), "broken": ("✗", "red"), "undecided": ("•", "")}
"""The sign and the colour of each outcome of a verdict on one model."""


def build_summary(results: RunData, comparisons: Sequence[Comparison] = ()) -> RenderableType:
    """Return a summary of an evaluation: failures, results, alarms, costs, and verdicts with their warnings.

    Examples
    --------
    >>> from rich.console import Console
    >>> Console().print(build_summary(RunData.from_readings((), n_rows=250, complete=False)))
    Cut short after 250 rows: all numbers are for these rows only.
    There are no readings.
    """
    parts: list[RenderableType] = []
    if not results.complete:
        n_rows = count(results.n_rows, "row")
        parts.append(Text(f"Cut short after {n_rows}: all numbers are for these rows only.", "bold"))
    parts.extend(
        Text(f"{make_printable(str(failure))}; it has no later readings.", "bold") for failure in results.failures
    )
    parts.extend(Text(make_printable(sentence), "bold") for sentence in write_headline(results, comparisons))
    parts.extend(build_grid_table(grid) for grid in build_leading_grids(results, comparisons))
    parts.append(build_results_table(results))
    watched = results.drifts or results.description.get("detectors")
    if watched and (scores := score_alarms_by_name(results)):
        parts += [Text("Alarms", "bold"), build_score_table(scores)]
    if results.feedback is not None and results.feedback.sentence:
        parts.append(Text(results.feedback.sentence))
    parts.extend(Text(make_printable(sentence)) for sentence in describe_abstentions(results))
    if results.resources is not None:
        parts.append(build_costs_table(results.resources, results.learners))
    return Group(*parts, *_list_claims(results, comparisons))


def _list_claims(results: RunData, comparisons: Sequence[Comparison]) -> list[RenderableType]:
    """Return what is claimed and estimated: comparisons at the end, live verdicts, and estimates from few labels."""
    parts: list[RenderableType] = []
    if comparisons:
        parts += [
            Text(f"{COMPARISONS_TITLE} (tests that are valid once, after the last row)", "bold"),
            build_pairs_table(comparisons),
            _list_sentences(comparisons),
        ]
    if results.verdicts:
        parts.append(list_live_verdicts(results.verdicts))
    if results.model_verdicts:
        parts.append(list_model_verdicts(results.model_verdicts))
    if results.label_estimates:
        parts.append(build_estimates_table(results.label_estimates))
    return parts


def build_results_table(results: RunData) -> RenderableType:
    """Return the mean over folds of each measure at the last row, one table per forgetting.

    Rates are in percent, with the standard deviation over folds. The best mean of a column is bold and starred.

    Examples
    --------
    >>> from rich.console import Console
    >>> from streamgauge.records import Reading
    >>> readings = tuple(Reading(99, "tree", fold, "kappa", "Landmark()", 0.5 + fold / 10) for fold in (0, 1))
    >>> table = build_results_table(RunData.from_readings(readings, n_rows=99))
    >>> Console(width=60).print(table)  # doctest: +NORMALIZE_WHITESPACE
    After 99 rows, over all rows
      learner        kappa %
     ────────────────────────
      tree       55.00 ±7.07
    <BLANKLINE>
    Mean over 2 folds ± standard deviation, in percent.
    """
    all_series = list_series(results)
    if not all_series:
        return Text("There are no readings.")
    parts: list[RenderableType] = []
    for forgetting, group in groupby(all_series, key=lambda series: series.forgetting):
        series = list(group)
        n_rows, phrase = count(int(series[0].rows[-1]), "row"), make_printable(describe_forgetting(forgetting))
        parts += [Text(f"After {n_rows}, {phrase}", "bold"), _build_finals_table(series)]
    return Group(*parts, _build_legend(all_series))


def build_grid_table(grid: Grid) -> Group:
    """Return a table of the report model with its title and note; the best values are bold.

    Examples
    --------
    >>> from streamgauge.reports.model import Cell
    >>> build_grid_table(Grid("Cost", ("learner", "CPU s"), (("tree", (Cell("1.2"),)),), "Means.")).renderables[0]
    <text 'Cost' [] 'bold'>
    """
    names = [name for name, _ in grid.rows]
    rows = [[_format_cell(cell) for cell in cells] for _, cells in grid.rows]
    table = StackedTable(grid.columns[0], names, [make_printable(column) for column in grid.columns[1:]], rows)
    note = [Text(make_printable(grid.note), "dim")] if grid.note else []
    return Group(Text(make_printable(grid.title), "bold"), table, *note)


def _format_cell(cell: Cell) -> Text:
    mark = "*" if cell.best else "°" if cell.equal else ""
    return Text(make_printable(cell.text) + mark, style="bold" if cell.best else "")


def build_costs_table(cost: Resources, learners: Sequence[str]) -> "StackedTable":
    """Return a table of the cost of each learner, see `format_costs`.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> results = evaluate(SEA(n_rows=100), NoChange(), resources=True)
    >>> isinstance(build_costs_table(results.resources, results.learners), StackedTable)
    True
    """
    rows = [tuple(map(Text, format_costs(cost, index))) for index in range(len(learners))]
    return StackedTable("learner", learners, list_cost_columns(cost), rows)


def build_pairs_table(comparisons: Sequence[Comparison]) -> Table:
    """Return a table of the difference of each pair of learners, its interval and the p-value of each test.

    Examples
    --------
    >>> build_pairs_table([]).row_count
    0
    """
    tests = list(dict.fromkeys(comparison.title for comparison in comparisons))
    table = _new_table()
    table.add_column("pair", overflow="fold")
    rates = all(comparison.unit == RATE for comparison in comparisons)
    units = f"\n({to_difference_unit(RATE, short=True)})" if rates else ""
    table.add_column(f"difference, interval{units}", justify="right", no_wrap=True)
    for test in tests:
        table.add_column(Text(f"{label_p(comparisons)}\n{make_printable(test)}"), justify="right")
    for pair in group_by_pair(comparisons):
        p_values = {test.title: "\n".join(filter(None, _list_p_values(test))) for test in pair}
        first = pair[0]
        names = Text(make_printable(first.first) + "\nminus " + make_printable(f"{first.second}, {first.measure}"))
        estimate = Text(_format_estimate(pair, with_unit=not rates))
        table.add_row(names, estimate, *(p_values.get(test, "") for test in tests))
    return table


def list_live_verdicts(verdicts: Sequence[Verdict]) -> RenderableType:
    """Return what holds now of each pair in each measure, undecided pairs last, and what all verdicts have in common.

    Examples
    --------
    >>> from rich.console import Console
    >>> known = Verdict("a", "b", "first", 4000, 0.03, (0.01, 0.05), 0.01, 0.05, 1, "equal", "empirical_bernstein")
    >>> Console(width=99).print(list_live_verdicts([known]))  # doctest: +NORMALIZE_WHITESPACE
    Live verdicts on accuracy (anytime-valid at 95%, margin 1 pp)
    • a is better than b in accuracy, known since row 4,000; now a is ahead by 3.00 pp [+1.00, +5.00]
    A verdict holds for the rows so far, at any number of looks; the probability that it is ever wrong
    is at most 5%. Null hypothesis: equal. Differences up to the margin do not matter.
    """
    parts: list[RenderableType] = []
    for group in group_verdicts(verdicts):
        rows = Table.grid(padding=(0, 1))
        for line in group.lines[: group.n_decided + MAX_UNDECIDED]:
            rows.add_row("•", Text(make_printable(f"{line.sentence}; {line.state}")))
        if (n_more := len(group.lines) - group.n_decided - MAX_UNDECIDED) > 0:
            rows.add_row("•", Text(f"{count(n_more, 'more pair')} undecided"))
        parts += [Text(make_printable(group.heading), "bold"), rows]
    return Group(*parts, Text(make_printable(" ".join(describe_verdicts(verdicts).terms)), "dim"))


def list_model_verdicts(verdicts: Sequence[ModelVerdict]) -> RenderableType:
    """Return what holds now of each learner and requirement, and what all these verdicts have in common.

    Examples
    --------
    >>> from rich.console import Console
    >>> facts = (0.081, (0.062, 0.1), 0.05, 0.05, 1, "empirical_bernstein", "error", "rate", False)
    >>> broken = ModelVerdict("tree", "error<0.05", "broken", 9000, 8000, *facts)
    >>> Console(width=99).print(list_model_verdicts([broken]))  # doctest: +NORMALIZE_WHITESPACE
    Live verdicts on one model (anytime-valid at 95%)
    ✗ tree breaks error<0.05: its error since row 8,000 is 8.10%, at least 6.20%; known since row 9,000
    A verdict holds for the rows so far, at any number of looks; the probability that it is ever wrong
    is at most 5%. Kept: the whole interval is on the right side of the limit; broken: all of it is on
    the wrong side. Rows to come may be different.
    """
    verdicts = sort_model_verdicts(verdicts)
    described = describe_verdicts(verdicts)
    rows = Table.grid(padding=(0, 1))
    for verdict, sentence in zip(verdicts, described.sentences, strict=True):
        sign, style = MODEL_SIGNS[verdict.outcome]
        rows.add_row(Text(sign, style), Text(make_printable(sentence)))
    heading = f"Live verdicts on one model (anytime-valid at {100 * (1 - verdicts[0].alpha):g}%)"
    return Group(Text(heading, "bold"), rows, Text(make_printable(" ".join(described.terms)), "dim"))


def build_estimates_table(estimates: Sequence[LabelEstimate]) -> Group:
    """Return a table of the losses that were estimated with few labels, and what its columns mean.

    Examples
    --------
    >>> alone, powered = (0.217, (0.192, 0.242)), (0.217, (0.196, 0.238))
    >>> estimate = LabelEstimate("tree", "error", 20_000, 1000, 217, *alone, *powered, 1.0, 0.21, 0.212)
    >>> build_estimates_table([estimate]).renderables[0]
    <text 'Estimates from 1,000 labels (5.0% of 20,000 rows)' [] 'bold'>
    """
    table = _new_table()
    table.add_column("learner", overflow="fold")
    columns, rows = tabulate_estimates(estimates)
    for heading in columns:
        table.add_column(
            heading.replace(" and ", " and\n").replace(" (", "\n(").replace("truth, ", "truth,\n"),
            justify="right",
            no_wrap=True,
        )
    for estimate, cells in zip(estimates, rows, strict=True):
        texts = ("\n".join(filter(None, cell)) for cell in cells)
        table.add_row(Text(f"{make_printable(estimate.learner)}\n{estimate.measure}"), *map(Text, texts))
    terms = Text(make_printable(" ".join(describe_estimates(estimates))), "dim")
    return Group(Text(title_estimates(estimates), "bold"), table, terms)


def _format_estimate(pair: Sequence[Comparison], *, with_unit: bool) -> str:
    """Return the difference of a pair, with the interval of the first test that has one."""
    best = next((comparison for comparison in pair if comparison.interval is not None), pair[0])
    unit = to_difference_unit(best.unit, short=True) if with_unit else ""
    parts = (format_difference(best.difference, best.unit), format_interval(best), unit)
    estimate = " ".join(part for part in parts if part)
    other, _ = format_such_streams(best)
    return f"{estimate}\nfor such streams {other}" if other else estimate


def _list_p_values(comparison: Comparison) -> tuple[str, str]:
    """Return the p-values on this stream and for such streams; empty if there is none."""
    return format_p_value(comparison.deciding_p), format_such_streams(comparison)[1]


def _build_finals_table(all_series: Sequence[Series]) -> "StackedTable":
    learners = list(dict.fromkeys(learner for series in all_series for learner in series.values))
    headings = [label_measure(make_printable(series.measure), series.unit) for series in all_series]
    rows = [[_format_final(series, learner) for series in all_series] for learner in learners]
    return StackedTable("learner", learners, headings, rows)


class StackedTable:
    """A table whose columns go on below, after its names once more, where the terminal is too narrow for all of them.

    Parameters
    ----------
    subject, names
        The heading of the names, and the name of each row.
    headings, rows
        The headings of the other columns, and the cells of each row.

    Examples
    --------
    >>> from rich.console import Console
    >>> table = StackedTable("learner", ["HoeffdingTree"], ["accuracy %", "kappa %"], [[Text("72.42"), Text("28.36")]])
    >>> Console(width=30).print(table)  # doctest: +NORMALIZE_WHITESPACE
      learner         accuracy %
     ────────────────────────────
      HoeffdingTree        72.42
    <BLANKLINE>
      learner         kappa %
     ─────────────────────────
      HoeffdingTree     28.36
    <BLANKLINE>
    """

    def __init__(
        self, subject: str, names: Sequence[str], headings: Sequence[str], rows: Sequence[Sequence[Text]]
    ) -> None:
        self._subject, self._names = subject, [Text(make_printable(name)) for name in names]
        self._headings, self._rows = headings, rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        first = max(map(cell_len, [self._subject, *map(str, self._names)]))
        rest = options.max_width - first - 4  # two edges, and a space on each side of a cell
        for columns in self._pack(rest):
            table = _new_table()
            # A name longer than the terminal is folded, to keep the numbers on one line.
            table.add_column(self._subject, overflow="fold", no_wrap=rest > 0)
            for column in columns:
                table.add_column(Text(make_printable(self._headings[column])), justify="right", no_wrap=True)
            for name, cells in zip(self._names, self._rows, strict=True):
                table.add_row(name, *(cells[column] for column in columns))
            yield table

    def _pack(self, width: int) -> list[list[int]]:
        """Return the columns of each part: as many as fit, at least one."""
        parts: list[list[int]] = [[]]
        left = width
        for column, heading in enumerate(self._headings):
            needed = 3 + max(map(cell_len, [heading, *(str(cells[column]) for cells in self._rows)]))
            if needed > left and parts[-1]:
                parts.append([])
                left = width
            parts[-1].append(column)
            left -= needed
        return parts


def _format_final(series: Series, learner: str) -> Text:
    final = series.finals.get(learner)
    if final is None:
        return Text("")
    folds = f" ({final.n_defined}/{len(final.folds)})" if 0 < final.n_defined < len(final.folds) else ""
    value = f"{format_value(final.mean, series.unit)} {format_spread(final.deviation, series.unit)}".strip() + folds
    best = learner in series.best
    return Text(value + ("*" if best else " "), style="bold" if best else "")


def _build_legend(all_series: Sequence[Series]) -> Text:
    n_folds = max(series.n_folds for series in all_series)
    finals = [final for series in all_series for final in series.finals.values()]
    parts = [f"Mean over {n_folds} folds ± standard deviation" if n_folds > 1 else "One fold"]
    if any(series.unit == RATE for series in all_series):
        parts.append("in percent" if all(series.unit == RATE for series in all_series) else "rates in percent")
    if any(len(series.values) > 1 for series in all_series):
        parts.append("* best mean")
    if any(0 < final.n_defined < len(final.folds) for final in finals):
        parts.append("(m/n) defined in m of n folds only")
    return Text(", ".join(parts) + ".", "dim")


def _list_sentences(comparisons: Sequence[Comparison]) -> Table:
    """Return the sentence of each pair, followed by the warnings of its tests."""
    rows = Table.grid(padding=(0, 1))
    for pair in group_by_pair(comparisons):
        rows.add_row("•", Text(make_printable(pair[0].sentence)))
        for comparison in pair:
            test = f"{comparison.title}: " if len(pair) > 1 else ""
            for warning in comparison.warnings:
                rows.add_row("", Text(f"! {make_printable(test + warning)}", "dim"))
    return rows


def _new_table() -> Table:
    return Table(box=box.SIMPLE_HEAD, header_style="bold")
