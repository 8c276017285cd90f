"""The sections of the report of a run, one function each, in their order.

To add a section, add a function here that is decorated with the surfaces that show it: the terminal, the page of a run,
that run as a part of the page of a study, text (Markdown and LaTeX), a notebook, overview and details of the dashboard.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Literal

from streamgauge._format.markup import tag
from streamgauge._format.numbers import format_p_value, format_spread, format_value, label_measure
from streamgauge._format.text import count, describe_forgetting
from streamgauge.records import LabelEstimate, RunData
from streamgauge.reports.alarms import build_alarms_grid
from streamgauge.reports.calibration import build_calibration_grid, draw_calibration
from streamgauge.reports.charts import (
    build_balance_chart,
    build_cost_chart,
    build_curve_charts,
    build_difference_charts,
    build_label_chart,
    compute_point_limit,
)
from streamgauge.reports.claims import claim_models, claim_pairs, claim_verdicts, describe_tests
from streamgauge.reports.configuration import draw_configuration
from streamgauge.reports.confusion import draw_confusions
from streamgauge.reports.costs import build_costs_grid, draw_pareto_front
from streamgauge.reports.findings import (
    describe_abstentions,
    describe_owed_labels,
    find_shared_unit,
    format_estimate,
    format_interval,
    format_such_streams,
    group_by_pair,
    label_difference,
    label_p,
    list_findings,
    list_limitations,
)
from streamgauge.reports.headline import write_headline
from streamgauge.reports.label_estimates import build_estimates_grid, describe_estimates
from streamgauge.reports.marks import draw_marks_legend, draw_switch
from streamgauge.reports.model import Block, Cell, Drawing, Grid, Section, Sentences
from streamgauge.reports.notebook import draw_first_curves
from streamgauge.reports.ranked import build_leading_grids, title_ranked
from streamgauge.reports.rankings import draw_p_matrix
from streamgauge.reports.series import Series, list_series
from streamgauge.reports.title import get_part
from streamgauge.reports.verdicts import COMPARISONS_TITLE
from streamgauge.significance import Comparison

__all__ = ["SECTIONS", "Subject", "Surface", "build_estimates_section", "build_sections"]

Surface = Literal["terminal", "page", "study", "text", "notebook", "overview", "details"]
"""Where a section is shown; the dashboard has an overview above its curves, and details below them."""


@dataclass(frozen=True)
class Subject:
    """What a report is about: a run, the tests of its pairs, and its place on a page of several runs.

    Examples
    --------
    >>> Subject(RunData.from_readings((), n_rows=0)).series
    ()
    """

    results: RunData
    comparisons: Sequence[Comparison] = ()
    learners: tuple[str, ...] = ()
    """The learners of the whole page, in the order of their colours."""
    run: int = 0
    """The position of the run on the page."""

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """Its measures with their forgettings."""
        return list_series(self.results)


@dataclass(frozen=True)
class _Entry:
    build: Callable[[Subject], Section]
    surfaces: frozenset[Surface] = field(default_factory=frozenset)


SECTIONS: list[_Entry] = []
"""All sections in their order."""


def build_sections(subject: Subject, surface: Surface) -> tuple[Section, ...]:
    """Return the sections of a run for a surface, without those that have nothing to show.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> sections = build_sections(Subject(evaluate(SEA(n_rows=1000), NaiveBayes())), "terminal")
    >>> [block.title for section in sections for block in section.blocks]
    ['Answer', 'After 1,000 rows, over all rows', 'Class balance']
    """
    sections = (entry.build(subject) for entry in SECTIONS if surface in entry.surfaces)
    return tuple(section for section in sections if section.blocks or section.notes)


def build_estimates_section(estimates: Sequence[LabelEstimate]) -> Section:
    """Return the section on losses estimated from few labels, also of a run that is not finished.

    Examples
    --------
    >>> build_estimates_section([]).blocks
    ()
    """
    if not estimates:
        return Section("", ())
    return Section("", (build_estimates_grid(estimates),), describe_estimates(estimates))


def _section(*surfaces: Surface) -> Callable[[Callable[[Subject], Section]], Callable[[Subject], Section]]:
    """Return a decorator that adds a function to the sections, for some surfaces."""

    def add(build: Callable[[Subject], Section]) -> Callable[[Subject], Section]:
        SECTIONS.append(_Entry(build, frozenset(surfaces)))
        return build

    return add


@_section("terminal", "page", "study", "notebook")
def _warn_first(subject: Subject) -> Section:
    """Return what must be read before any number: a run that was cut short, learners that failed."""
    results, banners = subject.results, []
    if not results.complete:
        n_planned = get_part(results.description, "stream").get("n_rows")
        planned = f" of {n_planned:,}" if isinstance(n_planned, int) and n_planned > results.n_rows else ""
        rows = f"{results.n_rows:,}{planned} row{'' if results.n_rows == 1 and not planned else 's'}"
        banners.append(f"Cut short after {rows}: all numbers and verdicts are for these rows only.")
    banners += [f"{failure}; it has no later readings." for failure in results.failures]
    return Section("", (Sentences("", tuple(banners)),) if banners else (), kind="banner")


@_section("terminal", "page", "study", "text", "notebook", "overview")
def _answer(subject: Subject) -> Section:
    """Return which learner is best, by how much, how sure that is, and since when."""
    answers = write_headline(subject.results, subject.comparisons)
    return Section("", (Sentences("Answer", tuple(answers)),) if answers else (), kind="answer")


@_section("terminal", "page", "study", "text", "notebook")
def _judge_models(subject: Subject) -> Section:
    """Return live verdicts on each learner and requirement."""
    if not subject.results.model_verdicts:
        return Section("", ())
    claims, terms = claim_models(subject.results.model_verdicts, subject.results.name_row)
    return Section("Live verdicts on one model", (claims,), (*terms, *describe_owed_labels(subject.results)))


@_section("terminal", "page", "study", "text", "notebook", "overview")
def _rank_learners(subject: Subject) -> Section:
    """Return the learners in the order of their values, with intervals, and what a rare class hides."""
    return Section("", tuple(build_leading_grids(subject.results, subject.comparisons)))


@_section("terminal", "page", "study", "text", "notebook", "details")
def _list_results(subject: Subject) -> Section:
    """Return every measure at the last row, mean and deviation over folds."""
    if not subject.series:
        return Section("", (), ("There are no readings.",))
    ranked = {grid.title for grid in build_leading_grids(subject.results, subject.comparisons)}
    (first, *others) = subject.series
    if not others and first.n_folds == 1 and title_ranked(first.measure, first.forgetting) in ranked:
        return Section("", ())  # that table has the same values
    groups = groupby(subject.series, key=lambda series: series.forgetting)
    return Section("", tuple(_build_finals_grid(list(group), subject.comparisons) for _, group in groups))


@_section("notebook")
def _draw_first_curves(subject: Subject) -> Section:
    """Return the curves of the first measure, small and without a script."""
    drawing = draw_first_curves(subject.results)
    return Section("", () if drawing is None else (drawing,))


@_section("page", "study")
def _draw_curves(subject: Subject) -> Section:
    """Return every measure along the stream, with drifts, alarms and hidden labels."""
    results = subject.results
    charts = build_curve_charts(results, subject.learners or results.learners, subject.run)
    if not charts:
        return Section("Curves", ())
    hints = {
        "Lines are means over folds; bands range from the lowest to the highest fold.": any(c.bands for c in charts),
        "Over time, marks between two readings are at interpolated times.": results.has_time_axis
        and bool(results.alarms or results.drifts),
        "Long curves are downsampled to the minimum and maximum of neighbouring readings.": any(
            len(chart.rows) > compute_point_limit(charts) for chart in charts
        ),
    }
    note = " ".join(hint for hint, holds in hints.items() if holds)
    switch = draw_switch() if results.has_time_axis else None
    blocks = (switch, *charts, draw_marks_legend(results))
    return Section("Curves", tuple(block for block in blocks if block is not None), (note,) if note else ())


@_section("terminal", "page", "text", "details")
def _cost(subject: Subject) -> Section:
    """Return the cost of each learner: a table, along the stream, and against the first measure."""
    grid, chart = build_costs_grid(subject.results), build_cost_chart(subject.results)
    blocks = (grid, chart, draw_pareto_front(subject.results))
    return Section("Cost", tuple(block for block in blocks if block is not None) if grid is not None else ())


@_section("terminal", "page", "text", "notebook")
def _describe_labels(subject: Subject) -> Section:
    """Return the balance of classes, and which labels arrived."""
    results = subject.results
    charts = (build_balance_chart(results), build_label_chart(results))
    notes = [results.feedback.sentence] if results.feedback is not None and results.feedback.sentence else []
    notes += describe_abstentions(results)
    return Section("Classes and labels", tuple(chart for chart in charts if chart is not None), tuple(notes))


@_section("page")
def _confuse(subject: Subject) -> Section:
    """Return the confusion matrix of each learner, with a slider to earlier moments."""
    drawing, phrase = draw_confusions(subject.results)
    if drawing is None:
        return Section("", ())
    matrices = "Confusion matrix" if len(subject.results.learners) == 1 else "Confusion matrices"
    pooled = ", all folds pooled" if subject.results.n_folds > 1 else ""
    note = f"Percent of each true class (rows) by prediction (columns), {phrase}{pooled}."
    return Section(f"{matrices} {phrase}", (drawing,), (note,))


@_section("page", "text")
def _calibrate(subject: Subject) -> Section:
    """Return how well votes are calibrated, where they were kept."""
    grid = build_calibration_grid(subject.results)
    if grid is None:
        return Section("", ())
    return Section("Calibration", (draw_calibration(subject.results, subject.learners), grid))


@_section("terminal", "page", "text", "notebook", "details")
def _estimate(subject: Subject) -> Section:
    """Return losses estimated from few labels, beside the truth."""
    return build_estimates_section(subject.results.label_estimates)


@_section("terminal", "page", "text")
def _score_alarms(subject: Subject) -> Section:
    """Return alarms of detectors, scored against the true drifts."""
    grid = build_alarms_grid(subject.results)
    return Section("", () if grid is None else (grid,))


@_section("terminal", "page", "study", "text", "details")
def _compare_pairs(subject: Subject) -> Section:
    """Return the outcome of the test of each pair, with its difference."""
    claims = claim_pairs(subject.comparisons)
    several = len({test.title for test in subject.comparisons}) > 1
    tests = (_build_tests_grid(subject.comparisons),) if several else ()
    return Section(COMPARISONS_TITLE, (*claims, *tests), describe_tests(subject.comparisons))


@_section("terminal", "page", "text", "notebook")
def _judge_pairs(subject: Subject) -> Section:
    """Return live verdicts on pairs, measure by measure, and the differences along the run."""
    claims, terms = claim_verdicts(subject.results.verdicts, subject.results.name_row)
    charts = build_difference_charts(subject.results)
    note = (
        "Curves: above 0 the first one is the better one, or in a measure of which less is better the second. Dashed"
        " line: no difference; shaded: the margin. A verdict is reached once the band excludes the margin, or lies in"
        " it; it ends once the band no longer supports it."
    )
    figures: list[Block] = [*charts, *([Drawing(tag("p", note, class_="note"))] if charts else [])]
    is_claimed = any(verdict.interval or verdict.row is not None for verdict in subject.results.verdicts)
    notes = (*terms, *describe_owed_labels(subject.results)) if is_claimed else terms
    return Section("Live verdicts", (*claims, *figures), notes)


@_section("page", "text")
def _summarise(subject: Subject) -> Section:
    """Return findings beyond the answer, and what cannot be concluded."""
    results, comparisons = subject.results, subject.comparisons
    lists = {"Findings": list_findings(results, comparisons), "Limitations": list_limitations(results, comparisons)}
    return Section("Summary", tuple(Sentences(title, tuple(texts)) for title, texts in lists.items() if texts))


@_section("page")
def _list_folds(subject: Subject) -> Section:
    """Return the value of every fold at the last row."""
    grids = tuple(_build_folds_grid(series) for series in subject.series if series.n_folds > 1)
    return Section("Results by fold", grids, kind="folded")


@_section("page", "text")
def _list_tests(subject: Subject) -> Section:
    """Return every test of every pair, with the sentence to quote."""
    comparisons = subject.comparisons
    if not comparisons:
        return Section("", ())
    quotes = tuple(
        " ".join([test.sentence, *(f"Note: {warning}." for warning in test.warnings)])
        for pair in group_by_pair(comparisons)
        for test in pair
    )
    matrix = draw_p_matrix(comparisons) if len(group_by_pair(comparisons)) > 2 else None
    blocks = (matrix, _build_tests_grid(comparisons), Sentences("Sentences to quote", quotes))
    return Section("All tests and p-values", tuple(b for b in blocks if b is not None), kind="folded")


@_section("page")
def _configure(subject: Subject) -> Section:
    """Return what was run."""
    drawing = draw_configuration(subject.results.description)
    return Section("Configuration", () if drawing is None else (drawing,), kind="folded")


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
    worse = any(cell.worse for _, cells in rows for cell in cells)
    marks = f" †: significantly worse than the best, by the first test of the pair ({measures})." if worse else ""
    title = f"After {count(int(first.rows[-1]), 'row')}, {describe_forgetting(first.forgetting)}"
    return Grid(title, ("learner", *columns), rows, folds + best + marks)


def _build_final_cell(series: Series, learner: str, worse: frozenset[str] = frozenset()) -> Cell:
    final = series.finals[learner]
    partial = f"({final.n_defined} of {len(final.folds)} folds)" if 0 < final.n_defined < len(final.folds) else ""
    spread = " ".join(filter(None, (format_spread(final.deviation, series.unit), partial)))
    return Cell(format_value(final.mean, series.unit), spread, learner in series.best, learner in worse)


def _is_test_of(test: Comparison, series: Series) -> bool:
    """Return whether a test was of the measure of a series, over the same rows, and not of a mean of readings."""
    return (test.measure, test.forgetting) == (series.measure, series.forgetting) and test.n_readings is None


def _find_worse(series: Series, tests: Sequence[Comparison]) -> frozenset[str]:
    """Return the learners that are significantly worse than the best of a series."""
    claims = [test for test in tests if _is_test_of(test, series) and test.better in series.best]
    return frozenset(test.second if test.first in series.best else test.first for test in claims)


def _build_folds_grid(series: Series) -> Grid:
    rows = tuple(
        (
            learner,
            (
                _build_final_cell(series, learner),
                *(Cell(format_value(float(value), series.unit)) for value in final.folds),
            ),
        )
        for learner, final in series.finals.items()
    )
    title = f"{label_measure(series.measure, series.unit)} {describe_forgetting(series.forgetting)}, by fold"
    return Grid(title, ("learner", "mean", *map(str, range(series.n_folds))), rows)


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
    columns = ("pair", "test", label_difference(shared), "interval", p_value)
    adjustment = comparisons[0].adjustment
    adjusted = f" p-values adjusted by {adjustment}, intervals of each pair alone." if adjustment else ""
    note = f"Tests that are valid once, after the last row.{adjusted}"
    streams = ("interval for such streams", p_value) if with_streams else ()
    return Grid("Pairwise tests", (*columns, *streams), rows, note)
