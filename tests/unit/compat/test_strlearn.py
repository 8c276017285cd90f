"""The evaluators, metrics, streams and ensembles of stream-learn, on their own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import balanced_accuracy_score, recall_score
from sklearn.naive_bayes import GaussianNB

from streamgauge.compat import strlearn as compat
from streamgauge.compat.strlearn.detectors import ADWIN, CDDD, DDM, EDDM, MD3, MetaClassifier
from streamgauge.compat.strlearn.evaluators import labeling_delay
from streamgauge.errors import StreamgaugeError
from streamgauge.learners.adapters import StreamLearn, as_spec
from streamgauge.streams import ArrayStream


class Memoriser(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Knows the label of every row it has seen, and guesses the others."""

    def __init__(self) -> None:
        self.seen: dict[bytes, int] = {}

    def partial_fit(self, x: Any, y: Any, classes: Any = None) -> "Memoriser":  # noqa: ARG002
        self.seen.update(zip((row.tobytes() for row in x), y.tolist(), strict=True))
        return self

    def predict(self, x: Any) -> Any:
        return np.array([self.seen.get(row.tobytes(), i % 2) for i, row in enumerate(x)])


def test_an_honest_prequential_tests_no_row_it_has_trained_on() -> None:
    # T1: on labels that are pure noise a memoriser scores far above chance with stream-learn.
    rng = np.random.default_rng(5)
    noise = ArrayStream(rng.random((4_000, 3)), rng.integers(0, 2, 4_000))
    honest, leaky = compat.Prequential(compat.accuracy_score), compat.Prequential(compat.accuracy_score, leaky=True)
    honest.process(noise, Memoriser(), interval=20, chunk_size=200)
    with pytest.warns(UserWarning, match="trained on"):
        leaky.process(noise, Memoriser(), interval=20, chunk_size=200)
    assert honest.scores.shape == leaky.scores.shape == (1, 190, 1)
    assert honest.scores.mean() == pytest.approx(0.5, abs=0.03)
    assert leaky.scores.mean() > 0.9
    # Where a window is one chunk nothing is tested again, and both do the same.
    chunk, again = compat.Prequential(compat.accuracy_score), compat.Prequential(compat.accuracy_score, leaky=True)
    chunk.process(noise, GaussianNB(), interval=200, chunk_size=200)
    with pytest.warns(UserWarning, match="trained on"):
        again.process(noise, GaussianNB(), interval=200, chunk_size=200)
    np.testing.assert_allclose(chunk.scores, again.scores)


class Alarm:
    """A detector that always signals a drift."""

    _is_drift = True

    def feed(self, *chunk: Any) -> None:
        """See a chunk."""


