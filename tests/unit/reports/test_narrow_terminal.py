"""On 80 columns five measures and six learners are readable, and every name is whole."""

from io import StringIO
from itertools import combinations

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text

import streamgauge as sg
from streamgauge.reports import build_summary
from streamgauge.reports.rankings import build_ranking_document
from streamgauge.reports.terminal import StackedTable, to_renderable
from streamgauge.significance import rank_table
from streamgauge.streams import ArrayStream

LEARNERS = [
    "HoeffdingAdaptiveTree",
    "ExtremelyFastDecisionTree",
    "NaiveBayes",
    "NoChange",
    "MajorityClass",
    "Perceptron",
]
MEASURES = ["accuracy", "kappa_m", "g_mean", "pr_auc[1]", "balanced_accuracy"]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_names_and_numbers_are_whole(width: int) -> None:
    results = sg.evaluate("SEA(n_rows=1000)", LEARNERS, measures=MEASURES, scheme="Bootstrap(5)", resources=True)
    console = Console(width=width, file=StringIO(), record=True)
    console.print(build_summary(results))
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= width
    words = {word for line in lines for word in line.split()}
    assert {*LEARNERS, *MEASURES} <= words
    for name in LEARNERS:
        assert f"{100 * results.final(name, 'g_mean').mean:.2f}" in {word.strip("*") for word in words}


def test_the_class_of_a_measure_is_no_markup() -> None:
    x = [[float(i % 7)] for i in range(400)]
    stream = ArrayStream(x, ["yes" if i % 7 > 5 else "no" for i in range(400)])
    results = sg.evaluate(stream, ["NaiveBayes", "NoChange"], measures=["recall[yes]", "pr_auc[yes]"])
    console = Console(width=80, file=StringIO(), record=True)
    console.print(build_summary(results, [sg.compare(results, measure="pr_auc[yes]")]))
    text = console.export_text()
    assert text.count("pr_auc[yes] %") == 2  # ranked, and among the results
    assert "recall[yes] %" in text


def test_a_wide_terminal_has_one_table() -> None:
    table = StackedTable("learner", ["a"], ["x", "y"], [[Text("1"), Text("2")]])
    for width, n_tables in ((80, 1), (15, 2)):
        console = Console(width=width, file=StringIO(), record=True)
        console.print(table)
        assert console.export_text().count("learner") == n_tables


def test_a_ranking_fits_80_columns_with_whole_names() -> None:
    values = np.random.default_rng(1).random((10, len(LEARNERS)))
    ranking = rank_table(values, LEARNERS)
    console = Console(width=80, file=StringIO(), record=True)
    console.print(to_renderable(build_ranking_document(ranking)))
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= 80
    pairs = [f"{a} vs {b}" for pair in combinations(LEARNERS, 2) for a, b in (pair, pair[::-1])]
    assert len([line for line in lines if line.strip().startswith(tuple(pairs))]) == 2 * 15  # in two parts
    assert all(any(line.rstrip().endswith(f" {name}") for line in lines) for name in LEARNERS)  # in the diagram
