"""The evaluators of stream-learn, ours beside the installed ones."""

from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier

from streamgauge import NaiveBayes, evaluate, learners
from streamgauge.compat import strlearn as compat
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import Tumbling
from streamgauge.schemes import Chunks
from streamgauge.streams import SEA

strlearn: Any = pytest.importorskip("strlearn", reason="stream-learn is not installed")


def generator(seed: int = 3, **options: Any) -> Any:
    return strlearn.streams.StreamGenerator(
        n_chunks=8, chunk_size=50, random_state=seed, n_features=5, n_drifts=1, **options
    )


METRICS = [
    "balanced_accuracy_score",
    "f1_score",
    "geometric_mean_score_1",
    "geometric_mean_score_2",
    "precision",
    "recall",
    "specificity",
]


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_test_then_train_gives_the_numbers_of_stream_learn() -> None:
    theirs = strlearn.evaluators.TestThenTrain([getattr(strlearn.metrics, name) for name in METRICS])
    theirs.process(generator(), [GaussianNB(), MLPClassifier((4,), random_state=1)])
    mine = compat.TestThenTrain([getattr(compat, name) for name in METRICS])
    mine.process(generator(), [GaussianNB(), MLPClassifier((4,), random_state=1)])
    assert mine.scores.shape == theirs.scores.shape == (2, 7, 7)
    np.testing.assert_allclose(mine.scores, theirs.scores, rtol=1e-12)
    with_their_metrics = compat.TestThenTrain([getattr(strlearn.metrics, name) for name in METRICS])
    with_their_metrics.process(generator(), [GaussianNB(), MLPClassifier((4,), random_state=1)])
    np.testing.assert_allclose(with_their_metrics.scores, theirs.scores, rtol=1e-12)


@pytest.mark.parametrize("interval", [10, 25, 50, 15, 33, 49])
def test_a_leaky_prequential_gives_the_numbers_of_stream_learn(interval: int) -> None:
    metrics = (strlearn.metrics.recall, strlearn.metrics.balanced_accuracy_score)
    theirs = strlearn.evaluators.Prequential(metrics)
    theirs.process(generator(), GaussianNB(), interval=interval)
    mine = compat.Prequential(metrics, leaky=True)
    with pytest.warns(UserWarning, match="trained on"):
        mine.process(generator(), GaussianNB(), interval=interval)
    np.testing.assert_allclose(mine.scores, theirs.scores, rtol=1e-12)


def test_our_streams_are_read_by_the_evaluators_of_stream_learn() -> None:
    stream = compat.ChunkedStream(SEA(n_rows=1_100), chunk_size=200)
    theirs = strlearn.evaluators.TestThenTrain([strlearn.metrics.recall])
    theirs.process(stream, GaussianNB())
    stream.reset()
    mine = compat.TestThenTrain([strlearn.metrics.recall])
    mine.process(stream, GaussianNB())
    assert theirs.scores.shape == mine.scores.shape == (1, 5, 1)
    np.testing.assert_allclose(mine.scores, theirs.scores, rtol=1e-12)
    endless = compat.ChunkedStream(SEA(), chunk_size=100, n_chunks=3)
    mine.process(endless, GaussianNB())
    assert mine.scores.shape == (1, 2, 1)
    with pytest.raises(StreamgaugeError, match="never ends"):
        compat.ChunkedStream(SEA())


def test_streams_of_stream_learn_become_ours() -> None:
    theirs = generator()
    rows = compat.from_strlearn(theirs)
    assert rows.schema.classes == ("0", "1")
    batch = next(rows.batches(400))
    np.testing.assert_array_equal(batch.x, theirs.X)
    np.testing.assert_array_equal(batch.y, theirs.y)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.filterwarnings("ignore:Recall metric could not be calculated")
def test_the_metrics_are_those_of_stream_learn_where_classes_are_absent_too(name: str) -> None:
    for true in ([0, 0, 0], [1, 1, 1], [0, 1, 1]):
        for predicted in ([0, 0, 0], [1, 1, 1], [1, 0, 1]):
            labels = (np.array(true), np.array(predicted))
            with np.errstate(invalid="ignore"):
                expected = float(getattr(strlearn.metrics, name)(*labels))
            np.testing.assert_equal(getattr(compat, name)(*labels), expected)


def test_sparse_training_gives_the_numbers_of_stream_learn() -> None:
    scores = []
    for package in (compat, strlearn):
        evaluator = package.evaluators.SparseTrainDenseTest(3, (strlearn.metrics.recall,))
        evaluator.process(generator(), [GaussianNB(), GaussianNB(var_smoothing=0.1)])
        scores.append(evaluator.scores)
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-12)


@pytest.mark.parametrize("delay", [1, 3])
def test_training_on_late_labels_gives_the_numbers_of_stream_learn(delay: int) -> None:
    scores = []
    for package in (compat, strlearn):
        evaluator = package.evaluators.labeling_delay.ContinousRebuild((strlearn.metrics.recall,), delay)
        evaluator.process(generator(), GaussianNB())
        scores.append(evaluator.scores)
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-12)


@pytest.mark.parametrize(("name", "options"), [("SEA", {"n_estimators": 4}), ("WAE", {}), ("WAE", {"theta": 0.3})])
def test_ensembles_without_chance_give_the_numbers_of_stream_learn(name: str, options: dict[str, Any]) -> None:
    scores = []
    for package in (compat, strlearn):
        evaluator = package.evaluators.TestThenTrain(strlearn.metrics.balanced_accuracy_score)
        stream = strlearn.streams.StreamGenerator(20, 100, 3, n_features=5, n_drifts=2)
        evaluator.process(stream, getattr(package.ensembles, name)(GaussianNB(), **options))
        scores.append(evaluator.scores)
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-12)


@pytest.mark.parametrize("name", ["OnlineBagging", "OOB", "UOB"])
def test_bagging_gives_the_numbers_of_stream_learn_up_to_chance(name: str) -> None:
    # On a drifting, imbalanced stream; over seeds, the means differ by less than their spread allows.
    scores: dict[str, list[float]] = {"mine": [], "native": [], "theirs": []}
    for seed in range(6):
        np.random.seed(seed)
        options = {"n_features": 6, "n_informative": 4, "n_drifts": 1, "weights": [0.85, 0.15]}
        metric = strlearn.metrics.geometric_mean_score_1
        for kind, package in (("mine", compat), ("theirs", strlearn)):
            evaluator = package.evaluators.TestThenTrain(metric)
            stream = package.streams.StreamGenerator(20, 100, seed, **options)
            evaluator.process(stream, getattr(package.ensembles, name)(GaussianNB(), 10))
            scores[kind].append(evaluator.scores.mean())
        spec = getattr(learners, {"OnlineBagging": "OzaBag"}.get(name, name))(NaiveBayes(), 10)
        results = evaluate(
            compat.from_strlearn(stream),
            {"native": spec},
            scheme=Chunks(100),
            forgetting=Tumbling(100),
            measures="g_mean",
            every=100,
        )
        scores["native"].append(float(results.curve("native", "g_mean")[1:, 0].mean()))
    for kind in ("mine", "native"):
        difference = np.array(scores[kind]) - scores["theirs"]
        assert abs(difference.mean()) < 0.015
        assert np.abs(difference).max() < 0.05
