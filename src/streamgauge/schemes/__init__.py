"""Schemes: which rows a fold tests, and which it learns with what weight. They run nothing.

A fold never learns a row before it has tested it for the last time, whatever the scheme.
"""

from streamgauge.schemes.batch import BatchCrossValidation
from streamgauge.schemes.chunks import Chunks
from streamgauge.schemes.folds import Bootstrap, CrossValidation, Split, TestMode
from streamgauge.schemes.holdout import Holdout
from streamgauge.schemes.prequential import Prequential, WarmUp
from streamgauge.schemes.pretrained import Pretrained, TrainThenTest

__all__ = [
    "BatchCrossValidation",
    "Bootstrap",
    "Chunks",
    "CrossValidation",
    "Holdout",
    "Prequential",
    "Pretrained",
    "Split",
    "TestMode",
    "TrainThenTest",
    "WarmUp",
]
