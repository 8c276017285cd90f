"""The metric functions of stream-learn, with its conventions.

They are for two classes, of which 0 is the negative one; any other label counts as positive. Two are defined for more
classes, as its documentation says: the balanced accuracy is the mean of the recalls of the classes, and the first
geometric mean the N-th root of their product (its code computes neither: it takes all labels but 0 for one class).

As there, undefined values of two classes are 0. So a chunk with one class has a balanced accuracy of at most one half,
even if every prediction is right; `streamgauge.measures` are free of this.
"""

from math import prod, sqrt

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "accuracy_score",
    "bac",
    "balanced_accuracy_score",
    "binary_confusion_matrix",
    "f1_score",
    "f_score",
    "fbeta_score",
    "geometric_mean_score_1",
    "geometric_mean_score_2",
    "precision",
    "recall",
    "specificity",
]


def binary_confusion_matrix(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[int, int, int, int]:
    """Count true negatives, false positives, false negatives and true positives.

    Examples
    --------
    >>> binary_confusion_matrix([0, 0, 1, 1, 1], [0, 1, 0, 1, 1])
    (1, 1, 1, 2)
    """
    true, predicted = (np.asarray(labels).astype(bool) for labels in (y_true, y_pred))
    counts = (~true & ~predicted, ~true & predicted, true & ~predicted, true & predicted)
    tn, fp, fn, tp = (int(np.count_nonzero(count)) for count in counts)
    return tn, fp, fn, tp


def accuracy_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the share of predictions that are right.

    Examples
    --------
    >>> accuracy_score([0, 1], [0, 0])
    0.5
    """
    return float(np.mean(np.asarray(y_true) == np.asarray(y_pred)))


def specificity(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the share of negatives that were predicted as negative; 0 if there are none.

    Examples
    --------
    >>> specificity([0, 0, 1], [0, 1, 1])
    0.5
    """
    tn, fp, _, _ = binary_confusion_matrix(y_true, y_pred)
    return tn / (tn + fp) if tn + fp else 0.0


def recall(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the share of positives that were predicted as positive; 0 if there are none.

    Examples
    --------
    >>> recall([0, 1, 1], [0, 1, 0])
    0.5
    """
    _, _, fn, tp = binary_confusion_matrix(y_true, y_pred)
    return tp / (tp + fn) if tp + fn else 0.0


def precision(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the share of positive predictions that are right; 0 if there are none.

    Examples
    --------
    >>> precision([0, 1, 1], [1, 1, 0])
    0.5
    """
    _, fp, _, tp = binary_confusion_matrix(y_true, y_pred)
    return tp / (tp + fp) if tp + fp else 0.0


def fbeta_score(y_true: ArrayLike, y_pred: ArrayLike, beta: float) -> float:
    """Return the F-beta score of the positive class; 0 if it is undefined.

    Examples
    --------
    >>> fbeta_score([0, 1, 1], [1, 1, 0], beta=2)
    0.5
    """
    p, r = precision(y_true, y_pred), recall(y_true, y_pred)
    whole = beta**2 * p + r
    return (1 + beta**2) * p * r / whole if whole else 0.0


def f1_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the harmonic mean of precision and recall of the positive class; 0 if it is undefined.

    Examples
    --------
    >>> f1_score([0, 1, 1], [1, 1, 0])
    0.5
    """
    return fbeta_score(y_true, y_pred, 1)


def balanced_accuracy_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the mean of recall and specificity, where an undefined one counts as 0; of more classes, of their recalls.

    Examples
    --------
    >>> balanced_accuracy_score([0, 0, 1], [0, 1, 1])
    0.75
    >>> balanced_accuracy_score([0, 1, 2, 2], [0, 2, 2, 1])
    0.5
    """
    if _has_more_classes(y_true, y_pred):
        recalls = _recall_classes(y_true, y_pred)
        return sum(recalls) / len(recalls)
    return (recall(y_true, y_pred) + specificity(y_true, y_pred)) / 2


def geometric_mean_score_1(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the geometric mean of recall and specificity; of more classes, of their recalls.

    Examples
    --------
    >>> round(geometric_mean_score_1([0, 0, 1], [0, 1, 1]), 4)
    0.7071
    >>> round(geometric_mean_score_1([0, 1, 2, 2], [0, 1, 2, 1]), 4)
    0.7937
    """
    if _has_more_classes(y_true, y_pred):
        recalls = _recall_classes(y_true, y_pred)
        return float(prod(recalls) ** (1 / len(recalls)))
    return sqrt(recall(y_true, y_pred) * specificity(y_true, y_pred))


def geometric_mean_score_2(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the geometric mean of recall and precision; an undefined one counts as 0.

    Examples
    --------
    >>> geometric_mean_score_2([0, 1, 1], [1, 1, 0])
    0.5
    """
    return sqrt(recall(y_true, y_pred) * precision(y_true, y_pred))


bac = balanced_accuracy_score
"""The older name of `balanced_accuracy_score`."""

f_score = f1_score
"""The older name of `f1_score`."""


def _has_more_classes(y_true: ArrayLike, y_pred: ArrayLike) -> bool:
    """Return whether there are labels besides 0 and 1."""
    return not all(np.isin(np.asarray(labels), (0, 1)).all() for labels in (y_true, y_pred))


def _recall_classes(y_true: ArrayLike, y_pred: ArrayLike) -> list[float]:
    """Return the recall of each class that occurs."""
    true, predicted = np.asarray(y_true), np.asarray(y_pred)
    return [float(np.mean(predicted[true == label] == label)) for label in np.unique(true)]
