"""Reports of errors of numeric targets: in their own unit, the smallest first, and nothing about classes."""

from pathlib import Path

import pytest

import streamgauge as sg
from streamgauge.learners import LinearRegression, MeanTarget
from streamgauge.streams import FriedmanFunction


@pytest.fixture(scope="module")
def results() -> sg.Results:
    learners = {"mean": MeanTarget(), "linear": LinearRegression()}
    stream = FriedmanFunction(n_rows=3_000)
    return sg.evaluate(stream, learners, measures=["mae", "r2"], scheme=sg.Bootstrap(5), every=300)


def test_the_smallest_error_is_best_in_tables(results: sg.Results) -> None:
    rows = [line.split() for line in str(results).splitlines()]
    linear = next(row for row in rows if row[:1] == ["linear"])
    mean = next(row for row in rows if row[:1] == ["mean"])
    assert results.final("linear", "mae").mean < results.final("mean", "mae").mean
    assert "*" in "".join(linear)
    assert "*" not in "".join(mean)
    assert "mae (units)" in str(results)
    assert "%" not in str(results)


def test_a_report_speaks_of_errors_and_units_not_of_classes(results: sg.Results, tmp_path: Path) -> None:
    page = results.report(tmp_path / "report.md").read_text(encoding="utf-8")
    assert "Best: linear, mae" in page
    assert "linear is better than mean by" in page
    assert "are of class" not in page
    assert "accuracy" not in page
    assert "  on average" not in page
