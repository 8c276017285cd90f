"""Naive Bayes."""

from dataclasses import dataclass
from typing import ClassVar

from streamgauge import _native
from streamgauge.learners.native import NativeLearner
from streamgauge.records import Schema

__all__ = ["NaiveBayes"]


@dataclass(frozen=True)
class NaiveBayes:
    """Predicts the class with the greatest posterior, assuming independent attributes within each class.

    Numeric attributes are normal within each class; the variance has the denominator ``weight - 1``. Nominal attributes
    have Laplace-smoothed probabilities ``(count + 1) / (total + n_values)``. Missing values are left out. A numeric
    attribute that was constant in a class admits that value only; if this rules out all classes, the class weights
    decide. Votes are posterior probabilities, all 0 before the first row has been learnt.

    References
    ----------
    G. H. John and P. Langley, Estimating continuous distributions in Bayesian classifiers, UAI 1995.

    Examples
    --------
    >>> import numpy as np
    >>> from streamgauge.records import Attribute
    >>> learner = NaiveBayes().build(Schema((Attribute("size"),), ("small", "large")), seed=1)
    >>> learner.learn(np.array([[1.0], [2.0], [8.0], [9.0]]), np.array([0, 0, 1, 1], dtype=np.int32), None)
    >>> learner.predict(np.array([[1.4], [8.7]])).round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    seed: int = 1
    seedless: ClassVar[bool] = True

    def build(self, schema: Schema, seed: int) -> NativeLearner:  # noqa: ARG002
        """Build an untrained learner."""
        return NativeLearner(_native.naive_bayes(schema.n_values, schema.n_classes))
