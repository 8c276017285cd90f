"""Evaluators that test a chunk or a part of it before they train on it."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.progress_bar import progress_bar
from streamgauge.compat.strlearn.metrics import accuracy_score, balanced_accuracy_score
from streamgauge.compat.strlearn.streams.chunks import Chunk, adopt, read_chunks
from streamgauge.errors import require_at_least

__all__ = ["Metrics", "Prequential", "SparseTrainDenseTest", "TestThenTrain", "as_metrics", "show_chunks"]

Metric = Callable[..., float]
Metrics = Metric | Sequence[Metric]


class TestThenTrain:
    """Test a chunk, then train on it; the first chunk only trains.

    The scores equal those of stream-learn. As there, the given classifiers themselves are trained.

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
    _n_repeats = 1

    def __init__(self, metrics: Metrics = (accuracy_score, balanced_accuracy_score), verbose: bool = False) -> None:
        self.metrics, self.verbose = as_metrics(metrics), verbose

    def process(
        self, stream: object, clfs: object, chunk_size: int | None = None, *, interval: int | None = None
    ) -> None:
        """Evaluate classifiers with `partial_fit` on a stream of stream-learn, or on one of ours in chunks.

        An `interval`, which an example of stream-learn's documentation passes, has no effect: `Prequential` has one.
        """
        if interval is not None:
            warnings.warn(
                "TestThenTrain tests whole chunks, so interval has no effect; Prequential moves a window by it",
                stacklevel=2,
            )
        self.stream_ = adopt(stream, chunk_size)
        self.clfs_ = _as_classifiers(clfs)
        scores = []
        for number, (x, y) in enumerate(show_chunks(self.stream_, shown=self.verbose)):
            if number:
                predictions = [clf.predict(x) for clf in self.clfs_]
                scores.append([[metric(y, predicted) for metric in self.metrics] for predicted in predictions])
            if number % self._n_repeats == 0:
                for clf in self.clfs_:
                    clf.partial_fit(x, y, classes=np.asarray(self.stream_.classes_))
        table = np.array(scores, dtype=np.float64).reshape(-1, len(self.clfs_), len(self.metrics))
        self.scores: NDArray[np.float64] = np.moveaxis(table, 0, 1)


class SparseTrainDenseTest(TestThenTrain):
    """Test every chunk, and train on one in `n_repeats`, from the first on.

    Parameters
    ----------
    n_repeats
        Train on every n-th chunk.
    metrics, verbose
        As in `TestThenTrain`.

    Attributes
    ----------
    scores
        Values of the metrics, float64 [classifiers, chunks - 1, metrics].

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from streamgauge.streams import SEA
    >>> evaluator = SparseTrainDenseTest(3, accuracy_score)
    >>> evaluator.process(SEA(n_rows=1000), GaussianNB(), chunk_size=100)
    >>> evaluator.scores.shape
    (1, 9, 1)
    """

    def __init__(
        self,
        n_repeats: int = 5,
        metrics: Metrics = (accuracy_score, balanced_accuracy_score),
        verbose: bool = False,
    ) -> None:
        require_at_least("n_repeats", n_repeats, 1)
        super().__init__(metrics, verbose)
        self.n_repeats = self._n_repeats = n_repeats


class Prequential:
    """Test the next `interval` rows, then train on them; scores are over a sliding window of one chunk.

    stream-learn tests the whole window each time, although it has already trained on all but the last `interval` rows:
    a classifier that memorises rows scores high even if the labels are pure noise. Here every row is tested once,
    before the classifier trains on it. The scores therefore differ from those of stream-learn; their windows are the
    same. If the interval does not divide the chunk, the rows that are left at the end of a chunk join the next step.

    Parameters
    ----------
    metrics
        A function of y_true and y_pred, or several.
    verbose
        Whether to show a progress bar while the stream is read.
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

    def __init__(
        self,
        metrics: Metrics = (accuracy_score, balanced_accuracy_score),
        verbose: bool = False,
        *,
        leaky: bool = False,
    ) -> None:
        self.metrics, self.verbose, self.leaky = as_metrics(metrics), verbose, leaky

    def process(self, stream: object, clfs: object, interval: int = 100, chunk_size: int | None = None) -> None:
        """Evaluate classifiers with `partial_fit` on a stream of stream-learn, or on one of ours in chunks."""
        require_at_least("interval", interval, 1)
        if self.leaky:
            warnings.warn(
                "leaky=True scores rows that the classifiers have trained on, as stream-learn does: the scores are "
                "too high, and only useful for comparison with its numbers",
                stacklevel=2,
            )
        self.stream_, self.interval_ = adopt(stream, chunk_size), interval
        self.clfs = _as_classifiers(clfs)
        x, y = (np.concatenate(parts) for parts in zip(*show_chunks(self.stream_, shown=self.verbose), strict=True))
        size = int(self.stream_.chunk_size)
        steps = range(interval, size + 1, interval)  # where the steps of a chunk end
        ends = [start + step for start in range(0, len(y), size) for step in steps if start + step <= len(y)]
        score = self._score_leaky if self.leaky else self._score_once
        scores = [score(clf, (x, y), ends, size) for clf in self.clfs]
        shape = (len(self.clfs), sum(end > size for end in ends), len(self.metrics))
        self.scores: NDArray[np.float64] = np.array(scores, dtype=np.float64).reshape(shape)

    def _score_once(self, clf: Any, rows: Chunk, ends: list[int], size: int) -> list[list[float]]:
        """Return the scores of each window; every row is tested once, before it is learnt."""
        (x, y), classes, scores = rows, np.asarray(self.stream_.classes_), []
        predicted = np.empty(len(y), dtype=np.result_type(y, classes))
        for start, end in zip([0, *ends], ends, strict=False):
            if start:
                predicted[start:end] = clf.predict(x[start:end])
            clf.partial_fit(x[start:end], y[start:end], classes=classes)
            if end > size:
                scores.append([metric(y[end - size : end], predicted[end - size : end]) for metric in self.metrics])
        return scores

    def _score_leaky(self, clf: Any, rows: Chunk, ends: list[int], size: int) -> list[list[float]]:
        """Return the scores of windows that were partly trained on before, and train on the whole window each time."""
        (x, y), scores = rows, []
        clf.partial_fit(x[:size], y[:size], classes=np.asarray(self.stream_.classes_))
        for end in ends:
            if end > size:
                window = slice(end - size, end)
                predicted = clf.predict(x[window])
                scores.append([metric(y[window], predicted) for metric in self.metrics])
                clf.partial_fit(x[window], y[window])
        return scores


def as_metrics(metrics: Metrics) -> Sequence[Metric]:
    """Return one or several metrics as a sequence.

    Examples
    --------
    >>> len(as_metrics(accuracy_score))
    1
    """
    return (metrics,) if callable(metrics) else tuple(metrics)


def show_chunks(stream: Any, *, shown: bool) -> Iterator[Chunk]:
    """Yield the chunks of a stream with a progress bar, if it is shown.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> len(list(show_chunks(adopt(SEA(n_rows=1000), 200), shown=False)))
    5
    """
    with progress_bar(getattr(stream, "n_chunks", None), shown=shown, unit="chunks") as advance_to:
        for number, chunk in enumerate(read_chunks(stream)):
            yield chunk
            advance_to(number + 1)


def _as_classifiers(clfs: object) -> Sequence[Any]:
    return clfs if isinstance(clfs, list | tuple) else [clfs]
