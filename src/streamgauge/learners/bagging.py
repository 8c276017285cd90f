"""Ensembles: many learners of one kind that vote together.

The members may be any learner: a native one, one of another library, an ensemble again.
"""

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
class OzaBag:
    """Online bagging: every member learns each row with a weight of its own, drawn from Poisson(1).

    So each sees about what a bootstrap sample of the stream would show it. The members' votes, scaled to a sum of 1
    each, are added up.

    Parameters
    ----------
    base
        What the members are; a learner of any library that is known on sight.
    n_members
        How many there are.
    seed
        Two learners with the same seed share their randomness in each fold; every member has a seed of its own.

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

    base: LearnerSpec = HoeffdingTree()
    n_members: int = 10
    seed: int = 1
    seedless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", as_spec(self.base))
        require_at_least("n_members", self.n_members, 1)

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build an ensemble that has seen nothing."""
        build = make_builder(self.base, schema)
        return NativeLearner(_native.oza_bag(schema.n_values, schema.n_classes, build, self.n_members, seed))


@dataclass(frozen=True)
class LeveragingBagging:
    """Bagging with heavier weights, whose worst member starts anew when some member gets worse.

    Every member learns each row with a weight drawn from Poisson(`mean_weight`) and then predicts it once more; an
    ADWIN window per member watches whether it is wrong. When a window drops its past and the error is greater than
    before, the member with the greatest error is replaced by a new one. The defaults are those of MOA.

    Parameters
    ----------
    base
        What the members are; a learner of any library that is known on sight.
    n_members
        How many there are.
    mean_weight
        The mean of the weights with which members learn a row, at most 100.
    delta
        The significance at which an ADWIN window drops its past.
    seed
        Two learners with the same seed share their randomness in each fold; every member has a seed of its own.

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

    base: LearnerSpec = HoeffdingTree()
    n_members: int = 10
    mean_weight: float = 6.0
    delta: float = 0.002
    seed: int = 1
    seedless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", as_spec(self.base))
        require_at_least("n_members", self.n_members, 1)
        require_between("mean_weight", self.mean_weight, 0.0, 100.0)
        require_between("delta", self.delta, 0.0, 1.0, open_high=True)

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build an ensemble that has seen nothing."""
        build = make_builder(self.base, schema)
        kernel = _native.leveraging_bagging(
            schema.n_values, schema.n_classes, build, self.n_members, self.mean_weight, self.delta, seed
        )
        return NativeLearner(kernel)


@dataclass(frozen=True)
class OzaBoost:
    """Online boosting: what a member gets wrong weighs more for the next, what it gets right weighs less.

    A row starts with the weight 1 and goes from member to member. Each learns it as often as Poisson(weight) says and
    predicts it once more. If that is right the row's weight is multiplied by ``n / (2 * r)``, else by ``n / (2 * w)``,
    with n the weight of all rows so far, r and w the weights of those that this member got right and wrong.

    With ``e = w / (r + w)`` a member's votes, scaled to a sum of 1, count ``log((1 - e) / e)``. From the first member
    on that has made no mistake yet, or has more than half of the weight wrong, members are not asked. If that is the
    very first, it votes alone, where MOA has no vote at all.

    Parameters
    ----------
    base
        What the members are; a learner of any library that is known on sight.
    n_members
        How many there are.
    pure
        Whether members learn a row with its weight itself, without chance.
    seed
        Two learners with the same seed share their randomness in each fold; every member has a seed of its own.

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

    base: LearnerSpec = HoeffdingTree()
    n_members: int = 10
    pure: bool = False
    seed: int = 1
    seedless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", as_spec(self.base))
        require_at_least("n_members", self.n_members, 1)

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build an ensemble that has seen nothing."""
        build = make_builder(self.base, schema)
        return NativeLearner(
            _native.oza_boost(schema.n_values, schema.n_classes, build, self.n_members, self.pure, seed)
        )
