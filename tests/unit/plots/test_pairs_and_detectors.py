"""The Q statistic and the statistics of detectors: the figure shows what the rows say."""

from pathlib import Path

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.drift import Cusum, PageHinkley, detect, trace_statistic
from streamgauge.errors import StreamgaugeError
from streamgauge.reports.q_statistic import compute_q_curve, describe_q, format_q_values, list_q_values
from streamgauge.results import Predictions, Results, read_errors
from streamgauge.significance import q_statistic

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'streamgauge[plots]'")

from streamgauge import plots

DETECTOR = PageHinkley(threshold=5.0, delta=0.01, factor=0.999)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    return sg.evaluate(
        sg.SEA(n_rows=4000, drift_every=1000),
        {"bayes": sg.NaiveBayes(), "change": sg.NoChange()},
        forgetting=[sg.Landmark(), sg.Window(200), sg.Fading(0.99)],
        measures=["kappa", "accuracy", "log_loss"],
        detectors={"ph": DETECTOR},
        recorders=[Predictions(folder / "predictions.parquet")],
        every=100,
    )


@pytest.mark.parametrize(("position", "option"), [(0, {}), (1, {"width": 200}), (2, {"factor": 0.99})])
def test_q_is_the_log_ratio_of_the_summed_losses_of_the_rows(
    results: Results, folder: Path, position: int, option: dict[str, float]
) -> None:
    losses = [read_errors(folder, learner).errors for learner in results.learners]
    expected = q_statistic(*losses, **option)[results.rows - 1]  # type: ignore[arg-type]
    forgetting = results.forgettings[position]
    curve = compute_q_curve(results, "bayes", "change", "accuracy", forgetting)
    np.testing.assert_allclose(curve.values, expected, rtol=1e-9)
    figure = plots.q_statistic(results, forgettings=forgetting)
    drawn = max(figure.drawn.axes[0].lines, key=lambda line: np.size(line.get_xdata()))
    np.testing.assert_allclose(np.asarray(drawn.get_ydata()), expected, rtol=1e-9)


def test_q_has_a_line_for_each_forgetting_and_changes_its_sign_with_the_order(results: Results) -> None:
    figure = plots.q_statistic(results, "bayes", "change", forgettings=list(results.forgettings))
    legend = [text.get_text() for text in figure.drawn.legends[0].get_texts()]
    assert legend == ["over all rows", "over the last 200 rows", "with fading factor 0.99", "true drift"]
    assert figure.drawn.axes[0].get_title("left") == "below 0 bayes is better, above 0 change"
    forth, back = (compute_q_curve(results, *pair) for pair in (("bayes", "change"), ("change", "bayes")))
    np.testing.assert_allclose(forth.values, -back.values)


def test_q_of_other_losses_and_of_folds() -> None:
    results = sg.evaluate(
        sg.SEA(n_rows=500),
        {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()},
        measures=["log_loss", "kappa"],
        scheme=sg.Bootstrap(3),
    )
    curve = compute_q_curve(results)
    means = [results.curve(name, "log_loss")[-1].mean() for name in ("bayes", "majority")]
    assert curve.measure == "log_loss"
    assert curve.final == pytest.approx(np.log(means[0] / means[1]))
    assert len(plots.q_statistic(results).drawn.axes[0].collections) == 1  # the band of the folds
    with pytest.raises(StreamgaugeError, match="kappa is not a loss"):
        compute_q_curve(results, measure="kappa")


def test_q_has_a_sentence_and_is_undefined_without_losses(results: Results) -> None:
    curve = compute_q_curve(results, "bayes", "change")
    ratio = np.exp(curve.final)
    assert describe_q(curve) == (
        f"Q = {curve.final:.2f} after 4,000 rows, over all rows: the error of bayes is {ratio:.3g} times that of change"
    )
    assert f"bayes, change  {curve.final:+.2f} over all rows; " in format_q_values(results)
    assert list_q_values(results)[0]["value"] == curve.final
    y = np.zeros(100, dtype=int)
    perfect = sg.evaluate(
        (np.zeros((100, 1)), y), {"a": sg.MajorityClass(), "b": sg.NoChange()}, every=50, measures="error"
    )
    quiet = compute_q_curve(perfect, "a", "b", "error")
    assert np.isnan(quiet.final) == (perfect.final("a", "error").mean == 0.0)


