"""A difference is shown from the view of the learner that is ahead: never "better by 0.19" beside -0.19."""

import re
from collections.abc import Callable
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

import streamgauge as sg
from streamgauge import plots
from streamgauge._engine.journal import Layout
from streamgauge.reports import report
from streamgauge.reports.findings import group_by_pair, list_ranking_findings, turn_to_leader
from streamgauge.reports.html import to_markup
from streamgauge.reports.sections import Subject, build_sections
from streamgauge.reports.study import Format
from streamgauge.reports.terminal import build_summary
from streamgauge.significance import Answer, Comparison, rank_table
from tests.support.report_examples import example_comparison, example_results

BEHIND = example_comparison(
    "bayes",
    "tree",
    direction=-1,
    difference=-0.19,
    interval=(-0.25, -0.13),
    measure="accuracy",
    unit="rate",
    such_streams=Answer("for such streams", "equal", (-0.30, -0.08), 0.001),
)
NOT_KNOWN = replace(BEHIND, p_value=0.4, interval=(-0.40, 0.02))
LOSS = replace(BEHIND, direction=1, difference=0.19, interval=(0.13, 0.25), measure="log_loss", unit="nats")
LOSS = replace(LOSS, greater_is_better=False)


def print_table(comparison: Comparison) -> str:
    console = Console(width=200, record=True, file=StringIO())
    console.print(build_summary(example_results(("bayes", "tree")), [comparison]))
    return console.export_text()


def write_report(kind: Format) -> Callable[[Comparison], str]:
    return lambda comparison: str(report(example_results(("bayes", "tree")), [comparison], format=kind))


def find_section(comparison: Comparison, title: str) -> str:
    """Return a section of the page of a comparison alone."""
    sections = build_sections(Subject(example_results(("bayes", "tree")), [comparison]), "page")
    (section,) = (to_markup(section) for section in sections if section.title == title)
    return section


SHOWN: dict[str, Callable[[Comparison], str]] = {
    "verdicts of a page": lambda comparison: find_section(comparison, "Comparisons at the end"),
    "tests of a page": lambda comparison: find_section(comparison, "All tests and p-values"),
    "terminal": print_table,
    "html": write_report("html"),
    "markdown": write_report("md"),
    "latex": write_report("latex"),
}


@pytest.mark.parametrize("shown", SHOWN)
def test_the_winner_comes_first_and_its_difference_is_above_zero(shown: str) -> None:
    text = SHOWN[shown](BEHIND)
    assert not re.search(r"[-\u2212\u2013]\$?19\.00", text)
    assert "19.00" in text
    assert not re.search(r"[-\u2212]\$?(25|13)\.00", text)
    words = " ".join(re.sub(r"<[^>]*>", "", text).split())
    assert "bayes minus tree" not in words


def test_a_bar_points_to_the_right() -> None:
    for comparison in (BEHIND, LOSS):
        section = find_section(comparison, "Comparisons at the end")
        (zero,) = re.findall(r'<line x1="([\d.]+)"[^>]*class="zero"', section)
        (centre,) = re.findall(r'<circle cx="([\d.]+)"', section)
        assert float(centre) > float(zero)


def test_a_comparison_says_the_same_from_either_side() -> None:
    for comparison in (BEHIND, NOT_KNOWN, LOSS):
        turned = turn_to_leader(comparison)
        assert turned.better == comparison.better
        assert (turned.difference or 0) > 0
    turned = turn_to_leader(BEHIND)
    assert (turned.first, turned.second, turned.interval) == ("tree", "bayes", (0.13, 0.25))
    assert turned.such_streams is not None
    assert turned.such_streams.interval == (0.08, 0.30)
    assert turned.sentence == BEHIND.sentence
    assert turn_to_leader(turned) == turned
    # Where less is better, the greater loss minus the smaller one is above zero, too.
    assert (turn_to_leader(LOSS).first, turn_to_leader(LOSS).better) == ("bayes", "tree")


def test_all_tests_of_a_pair_are_shown_from_the_side_of_the_first() -> None:
    other = replace(BEHIND, test="wilcoxon", direction=1, difference=0.01, interval=None)
    ((leading, second),) = group_by_pair([BEHIND, other])
    assert (leading.first, second.first, second.difference) == ("tree", "tree", -0.01)


def test_the_plot_of_a_difference_ends_above_zero_in_whatever_order_the_two_are_named() -> None:
    learners = {"majority": sg.MajorityClass(), "bayes": sg.NaiveBayes()}
    results = sg.evaluate(sg.SEA(n_rows=2000), learners, every=100)
    for names in ((), ("majority", "bayes"), ("bayes", "majority")):
        axes = plots.difference(results, *names).drawn.axes[0]
        assert axes.get_title("left") == "bayes minus majority"
        (line,) = [line for line in axes.lines if np.size(line.get_xdata()) > 2]
        assert np.asarray(line.get_ydata())[-1] > 0


def test_the_curve_of_a_pair_can_be_read_from_either_side() -> None:
    layout = Layout(("tree", "bayes"), ("Landmark()",), ("accuracy",), n_folds=1, with_costs=False)
    values = np.full((1, 2, 1, 1, 1), 0.5)
    records = layout.pack(np.array([100]), 0.0, values, None, {("tree", "bayes", "accuracy"): (-0.02, -0.05, 0.01)})
    assert layout.pair(records, "bayes", "tree").tolist() == [[0.02, -0.01, 0.05]]


def test_wins_over_streams_are_those_of_the_better_one() -> None:
    values = [[0.7 + 0.01 * i, 0.9 + 0.01 * i] for i in range(8)]
    ranking = rank_table(values, ["bayes", "tree"])
    claim = next(text for text in list_ranking_findings(ranking) if "is better than" in text)
    assert claim.startswith("tree is better than bayes (8 wins, 0 ties, 0 losses;")
