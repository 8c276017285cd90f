"""`streamgauge plot`, `detect --plot` and the options that print matrices, from end to end."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from streamgauge.errors import StreamgaugeError
from streamgauge.reports.confusion_text import require_confusions
from streamgauge.reports.q_statistic import compute_q_curve
from streamgauge.results import load
from tests.support.commands import invoke

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'streamgauge[plots]'")

LEARNERS = ["--learner", "NaiveBayes", "--learner", "NoChange"]
READINGS = ["--measure", "accuracy", "--measure", "kappa", "--forgetting", "Landmark", "--forgetting", "Window(100)"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return the folders of three runs: two seeds of one stream, and another stream."""
    folder = tmp_path_factory.mktemp("runs")
    for name, stream, seed in (
        ("sea1", "SEA(drift_every=300)", 1),
        ("sea2", "SEA(seed=2, drift_every=300)", 2),
        ("rbf", "RandomRBF", 1),
    ):
        options = ["--rows", "600", "--seed", str(seed), "--record", "predictions", "--out", str(folder / name)]
        invoke("evaluate", "--stream", stream, *LEARNERS, *READINGS, *options)
    return [str(folder / name) for name in ("sea1", "sea2", "rbf")]


def draw(tmp_path: Path, *words: str) -> tuple[set[str], str]:
    """Draw a figure; return the texts in it, and what the command printed."""
    target = tmp_path / "figure.svg"
    out = invoke("plot", *words, "--out", str(target))[0]
    return set(re.findall(r">([^<>\n]+)</text>", target.read_text())), out


def test_several_measures_are_drawn_as_lines_or_as_panels(runs, tmp_path):
    measures = ["--measure", "accuracy", "--measure", "kappa"]
    lines, _ = draw(tmp_path, "curves", runs[0], *measures, "--lines", "measures")
    assert {"NaiveBayes", "NoChange", "accuracy", "kappa", "%", "over all rows", "true drift"} <= lines
    panels, _ = draw(tmp_path, "curves", runs[0], *measures, "--forgetting", "Window(100)")
    assert {"accuracy %", "kappa %", "over the last 100 rows"} <= panels


def test_several_forgettings_are_drawn_in_one_figure(runs, tmp_path):
    words = ["--forgetting", "Landmark", "--forgetting", "Window(100)", "--learner", "NaiveBayes"]
    texts, _ = draw(tmp_path, "curves", runs[0], *words)
    assert {"NaiveBayes: accuracy", "over all rows", "over the last 100 rows"} <= texts


def test_seeds_are_averaged_and_streams_have_panels(runs, tmp_path):
    texts, _ = draw(tmp_path, "curves", *runs[:2])
    assert "accuracy over all rows, mean over 2 seeds" in texts
    texts, _ = draw(tmp_path, "curves", *runs)
    assert {"SEA(drift_every=300)", "RandomRBF()"} <= texts


def test_the_q_statistic_is_drawn_and_printed(runs, tmp_path):
    texts, out = draw(tmp_path, "q_statistic", runs[0], "--forgetting", "Landmark", "--forgetting", "Window(100)")
    assert "Q statistic of NaiveBayes and NoChange by error" in texts
    results = load(runs[0])
    losses = [1 - results.final(name, "accuracy").mean for name in results.learners]
    lines = out.splitlines()
    assert lines[0].startswith(f"Q = {np.log(losses[0] / losses[1]):.2f} after 600 rows, over all rows: the error of")
    assert "over the last 100 rows" in lines[1]
    target = str(tmp_path / "q.png")
    output = json.loads(invoke("plot", "q_statistic", runs[0], "--out", target, "--json")[0])
    assert output["figure"] == target
    (value,) = output["q_statistic"]
    assert value["value"] == pytest.approx(np.log(losses[0] / losses[1]))
    assert value["sentence"] == lines[0]
    with pytest.raises(StreamgaugeError, match=r"must end in \.pdf, \.png, \.svg"):
        invoke("plot", "q_statistic", runs[0], "--out", str(tmp_path / "q.gif"))


def test_the_statistic_of_a_detector_is_drawn_from_recorded_predictions(runs, tmp_path):
    words = ["--learner", "NoChange", "--detector", "PageHinkley(threshold=5)", "--detector", "DDM"]
    texts, _ = draw(tmp_path, "detector_statistic", runs[0], *words)
    assert {"PageHinkley(delta=0.005, threshold=5)", "DDM(warning=2.0)", "statistic", "threshold"} <= texts
    assert "error of NoChange, mean of the last 12 values" in texts
    with pytest.raises(StreamgaugeError, match="choose it with --learner from NaiveBayes, NoChange"):
        draw(tmp_path, "detector_statistic", runs[0])
    with pytest.raises(StreamgaugeError, match="choose PageHinkley, Cusum, DDM"):
        draw(tmp_path, "detector_statistic", runs[0], "--learner", "NoChange", "--detector", "Adwin")
    invoke("evaluate", "--stream", "SEA", "--rows", "100", "--learner", "NoChange", "--out", str(tmp_path / "plain"))
    with pytest.raises(StreamgaugeError, match="--record predictions"):
        draw(tmp_path, "detector_statistic", str(tmp_path / "plain"))


