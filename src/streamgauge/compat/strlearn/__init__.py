"""The evaluators, metrics and streams of stream-learn (``strlearn``), on streamgauge.

Replace ``from strlearn.evaluators import TestThenTrain`` by ``from streamgauge.compat.strlearn import TestThenTrain``.
stream-learn itself need not be installed.
"""

from streamgauge.compat.strlearn.evaluators import Prequential, TestThenTrain
from streamgauge.compat.strlearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    binary_confusion_matrix,
    f1_score,
    fbeta_score,
    geometric_mean_score_1,
    geometric_mean_score_2,
    precision,
    recall,
    specificity,
)
from streamgauge.compat.strlearn.streams import ChunkedStream, from_strlearn

__all__ = [
    "ChunkedStream",
    "Prequential",
    "TestThenTrain",
    "accuracy_score",
    "balanced_accuracy_score",
    "binary_confusion_matrix",
    "f1_score",
    "fbeta_score",
    "from_strlearn",
    "geometric_mean_score_1",
    "geometric_mean_score_2",
    "precision",
    "recall",
    "specificity",
]
