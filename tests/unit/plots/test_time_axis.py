"""Figures over the times of rows: where a time axis is drawn, and that lines and marks are at the right times."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from streamgauge import plots
from streamgauge.drift import DDM
from streamgauge.labelling import First
from streamgauge.plots.axis import choose_x
from streamgauge.records import Drift
from streamgauge.results import Predictions, save
from tests.support.commands import invoke
from tests.support.timed_examples import START, make_timed_stream

dates = pytest.importorskip("matplotlib.dates")


def run(start: float = START, **options: Any) -> sg.Results:
    learners = {"bayes": sg.NaiveBayes(), "last": sg.NoChange()}
    return sg.evaluate(make_timed_stream(start=start), learners, every=50, detectors=DDM(), **options)


def to_seconds(positions: Any) -> list[float]:
    """Return positions of Matplotlib's dates as seconds since 1970, by its own conversion."""
    return [date.timestamp() for date in dates.num2date(positions)]


@pytest.fixture(scope="module")
def timed() -> sg.Results:
    return run(resources=True, labelling=First(600))


def get_axes(figure: plots.Figure) -> Any:
    return figure.drawn.axes[0]


def draw_all(results: sg.Results, x: Any = None) -> dict[str, Any]:
    figures = {
        "curves": plots.curves(results, x=x, band="none"),
        "difference": plots.difference(results, x=x),
        "q_statistic": plots.q_statistic(results, x=x),
        "labels": plots.labels(results, x=x),
        "balance": plots.balance(results, x=x),
        "resources": plots.resources(results, x=x),
    }
    return {name: get_axes(figure) for name, figure in figures.items()}


def test_lines_are_at_the_times_of_their_readings(timed: sg.Results) -> None:
    drawn = draw_all(timed)
    assert {axes.get_xlabel() for axes in drawn.values()} == {"time (UTC)"}
    assert timed.times is not None
    known = timed.times
    for name in ("curves", "resources"):
        for line in drawn[name].get_lines()[-2:]:
            np.testing.assert_allclose(to_seconds(line.get_xdata()), known, rtol=0, atol=1e-3)
    assert timed.differences is not None
    expected = timed.find_times(timed.differences.rows)
    lines = [line.get_xdata() for line in drawn["difference"].get_lines()]
    (difference,) = [line for line in lines if len(line) == len(expected)]
    np.testing.assert_allclose(to_seconds(difference), expected, rtol=0, atol=1e-3)
    np.testing.assert_allclose(to_seconds(drawn["labels"].get_lines()[-1].get_xdata())[1:], known, rtol=0, atol=1e-3)
    for axes in drawn.values():
        np.testing.assert_allclose(to_seconds(axes.get_xlim()), known[[0, -1]], rtol=0, atol=1e-3)


def test_rows_are_drawn_where_they_are_asked_for(timed: sg.Results) -> None:
    for axes in draw_all(timed, "row").values():
        assert axes.get_xlabel() == "rows"
        assert axes.get_xlim() == (0, 1000)
    assert get_axes(plots.curves(timed, x="row", band="none")).get_lines()[-1].get_xdata().tolist() == (
        timed.rows.tolist()
    )


def test_alarms_are_at_their_times(timed: sg.Results) -> None:
    assert timed.alarms
    axes = get_axes(plots.curves(timed))
    marks = [line for line in axes.get_lines() if line.get_marker() == "^"]
    shown = sorted(second for mark in marks for second in to_seconds(mark.get_xdata()))
    expected = sorted(timed.find_times([alarm.row for alarm in timed.alarms]).tolist())
    np.testing.assert_allclose(shown, expected, rtol=0, atol=1e-3)


def test_a_verdict_is_at_its_time() -> None:
    results = run(n_rows=480)  # before the concept changes
    (verdict,) = results.verdicts
    assert verdict.row is not None
    assert results.times is not None
    expected = results.times[results.rows.tolist().index(verdict.row)]
    axes = get_axes(plots.difference(results))
    (line,) = [line for line in axes.get_lines() if list(line.get_ydata()) == [0, 1]]
    assert to_seconds(line.get_xdata()[:1])[0] == pytest.approx(expected, abs=1e-3)
    assert to_seconds([axes.texts[0].xy[0]])[0] == pytest.approx(expected, abs=1e-3)