def test_detect_draws_the_statistic_of_the_errors_or_values_it_watches(tmp_path):
    target = tmp_path / "trace.svg"
    words = ["--detector", "PageHinkley(threshold=5)", "--plot", str(target)]
    invoke("detect", "--stream", "SEA(drift_every=300)", "--rows", "600", "--learner", "NoChange", *words)
    assert {"true drift", "threshold"} <= set(re.findall(r">([^<>\n]+)</text>", target.read_text()))
    (tmp_path / "values.txt").write_text("0\n" * 100 + "1\n" * 50)
    out, error, _ = invoke("detect", str(tmp_path / "values.txt"), "--drift", "100", *words)
    assert "drift at row" in out
    assert f"figure: {target}" in error
    invoke("detect", "--stream", "SEA", "--rows", "100", "--column", "a1", "--plot", str(target))
    assert "a1, mean of the last 2 values" in target.read_text()


def test_what_detect_cannot_draw_is_refused_before_the_first_row(tmp_path):
    endless = ["--stream", "SEA", "--rows", "1000000000", "--plot", str(tmp_path / "trace.png")]
    with pytest.raises(StreamgaugeError, match="choose PageHinkley"):
        invoke("detect", *endless, "--learner", "NoChange", "--detector", "Adwin")
    with pytest.raises(StreamgaugeError, match="one learner, not of 2"):
        invoke("detect", *endless, *LEARNERS)
    with pytest.raises(StreamgaugeError, match=r"must end in \.pdf, \.png, \.svg"):
        invoke("detect", *endless[:-1], "trace.gif", "--learner", "NoChange")


def test_confusion_matrices_are_drawn_at_any_row(runs, tmp_path):
    texts, _ = draw(tmp_path, "confusion", runs[0], "--row", "600", "--values", "counts")
    assert "Rows, after 600 rows, over all rows" in texts
    weights = require_confusions(load(runs[0])).weights[-1, 0, 0]
    assert {f"{weight:.0f}" for weight in weights[:, :2].flat} <= texts


def test_evaluate_prints_the_confusion_matrix(tmp_path):
    options = ["--stream", "SEA", "--rows", "500", "--learner", "NaiveBayes", "--confusion"]
    out = invoke("evaluate", *options, "--out", str(tmp_path / "sea"))[0]
    _, matrix = out.split("Confusion matrix of NaiveBayes after 500 rows, over all rows\n")
    weights = require_confusions(load(tmp_path / "sea")).weights[-1, 0, 0]
    first = matrix.splitlines()[1].split()
    assert first[1:3] == [f"{weight:.0f}" for weight in weights[0, :2]]
    output = json.loads(invoke("evaluate", *options, "--json")[0])
    assert output["confusion"][0]["weights"] == weights.tolist()
    assert "Confusion" not in invoke("evaluate", *options[:-1])[0]


def test_compare_prints_the_q_statistic_of_each_pair(runs):
    out = invoke("compare", runs[0], "--q-statistic")[0]
    value = compute_q_curve(load(runs[0])).final
    assert f"NaiveBayes, NoChange  {value:+.2f} over all rows; " in out
    output = json.loads(invoke("compare", runs[0], "--q-statistic", "--json")[0])
    assert output["q_statistic"][0]["value"] == pytest.approx(value)


def test_the_q_statistic_without_a_loss_is_refused_before_the_first_row():
    options = ["--stream", "SEA", "--rows", "1000000000", *LEARNERS, "--measure", "kappa", "--q-statistic"]
    with pytest.raises(StreamgaugeError, match="needs a loss: measure error, not only kappa"):
        invoke("compare", *options)


def test_a_kind_that_takes_one_measure_refuses_several(runs, tmp_path):
    with pytest.raises(StreamgaugeError, match="ranks takes one --measure, not 2: accuracy, kappa"):
        draw(tmp_path, "ranks", *runs, "--measure", "accuracy", "--measure", "kappa")
    with pytest.raises(StreamgaugeError, match="confusion takes one --forgetting, not 2"):
        draw(tmp_path, "confusion", runs[0], "--forgetting", "Landmark", "--forgetting", "Window(100)")
    with pytest.raises(StreamgaugeError, match="q_statistic takes two learners: give --learner twice, not 1 times"):
        draw(tmp_path, "q_statistic", runs[0], "--learner", "NoChange")
