"""Learners: native ones, baselines, and adapters for other libraries."""

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
from streamgauge.learners.bagging import DWM, OOB, UOB, LeveragingBagging, OzaBag, OzaBoost
from streamgauge.learners.baselines import MajorityClass, Memoriser, NoChange, RandomGuess
from streamgauge.learners.bayes import NaiveBayes
from streamgauge.learners.chunk_ensembles import (
    KUE,
    AccuracyUpdatedEnsemble,
    AccuracyWeightedEnsemble,
    LearnppCDS,
    LearnppNIE,
    SEAEnsemble,
    WeightedAgeingEnsemble,
)
from streamgauge.learners.encoders import Encoded
from streamgauge.learners.forests import AdaptiveRandomForest, StreamingRandomPatches
from streamgauge.learners.linear import LogisticRegression, Perceptron
from streamgauge.learners.neighbours import KNearestNeighbours
from streamgauge.learners.precomputed import Precomputed
from streamgauge.learners.pretrained import PretrainedModel
from streamgauge.learners.refitted import Refitted
from streamgauge.learners.regressors import LinearRegression, MeanTarget
from streamgauge.learners.trees import ExtremelyFastDecisionTree, HoeffdingAdaptiveTree, HoeffdingTree
from streamgauge.learners.wrappers import DriftReset, NoiseFilter, OneVsRest

__all__ = [
    "DWM",
    "KUE",
    "OOB",
    "UOB",
    "AccuracyUpdatedEnsemble",
    "AccuracyWeightedEnsemble",
    "AdaptiveRandomForest",
    "DriftReset",
    "Encoded",
    "ExtremelyFastDecisionTree",
    "HoeffdingAdaptiveTree",
    "HoeffdingTree",
    "KNearestNeighbours",
    "LearnppCDS",
    "LearnppNIE",
    "LeveragingBagging",
    "LinearRegression",
    "LogisticRegression",
    "MajorityClass",
    "MeanTarget",
    "Memoriser",
    "Moa",
    "NaiveBayes",
    "NoChange",
    "NoiseFilter",
    "OneVsRest",
    "OzaBag",
    "OzaBoost",
    "Perceptron",
    "Precomputed",
    "PretrainedModel",
    "PythonLearner",
    "RandomGuess",
    "Refitted",
    "River",
    "SEAEnsemble",
    "ScikitLearn",
    "StreamLearn",
    "StreamingRandomPatches",
    "Torch",
    "VowpalWabbit",
    "WeightedAgeingEnsemble",
    "as_spec",
]
