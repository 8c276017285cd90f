"""Learners: native ones, baselines, and adapters for everyone else's."""

from streamgauge.learners.adapters import ScikitLearn, as_spec
from streamgauge.learners.baselines import MajorityClass, Memoriser, NoChange, RandomGuess
from streamgauge.learners.bayes import NaiveBayes
from streamgauge.learners.linear import LogisticRegression, Perceptron
from streamgauge.learners.neighbours import KNearestNeighbours
from streamgauge.learners.trees import HoeffdingTree

__all__ = [
    "HoeffdingTree",
    "KNearestNeighbours",
    "LogisticRegression",
    "MajorityClass",
    "Memoriser",
    "NaiveBayes",
    "NoChange",
    "Perceptron",
    "RandomGuess",
    "ScikitLearn",
    "as_spec",
]
