"""Evaluators whose labels arrive some chunks late.

The labels of a chunk that are requested at chunk t arrive at chunk t + delay, before it is tested, and are learnt then.
stream-learn differs: two of its evaluators train on the current chunk, whose labels have not arrived, before they test
it; labels that are requested while others are awaited arrive right after those; and labels that a drift requests arrive
a chunk early, with a delay of 1 before the chunk itself is tested.
"""

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.compat.strlearn.evaluators.testing import Metrics, as_metrics, show_chunks
from streamgauge.compat.strlearn.metrics import balanced_accuracy_score
from streamgauge.compat.strlearn.streams.chunks import Chunk, adopt
from streamgauge.errors import require_at_least

__all__ = [
    "ContinousRebuild",
    "TriggeredRebuildPartiallyUnsupervised",
    "TriggeredRebuildSupervised",
    "TriggeredRebuildUnsupervised",
]


class _DelayedEvaluator:
    """Tests every chunk but the first, which only trains."""

    def __init__(
        self,
        metrics: Metrics = (balanced_accuracy_score,),
        labeling_delay: int = 10,
        partial: bool = True,
        verbose: bool = False,
    ) -> None:
        require_at_least("labeling_delay", labeling_delay, 1)
        self.metrics, self.labeling_delay = as_metrics(metrics), labeling_delay
        self.partial, self.verbose = partial, verbose

    def process(self, stream: object, clf: Any, detector: Any = None) -> None:
        """Evaluate a classifier on a stream; a detector decides when labels are requested or learnt."""
        self.stream_ = adopt(stream)
        self._clf, self._detector = clf, detector
        self._requested: deque[tuple[int, Chunk, NDArray[Any]]] = deque()
        scores = []
        for number, chunk in enumerate(show_chunks(self.stream_, shown=self.verbose)):
            x, y = chunk
            if not number:
                self.train_model(clf, x, y)
                self.start(chunk)
                continue
            self.prepare(number, chunk)
            predicted = clf.predict(x)
            scores.append([metric(y, predicted) for metric in self.metrics])
            self.finish(number, chunk, predicted)
        self.scores: NDArray[np.float64] = np.array(scores, dtype=np.float64).reshape(-1, len(self.metrics))

    def train_model(self, clf: Any, x: NDArray[np.float64], y: NDArray[Any]) -> None:
        """Train a classifier on a chunk."""
        if self.partial:
            clf.partial_fit(x, y, np.asarray(self.stream_.classes_))
        else:
            clf.fit(x, y)

    def start(self, chunk: Chunk) -> None:
        """Use the first chunk."""

    def prepare(self, number: int, chunk: Chunk) -> None:
        """Use what has arrived before a chunk is tested."""

    def finish(self, number: int, chunk: Chunk, predicted: NDArray[Any]) -> None:
        """Use a chunk after its test."""

    def _request(self, number: int, chunk: Chunk, predicted: NDArray[Any] | None = None) -> None:
        """Request the labels of a chunk."""
        nothing = np.empty(0, dtype=np.int64)
        self._requested.append((number + self.labeling_delay, chunk, nothing if predicted is None else predicted))

    def _take_arrived(self, number: int) -> tuple[Chunk, NDArray[Any]] | None:
        """Return the chunk whose labels arrive at a chunk, and its predictions."""
        if not self._requested or self._requested[0][0] > number:
            return None
        return self._requested.popleft()[1:]


class ContinousRebuild(_DelayedEvaluator):
    """Train on every chunk when its labels arrive.

    Parameters
    ----------
    metrics
        A function of y_true and y_pred, or several.
    labeling_delay
        After how many chunks labels arrive.
    partial
        Whether to train with `partial_fit`; with `fit` otherwise.
    verbose
        Whether to show a progress bar.

    Attributes
    ----------
    scores
        Values of the metrics, float64 [chunks - 1, metrics].

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from streamgauge.compat.strlearn.streams import StreamGenerator
    >>> evaluator = ContinousRebuild(labeling_delay=2)
    >>> evaluator.process(StreamGenerator(n_chunks=10, random_state=1), GaussianNB())
    >>> evaluator.scores.shape
    (9, 1)
    """

    def prepare(self, number: int, chunk: Chunk) -> None:  # noqa: ARG002
        """Train on the chunk whose labels have arrived."""
        arrived = self._take_arrived(number)
        if arrived is not None:
            self.train_model(self._clf, *arrived[0])

    def finish(self, number: int, chunk: Chunk, predicted: NDArray[Any]) -> None:  # noqa: ARG002
        """Request the labels of the chunk."""
        self._request(number, chunk)


