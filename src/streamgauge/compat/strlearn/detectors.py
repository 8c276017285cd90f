"""Drift detectors with the interface of stream-learn: `feed` a chunk, then read `drift` and `_is_drift`.

The detectors of errors are ours (`streamgauge.drift`), fed with the errors of each chunk row by row.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge import drift
from streamgauge._optional import library
from streamgauge.protocols import DetectorSpec
from streamgauge.records import DRIFT

__all__ = ["ADWIN", "CDDD", "DDM", "EDDM", "MD3", "MetaClassifier", "dderror"]


class _ErrorDetector:
    """A detector of the errors of a classifier."""

    def __init__(self, spec: DetectorSpec) -> None:
        self._detector = spec.build()
        self.drift: list[int] = []
        self._is_drift = False

    def feed(self, X: ArrayLike, y: ArrayLike, pred: ArrayLike) -> "_ErrorDetector":  # noqa: ARG002
        """Add the errors of a chunk; `drift` gets a 2 if there is a drift in it, 0 otherwise."""
        errors = (np.asarray(y) != np.asarray(pred)).astype(np.float64)
        self._is_drift = bool((self._detector.update(errors) == DRIFT).any())
        self.drift.append(2 if self._is_drift else 0)
        return self


class DDM(_ErrorDetector):
    """The drift detection method of Gama et al. (2004), over the errors of chunks.

    Parameters
    ----------
    warning_lvl, drift_lvl
        After how many standard deviations there is a warning, and a drift.
    skip
        The rows before the first drift.

    Examples
    --------
    >>> detector, zeros = DDM(), np.zeros(200)
    >>> for wrong in (0.1, 0.1, 0.6):
    ...     _ = detector.feed(None, zeros, np.arange(200) % 10 < 10 * wrong)
    >>> detector.drift
    [0, 0, 2]
    """

    def __init__(self, warning_lvl: float = 2, drift_lvl: float = 3, skip: int = 30) -> None:
        self.warning_lvl, self.drift_lvl, self.skip = warning_lvl, drift_lvl, skip
        super().__init__(drift.DDM(warning=warning_lvl, drift=drift_lvl, grace_period=skip))


class EDDM(_ErrorDetector):
    """The early drift detection method of Baena-García et al. (2006), over the errors of chunks.

    Parameters
    ----------
    warning_lvl, drift_lvl
        Below which ratio to the greatest distance between errors there is a warning, and a drift.

    Examples
    --------
    >>> EDDM().feed(None, np.zeros(10), np.zeros(10)).drift
    [0]
    """

    def __init__(self, warning_lvl: float = 0.95, drift_lvl: float = 0.9) -> None:
        self.warning_lvl, self.drift_lvl = warning_lvl, drift_lvl
        super().__init__(drift.EDDM(warning=warning_lvl, drift=drift_lvl))


class ADWIN(_ErrorDetector):
    """The adaptive window of Bifet and Gavaldà (2007), over the errors of chunks.

    Parameters
    ----------
    delta
        The significance level.

    Examples
    --------
    >>> ADWIN().feed(None, np.zeros(10), np.zeros(10)).drift
    [0]
    """

    def __init__(self, delta: float = 0.002) -> None:
        self.delta = delta
        super().__init__(drift.Adwin(delta=delta))


class CDDD:
    """The centroid distance drift detector (Klikowski 2022): rows without labels, one centroid per chunk.

    There is a drift when the mean distance of the newest centroid to those since the last drift is twice in a row above
    the mean of such distances by 2 to 3 standard deviations. Distances are smoothed by a running median.

    Parameters
    ----------
    filter_size
        The width of the median.

    Examples
    --------
    >>> detector, random = CDDD(), np.random.default_rng(1)
    >>> drifts = []
    >>> for shift in [0] * 20 + [5] * 3:
    ...     detector.feed(random.normal(shift, 1, size=(100, 2)))
    ...     drifts.append(detector._is_drift)
    >>> drifts.index(True)
    21
    """

    def __init__(self, filter_size: int = 3) -> None:
        self.filter_size = filter_size
        self._is_drift = False
        self._centroids: list[NDArray[np.float64]] = []
        self._distances: list[float] = []
        self._limit: float | None = None

    def feed(self, X: NDArray[np.float64]) -> None:
        """Add the rows of a chunk."""
        self._is_drift, centroid = False, np.mean(X, axis=0)
        if self._centroids:
            gaps = np.abs(np.array(self._centroids) - centroid).sum(axis=1)
            distance = float(np.mean(_smooth(gaps, self.filter_size)))
            n = len(self._centroids)
            factor = 2.0 + 1.0 / (1.0 + np.exp(min(0.5 * (n - 10), 500.0)))
            limit = float(np.mean(self._distances) + factor * np.std(self._distances)) if n > 2 else np.inf
            self._is_drift = self._limit is not None and distance > self._limit
            self._limit = limit if distance > limit else None
            self._distances.append(distance)
        if self._is_drift:
            self._centroids, self._distances, self._limit = [], [], None
        self._centroids.append(centroid)


def _smooth(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Return the running median of values; the ends are repeated."""
    padded = np.pad(values, (width // 2, (width - 1) // 2), mode="edge")
    medians: NDArray[np.float64] = np.median(np.lib.stride_tricks.sliding_window_view(padded, width), axis=1)
    return medians


class MD3:
    """The margin density drift detector (Sethi and Kantardzic 2015): the share of rows in the margin of a linear SVM.

    The first chunk after the start or a drift must have labels: it trains the SVM. There is a drift when the shares
    since then differ by more than `sigma`.

    Parameters
    ----------
    sigma
        By how much shares may differ.
    svc_max_iter
        The most iterations of the SVM.

    Examples
    --------
    >>> random = np.random.default_rng(1)
    >>> detector, x = MD3(), random.normal(size=(200, 2))
    >>> detector.feed(x, x[:, 0] > 0)
    >>> detector.feed(x)
    >>> detector._is_drift
    False
    """

    def __init__(self, sigma: float = 0.15, svc_max_iter: int = 1000) -> None:
        self.sigma, self.svc_max_iter = sigma, svc_max_iter
        self.model: Any = None
        self._shares: list[float] = []
        self._is_drift = False

    def feed(self, X: NDArray[np.float64], y: NDArray[Any] | None = None) -> None:
        """Add the rows of a chunk, with labels if the detector has just started."""
        if self.model is None:
            if y is not None:
                svm = library("sklearn.svm", "scikit-learn")
                self.model = svm.LinearSVC(max_iter=self.svc_max_iter).fit(X, y)
            self._shares, self._is_drift = [], False
            return
        self._shares.append(float(np.mean(np.abs(self.model.decision_function(X)) < 1)))
        self._is_drift = max(self._shares) - min(self._shares) > self.sigma
        if self._is_drift:
            self.model = None


class MetaClassifier:
    """A classifier that is replaced by an untrained copy when a detector signals a drift in its errors.

    Parameters
    ----------
    base_clf
        The classifier.
    detector
        The detector, such as `DDM()`.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from streamgauge.compat.strlearn.evaluators import TestThenTrain
    >>> from streamgauge.compat.strlearn.streams import StreamGenerator
    >>> evaluator = TestThenTrain()
    >>> evaluator.process(StreamGenerator(n_chunks=10, random_state=1), MetaClassifier(GaussianNB(), DDM()))
    >>> evaluator.scores.shape
    (1, 9, 2)
    """

    def __init__(self, base_clf: Any, detector: Any) -> None:
        self.base_clf, self.detector = base_clf, detector
        self._clone = library("sklearn.base", "scikit-learn").clone
        self.clf = self._clone(base_clf)
        self.prev_pred: NDArray[Any] | None = None

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "MetaClassifier":
        """Show a chunk to the detector, then train on it; with an untrained classifier if there is a drift."""
        if self.prev_pred is not None and len(self.prev_pred) == len(y):
            self.detector.feed(X, y, self.prev_pred)
            if self.detector.drift[-1] == 2:
                self.clf = self._clone(self.base_clf)
        self.clf.partial_fit(X, y, classes)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the classes of rows."""
        self.prev_pred = np.asarray(self.clf.predict(X))
        return self.prev_pred


def dderror(drifts_idx: Sequence[int], detections_idx: Sequence[int]) -> tuple[float, float, float]:
    """Return three errors of detections: mean distance to a drift, of drifts to a detection, and relative number.

    Examples
    --------
    >>> dderror([10, 20], [11, 19, 30])
    (4.0, 1.0, 0.33333333333333337)
    """
    if not len(detections_idx):
        return np.inf, np.inf, np.inf
    distances = np.abs(np.subtract.outer(np.asarray(drifts_idx), np.asarray(detections_idx)))
    ratio = len(drifts_idx) / len(detections_idx)
    return float(distances.min(axis=0).mean()), float(distances.min(axis=1).mean()), abs(ratio - 1.0)