def test_a_pair_must_be_chosen() -> None:
    results = sg.evaluate(sg.SEA(n_rows=100), [sg.NaiveBayes(), sg.NoChange(), sg.MajorityClass()])
    with pytest.raises(StreamgaugeError, match="needs two learners: choose two of NaiveBayes, NoChange, MajorityClass"):
        plots.q_statistic(results)
    with pytest.raises(StreamgaugeError, match="no learner 'tree'"):
        plots.q_statistic(results, "tree", "NoChange")
    with pytest.raises(StreamgaugeError, match="takes one stream, not 2"):
        plots.q_statistic([results, sg.evaluate(sg.RandomRBF(n_rows=100), [sg.NaiveBayes(), sg.NoChange()])])


def test_saved_errors_are_the_errors_of_the_run_and_raise_its_alarms(results: Results, folder: Path) -> None:
    for learner in results.learners:
        saved = read_errors(folder, learner)
        assert 1 - saved.errors.mean() == pytest.approx(results.final(learner, "accuracy").mean)
        raised = [alarm.row for alarm in results.alarms if (alarm.learner, alarm.kind) == (learner, "drift")]
        assert saved.rows[trace_statistic(saved.errors, DETECTOR).alarms].tolist() == raised


def test_the_statistic_of_page_hinkley_is_drawn_beside_its_threshold(results: Results, folder: Path) -> None:
    errors = read_errors(folder, "change")
    detectors: list[PageHinkley | Cusum] = [DETECTOR, Cusum(threshold=8.0)]
    figure = plots.detector_statistic(errors.errors[:1500], detectors, drifts=results.drifts[:1])
    top, *panels = figure.drawn.axes
    assert [axes.get_title("left") for axes in panels] == [
        "PageHinkley(delta=0.01, threshold=5.0, factor=0.999)",
        "Cusum(delta=0.005, threshold=8.0)",
    ]
    for axes, detector in zip(panels, detectors, strict=True):
        trace = trace_statistic(errors.errors[:1500], detector)
        statistic, threshold = sorted((line for line in axes.lines if np.size(line.get_xdata()) == 1500),
                                      key=lambda line: line.get_linestyle())[:2]  # fmt: skip
        np.testing.assert_allclose(np.asarray(statistic.get_ydata()), trace.statistic)
        heights = np.asarray(threshold.get_ydata())
        np.testing.assert_array_equal(np.isnan(heights), np.isnan(trace.threshold))  # gaps in grace periods
        assert set(heights[~np.isnan(heights)]) == {detector.threshold}
        (alarms,) = [np.asarray(line.get_xdata()).tolist() for line in axes.lines if line.get_marker() == "^"]
        assert alarms == detect(errors.errors[:1500], detector).alarms.tolist()
    means = np.convolve(errors.errors[:1500], np.ones(30) / 30, mode="valid")
    (line,) = [line for line in top.lines if np.size(line.get_xdata()) > 2]
    np.testing.assert_allclose(np.asarray(line.get_ydata()), means, atol=1e-12)
    legend = [text.get_text() for text in figure.drawn.legends[0].get_texts()]
    assert legend == ["statistic", "threshold", "alarm", "true drift"]


def test_what_has_no_statistic_or_no_errors_is_refused(results: Results, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StreamgaugeError, match="choose PageHinkley, Cusum, DDM"):
        plots.detector_statistic([0.0, 1.0], "Adwin")
    with pytest.raises(StreamgaugeError, match=r"shapes \(2,\) and \(1,\)"):
        plots.detector_statistic([0.0, 1.0], rows=[5])
    with pytest.raises(StreamgaugeError, match="--record predictions"):
        read_errors(tmp_path)
    with pytest.raises(StreamgaugeError, match="2 learners; choose one with learner: bayes, change"):
        read_errors(folder)
    with pytest.raises(StreamgaugeError, match="no learner 'byes'; did you mean bayes"):
        read_errors(folder, "byes")
    with pytest.raises(StreamgaugeError, match="no fold 3 of bayes"):
        read_errors(folder, "bayes", fold=3)
    (tmp_path / "predictions.parquet").write_bytes(b"not a table")
    with pytest.raises(StreamgaugeError, match="cannot read predictions from"):
        read_errors(tmp_path)
    assert results.n_rows == 4000