class TriggeredRebuildSupervised(_DelayedEvaluator):
    """Train on a chunk when its labels arrive, if they show a drift to the detector.

    `process` takes the detector as its third argument: its `feed` takes rows, labels and predictions, and its
    `_is_drift` answers.

    Parameters
    ----------
    metrics, labeling_delay, partial, verbose
        As in `ContinousRebuild`.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from streamgauge.compat.strlearn.detectors import DDM
    >>> from streamgauge.compat.strlearn.streams import StreamGenerator
    >>> evaluator = TriggeredRebuildSupervised(labeling_delay=2)
    >>> evaluator.process(StreamGenerator(n_chunks=10, random_state=1), GaussianNB(), DDM())
    >>> evaluator.scores.shape
    (9, 1)
    """

    def prepare(self, number: int, chunk: Chunk) -> None:  # noqa: ARG002
        """Show the labels that have arrived to the detector; train on them if there is a drift."""
        arrived = self._take_arrived(number)
        if arrived is not None:
            (x, y), predicted = arrived
            self._detector.feed(x, y, predicted)
            if self._detector._is_drift:
                self.train_model(self._clf, x, y)

    def finish(self, number: int, chunk: Chunk, predicted: NDArray[Any]) -> None:
        """Request the labels of the chunk."""
        self._request(number, chunk, predicted)


class TriggeredRebuildUnsupervised(ContinousRebuild):
    """Request the labels of a chunk if its rows show a drift to the detector; train on them when they arrive.

    `process` takes the detector as its third argument: its `feed` takes rows, and its `_is_drift` answers.

    Parameters
    ----------
    metrics, labeling_delay, partial, verbose
        As in `ContinousRebuild`.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from streamgauge.compat.strlearn.detectors import CDDD
    >>> from streamgauge.compat.strlearn.streams import StreamGenerator
    >>> evaluator = TriggeredRebuildUnsupervised(labeling_delay=2)
    >>> evaluator.process(StreamGenerator(n_chunks=10, random_state=1), GaussianNB(), CDDD())
    >>> evaluator.scores.shape
    (9, 1)
    """

    def finish(self, number: int, chunk: Chunk, predicted: NDArray[Any]) -> None:  # noqa: ARG002
        """Show the rows of the chunk to the detector; request their labels if there is a drift."""
        self._detector.feed(chunk[0])
        if self._detector._is_drift:
            self._request(number, chunk)


class TriggeredRebuildPartiallyUnsupervised(_DelayedEvaluator):
    """As `TriggeredRebuildUnsupervised`, for a detector that learns the labels that arrive, those of chunk 0 first.

    While labels are awaited, the detector sees no rows.

    Parameters
    ----------
    metrics, labeling_delay, partial, verbose
        As in `ContinousRebuild`.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from streamgauge.compat.strlearn.detectors import MD3
    >>> from streamgauge.compat.strlearn.streams import StreamGenerator
    >>> evaluator = TriggeredRebuildPartiallyUnsupervised(labeling_delay=2)
    >>> evaluator.process(StreamGenerator(n_chunks=10, random_state=1), GaussianNB(), MD3())
    >>> evaluator.scores.shape
    (9, 1)
    """

    def start(self, chunk: Chunk) -> None:
        """Request the labels of the first chunk for the detector."""
        self._request(0, chunk)

    def prepare(self, number: int, chunk: Chunk) -> None:
        """Show labels that have arrived, or the rows of the chunk, to the detector; request labels at a drift."""
        arrived = self._take_arrived(number)
        if arrived is not None:
            self.train_model(self._clf, *arrived[0])
            self._detector.feed(*arrived[0])
        elif self._requested:
            return
        else:
            self._detector.feed(chunk[0])
        if self._detector._is_drift:
            self._request(number, chunk)
