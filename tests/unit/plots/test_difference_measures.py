"""The figure of a difference in any measure that the live test compared."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import streamgauge as sg
from streamgauge import plots
from streamgauge.errors import StreamgaugeError
from streamgauge.significance import LiveTest
from tests.support.commands import invoke

MEASURES = ("accuracy", "log_loss")


@pytest.fixture(scope="module")
def results() -> sg.Results:
    learners = {"majority": sg.MajorityClass(), "bayes": sg.NaiveBayes()}
    options = {"measures": MEASURES, "every": 500, "live_test": LiveTest(measure=MEASURES)}
    return sg.evaluate(sg.SEA(n_rows=20_000), learners, **options)  # type: ignore[arg-type]


def test_a_loss_is_drawn_in_its_unit_above_zero_with_its_own_margin_and_verdict(results: sg.Results) -> None:
    accuracy, loss = (plots.difference(results, measure=measure).drawn for measure in MEASURES)
    assert accuracy.axes[0].get_title("left") == "bayes minus majority"
    assert accuracy.axes[0].get_ylabel() == "accuracy, percentage points"
    axes = loss.axes[0]
    assert axes.get_title("left") == "majority minus bayes"  # the greater loss first, so that the curve ends above 0
    assert axes.get_ylabel() == "log_loss, nats (less is better)"
    verdict = next(verdict for verdict in results.verdicts if verdict.measure == "log_loss")
    assert verdict.better == "bayes"
    assert any("bayes is better than majority in log_loss" in text.get_text() for text in axes.texts)
    curve = next(line for line in axes.lines if np.size(line.get_xdata()) > 2)
    assert np.asarray(curve.get_ydata())[-1] == pytest.approx(verdict.difference)
    words = [text.get_text() for legend in loss.legends for text in legend.get_texts()]
    assert f"margin of \u00b1{verdict.rope:g} nats" in words
    assert "95% at all rows, as trained here" in words


def test_the_command_draws_a_measure_that_was_compared_and_names_those_that_were(
    results: sg.Results, tmp_path: Path
) -> None:
    folder = str(sg.save(results, tmp_path / "run"))
    picture = tmp_path / "loss.svg"
    invoke("plot", "difference", folder, "--measure", "log_loss", "--out", str(picture))
    assert picture.read_text().startswith("<?xml")
    with pytest.raises(StreamgaugeError, match="no live comparison in kappa, only in accuracy and log_loss"):
        invoke("plot", "difference", folder, "--measure", "kappa", "--out", str(picture))