@pytest.mark.parametrize("interval", [1, 7, 30, 75, 199])
def test_any_interval_tests_every_row_once_before_it_is_learnt(interval: int) -> None:
    rng = np.random.default_rng(6)
    noise = ArrayStream(rng.random((2_000, 3)), rng.integers(0, 2, 2_000))
    evaluator = compat.Prequential(compat.accuracy_score)
    evaluator.process(noise, Memoriser(), interval, 200)
    assert evaluator.scores.shape == (1, 9 * (200 // interval), 1)  # as in stream-learn
    assert evaluator.scores.mean() == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize("delay", [1, 2, 5])
@pytest.mark.parametrize("name", labeling_delay.__all__)
def test_no_evaluator_with_late_labels_learns_a_row_before_its_test(name: str, delay: int) -> None:
    rng = np.random.default_rng(7)
    noise = compat.ChunkedStream(ArrayStream(rng.random((4_000, 3)), rng.integers(0, 2, 4_000)), 100)
    evaluator = getattr(labeling_delay, name)(compat.accuracy_score, delay)
    model = Memoriser()
    evaluator.process(noise, model, Alarm())
    assert evaluator.scores.shape == (39, 1)
    assert evaluator.scores.mean() == pytest.approx(0.5, abs=0.03)
    assert len(model.seen) > 100  # it has learnt late labels


def test_one_chunk_in_n_is_learnt_and_every_one_tested() -> None:
    rng = np.random.default_rng(8)
    x, y = rng.random((1_000, 2)), rng.integers(0, 2, 1_000)
    evaluator, model = compat.SparseTrainDenseTest(3, (compat.recall,), False), Memoriser()
    evaluator.process(ArrayStream(x, y), model, chunk_size=100)
    assert evaluator.scores.shape == (1, 9, 1)
    assert set(model.seen) == {row.tobytes() for chunk in (0, 3, 6, 9) for row in x[100 * chunk : 100 * chunk + 100]}


def test_verbose_is_the_second_argument(capsys: pytest.CaptureFixture[str]) -> None:
    stream = compat.StreamGenerator(n_chunks=4, chunk_size=20, random_state=1)
    for verbose in (False, True):
        for evaluator in (compat.TestThenTrain(compat.recall, verbose), compat.Prequential(compat.recall, verbose)):
            evaluator.process(stream, GaussianNB())
            assert bool(capsys.readouterr().err) == verbose


@pytest.mark.parametrize("labels", [(0, 1, 2), (1, 2), (3, 5, 8, 9)])
def test_metrics_of_many_classes_are_those_of_the_documentation(labels: tuple[int, ...]) -> None:
    rng = np.random.default_rng(9)
    y_true, y_pred = rng.choice(labels, 300), rng.choice(labels, 300)
    assert compat.bac(y_true, y_pred) == pytest.approx(balanced_accuracy_score(y_true, y_pred))
    recalls = recall_score(y_true, y_pred, average=None)
    assert compat.geometric_mean_score_1(y_true, y_pred) == pytest.approx(np.prod(recalls) ** (1 / len(labels)))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"y_flip": (0.1, 0.9, 0.5)}, "one per class"),
        ({"y_flip": "often"}, "share from 0 to 1"),
        ({"weights": (0.1, 0.2, 0.3, 0.4)}, "write the shares of the classes as a list"),
        ({"weights": [0.1, 0.2, 0.7]}, "3 shares for 2 classes"),
        ({"n_chunks": 0}, "n_chunks"),
    ],
)
def test_options_of_the_generator_that_do_not_fit_are_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(StreamgaugeError, match=reason):
        compat.StreamGenerator(**options)


def test_rows_after_the_last_drift_keep_its_concept() -> None:
    stream = compat.StreamGenerator(n_chunks=10, chunk_size=10, n_drifts=3, random_state=1)
    stream.get_chunk()
    assert stream.concept_selector[-2:].tolist() == [3, 3]


def test_parsers_refuse_what_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "text.csv").write_text("size,kind\n1.5,small\n")
    with pytest.raises(StreamgaugeError, match="all columns must be numbers"):
        compat.streams.CSVParser(tmp_path / "text.csv", n_chunks=1)
    (tmp_path / "gap.csv").write_text("1.5,0\n,1\n")
    stream = compat.streams.CSVParser(tmp_path / "gap.csv", n_chunks=1)
    assert np.isnan(stream.read_rows(0, 2)[0][1, 0])
    with pytest.raises(StreamgaugeError, match="2 rows, too few for 3 chunks"):
        compat.streams.CSVParser(tmp_path / "gap.csv", n_chunks=3)
    np.save(tmp_path / "flat.npy", np.arange(3.0))
    with pytest.raises(StreamgaugeError, match="rows by columns"):
        compat.streams.NPYParser(tmp_path / "flat.npy", n_chunks=1)


ENSEMBLES = [name for name in compat.ensembles.__all__ if name != "StreamingEnsemble"]


