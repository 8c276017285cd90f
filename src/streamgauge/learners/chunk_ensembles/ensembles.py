"""The ensembles of chunks, as they are asked for."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, get_args

from streamgauge.errors import StreamgaugeError, require_at_least, require_between, unknown_name
from streamgauge.learners.adapters import as_spec
from streamgauge.learners.bayes import NaiveBayes
from streamgauge.learners.chunk_ensembles.accuracy import AccuracyUpdated, AccuracyWeighted, Streaming
from streamgauge.learners.chunk_ensembles.ageing import Ageing, AgeingWay, Weighting
from streamgauge.learners.chunk_ensembles.chunk_learner import ChunkLearner, ChunkModel
from streamgauge.learners.chunk_ensembles.imbalance import Bagged, Oversampled
from streamgauge.learners.chunk_ensembles.members import Builder
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Schema

__all__ = [
    "AccuracyUpdatedEnsemble",
    "AccuracyWeightedEnsemble",
    "LearnppCDS",
    "LearnppNIE",
    "SEAEnsemble",
    "WeightedAgeingEnsemble",
]


@dataclass(frozen=True)
class _OfChunks(ABC):
    """What all ensembles of chunks have in common."""

    learner: LearnerSpec = NaiveBayes()
    chunk_size: int = 200
    n_members: int = 10

    _draws: ClassVar[bool] = False  # whether it uses randomness itself

    def __post_init__(self) -> None:
        object.__setattr__(self, "learner", as_spec(self.learner))
        require_at_least("chunk_size", self.chunk_size, 2)
        require_at_least("n_members", self.n_members, 1)

    @property
    def seedless(self) -> bool:
        """Whether it uses no randomness."""
        return self.learner.seedless and not self._draws

    def build(self, schema: Schema, seed: int) -> ChunkLearner:
        """Build an ensemble that has seen nothing."""
        return ChunkLearner(self._model(Builder(self.learner, schema, seed), schema, seed), schema, self.chunk_size)

    @abstractmethod
    def _model(self, builder: Builder, schema: Schema, seed: int) -> ChunkModel:
        """Say how members are made, weighted and given up."""


@dataclass(frozen=True)
class SEAEnsemble(_OfChunks):
    """A member per chunk; where there are too many, that with the least accuracy on the newest chunk goes (SEA).

    Members vote with equal weight. Like all ensembles of chunks it abstains until the first chunk is full.

    Parameters
    ----------
    learner
        What a member is: any learner, also one of another library.
    chunk_size
        How many rows a chunk has; only rows that are learnt count.
    n_members
        How many members there are at most.
    seed
        Decides the members' randomness.

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

    def _model(self, builder: Builder, *_: object) -> ChunkModel:
        return Streaming(builder, self.n_members)


@dataclass(frozen=True)
class AccuracyWeightedEnsemble(_OfChunks):
    """A member per chunk, weighted by how much its squared error on the newest is below that of a guess (AWE).

    The newest member, which has learnt that chunk, is weighted by cross-validation within it. Where there are too many,
    that with the least weight goes; one worse than a guess has no vote. (stream-learn works the weights out and then
    votes without them.)

    Parameters
    ----------
    learner, chunk_size, n_members, seed
        As in `SEAEnsemble`.
    n_splits
        The parts of a chunk in cross-validation.

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
        _require_splits(self.n_splits, self.chunk_size)

    def _model(self, builder: Builder, *_: object) -> ChunkModel:
        return AccuracyWeighted(builder, self.n_members, self.n_splits)


@dataclass(frozen=True)
class AccuracyUpdatedEnsemble(_OfChunks):
    """As `AccuracyWeightedEnsemble`, with weights of one over the squared error and members that go on learning (AUE).

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

    n_splits: int = 5
    seed: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_splits(self.n_splits, self.chunk_size)

    def _model(self, builder: Builder, *_: object) -> ChunkModel:
        return AccuracyUpdated(builder, self.n_members, self.n_splits)


