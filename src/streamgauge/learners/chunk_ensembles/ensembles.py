"""The specifications of the ensembles that learn chunk by chunk."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, get_args

from streamgauge._foreign import find_short_name, needs_training
from streamgauge.errors import StreamgaugeError, require_at_least, require_between, unknown_name
from streamgauge.learners.adapters import as_spec
from streamgauge.learners.bayes import NaiveBayes
from streamgauge.learners.chunk_ensembles.accuracy import AccuracyUpdated, AccuracyWeighted, SEAPool
from streamgauge.learners.chunk_ensembles.ageing import Ageing, AgeingWay, Weighting
from streamgauge.learners.chunk_ensembles.chunk_learner import ChunkLearner, ChunkModel
from streamgauge.learners.chunk_ensembles.imbalance import Bagged, Oversampled
from streamgauge.learners.chunk_ensembles.members import Builder
from streamgauge.learners.chunk_ensembles.subspaces import KappaUpdated, SubspaceBuilder
from streamgauge.learners.refitted import Refitted
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Schema

__all__ = [
    "KUE",
    "AccuracyUpdatedEnsemble",
    "AccuracyWeightedEnsemble",
    "LearnppCDS",
    "LearnppNIE",
    "SEAEnsemble",
    "WeightedAgeingEnsemble",
]


@dataclass(frozen=True)
class _ChunkEnsemble(ABC):
    """The options and methods that all ensembles of chunks share."""

    learner: LearnerSpec = NaiveBayes()
    chunk_size: int = 200
    n_members: int = 10

    _is_random: ClassVar[bool] = False
    """Whether the ensemble itself, not only its members, uses randomness."""

    _builder: ClassVar[type[Builder]] = Builder
    """What builds its members."""

    _updates_members: ClassVar[bool] = False
    """Whether members continue to learn after their first chunk."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "learner", as_spec(self.learner))
        if self._updates_members and (isinstance(self.learner, Refitted) or needs_training(self.learner)):
            name = find_short_name(self.learner)
            msg = f"members of {type(self).__name__} continue to learn, which {name} cannot: use SEAEnsemble"
            raise StreamgaugeError(msg)
        require_at_least("chunk_size", self.chunk_size, 2)
        require_at_least("n_members", self.n_members, 1)

    @property
    def seedless(self) -> bool:
        """Whether it uses no randomness."""
        return self.learner.seedless and not self._is_random

    def build(self, schema: Schema, seed: int) -> ChunkLearner:
        """Build an untrained ensemble."""
        builder = self._builder(self.learner, schema, seed)
        model = self._build_model(builder, schema, seed)
        return ChunkLearner(model, schema, self.chunk_size, is_row_wise=builder.is_row_wise)

    def build_model(self, schema: Schema, seed: int) -> ChunkModel:
        """Build what learns the chunks, whatever their sizes."""
        return self._build_model(self._builder(self.learner, schema, seed), schema, seed)

    @abstractmethod
    def _build_model(self, builder: Builder, schema: Schema, seed: int) -> ChunkModel: ...


@dataclass(frozen=True)
class SEAEnsemble(_ChunkEnsemble):
    """One member per chunk with equal votes; the least accurate on the current chunk is dropped (SEA).

    Like all ensembles of chunks, it predicts the majority class so far until the first chunk is full.

    Parameters
    ----------
    learner
        The learner that each member is; it may come from any supported library. A model of scikit-learn is fitted on
        its chunk, so it needs no `partial_fit`.
    chunk_size
        The number of learnt rows in a chunk.
    n_members
        The maximum number of members.
    seed
        The seed of the members' randomness.

    References
    ----------
    W. N. Street and Y. Kim, A streaming ensemble algorithm (SEA) for large-scale classification, KDD 2001.

    Examples
    --------
    >>> from streamgauge import SEA, evaluate
    >>> results = evaluate(SEA(n_rows=5_000), SEAEnsemble(chunk_size=500))
    >>> bool(results.curve("SEAEnsemble", "accuracy")[-1, 0] > 0.7)
    True
    """

    seed: int = 1

    def _build_model(self, builder: Builder, *_: object) -> ChunkModel:
        return SEAPool(builder, self.n_members)


