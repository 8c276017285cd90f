"""Learners: native ones, baselines, and adapters for everyone else's."""

from streamgauge.learners.adapters import ScikitLearn, as_spec
from streamgauge.learners.baselines import MajorityClass, Memoriser, NoChange, RandomGuess
from streamgauge.learners.bayes import NaiveBayes
from streamgauge.learners.chunks import (
    AccuracyUpdatedEnsemble,
    AccuracyWeightedEnsemble,
    LearnppCDS,
    LearnppNIE,
    SEAEnsemble,
    WeightedAgeingEnsemble,
)
from streamgauge.learners.linear import LogisticRegression, Perceptron
from streamgauge.learners.neighbours import KNearestNeighbours
from streamgauge.learners.noise import NoiseFilter
from streamgauge.learners.pretrained import Pretrained
from streamgauge.learners.trees import HoeffdingTree

__all__ = [
    "AccuracyUpdatedEnsemble",
    "AccuracyWeightedEnsemble",
    "HoeffdingTree",
    "KNearestNeighbours",
    "LearnppCDS",
    "LearnppNIE",
    "LogisticRegression",
    "MajorityClass",
    "Memoriser",
    "NaiveBayes",
    "NoChange",
    "NoiseFilter",
    "Perceptron",
    "Pretrained",
    "RandomGuess",
    "SEAEnsemble",
    "ScikitLearn",
    "WeightedAgeingEnsemble",
    "as_spec",
]
