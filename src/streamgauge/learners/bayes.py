"""Naive Bayes."""

from dataclasses import dataclass
from typing import ClassVar

from streamgauge import _native
from streamgauge.learners.native import NativeLearner
from streamgauge.records import Schema

__all__ = ["NaiveBayes"]


@dataclass(frozen=True)
class NaiveBayes:
    """Takes attributes as independent given the class: normal where numeric, counted where nominal.

    A class's vote is its share of the weight times the likelihoods of the values; missing values are left out.
    Nominal counts are smoothed by one row per value (Laplace). Log-likelihoods are added, so nothing underflows.

    Parameters
    ----------
    seed
        Without effect: it uses no randomness.

    Examples
    --------
    >>> NaiveBayes()
    NaiveBayes(seed=1)
    """

    seed: int = 1
    seedless: ClassVar[bool] = True

    def build(self, schema: Schema, seed: int) -> NativeLearner:  # noqa: ARG002
        """Build a learner that has seen nothing."""
        return NativeLearner(_native.naive_bayes(schema.n_values, schema.n_classes))