@dataclass(frozen=True)
class AccuracyWeightedEnsemble(_ChunkEnsemble):
    """One member per chunk, weighted by how far its squared error is below that of guessing (AWE).

    Errors are those on the current chunk. The newest member, which was trained on that chunk, is weighted by
    cross-validation within it. The member with the least weight is dropped when there are too many; members worse than
    guessing have no vote. (stream-learn computes the weights, but votes without them.)

    Parameters
    ----------
    learner, chunk_size, n_members, seed
        As in `SEAEnsemble`.
    n_splits
        The number of folds of the cross-validation.

    References
    ----------
    H. Wang, W. Fan, P. S. Yu and J. Han, Mining concept-drifting data streams using ensemble classifiers, KDD 2003.

    Examples
    --------
    >>> AccuracyWeightedEnsemble(chunk_size=500).n_members
    10
    """

    n_splits: int = 5
    seed: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_at_least("n_splits", self.n_splits, 2)
        if self.n_splits > self.chunk_size:
            msg = f"n_splits = {self.n_splits}: it must not exceed chunk_size = {self.chunk_size}"
            raise StreamgaugeError(msg)

    def _build_model(self, builder: Builder, *_: object) -> ChunkModel:
        return AccuracyWeighted(builder, self.n_members, self.n_splits)


@dataclass(frozen=True)
class AccuracyUpdatedEnsemble(AccuracyWeightedEnsemble):
    """`AccuracyWeightedEnsemble` with weights of one over the squared error and members that continue to learn (AUE).

    Parameters
    ----------
    learner, chunk_size, n_members, n_splits, seed
        As in `AccuracyWeightedEnsemble`.

    References
    ----------
    D. Brzezinski and J. Stefanowski, Accuracy updated ensemble for data streams with concept drift, HAIS 2011.

    Examples
    --------
    >>> AccuracyUpdatedEnsemble(chunk_size=1)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: chunk_size = 1: it must be a whole number of at least 2
    """

    _updates_members: ClassVar[bool] = True

    def _build_model(self, builder: Builder, *_: object) -> ChunkModel:
        builder.set_updates()
        return AccuracyUpdated(builder, self.n_members, self.n_splits)


@dataclass(frozen=True)
class WeightedAgeingEnsemble(_ChunkEnsemble):
    """One member per chunk, weighted by its age and its accuracy on the chunk before the current one (WAE).

    When there are too many members, the one without which the others are most accurate is dropped. Members without
    weight are dropped too.

    Parameters
    ----------
    learner, chunk_size, n_members, seed
        As in `SEAEnsemble`; there may be one more member until the next chunk.
    weighting
        How an accuracy a is turned into a weight: "kuncheva" is log(a / (1 - a)); "related_to_whole" is a divided by
        the accuracy of the ensemble; "bell_curve" is a normal curve of the difference between the two.
    ageing
        How weights decrease with age: "weights_proportional" is the accuracy divided by the square root of the age,
        whatever the weighting; "constant" subtracts theta per chunk; "gaussian" is a normal curve.
    theta
        The least weight, and the weight subtracted per chunk.
    rejuvenation
        By how much the age of a member above the mean weight is reduced.
    prune_last
        Whether to drop members after the newest was added instead of before.

    References
    ----------
    M. Woźniak, A. Kasprzak and P. Cal, Weighted aging classifier ensemble for the incremental drifted data streams,
    FQAS 2013.

    Examples
    --------
    >>> WeightedAgeingEnsemble(weighting="kunscheva")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: there is no weighting 'kunscheva'; did you mean kuncheva?
    """

    weighting: Weighting = "kuncheva"
    ageing: AgeingWay = "weights_proportional"
    theta: float = 0.1
    rejuvenation: float = 0.0
    prune_last: bool = False
    seed: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_between("theta", self.theta, 0.0, 1.0, open_low=False)
        require_between("rejuvenation", self.rejuvenation, 0.0, float("inf"), open_low=False, open_high=True)
        for option, value, known in (
            ("weighting", self.weighting, get_args(Weighting)),
            ("ageing", self.ageing, get_args(AgeingWay)),
        ):
            if value not in known:
                raise unknown_name(kind=option, name=str(value), known=known)

    def _build_model(self, builder: Builder, *_: object) -> ChunkModel:
        return Ageing(
            builder,
            self.n_members,
            weighting=self.weighting,
            ageing=self.ageing,
            theta=self.theta,
            rejuvenation=self.rejuvenation,
            prune_last=self.prune_last,
        )


