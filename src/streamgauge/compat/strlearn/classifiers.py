"""Classifiers of stream-learn."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

__all__ = ["ASC", "SampleWeightedMetaEstimator", "Skipper"]


class ASC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The accumulated samples classifier: trained again on all rows so far at every chunk.

    Parameters
    ----------
    base_clf
        The classifier, which needs only `fit`.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = ASC(DecisionTreeClassifier()).partial_fit(np.array([[0.0], [1.0]]), np.array([0, 1]))
    >>> model.predict(np.array([[0.2]])).tolist()
    [0]
    """

    def __init__(self, base_clf: Any = None) -> None:
        self.base_clf = base_clf

    def fit(self, X: Any, y: Any) -> "ASC":
        """Forget all rows, and train on these."""
        if hasattr(self, "_rows"):
            del self._rows, self._labels
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "ASC":
        """Add rows, and train on all of them."""
        if not hasattr(self, "_rows"):
            self._rows: list[Any] = []
            self._labels: list[Any] = []
        self._rows.append(np.array(X))
        self._labels.append(np.array(y))
        x, labels = np.concatenate(self._rows), np.concatenate(self._labels)
        self.classes_ = np.unique(labels) if classes is None else np.asarray(classes)
        self._clf = clone(self.base_clf).fit(x, labels)
        return self

    def predict(self, X: Any) -> Any:
        """Predict the classes of rows."""
        return self._clf.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes."""
        return self._clf.predict_proba(X)


class SampleWeightedMetaEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that learns a row as often as its whole-numbered weight says, for those that take no weights.

    Parameters
    ----------
    base_classifier
        The classifier, with `partial_fit`.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> model = SampleWeightedMetaEstimator(GaussianNB())
    >>> x, y = np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 1])
    >>> model.partial_fit(x, y, [0, 1], np.array([1, 2, 3])).clf_.class_count_.tolist()
    [3.0, 3.0]
    """

    def __init__(self, base_classifier: Any) -> None:
        self.base_classifier = base_classifier

    def fit(self, X: Any, y: Any) -> "SampleWeightedMetaEstimator":
        """Train an untrained copy on rows."""
        self.clf_ = clone(self.base_classifier).fit(X, y)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> "SampleWeightedMetaEstimator":
        """Learn rows as often as their weights say."""
        if not hasattr(self, "clf_"):
            self.clf_ = clone(self.base_classifier)
        copies = np.asarray(sample_weight, dtype=np.intp)
        self.clf_.partial_fit(np.repeat(X, copies, axis=0), np.repeat(y, copies), classes)
        return self

    def predict(self, X: Any) -> Any:
        """Predict the classes of rows."""
        return self.clf_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes."""
        return self.clf_.predict_proba(X)


class Skipper(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that learns one chunk in `n_skips`, from the first on.

    Parameters
    ----------
    base_clf
        The classifier, with `partial_fit`.
    n_skips
        Learn every n-th chunk.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> model, x, y = Skipper(GaussianNB(), n_skips=2), np.array([[0.0], [5.0]]), np.array([0, 1])
    >>> for _ in range(3):
    ...     _ = model.partial_fit(x, y, [0, 1])
    >>> model.clf_.class_count_.tolist()
    [2.0, 2.0]
    """

    def __init__(self, base_clf: Any, n_skips: int = 5) -> None:
        self.base_clf, self.n_skips = base_clf, n_skips

    def fit(self, X: Any, y: Any) -> "Skipper":
        """Train an untrained copy on rows."""
        self.clf_, self.counter_ = clone(self.base_clf).fit(X, y), 1
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "Skipper":
        """Learn rows, or skip them."""
        if not hasattr(self, "clf_"):
            self.clf_, self.counter_ = clone(self.base_clf), 0
        if self.counter_ % self.n_skips == 0:
            self.clf_.partial_fit(X, y, classes)
        self.counter_ += 1
        return self

    def predict(self, X: Any) -> Any:
        """Predict the classes of rows."""
        return self.clf_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes."""
        return self.clf_.predict_proba(X)
