"""Figures: every kind is drawn, the same bytes each time, and shows what was found."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.labelling import First
from streamgauge.reports.pareto import find_pareto_points
from streamgauge.results import Results
from streamgauge.significance import compare_all, rank_table
from streamgauge.streams import Gradual

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'streamgauge[plots]'")

from streamgauge import plots

LEARNERS = {"tree": sg.HoeffdingTree(), "bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
RANKING = rank_table(np.random.default_rng(1).random((12, 4)), ["a", "b", "c", "d"], post_hoc="nemenyi")


@pytest.fixture(scope="module")
def results() -> Results:
    return sg.evaluate(
        Gradual(sg.SEA(1), sg.SEA(3), position=1000, width=200),
        LEARNERS,
        n_rows=2000,
        scheme=sg.Bootstrap(5),
        forgetting=[sg.Window(500), sg.Landmark()],
        measures=["accuracy", "error", "hoeffding", "log_loss"],
        detectors=["DDM"],
        labelling=First(1500),
        resources=True,
        every=100,
    )


KINDS: dict[str, Callable[[Results], plots.Figure]] = {
    "curves": plots.curves,
    "deviation": lambda results: plots.curves(results, "log_loss", band="deviation"),
    "interval": lambda results: plots.curves(results, "error", band="interval"),
    "difference": lambda results: plots.difference(results, "tree", "majority"),
    "confusion": plots.confusion,
    "balance": plots.balance,
    "labels": plots.labels,
    "resources": plots.resources,
    "pareto": plots.pareto,
    "p_values": lambda results: plots.p_values(compare_all(results)),
    "ranks": lambda _: plots.ranks(RANKING),
    "wins": lambda _: plots.wins(RANKING),
    "p_values of a ranking": lambda _: plots.p_values(RANKING),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_is_drawn_and_its_bytes_are_the_same_each_time(kind: str, results: Results, tmp_path: Path) -> None:
    for ending, start in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        if ending != ".png" and kind not in ("curves", "ranks"):
            continue
        first, second = (KINDS[kind](results).save(tmp_path / f"{name}{ending}").read_bytes() for name in "ab")
        assert first == second
        assert first.startswith(start)
        assert len(first) > 2000


def test_a_diagram_shows_the_critical_difference_of_nemenyi(tmp_path: Path) -> None:
    assert b"CD = 1.35" in plots.ranks(RANKING).save(tmp_path / "ranks.svg").read_bytes()


def test_curves_are_the_means_of_the_folds_in_percent(results: Results) -> None:
    lines = {line.get_label(): line for line in plots.curves(results).drawn.axes[0].lines}
    expected = 100 * results.curve("bayes", "accuracy").mean(axis=1)
    np.testing.assert_allclose(np.asarray(lines["bayes"].get_ydata()), expected)


def test_long_curves_keep_their_extremes() -> None:
    values = np.random.default_rng(2).random((50_000, 1, 1, 1, 1))
    rows = np.arange(1, 50_001)
    long = Results(rows, values, ("a",), ("Landmark()",), ("m",), (), 50_000, complete=True)
    shown = np.asarray(plots.curves(long).drawn.axes[0].lines[0].get_ydata())
    assert len(shown) <= 2000
    assert (shown.min(), shown.max()) == (100 * values.min(), 100 * values.max())


def test_a_difference_is_shown_by_its_confidence_sequence(results: Results) -> None:
    drawn = plots.difference(results, "bayes", "majority").drawn.axes[0].lines
    (line,) = [line for line in drawn if np.size(line.get_xdata()) > 2]
    hits = results.curve("bayes", "accuracy", "Landmark()") - results.curve("majority", "accuracy", "Landmark()")
    labelled = hits[results.rows == 1500].mean()  # verdicts know only labels that have arrived
    np.testing.assert_allclose(np.asarray(line.get_ydata())[-1], 100 * labelled)


def test_no_learner_beats_one_on_the_front_in_both(results: Results) -> None:
    found = find_pareto_points([results])
    for point in found:
        as_good = [o for o in found if o.cost <= point.cost and o.value >= point.value]
        beaten = any((o.cost, o.value) != (point.cost, point.value) for o in as_good)
        assert point.on_front == (not beaten)


def test_what_cannot_be_drawn_is_said(results: Results, tmp_path: Path) -> None:
    plain = sg.evaluate(sg.SEA(n_rows=100), sg.NoChange())
    for make, message in (
        (lambda: plots.resources(plain), "resources=True"),
        (lambda: plots.pareto(plain), "resources=True"),
        (lambda: plots.difference(plain), "two or more"),
        (lambda: plots.difference(results), "choose two of"),
        (lambda: plots.curves(plain, "kapa"), "no measure 'kapa'"),
        (lambda: plots.curves(plain, learners=["tree"]), "no learner 'tree'"),
        (lambda: plots.curves(plain, band="interval"), "hoeffding"),
        (lambda: plots.p_values([]), "no pairs"),
        (lambda: plots.curves(Results.from_readings((), n_rows=0)), "no readings"),
        (lambda: plots.curves(plain).save(tmp_path / "x.gif"), r"end in \.pdf, \.png, \.svg"),
    ):
        with pytest.raises(StreamgaugeError, match=message):
            make()


def test_a_figure_shows_itself_in_a_notebook(results: Results) -> None:
    assert plots.balance(results)._repr_png_().startswith(b"\x89PNG")