def test_drifts_are_at_their_times() -> None:
    results = run()
    results = replace(results, description={**results.description, "drifts": [{"position": 525, "width": 0}]})
    assert results.drifts == (Drift(525),)
    lines = get_axes(plots.curves(results)).get_lines()
    (drift,) = [line for line in lines if list(line.get_ydata()) == [0, 1]]
    assert results.times is not None
    before, after = results.times[[9, 10]]  # readings after 500 and 550 rows
    assert to_seconds(drift.get_xdata()[:1])[0] == pytest.approx((before + after) / 2, abs=1e-3)


def test_ticks_are_concise_dates_in_utc(timed: sg.Results) -> None:
    figure = plots.curves(timed).drawn
    figure.draw_without_rendering()
    axis = figure.axes[0].xaxis
    assert axis.get_offset_text().get_text().startswith("2024")
    places = [tick for tick in axis.get_majorticklocs() if figure.axes[0].get_xlim()[0] <= tick]
    assert all(datetime.fromtimestamp(second, UTC).hour == 0 for second in to_seconds(places))


def test_times_that_start_at_0_are_seconds() -> None:
    results = run(start=0.0)
    axes = get_axes(plots.curves(results, band="none"))
    assert axes.get_xlabel() == "time (s)"
    assert results.times is not None
    assert axes.get_lines()[-1].get_xdata().tolist() == results.times.tolist()


def test_an_axis_of_times_needs_times_that_increase_in_all_runs(timed: sg.Results) -> None:
    untimed = sg.evaluate(sg.SEA(n_rows=1000), sg.NoChange(), every=50)
    assert timed.times is not None
    falling = replace(timed, times=timed.times[::-1].copy())
    still = replace(timed, times=np.full(len(timed.rows), START))
    for others in ([untimed], [falling], [still], [timed, untimed]):
        assert choose_x(None, others) == "row"
    assert choose_x(None, [timed, timed]) == "time"
    with pytest.raises(sg.StreamgaugeError, match=r"the rows of SEA.* carry no times; name their column with time="):
        plots.curves([timed, untimed], x="time")
    with pytest.raises(sg.StreamgaugeError, match="do not increase from reading to reading"):
        plots.curves(falling, x="time")
    with pytest.raises(sg.StreamgaugeError, match="x axis"):
        plots.curves(timed, x="rows")  # type: ignore[arg-type]


def test_pooled_runs_keep_times_in_which_they_agree(timed: sg.Results) -> None:
    runs = [replace(timed, description={**timed.description, "seed": seed}) for seed in (1, 2)]
    assert get_axes(plots.curves(runs)).get_xlabel() == "time (UTC)"
    assert timed.times is not None
    runs[1] = replace(runs[1], times=timed.times + 5.0)
    assert get_axes(plots.curves(runs)).get_xlabel() == "rows"


@pytest.mark.parametrize("kind", ["curves", "difference", "q_statistic", "labels", "balance", "resources"])
def test_the_command_line_draws_over_rows_or_time(timed: sg.Results, tmp_path: Path, kind: str) -> None:
    folder = save(timed, tmp_path / "run")
    for x, label in ((None, "time (UTC)"), ("time", "time (UTC)"), ("row", "rows")):
        option = [] if x is None else ["--x", x]
        invoke("plot", kind, str(folder), "--out", str(tmp_path / "figure.svg"), *option)
        assert f">{label}</text>" in (tmp_path / "figure.svg").read_text(encoding="utf-8")


def test_detectors_are_drawn_over_the_times_of_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    results = sg.evaluate(
        make_timed_stream(), sg.NaiveBayes(), every=50, recorders=[Predictions(folder / "predictions.parquet")]
    )
    save(results, folder)
    invoke("plot", "detector_statistic", str(folder), "--out", str(tmp_path / "figure.svg"))
    assert ">time (UTC)</text>" in (tmp_path / "figure.svg").read_text(encoding="utf-8")
    figure = plots.detector_statistic([0.0, 1.0, 0.0], times=[1.0, 2.5, 9.0]).drawn
    assert figure.axes[-1].get_xlim() == (1.0, 9.0)
    with pytest.raises(sg.StreamgaugeError, match="columns of one length"):
        plots.detector_statistic([0.0, 1.0], times=[1.0])
