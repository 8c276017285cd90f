"""The evaluators of stream-learn, on the one loop of streamgauge."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.compat.strlearn.metrics import accuracy_score, balanced_accuracy_score
from streamgauge.compat.strlearn.streams import ours
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.evaluation import evaluate
from streamgauge.forgetting import Tumbling, Window
from streamgauge.learners.adapters.saved_states import pickled, unpickled
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

    Gives the numbers that stream-learn gives. The classifiers given are trained, as there. Metrics must not depend on
    the order of rows.

    Parameters
    ----------
    metrics
        A function of y_true and y_pred, or several.
    verbose
        Whether to show a progress bar.

    Attributes
    ----------
    scores
        What the metrics say, float64 [classifiers, chunks - 1, metrics].

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from streamgauge.streams import SEA
    >>> evaluator = TestThenTrain(accuracy_score)
    >>> evaluator.process(SEA(n_rows=1000), GaussianNB(), chunk_size=200)
    >>> evaluator.scores.shape
    (1, 4, 1)
    """

    __test__ = False  # no test class of pytest

    def __init__(self, metrics: Metrics = (accuracy_score, balanced_accuracy_score), *, verbose: bool = False) -> None:
        self.metrics, self.verbose = _several(metrics), verbose

    def process(self, stream: object, clfs: object, chunk_size: int | None = None) -> None:
        """Evaluate classifiers with `partial_fit` on a stream of stream-learn, or on one of ours in chunks."""
        rows, size, labels = ours(stream, chunk_size)
        self.clfs_ = _classifiers(clfs)
        readings = _readings(rows, self.clfs_, self.metrics, labels, (Tumbling(size), size, size), self.verbose)
        self.scores: NDArray[np.float64] = readings[:, 1:]


