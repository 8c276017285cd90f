"""Every example of stream-learn's documentation runs with only the package renamed, and without stream-learn."""

import sys
from importlib.abc import MetaPathFinder
from typing import Any

import numpy as np
import pytest

IMPORTS = """
from strlearn.evaluators import {evaluator}
from strlearn.ensembles import SEA
from strlearn.utils.metrics import bac, f_score
from strlearn.streams import StreamGenerator
from sklearn.naive_bayes import GaussianNB
"""
SINGLE = """
stream = StreamGenerator(chunk_size=200, n_chunks=250)
clf = SEA(base_estimator=GaussianNB())
evaluator = TestThenTrain(metrics=(bac, f_score))

evaluator.process(stream, clf)
print(evaluator.scores)
"""
MULTIPLE = """
from sklearn.tree import DecisionTreeClassifier

stream = StreamGenerator(chunk_size=200, n_chunks=250)
clf1 = SEA(base_estimator=GaussianNB())
clf2 = SEA(base_estimator=DecisionTreeClassifier())
clfs = (clf1, clf2)
evaluator = {evaluator}(metrics=(bac, f_score))

evaluator.process(stream, clfs{interval})
print(evaluator.scores)
"""
PREQUENTIAL = """
stream = StreamGenerator()
clf = SEA(base_estimator=GaussianNB())
evaluator = TestThenTrain(metrics=(bac, f_score))

evaluator.process(stream, clf, interval=100)
print(evaluator.scores)
"""
METRICS = "\n".join(
    f"from strlearn.utils.metrics import {name}"
    for name in (
        "recall",
        "precision",
        "fbeta_score",
        "f1_score",
        "bac",
        "geometric_mean_score_1",
        "geometric_mean_score_2",
    )
)


class Blocker(MetaPathFinder):
    """Hides a package."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:  # noqa: ARG002
        if name.partition(".")[0] == "strlearn":
            raise ModuleNotFoundError(name=name)


@pytest.fixture(autouse=True)
def _no_stream_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "strlearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Blocker(), *sys.meta_path])
    with pytest.raises(ModuleNotFoundError):
        __import__("strlearn")


def run(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(source.replace("from strlearn.", "from streamgauge.compat.strlearn."), names)
    return names


def test_test_then_train_of_one_classifier() -> None:
    names = run(IMPORTS.format(evaluator="TestThenTrain") + SINGLE)
    assert names["evaluator"].scores.shape == (1, 249, 2)
    assert names["evaluator"].scores.mean() > 0.6


def test_test_then_train_of_several_classifiers() -> None:
    names = run(IMPORTS.format(evaluator="TestThenTrain") + MULTIPLE.format(evaluator="TestThenTrain", interval=""))
    assert names["evaluator"].scores.shape == (2, 249, 2)
    assert (names["evaluator"].scores.mean(axis=(1, 2)) > 0.6).all()


def test_prequential_of_one_classifier() -> None:
    # The printed example imports Prequential, but uses TestThenTrain and passes the interval to it.
    with pytest.warns(UserWarning, match="interval has no effect; Prequential"):
        names = run(IMPORTS.format(evaluator="Prequential, TestThenTrain") + PREQUENTIAL)
    assert names["evaluator"].scores.shape == (1, 249, 2)
    names = run(IMPORTS.format(evaluator="Prequential") + PREQUENTIAL.replace("TestThenTrain", "Prequential"))
    assert names["evaluator"].scores.shape == (1, 498, 2)


def test_prequential_of_several_classifiers() -> None:
    source = MULTIPLE.format(evaluator="Prequential", interval=", interval=100")
    names = run(IMPORTS.format(evaluator="Prequential") + source)
    assert names["evaluator"].scores.shape == (2, 498, 2)
    assert (names["evaluator"].scores.mean(axis=(1, 2)) > 0.6).all()


def test_the_metrics_have_the_names_of_the_documentation() -> None:
    names = run(METRICS)
    y_true, y_pred = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 1, 1])
    assert names["recall"](y_true, y_pred) == pytest.approx(2 / 3)
    assert names["precision"](y_true, y_pred) == pytest.approx(2 / 3)
    assert names["bac"](y_true, y_pred) == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert names["geometric_mean_score_1"](y_true, y_pred) == pytest.approx((2 / 3 * 1 / 2) ** 0.5)
    assert names["geometric_mean_score_2"](y_true, y_pred) == pytest.approx(2 / 3)
    assert names["fbeta_score"](y_true, y_pred, 2) == pytest.approx(2 / 3)
