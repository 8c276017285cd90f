"""Learners: native ones, baselines, and adapters for everyone else's."""

from streamgauge.learners.adapters import (
    Moa,
    PythonLearner,
    River,
    ScikitLearn,
    StreamLearn,
    Torch,
    VowpalWabbit,
    as_spec,
)
from streamgauge.learners.baselines import MajorityClass, NoChange
from streamgauge.learners.bayes import NaiveBayes
from streamgauge.learners.trees import HoeffdingTree

__all__ = [
    "HoeffdingTree",
    "MajorityClass",
    "Moa",
    "NaiveBayes",
    "NoChange",
    "PythonLearner",
    "River",
    "ScikitLearn",
    "StreamLearn",
    "Torch",
    "VowpalWabbit",
    "as_spec",
]
