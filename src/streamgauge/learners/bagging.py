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

__all__ = ["DWM", "OOB", "UOB", "LeveragingBagging", "OzaBag", "OzaBoost"]


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
class _ResamplingBag(_Ensemble):
    """The options of bagging that resamples imbalanced classes."""

    decay: float = 0.9
    seed: int = 1
    _oversample: ClassVar[bool]

    def __post_init__(self) -> None:
        super().__post_init__()
        require_between("decay", self.decay, 0.0, 1.0, open_low=False, open_high=True)

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build an untrained ensemble."""
        kernel = _native.resampling_bag(
            schema.n_values,
            schema.n_classes,
            make_builder(self.base, schema),
            self.n_members,
            self._oversample,
            self.decay,
            seed,
        )
        return NativeLearner(kernel)


@dataclass(frozen=True)
class OOB(_ResamplingBag):
    """Oversampling-based online bagging, for imbalanced classes: rows of smaller classes have heavier weights.

    Every member learns each row with a weight drawn from Poisson(rate). The rate is the size of the largest class
    divided by the size of the row's class, and at most 100. The size of a class is its share of the latest rows, which
    fades: `decay` times its size so far, plus ``1 - decay`` if the row is of that class. The row counts itself, so that
    a rate is at most ``1 / (1 - decay)``. More than two classes are treated as in the paper of 2016.

    Parameters
    ----------
    base
        The learner that each member is; it may come from any supported library.
    n_members
        The number of members.
    decay
        How slowly the sizes of the classes fade, from 0 to below 1: 0.9 remembers about 10 rows, 0.999 about 1,000.
    seed
        Two learners with the same seed share their randomness in each fold; every member has a separate seed.

    References
    ----------
    S. Wang, L. L. Minku and X. Yao, Resampling-based ensemble methods for online class imbalance learning, TKDE 2015;
    Dealing with multiple classes in online class imbalance learning, IJCAI 2016.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> from streamgauge.streams import Imbalanced
    >>> rare = Imbalanced(SEA(), shares=(0.95, 0.05))
    >>> results = evaluate(rare, [NaiveBayes(), OOB(NaiveBayes())], measures="g_mean", n_rows=5_000)
    >>> plain, resampled = (results.final(name, "g_mean").mean for name in results.learners)
    >>> bool(resampled > plain)
    True
    """

    _oversample: ClassVar[bool] = True


@dataclass(frozen=True)
class UOB(_ResamplingBag):
    """Undersampling-based online bagging, for imbalanced classes: rows of larger classes have lighter weights.

    Every member learns each row with a weight drawn from Poisson(rate). The rate is the size of the smallest class that
    has occurred divided by the size of the row's class; sizes fade as in `OOB`.

    Parameters
    ----------
    base, n_members, decay, seed
        As in `OOB`.

    References
    ----------
    S. Wang, L. L. Minku and X. Yao, Resampling-based ensemble methods for online class imbalance learning, TKDE 2015;
    Dealing with multiple classes in online class imbalance learning, IJCAI 2016.

    Examples
    --------
    >>> UOB(decay=1.0)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: decay = 1.0: it must be a number in [0, 1)
    """

    _oversample: ClassVar[bool] = False


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


@dataclass(frozen=True)
class DWM(_Ensemble):
    """Dynamic weighted majority: members that are wrong lose weight, and a new one comes when the ensemble is wrong.

    It starts with one member. All members learn every row. At every row of `period`, the weight of each member that is
    wrong is multiplied by `factor`; weights are scaled so that the greatest is 1, and members below `threshold` are
    dropped; if the weighted majority of the members is wrong, a new one is added. (stream-learn scales weights to a
    sum of 1, so that it drops members earlier.)

    Parameters
    ----------
    base
        The learner that each member is; it may come from any supported library.
    n_members
        The maximum number of members; beyond it the one with the least weight is dropped.
    factor
        What the weight of a member that is wrong is multiplied by.
    threshold
        The weight below which a member is dropped.
    period
        The number of rows between two changes of weights and members.
    seed
        Two learners with the same seed share their randomness in each fold; every member has a separate seed.

    References
    ----------
    J. Z. Kolter and M. A. Maloof, Dynamic weighted majority: an ensemble method for drifting concepts, JMLR 2007.

    Examples
    --------
    >>> from streamgauge import NaiveBayes, evaluate
    >>> from streamgauge.streams import STAGGER, Sudden
    >>> stream = Sudden(STAGGER(1), STAGGER(2), position=1_000)
    >>> results = evaluate(stream, [NaiveBayes(), DWM(NaiveBayes(), period=10)], n_rows=2_000)
    >>> plain, weighted = (results.final(name, "accuracy").mean for name in results.learners)
    >>> bool(weighted > plain)
    True
    """

    n_members: int = 25
    factor: float = 0.5
    threshold: float = 0.01
    period: int = 50
    seed: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_between("factor", self.factor, 0.0, 1.0, open_high=True)
        require_between("threshold", self.threshold, 0.0, 1.0)
        require_at_least("period", self.period, 1)

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build an untrained ensemble."""
        kernel = _native.dynamic_weighted_majority(
            schema.n_values,
            schema.n_classes,
            make_builder(self.base, schema),
            self.n_members,
            self.factor,
            self.threshold,
            self.period,
            seed,
        )
        return NativeLearner(kernel)
