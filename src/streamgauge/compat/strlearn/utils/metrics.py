"""The metrics under the module name of stream-learn's documentation; they are those of `metrics`."""

from streamgauge.compat.strlearn.metrics import (
    accuracy_score,
    bac,
    balanced_accuracy_score,
    binary_confusion_matrix,
    f1_score,
    f_score,
    fbeta_score,
    geometric_mean_score_1,
    geometric_mean_score_2,
    precision,
    recall,
    specificity,
)

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
