"""Ensembles by bagging and boosting over any learner: a native one, one of another library, or another ensemble."""

from dataclasses import dataclass
from typing import ClassVar

from streamgauge import _native
from streamgauge.errors import require_at_least, require_between
from streamgauge.learners.adapters import as_spec
from streamgauge.learners.composition import make_builder
from streamgauge.learners.native import NativeLearner
from streamgauge.learners.trees import HoeffdingTree
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Schema

__all__ = ["LeveragingBagging", "OzaBag", "OzaBoost"]


@dataclass(frozen=True)
class _Ensemble:
    """The options that all ensembles of this module share."""

    base: LearnerSpec = HoeffdingTree()
    n_members: int = 10
    seedless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", as_spec(self.base))
        require_at_least("n_members", self.n_members, 1)


@dataclass(frozen=True)
class OzaBag(_Ensemble):
    """Online bagging: every member learns each row with a weight drawn from Poisson(1).

    Each member thus sees approximately a bootstrap sample of the stream. The votes of each member are scaled to a sum
    of 1 and added up.

    Parameters
    ----------
    base
        The learner that each member is; it may come from any supported library.
    n_members
        The number of members.
    seed
        Two learners with the same seed share their randomness in each fold; every member has a separate seed.

    References
    ----------
    N. Oza and S. Russell, Online bagging and boosting, AISTATS 2001.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=5_000), OzaBag(base=NaiveBayes(), n_members=5))
    >>> bool(results.curve("OzaBag", "accuracy")[-1, 0] > 0.8)
    True
    """

    seed: int = 1

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build an untrained ensemble."""
        build = make_builder(self.base, schema)
        return NativeLearner(_native.oza_bag(schema.n_values, schema.n_classes, build, self.n_members, seed))


@dataclass(frozen=True)
class LeveragingBagging(_Ensemble):
    """Bagging with heavier weights, which replaces its worst member when the error of any member rises.

    Every member learns each row with a weight drawn from Poisson(`mean_weight`) and then predicts it again; one ADWIN
    window per member monitors these errors. When a window drops its past and the error is greater than before, the
    member with the greatest error is replaced by a new one. The defaults are those of MOA.

    Parameters
    ----------
    base
        The learner that each member is; it may come from any supported library.
    n_members
        The number of members.
    mean_weight
        The mean of the weights with which members learn a row, at most 100.
    delta
        The significance level at which an ADWIN window drops its past.
    seed
        Two learners with the same seed share their randomness in each fold; every member has a separate seed.

    References
    ----------
    A. Bifet, G. Holmes and B. Pfahringer, Leveraging bagging for evolving data streams, ECML PKDD 2010.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=5_000), LeveragingBagging(base=NaiveBayes(), n_members=5))
    >>> bool(results.curve("LeveragingBagging", "accuracy")[-1, 0] > 0.8)
    True
    """

    mean_weight: float = 6.0
    delta: float = 0.002
    seed: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_between("mean_weight", self.mean_weight, 0.0, 100.0)
        require_between("delta", self.delta, 0.0, 1.0, open_high=True)

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build an untrained ensemble."""
        build = make_builder(self.base, schema)
        kernel = _native.leveraging_bagging(
            schema.n_values, schema.n_classes, build, self.n_members, self.mean_weight, self.delta, seed
        )
        return NativeLearner(kernel)


@dataclass(frozen=True)
class OzaBoost(_Ensemble):
    """Online boosting: a row weighs more for the next member if this member gets it wrong, and less if right.

    A row starts with weight 1 and passes through the members in order. Each member learns it Poisson(weight) times and
    predicts it again. If the prediction is right, the row's weight is multiplied by ``n / (2 * r)``, else by
    ``n / (2 * w)``, where n is the weight of all rows so far, and r and w are the weights of the rows that this member
    got right and wrong.

    With ``e = w / (r + w)``, a member's votes, scaled to a sum of 1, have the weight ``log((1 - e) / e)``. Voting stops
    at the first member that has made no mistake yet or has more than half of the weight wrong. If that is the very
    first member, it votes alone; MOA has no vote at all in that case.

    Parameters
    ----------
    base
        The learner that each member is; it may come from any supported library.
    n_members
        The number of members.
    pure
        Whether members learn a row once with its weight, without a random draw.
    seed
        Two learners with the same seed share their randomness in each fold; every member has a separate seed.

    References
    ----------
    N. Oza and S. Russell, Online bagging and boosting, AISTATS 2001.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=5_000), OzaBoost(base=NaiveBayes(), n_members=5))
    >>> bool(results.curve("OzaBoost", "accuracy")[-1, 0] > 0.8)
    True
    """

    pure: bool = False
    seed: int = 1

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build an untrained ensemble."""
        build = make_builder(self.base, schema)
        return NativeLearner(
            _native.oza_boost(schema.n_values, schema.n_classes, build, self.n_members, self.pure, seed)
        )
