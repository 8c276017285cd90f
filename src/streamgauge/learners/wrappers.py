"""Wrappers: learners that change what another learner is shown, or when it starts anew."""

from dataclasses import dataclass

from streamgauge import _native
from streamgauge.learners.adapters import as_spec
from streamgauge.learners.composition import builder
from streamgauge.learners.native import NativeLearner
from streamgauge.learners.trees import HoeffdingTree
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Schema

__all__ = ["OneVsRest"]


@dataclass(frozen=True)
class OneVsRest:
    """One learner per class, which tells this class from the rest; one in all where there are two classes.

    A class gets the share of the votes that its learner gives it, and these are scaled to a sum of 1. It abstains
    where every learner is sure of the rest.

    Parameters
    ----------
    learner
        What tells one class from the rest; a learner of any library that is known on sight.
    seed
        Two learners with the same seed share their randomness in each fold; every class has a seed of its own.

    Examples
    --------
    >>> from streamgauge import NaiveBayes, RandomRBF, evaluate
    >>> results = evaluate(RandomRBF(n_classes=4, n_rows=5_000), OneVsRest(NaiveBayes()))
    >>> bool(results.curve("OneVsRest", "accuracy")[-1, 0] > 0.5)
    True
    """

    learner: LearnerSpec = HoeffdingTree()
    seed: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "learner", as_spec(self.learner))

    @property
    def seedless(self) -> bool:
        """Whether the learners use no randomness."""
        return self.learner.seedless

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build learners that have seen nothing."""
        build = builder(self.learner, schema)
        return NativeLearner(_native.one_vs_rest(schema.n_values, schema.n_classes, build, seed))
