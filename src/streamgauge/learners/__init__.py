"""Learners: native ones, baselines, and adapters for everyone else's."""

from streamgauge.learners.adapters import ScikitLearn, as_spec
from streamgauge.learners.baselines import MajorityClass, NoChange
from streamgauge.learners.bayes import NaiveBayes
from streamgauge.learners.trees import ExtremelyFastDecisionTree, HoeffdingAdaptiveTree, HoeffdingTree

__all__ = [
    "ExtremelyFastDecisionTree",
    "HoeffdingAdaptiveTree",
    "HoeffdingTree",
    "MajorityClass",
    "NaiveBayes",
    "NoChange",
    "ScikitLearn",
    "as_spec",
]
