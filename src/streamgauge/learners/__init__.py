"""Learners: native ones, baselines, and adapters for everyone else's."""

from streamgauge.learners.adapters import ScikitLearn, as_spec
from streamgauge.learners.baselines import MajorityClass, NoChange
from streamgauge.learners.bayes import NaiveBayes
from streamgauge.learners.ensembles import LeveragingBagging, OzaBag, OzaBoost
from streamgauge.learners.forests import AdaptiveRandomForest, StreamingRandomPatches
from streamgauge.learners.trees import ExtremelyFastDecisionTree, HoeffdingAdaptiveTree, HoeffdingTree
from streamgauge.learners.wrappers import DriftReset, OneVsRest

__all__ = [
    "AdaptiveRandomForest",
    "DriftReset",
    "ExtremelyFastDecisionTree",
    "HoeffdingAdaptiveTree",
    "HoeffdingTree",
    "LeveragingBagging",
    "MajorityClass",
    "NaiveBayes",
    "NoChange",
    "OneVsRest",
    "OzaBag",
    "OzaBoost",
    "ScikitLearn",
    "StreamingRandomPatches",
    "as_spec",
]
