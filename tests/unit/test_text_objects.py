"""Text names objects in Python as it does on the command line, and results answer by method."""

from pathlib import Path

import numpy as np
import pytest

import streamgauge as sg
from streamgauge import plots, significance
from streamgauge.errors import StreamgaugeError
from streamgauge.labelling import Delayed
from streamgauge.learners import AdaptiveRandomForest
from streamgauge.records import Alarm

LEARNERS = {"tree": "HoeffdingTree(grace_period=50)", "bayes": sg.NaiveBayes(), "majority": "MajorityClass"}


@pytest.fixture(scope="module")
def results() -> sg.Results:
    return sg.evaluate(
        sg.SEA(n_rows=3000),
        LEARNERS,
        scheme="Bootstrap(5)",
        measures=["accuracy", "kappa"],
        detectors="DDM",
        budgets="error<0.2",
        resources=True,
    )


def test_text_gives_the_results_of_the_objects(results: sg.Results) -> None:
    objects = sg.evaluate(
        sg.SEA(n_rows=3000),
        {"tree": sg.HoeffdingTree(grace_period=50), "bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()},
        scheme=sg.Bootstrap(5),
        measures=["accuracy", "kappa"],
        detectors="DDM",
        budgets="error<0.2",
    )
    np.testing.assert_array_equal(results.values, objects.values)
    assert results.verdicts == objects.verdicts
    by_text = sg.evaluate(
        "SEA(n_rows=3000)", ["NaiveBayes", "NoChange"], labelling="Delayed(100)", forgetting=["Window(200)", "Landmark"]
    )
    by_objects = sg.evaluate(
        sg.SEA(n_rows=3000),
        [sg.NaiveBayes(), sg.NoChange()],
        labelling=Delayed(100),
        forgetting=[sg.Window(200), sg.Landmark()],
    )
    np.testing.assert_array_equal(by_text.values, by_objects.values)


@pytest.mark.parametrize("as_path", [str, Path])
def test_a_file_is_read_by_its_path_with_the_columns_named(tmp_path: Path, as_path: type) -> None:
    path = tmp_path / "payments.csv"
    rows = "\n".join(f"{index % 2},{'yes' if index % 3 else 'no'},{index % 7}" for index in range(200))
    path.write_text(f"a,fraud,b\n{rows}\n")
    by_path = sg.evaluate(as_path(path), "NaiveBayes", target="fraud", drop=["b"])
    by_object = sg.evaluate(sg.File(path, target="fraud", drop=("b",)), sg.NaiveBayes())
    np.testing.assert_array_equal(by_path.values, by_object.values)


def test_labels_that_are_text_are_no_streams() -> None:
    x = np.arange(20.0).reshape(10, 2)
    assert sg.evaluate((x, ["SEA", "LED"] * 5), "MajorityClass").n_rows == 10


def test_a_name_that_lives_elsewhere_is_named() -> None:
    with pytest.raises(AttributeError, match=r"it is streamgauge\.learners\.AdaptiveRandomForest"):
        _ = sg.AdaptiveRandomForest  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"it is streamgauge\.labelling\.Delayed"):
        _ = sg.Delayed  # type: ignore[attr-defined]
    assert sg.learners.AdaptiveRandomForest is AdaptiveRandomForest


def test_results_answer_by_method(results: sg.Results, tmp_path: Path) -> None:
    assert results.compare() == significance.compare_all(results)
    assert results.compare("bayes", "majority", measure="kappa") == sg.compare(
        results, "bayes", "majority", measure="kappa"
    )
    with pytest.raises(StreamgaugeError, match=r"test every pair with results\.compare\(\)"):
        sg.compare(results)
    figure = results.plot("kappa").save(tmp_path / "method.png")
    assert figure.read_bytes() == plots.curves(results, "kappa").save(tmp_path / "function.png").read_bytes()
    assert "tree" in results.report(tmp_path / "report.md").read_text()
    assert r"\toprule" in results.to_latex()
    assert sg.load(results.save(tmp_path / "run")).verdicts == results.verdicts


def test_the_results_of_some_learners_are_those_of_the_whole_run(results: sg.Results) -> None:
    two = results["tree", "bayes"]
    assert two.learners == ("tree", "bayes")
    assert two.compare() == sg.compare(results, "tree", "bayes")
    assert [verdict.better for verdict in two.verdicts] == [results.verdicts[0].better]
    np.testing.assert_array_equal(two.curve("bayes", "kappa"), results.curve("bayes", "kappa"))
    assert two.differences is not None
    assert results.differences is not None
    np.testing.assert_array_equal(
        two.differences.between("bayes", "tree"), results.differences.between("bayes", "tree")
    )
    one = results["bayes"]
    assert one.resources is not None
    assert results.resources is not None
    np.testing.assert_array_equal(one.resources.cpu_seconds[:, 0], results.resources.cpu_seconds[:, 1])
    np.testing.assert_array_equal(one.resources.latency[0], results.resources.latency[1])
    assert [verdict.learner for verdict in one.model_verdicts] == ["bayes"]
    assert all(isinstance(alarm, Alarm) and alarm.learner == "bayes" for alarm in one.alarms)
    assert one.differences is None
    assert one.pairs == ()
    with pytest.raises(StreamgaugeError, match="did you mean bayes"):
        _ = results["bayess"]
