"""The evaluators of stream-learn, on the loop of streamgauge."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.compat.strlearn.metrics import accuracy_score, balanced_accuracy_score
from streamgauge.compat.strlearn.streams import adopt_chunks
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.evaluation import evaluate
from streamgauge.forgetting import Tumbling, Window
from streamgauge.learners.adapters.saved_states import pickle_state, unpickle_state
from streamgauge.learners.plain_loop import pick_winners
from streamgauge.measures import as_measure
from streamgauge.protocols import Forgetting, Learner, Measure, Stream
from streamgauge.records import ABSTAINED, Schema, Step
from streamgauge.streams import take

__all__ = ["Prequential", "TestThenTrain"]

Metric = Callable[..., float]
Metrics = Metric | Sequence[Metric]


class TestThenTrain:
    """Test a chunk, then train on it; the first chunk only trains.

    The scores equal those of stream-learn. As there, the given classifiers themselves are trained. Metrics must not
    depend on the order of rows.

    Parameters
    ----------
    metrics
        A function of y_true and y_pred, or several.
    verbose
        Whether to show a progress bar.

    Attributes
    ----------
    scores
        Values of the metrics, float64 [classifiers, chunks - 1, metrics].

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from streamgauge.streams import SEA
    >>> evaluator = TestThenTrain(accuracy_score)
    >>> evaluator.process(SEA(n_rows=1000), GaussianNB(), chunk_size=200)
    >>> evaluator.scores.shape
    (1, 4, 1)
    """

    __test__ = False  # not a test class of pytest

    def __init__(self, metrics: Metrics = (accuracy_score, balanced_accuracy_score), *, verbose: bool = False) -> None:
        self.metrics, self.verbose = _as_metrics(metrics), verbose

    def process(self, stream: object, clfs: object, chunk_size: int | None = None) -> None:
        """Evaluate classifiers with `partial_fit` on a stream of stream-learn, or on one of ours in chunks."""
        rows, size, labels = adopt_chunks(stream, chunk_size)
        self.clfs_ = _as_classifiers(clfs)
        scores = _evaluate(
            rows,
            self.clfs_,
            self.metrics,
            labels,
            forgetting=Tumbling(size),
            chunk_size=size,
            progress=self.verbose,
        )
        self.scores: NDArray[np.float64] = scores[:, 1:]


class Prequential:
    """Test the next `interval` rows, then train on them; scores are over a sliding window of one chunk.

    stream-learn tests the whole window each time, although it has already trained on all but the last `interval` rows:
    a classifier that memorises rows scores high even if the labels are pure noise. Here every row is tested once,
    before the classifier trains on it. The scores therefore differ from those of stream-learn.

    Parameters
    ----------
    metrics
        A function of y_true and y_pred, or several.
    leaky
        Whether to test trained rows as stream-learn does, for comparison with its numbers; gives a warning.

    Attributes
    ----------
    scores
        Values of the metrics, float64 [classifiers, windows after the first chunk, metrics].

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from streamgauge.streams import SEA
    >>> evaluator = Prequential(accuracy_score)
    >>> evaluator.process(SEA(n_rows=1000), GaussianNB(), interval=100, chunk_size=200)
    >>> evaluator.scores.shape
    (1, 8, 1)
    """

    def __init__(self, metrics: Metrics = (accuracy_score, balanced_accuracy_score), *, leaky: bool = False) -> None:
        self.metrics, self.leaky = _as_metrics(metrics), leaky

    def process(self, stream: object, clfs: object, interval: int = 100, chunk_size: int | None = None) -> None:
        """Evaluate classifiers with `partial_fit` on a stream of stream-learn, or on one of ours in chunks."""
        require_at_least("interval", interval, 1)
        rows, size, labels = adopt_chunks(stream, chunk_size)
        self.clfs = _as_classifiers(clfs)
        if self.leaky:
            warnings.warn(
                "leaky=True scores rows that the classifiers have trained on, as stream-learn does: the scores are "
                "too high, and only useful for comparison with its numbers",
                stacklevel=2,
            )
            self.scores: NDArray[np.float64] = _score_leaky(rows, self.clfs, self.metrics, labels, (size, interval))
            return
        if size % interval:
            msg = f"interval = {interval}: it must divide the chunk size {size}, so that every row is tested once"
            raise StreamgaugeError(msg)
        scores = _evaluate(rows, self.clfs, self.metrics, labels, forgetting=Window(size), chunk_size=interval)
        self.scores = scores[:, size // interval :]


def _evaluate(
    stream: Stream,
    clfs: Sequence[Any],
    metrics: Sequence[Metric],
    labels: NDArray[Any],
    *,
    forgetting: Forgetting,
    chunk_size: int,
    progress: bool = False,
) -> NDArray[np.float64]:
    """Return the scores [classifiers, readings, metrics] of classifiers that learn and are read once per chunk."""
    results = evaluate(
        stream,
        {str(index): _ChunkSpec(clf, chunk_size, labels) for index, clf in enumerate(clfs)},
        forgetting=forgetting,
        measures=[_as_measure(metric, str(index), labels) for index, metric in enumerate(metrics)],
        every=chunk_size,
        progress=progress,
    )
    return np.moveaxis(results.values[:, :, 0, 0], 0, 1)


def _as_measure(metric: Metric, name: str, labels: NDArray[Any]) -> Measure:
    """Return a metric as a measure; NaN for the first chunk, which is not predicted."""

    def score(y_true: NDArray[np.int64], y_pred: NDArray[np.int64]) -> float:
        return nan if (y_pred == ABSTAINED).any() else float(metric(labels[y_true], labels[y_pred]))

    return as_measure(greater_is_better=True, name=name)(score)


def _as_metrics(metrics: Metrics) -> Sequence[Metric]:
    return (metrics,) if callable(metrics) else tuple(metrics)


def _as_classifiers(clfs: object) -> Sequence[Any]:
    return clfs if isinstance(clfs, list | tuple) else [clfs]


def _score_leaky(
    stream: Stream, clfs: Sequence[Any], metrics: Sequence[Metric], labels: NDArray[Any], sizes: tuple[int, int]
) -> NDArray[np.float64]:
    """Score windows that were partly trained on before, and train on the whole window each time."""
    chunk_size, interval = sizes
    per_chunk = chunk_size // interval
    whole = take(stream, stream.n_rows or 0)
    x, y = whole.x, labels[whole.y]
    n_chunks = len(y) // chunk_size
    scores = np.zeros((len(clfs), (n_chunks - 1) * per_chunk, len(metrics)))
    for c, clf in enumerate(clfs):
        clf.partial_fit(x[:chunk_size], y[:chunk_size], labels)
        for w in range(scores.shape[1]):
            chunk, step = divmod(w, per_chunk)
            start = chunk * chunk_size + (step + 1) * interval
            window = slice(start, start + chunk_size)
            scores[c, w] = [metric(y[window], clf.predict(x[window])) for metric in metrics]
            clf.partial_fit(x[window], y[window])
    return scores


@dataclass(frozen=True)
class _ChunkSpec:
    """The spec of a classifier that trains on whole chunks, and predicts as after the last full one."""

    estimator: Any
    chunk_size: int
    labels: NDArray[Any]
    seed: int = 1
    seedless: bool = False

    def build(self, schema: Schema, seed: int) -> Learner:  # noqa: ARG002
        """Return the learner, which trains the given classifier itself, as stream-learn does."""
        return _ChunkLearner(self.estimator, self.chunk_size, self.labels)


class _ChunkLearner:
    """A classifier that trains on whole chunks."""

    def __init__(self, estimator: Any, chunk_size: int, labels: NDArray[Any]) -> None:  # noqa: ANN401
        self._estimator, self._chunk_size, self._labels = estimator, chunk_size, labels
        self._x: list[NDArray[np.float64]] = []
        self._y: list[NDArray[np.int32]] = []
        self._n_waiting, self._learnt = 0, False

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Vote for the predicted class; abstain before the first chunk."""
        votes = np.zeros((len(x), len(self._labels)))
        if self._learnt and len(x):
            votes[np.arange(len(x)), np.searchsorted(self._labels, self._estimator.predict(x))] = 1.0
        return votes

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Buffer rows until a chunk is full, then train on it."""
        if weight is not None:
            msg = "the evaluators of stream-learn do not support weights"
            raise StreamgaugeError(msg)
        self._x.append(x)
        self._y.append(y)
        self._n_waiting += len(y)
        if self._n_waiting == self._chunk_size:
            chunk = (np.concatenate(self._x), self._labels[np.concatenate(self._y)])
            self._estimator.partial_fit(*chunk, classes=self._labels)
            self._x, self._y, self._n_waiting, self._learnt = [], [], 0, True

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Predict the rows up to the end of each chunk, then learn them."""
        x, y, weight = step.batch.x, step.labels, step.learning_weight
        votes, start = np.zeros((len(y), len(self._labels))), 0
        while start < len(y):
            rows = slice(start, min(len(y), start + self._chunk_size - self._n_waiting))
            votes[rows] = self.predict(x[rows])
            self.learn(x[rows], y[rows], None if weight is None else weight[rows])
            start = rows.stop
        predictions = pick_winners(votes) if len(y) else np.full(0, ABSTAINED, dtype=np.int32)
        return predictions, votes if with_votes else None

    @property
    def n_bytes(self) -> int:
        """The size of its pickle."""
        return len(self.save())

    def save(self) -> bytes:
        """Return the state as a pickle."""
        return pickle_state("StreamLearn", (self._estimator, self._x, self._y, self._n_waiting, self._learnt))

    def load(self, state: bytes) -> None:
        """Restore a saved state; it is a pickle, so it must come from a trusted source."""
        self._estimator, self._x, self._y, self._n_waiting, self._learnt = unpickle_state("StreamLearn", state)
