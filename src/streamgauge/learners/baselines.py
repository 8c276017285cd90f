"""Baselines: what any learner must beat."""

from dataclasses import dataclass
from typing import ClassVar

from streamgauge import _native
from streamgauge.learners.native import NativeLearner
from streamgauge.records import Schema

__all__ = ["MajorityClass", "NoChange"]


@dataclass(frozen=True)
class MajorityClass:
    """Predicts the class with the greatest weight so far, the first of equals.

    Its `kappa_m` is 0 on every stream.

    Examples
    --------
    >>> MajorityClass()
    MajorityClass(seed=1)
    """

    seed: int = 1
    seedless: ClassVar[bool] = True

    def build(self, schema: Schema, seed: int) -> NativeLearner:  # noqa: ARG002
        """Build a learner that has seen nothing."""
        return NativeLearner(_native.majority_class(schema.n_values, schema.n_classes))


@dataclass(frozen=True)
class NoChange:
    """Predicts the class of the row it learnt last.

    Its `kappa_temporal` is 0 on every stream.

    Examples
    --------
    >>> NoChange()
    NoChange(seed=1)
    """

    seed: int = 1
    seedless: ClassVar[bool] = True

    def build(self, schema: Schema, seed: int) -> NativeLearner:  # noqa: ARG002
        """Build a learner that has seen nothing."""
        return NativeLearner(_native.no_change(schema.n_values, schema.n_classes))