class Prequential:
    """Test the next `interval` rows, then train on them; scores are over a sliding window of the size of a chunk.

    stream-learn tests the whole window each time, though it has trained on all of it but the last `interval` rows; so
    a classifier that only remembers scores high on labels that are pure noise. Here every row is tested once, before
    it is trained on, and trained on once: the scores differ, and are those of an honest prequential window.

    Parameters
    ----------
    metrics
        A function of y_true and y_pred, or several.
    leaky
        Whether to do as stream-learn does, for comparison with figures made by it; it then warns.

    Attributes
    ----------
    scores
        What the metrics say, float64 [classifiers, windows after the first chunk, metrics].

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
        self.metrics, self.leaky = _several(metrics), leaky

    def process(self, stream: object, clfs: object, interval: int = 100, chunk_size: int | None = None) -> None:
        """Evaluate classifiers with `partial_fit` on a stream of stream-learn, or on one of ours in chunks."""
        require_at_least("interval", interval, 1)
        rows, size, labels = ours(stream, chunk_size)
        self.clfs = _classifiers(clfs)
        if self.leaky:
            warnings.warn(
                "leaky=True scores rows that the classifiers have trained on, as stream-learn does: the scores are "
                "too high, and only good for comparison with its figures",
                stacklevel=2,
            )
            self.scores: NDArray[np.float64] = _leaky_scores(rows, self.clfs, self.metrics, labels, (size, interval))
            return
        if size % interval:
            msg = f"interval = {interval}: it must divide the size of a chunk, {size}, so that rows are tested once"
            raise StreamgaugeError(msg)
        forgetting = (Window(size), interval, interval)
        self.scores = _readings(rows, self.clfs, self.metrics, labels, forgetting, shown=False)[:, size // interval :]


def _readings(
    stream: Stream,
    clfs: Sequence[Any],
    metrics: Sequence[Metric],
    labels: NDArray[Any],
    how: tuple[Forgetting, int, int],
    shown: bool,  # noqa: FBT001
) -> NDArray[np.float64]:
    """Give the scores [classifiers, readings, metrics] of classifiers that learn and are read in steps."""
    forgetting, every, chunk_size = how
    results = evaluate(
        stream,
        {str(at): _InChunks(clf, chunk_size, labels) for at, clf in enumerate(clfs)},
        forgetting=forgetting,
        measures=[_measure(metric, str(at), labels) for at, metric in enumerate(metrics)],
        every=every,
        progress=shown,
    )
    return np.moveaxis(results.values[:, :, 0, 0], 0, 1)


def _measure(metric: Metric, name: str, labels: NDArray[Any]) -> Measure:
    """Make a measure of a metric: it sees the labels of the stream; NaN for the first chunk, which is not predicted."""

    def scored(y_true: NDArray[np.int64], y_pred: NDArray[np.int64]) -> float:
        return nan if (y_pred == ABSTAINED).any() else float(metric(labels[y_true], labels[y_pred]))

    return as_measure(greater_is_better=True, name=name)(scored)


def _several(metrics: Metrics) -> Sequence[Metric]:
    return (metrics,) if callable(metrics) else tuple(metrics)


def _classifiers(clfs: object) -> Sequence[Any]:
    return clfs if isinstance(clfs, list | tuple) else [clfs]


def _leaky_scores(
    stream: Stream, clfs: Sequence[Any], metrics: Sequence[Metric], labels: NDArray[Any], sizes: tuple[int, int]
) -> NDArray[np.float64]:
    """Score windows whose rows were trained on before, each time training on all of the window."""
    chunk_size, interval = sizes
    per_chunk = chunk_size // interval
    whole = take(stream, stream.n_rows or 0)
    x, y = whole.x, labels[whole.y]
    n_chunks = len(y) // chunk_size
    scores = np.zeros((len(clfs), (n_chunks - 1) * per_chunk, len(metrics)))
    for at, clf in enumerate(clfs):
        clf.partial_fit(x[:chunk_size], y[:chunk_size], labels)
        for place in range(scores.shape[1]):
            chunk, step = divmod(place, per_chunk)
            start = chunk * chunk_size + (step + 1) * interval
            window = slice(start, start + chunk_size)
            scores[at, place] = [metric(y[window], clf.predict(x[window])) for metric in metrics]
            clf.partial_fit(x[window], y[window])
    return scores


@dataclass(frozen=True)
class _InChunks:
    """A classifier that is trained on whole chunks, and predicts as it was after the last one."""

    estimator: Any
    chunk_size: int
    labels: NDArray[Any]
    seed: int = 1
    seedless: bool = False

    def build(self, schema: Schema, seed: int) -> Learner:  # noqa: ARG002
        """Build the learner; it trains the classifier itself, as stream-learn does."""
        return _ChunkLearner(self.estimator, self.chunk_size, self.labels)


class _ChunkLearner:
    """The classifier at work."""

    def __init__(self, estimator: Any, chunk_size: int, labels: NDArray[Any]) -> None:  # noqa: ANN401
        self._estimator, self._chunk_size, self._labels = estimator, chunk_size, labels
        self._x: list[NDArray[np.float64]] = []
        self._y: list[NDArray[np.int32]] = []
        self._n_waiting, self._learnt = 0, False

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Vote for what the classifier predicts; for nothing before it has seen a chunk."""
        votes = np.zeros((len(x), len(self._labels)))
        if self._learnt and len(x):
            votes[np.arange(len(x)), np.searchsorted(self._labels, self._estimator.predict(x))] = 1.0
        return votes

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Keep rows until a chunk is full, then train on it."""
        if weight is not None:
            msg = "the evaluators of stream-learn know no weights"
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
        """Give all of its state, as a pickle: load only what you saved yourself."""
        return pickled("StreamLearn", (self._estimator, self._x, self._y, self._n_waiting, self._learnt))

    def load(self, state: bytes) -> None:
        """Take over a saved state; it is a pickle, so it must come from a trusted place."""
        self._estimator, self._x, self._y, self._n_waiting, self._learnt = unpickled("StreamLearn", state)