@dataclass(frozen=True)
class WeightedAgeingEnsemble(_OfChunks):
    """A member per chunk, weighted by its accuracy on the chunk before the newest and by its age (WAE).

    Where there are too many, that one goes without which the others are right most often. A member without weight goes
    too.

    Parameters
    ----------
    learner, chunk_size, n_members, seed
        As in `SEAEnsemble`; there may be one member more until the next chunk.
    weighting
        How accuracy a becomes weight: "kuncheva" is log(a / (1 - a)), "related_to_whole" is a over the accuracy of the
        ensemble, "bell_curve" a normal curve of the difference to that.
    ageing
        How weights fall with age: "weights_proportional" is accuracy over the root of the age, whatever the weighting;
        "constant" takes away theta per chunk; "gaussian" is a normal curve.
    theta
        The least weight, and what a chunk takes away.
    rejuvenation
        By how much a member above the mean weight is made younger.
    prune_last
        Whether the members are thinned out after the newest was added, not before.

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

    def _model(self, builder: Builder, *_: object) -> ChunkModel:
        return Ageing(
            builder,
            self.n_members,
            self.weighting,
            self.ageing,
            self.theta,
            self.rejuvenation,
            prune_last=self.prune_last,
        )


@dataclass(frozen=True)
class LearnppNIE(_OfChunks):
    """For two unequal classes: per chunk a group of learners of all rare rows and samples of the others (Learn++.NIE).

    A group is weighted by its errors (1 - F1 of the rarer class so far) on all chunks since it was built, late ones
    more. (stream-learn averages the errors of other groups on the newest chunk instead of a group's own past ones.)

    Parameters
    ----------
    learner, chunk_size, seed
        As in `SEAEnsemble`.
    n_members
        How many groups there are at most, and how many learners are in each.
    slope, crossing
        The sigmoid of a group's age in chunks by which late errors count more: how steep it is, and at which age it is
        one half. Well beyond that age all errors count alike.

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
    crossing: float = 10.0
    seed: int = 1
    _draws: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_sigmoid(self.slope, self.crossing)

    def _model(self, builder: Builder, schema: Schema, seed: int) -> ChunkModel:
        _require_two_classes("LearnppNIE", schema)
        return Bagged(builder, schema, self.n_members, self.slope, self.crossing, seed)


@dataclass(frozen=True)
class LearnppCDS(_OfChunks):
    """For two unequal classes: a member per chunk, of its rows and of rare ones made more by SMOTE (Learn++.CDS).

    A member is weighted by its errors on all chunks since it was built, late ones more; an error counts more where the
    whole ensemble was wrong too. Numbers should be of like range, for SMOTE looks for neighbours.

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

    slope: float = 0.5
    crossing: float = 10.0
    seed: int = 1
    _draws: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_sigmoid(self.slope, self.crossing)

    def _model(self, builder: Builder, schema: Schema, seed: int) -> ChunkModel:
        _require_two_classes("LearnppCDS", schema)
        return Oversampled(builder, schema, self.n_members, self.slope, self.crossing, seed)


def _require_splits(n_splits: int, chunk_size: int) -> None:
    require_at_least("n_splits", n_splits, 2)
    if n_splits > chunk_size:
        msg = f"n_splits = {n_splits}: a chunk of {chunk_size} rows cannot be split into so many parts"
        raise StreamgaugeError(msg)


def _require_sigmoid(slope: float, crossing: float) -> None:
    require_between("slope", slope, 0.0, 100.0, open_low=False)
    require_between("crossing", crossing, 0.0, float("inf"), open_low=False, open_high=True)


def _require_two_classes(name: str, schema: Schema) -> None:
    if schema.n_classes != 2:
        msg = f"{name} is for streams of two classes; this one has {schema.n_classes}"
        raise StreamgaugeError(msg)
