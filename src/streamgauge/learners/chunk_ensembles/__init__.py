"""Ensembles that learn chunk by chunk, over any learner."""

from streamgauge.learners.chunk_ensembles.ensembles import (
    KUE,
    AccuracyUpdatedEnsemble,
    AccuracyWeightedEnsemble,
    LearnppCDS,
    LearnppNIE,
    SEAEnsemble,
    WeightedAgeingEnsemble,
)

__all__ = [
    "KUE",
    "AccuracyUpdatedEnsemble",
    "AccuracyWeightedEnsemble",
    "LearnppCDS",
    "LearnppNIE",
    "SEAEnsemble",
    "WeightedAgeingEnsemble",
]
