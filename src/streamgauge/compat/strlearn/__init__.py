"""The streams, evaluators, metrics, ensembles, classifiers and detectors of stream-learn (``strlearn``), on ours.

Replace ``from strlearn.evaluators import TestThenTrain`` by ``from streamgauge.compat.strlearn.evaluators import
TestThenTrain``, or ``import strlearn as sl`` by ``from streamgauge.compat import strlearn as sl``. stream-learn itself
need not be installed; the modules `ensembles` and `classifiers` need scikit-learn.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from streamgauge.compat.strlearn import detectors, evaluators, metrics, streams, utils
from streamgauge.compat.strlearn.evaluators import Prequential, SparseTrainDenseTest, TestThenTrain
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
from streamgauge.compat.strlearn.streams import ChunkedStream, StreamGenerator, from_strlearn

if TYPE_CHECKING:
    from streamgauge.compat.strlearn import classifiers, ensembles

__all__ = [
    "ChunkedStream",
    "Prequential",
    "SparseTrainDenseTest",
    "StreamGenerator",
    "TestThenTrain",
    "accuracy_score",
    "bac",
    "balanced_accuracy_score",
    "binary_confusion_matrix",
    "classifiers",
    "detectors",
    "ensembles",
    "evaluators",
    "f1_score",
    "f_score",
    "fbeta_score",
    "from_strlearn",
    "geometric_mean_score_1",
    "geometric_mean_score_2",
    "metrics",
    "precision",
    "recall",
    "specificity",
    "streams",
    "utils",
]


def __getattr__(name: str) -> ModuleType:
    """Import the modules that need scikit-learn when they are first used."""
    if name in ("classifiers", "ensembles"):
        return import_module(f"{__name__}.{name}")
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