@dataclass(frozen=True)
class KUE(_ChunkEnsemble):
    """Members with random subspaces of the attributes that learn every chunk, weighted by their kappa (KUE).

    The Kappa Updated Ensemble trains all its members on the first chunk. Each sees a random number of attributes, and
    learns the rows of each chunk with weights drawn from Poisson(1). Their kappa on the latest chunk is their weight;
    those at 0 or below abstain. At every chunk, new candidates replace the member with the least kappa if theirs is
    greater. (stream-learn draws each attribute with probability one half, so that subspaces have similar sizes.)

    Parameters
    ----------
    learner, chunk_size, n_members, seed
        As in `SEAEnsemble`.
    n_candidates
        The number of candidates per chunk.

    References
    ----------
    A. Cano and B. Krawczyk, Kappa updated ensemble for drifting data stream mining, Machine Learning 2020.

    Examples
    --------
    >>> from streamgauge import RandomRBF, evaluate
    >>> results = evaluate(RandomRBF(n_rows=4_000), KUE(chunk_size=200), measures="kappa")
    >>> bool(results.final("KUE", "kappa").mean > 0.3)
    True
    """

    n_candidates: int = 1
    seed: int = 1
    _is_random: ClassVar[bool] = True
    _builder: ClassVar[type[Builder]] = SubspaceBuilder
    _updates_members: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_at_least("n_candidates", self.n_candidates, 0)

    def _build_model(self, builder: Builder, schema: Schema, seed: int) -> ChunkModel:  # noqa: ARG002
        return KappaUpdated(builder, self.n_members, self.n_candidates, seed)


@dataclass(frozen=True)
class _ImbalanceEnsemble(_ChunkEnsemble):
    """The options that the ensembles for two imbalanced classes share."""

    slope: float = 0.5
    crossing: float = 10.0
    seed: int = 1
    _is_random: ClassVar[bool] = True
    _model_class: ClassVar[type[Bagged | Oversampled]]

    def __post_init__(self) -> None:
        super().__post_init__()
        require_between("slope", self.slope, 0.0, 100.0, open_low=False)
        require_between("crossing", self.crossing, 0.0, float("inf"), open_low=False, open_high=True)

    def _build_model(self, builder: Builder, schema: Schema, seed: int) -> ChunkModel:
        if schema.n_classes != 2:
            msg = f"{type(self).__name__} is for streams of two classes; this one has {schema.n_classes}"
            raise StreamgaugeError(msg)
        return self._model_class(
            builder, schema, n_groups=self.n_members, slope=self.slope, crossing=self.crossing, seed=seed
        )


@dataclass(frozen=True)
class LearnppNIE(_ImbalanceEnsemble):
    """For two imbalanced classes: per chunk, several learners on all rare rows and samples of the others (Learn++.NIE).

    A group is weighted by its errors (1 - F1 of the class that is rarer so far) on all chunks since it was built, with
    more weight on recent ones. (stream-learn averages the errors of other groups on the current chunk instead of the
    past errors of the group.)

    Parameters
    ----------
    learner, chunk_size, seed
        As in `SEAEnsemble`.
    n_members
        The maximum number of groups, and the number of learners in each.
    slope, crossing
        The slope of the sigmoid of a group's age in chunks that gives recent errors more weight, and the age at which
        it is one half. Well beyond that age all errors have the same weight.

    References
    ----------
    G. Ditzler and R. Polikar, Incremental learning of concept drift from streaming imbalanced data, TKDE 2013.

    Examples
    --------
    >>> LearnppNIE(chunk_size=500).n_members
    5
    """

    n_members: int = 5
    slope: float = 2.0
    _model_class: ClassVar[type[Bagged | Oversampled]] = Bagged


@dataclass(frozen=True)
class LearnppCDS(_ImbalanceEnsemble):
    """For two imbalanced classes: one member per chunk, on its rows and synthetic rare rows by SMOTE (Learn++.CDS).

    A member is weighted by its errors on all chunks since it was built, with more weight on recent ones; an error has
    more weight if the whole ensemble was wrong too. Numbers should have similar ranges, since SMOTE searches for
    neighbours.

    Parameters
    ----------
    learner, chunk_size, n_members, seed
        As in `SEAEnsemble`.
    slope, crossing
        As in `LearnppNIE`.

    References
    ----------
    G. Ditzler and R. Polikar, Incremental learning of concept drift from streaming imbalanced data, TKDE 2013.

    Examples
    --------
    >>> LearnppCDS(chunk_size=500).n_members
    10
    """

    _model_class: ClassVar[type[Bagged | Oversampled]] = Oversampled