@pytest.mark.parametrize("name", ENSEMBLES)
def test_ensembles_learn_repeat_and_are_cloned(name: str) -> None:
    make: Callable[..., Any] = getattr(compat.ensembles, name)
    untrained = make(GaussianNB())
    assert clone(untrained).get_params().keys() == untrained.get_params().keys()
    options: dict[str, Any] = {"p": 20} if name == "DWM" else {}  # it learns row by row
    size, scores = 50 if options else 200, []
    for _ in range(2):
        np.random.seed(3)
        evaluator = compat.TestThenTrain(compat.bac)
        evaluator.process(
            compat.StreamGenerator(10, size, 1, n_features=6, weights=[0.8, 0.2]), make(GaussianNB(), **options)
        )
        scores.append(evaluator.scores)
    np.testing.assert_array_equal(scores[0], scores[1])
    assert scores[0].mean() > 0.6


def test_an_ensemble_keeps_the_labels_and_refuses_new_ones() -> None:
    model, x = compat.ensembles.SEA(GaussianNB()), np.arange(6.0).reshape(6, 1)
    y = np.array([4, 4, 4, 9, 9, 9])
    model.partial_fit(x, y).partial_fit(x[:3], y[:3])
    assert y.tolist() == [4, 4, 4, 9, 9, 9]
    assert set(model.predict(x).tolist()) <= {4, 9}
    assert len(model.ensemble_) == len(model.weights_) == 2
    with pytest.raises(StreamgaugeError, match=r"none of \[4, 9\]"):
        model.partial_fit(x, np.full(6, 7))
    with pytest.raises(StreamgaugeError, match="2 features"):
        model.partial_fit(np.zeros((3, 2)), y[:3])


@pytest.mark.parametrize("detector", [DDM(), EDDM(), ADWIN()], ids=lambda detector: type(detector).__name__)
def test_a_detector_of_errors_restarts_its_classifier(detector: Any) -> None:
    rng = np.random.default_rng(1)
    x = rng.random((6_000, 2))
    y = (x[:, 0] > 0.5).astype(int)
    y[3_000:] = 1 - y[3_000:]
    scores = []
    for model in (MetaClassifier(GaussianNB(), detector), GaussianNB()):
        evaluator = compat.TestThenTrain(compat.accuracy_score)
        evaluator.process(ArrayStream(x, y), model, chunk_size=200)
        scores.append(evaluator.scores[0, 16:, 0].mean())
    assert 2 in detector.drift[13:18]
    assert scores[0] > scores[1] + 0.3


@pytest.mark.parametrize("make", [CDDD, MD3])
def test_detectors_without_labels_see_rows_move(make: Callable[[], Any]) -> None:
    rng = np.random.default_rng(2)
    detector, signals = make(), []
    x = rng.normal(size=(200, 3))
    detector.feed(x, x[:, 0] > 0) if make is MD3 else detector.feed(x)
    for chunk in range(30):
        detector.feed(rng.normal(size=(200, 3)) * (0.3 if chunk >= 20 else 1.0) + (2.0 if chunk >= 20 else 0.0))
        signals.append(detector._is_drift)
    assert not any(signals[:20])
    assert any(signals[20:23])


def test_an_ensemble_in_an_evaluation_learns_chunks() -> None:
    spec = as_spec(compat.ensembles.SEA(GaussianNB()))
    assert isinstance(spec, StreamLearn)
    assert spec.chunk_size == 200


def test_a_damaged_npy_file_is_refused_in_one_line(tmp_path: Path) -> None:
    np.savez(tmp_path / "rows.npz", np.ones((4, 2)))
    np.save(tmp_path / "rows.npy", np.ones((4, 2)))
    whole = (tmp_path / "rows.npy").read_bytes()
    (tmp_path / "header.npy").write_bytes(whole.replace(b"'descr'", b"'des\0r'"))
    (tmp_path / "zip.npy").write_bytes(b"PK\x03\x04 and no archive")
    for name in ("rows.npz", "header.npy", "zip.npy"):
        with pytest.raises(StreamgaugeError, match=f"{name} is .*not an npy file of numbers") as refusal:
            compat.streams.NPYParser(tmp_path / name, n_chunks=2)
        assert len(str(refusal.value).splitlines()) == 1
