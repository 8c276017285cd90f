"""The ensembles of stream-learn as classifiers with `partial_fit`, on ours (`streamgauge.learners`).

Options have stream-learn's names. Where its code differs from the papers, ours follows the papers: see the page
"Differences". Random numbers are seeded from NumPy's global state at the first chunk, as `np.random.seed` sets it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from streamgauge import learners
from streamgauge.compat.strlearn.metrics import accuracy_score
from streamgauge.errors import StreamgaugeError
from streamgauge.learners.adapters import as_spec
from streamgauge.learners.chunk_ensembles.accuracy import SEAPool
from streamgauge.learners.chunk_ensembles.chunk_learner import ChunkModel
from streamgauge.learners.chunk_ensembles.members import Builder, Chunk, Member
from streamgauge.learners.chunk_ensembles.pools import Pool
from streamgauge.protocols import Learner
from streamgauge.records import Attribute, Schema

__all__ = [
    "AUE",
    "AWE",
    "CDS",
    "DWM",
    "KUE",
    "NIE",
    "OOB",
    "SEA",
    "UOB",
    "WAE",
    "OnlineBagging",
    "StreamingEnsemble",
]


class StreamingEnsemble(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """The base class of the ensembles: a classifier that learns a chunk at each `partial_fit`.

    Unlike in stream-learn, no label is overwritten in a chunk that lacks a class.

    Parameters
    ----------
    base_estimator
        The classifier that each member is.
    n_estimators
        The number of members.

    Examples
    --------
    >>> isinstance(SEA(None), StreamingEnsemble), SEA(None).n_estimators
    (True, 10)
    """

    def __init__(self, base_estimator: Any = None, n_estimators: int = 10) -> None:
        self.base_estimator, self.n_estimators = base_estimator, n_estimators

    @abstractmethod
    def make_model(self, schema: Schema, seed: int) -> ChunkModel:
        """Return the untrained model that learns the chunks."""

    def fit(self, X: Any, y: Any) -> "StreamingEnsemble":
        """Forget everything, and learn a chunk."""
        if hasattr(self, "model_"):
            del self.model_
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "StreamingEnsemble":
        """Learn a chunk; the first one needs all classes, or `classes`."""
        x, labels = np.ascontiguousarray(X, dtype=np.float64), np.asarray(y)
        if not hasattr(self, "model_"):
            self._start(x, np.unique(labels if classes is None else classes))
        if x.shape[1] != self.n_features_in_:
            msg = f"the rows have {x.shape[1]} features; the first chunk had {self.n_features_in_}"
            raise StreamgaugeError(msg)
        codes = np.searchsorted(self.classes_, labels).clip(max=len(self.classes_) - 1).astype(np.int32)
        if not (self.classes_[codes] == labels).all():
            msg = f"the chunk has a label that is none of {self.classes_.tolist()}; pass all classes with the first one"
            raise StreamgaugeError(msg)
        self.model_.learn_chunk(Chunk(self._n_chunks, x, codes, np.ones(len(codes))))
        self._n_chunks += 1
        return self

    def _start(self, x: NDArray[np.float64], classes: NDArray[Any]) -> None:
        """Build the model from the first chunk."""
        self.classes_, self.n_features_in_, self._n_chunks = classes, x.shape[1], 0
        attributes = tuple(Attribute(f"a{i + 1}", missing=True) for i in range(x.shape[1]))
        seed = int(np.random.randint(2**31))
        self.model_: Any = self.make_model(Schema(attributes, tuple(str(label) for label in classes)), seed)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the weighted mean of the members' probabilities."""
        x = np.ascontiguousarray(X, dtype=np.float64)
        votes: NDArray[np.float64] = self.model_.vote(x) if len(x) else np.zeros((0, len(self.classes_)))
        return votes

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the classes of rows."""
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels

    @property
    def ensemble_(self) -> list[Any]:
        """The members."""
        return [member.learner for member in self.model_.members]

    @property
    def weights_(self) -> NDArray[np.float64]:
        """The weights of the members."""
        return np.array(self.model_.weights)


class SEA(StreamingEnsemble):
    """The streaming ensemble algorithm: one member per chunk, of which the worst on the current one is dropped.

    Parameters
    ----------
    base_estimator
        The classifier that each member is.
    n_estimators
        The maximum number of members.
    metric
        The function of labels and predictions by which the worst member is found.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from streamgauge.compat.strlearn.evaluators import TestThenTrain
    >>> from streamgauge.compat.strlearn.streams import StreamGenerator
    >>> evaluator = TestThenTrain()
    >>> evaluator.process(StreamGenerator(n_chunks=10, random_state=1), SEA(GaussianNB(), n_estimators=5))
    >>> evaluator.scores.shape
    (1, 9, 2)
    """

    def __init__(
        self,
        base_estimator: Any = None,
        n_estimators: int = 10,
        metric: Callable[..., float] = accuracy_score,
    ) -> None:
        super().__init__(base_estimator, n_estimators)
        self.metric = metric

    def make_model(self, schema: Schema, seed: int) -> ChunkModel:
        """Return the untrained model."""
        return _ScoredPool(Builder(as_spec(self.base_estimator), schema, seed), self.n_estimators, self.metric)


class _ScoredPool(SEAPool):
    """SEA with any metric."""

    def __init__(self, builder: Builder, n_members: int, metric: Callable[..., float]) -> None:
        super().__init__(builder, n_members)
        self._metric = metric

    def score_member(self, member: Member, chunk: Chunk) -> float:
        """Return the metric of a member on a chunk."""
        return float(self._metric(chunk.y, member.vote(chunk.x).argmax(axis=1)))


class AWE(StreamingEnsemble):
    """The accuracy weighted ensemble: `learners.AccuracyWeightedEnsemble`.

    Parameters
    ----------
    base_estimator, n_estimators
        As in `SEA`.
    n_splits
        The number of folds by which the newest member is weighted.

    Examples
    --------
    >>> AWE().n_splits
    5
    """

    def __init__(self, base_estimator: Any = None, n_estimators: int = 10, n_splits: int = 5) -> None:
        super().__init__(base_estimator, n_estimators)
        self.n_splits = n_splits

    def make_model(self, schema: Schema, seed: int) -> ChunkModel:
        """Return the untrained model."""
        spec = learners.AccuracyWeightedEnsemble(
            self.base_estimator, n_members=self.n_estimators, n_splits=self.n_splits
        )
        return spec.build_model(schema, seed)


class AUE(StreamingEnsemble):
    """The accuracy updated ensemble: `learners.AccuracyUpdatedEnsemble`.

    Parameters
    ----------
    base_estimator, n_estimators, n_splits
        As in `AWE`.
    epsilon
        Keeps weights finite; fixed at its default.

    Examples
    --------
    >>> AUE().n_splits
    5
    """

    def __init__(
        self,
        base_estimator: Any = None,
        n_estimators: int = 10,
        n_splits: int = 5,
        epsilon: float = 1e-10,
    ) -> None:
        super().__init__(base_estimator, n_estimators)
        self.n_splits, self.epsilon = n_splits, epsilon

    def make_model(self, schema: Schema, seed: int) -> ChunkModel:
        """Return the untrained model."""
        spec = learners.AccuracyUpdatedEnsemble(
            self.base_estimator, n_members=self.n_estimators, n_splits=self.n_splits
        )
        return spec.build_model(schema, seed)


class WAE(StreamingEnsemble):
    """The weighted ageing ensemble: `learners.WeightedAgeingEnsemble`.

    Parameters
    ----------
    base_estimator, n_estimators
        As in `SEA`.
    theta
        The least weight, and the weight subtracted per chunk.
    post_pruning
        Whether members are dropped after the newest was added instead of before.
    pruning_criterion
        Only "accuracy".
    weight_calculation_method
        "same_for_each", "proportional_to_accuracy", "kuncheva", "pta_related_to_whole" or "bell_curve".
    aging_method
        "weights_proportional", "constant" or "gaussian".
    rejuvenation_power
        By how much the age of a member above the mean weight is reduced.

    Examples
    --------
    >>> WAE(theta=0.2).theta
    0.2
    """

    def __init__(
        self,
        base_estimator: Any = None,
        n_estimators: int = 10,
        theta: float = 0.1,
        post_pruning: bool = False,
        pruning_criterion: str = "accuracy",
        weight_calculation_method: str = "kuncheva",
        aging_method: str = "weights_proportional",
        rejuvenation_power: float = 0.0,
    ) -> None:
        super().__init__(base_estimator, n_estimators)
        self.theta, self.post_pruning, self.pruning_criterion = theta, post_pruning, pruning_criterion
        self.weight_calculation_method, self.aging_method = weight_calculation_method, aging_method
        self.rejuvenation_power = rejuvenation_power

    def make_model(self, schema: Schema, seed: int) -> ChunkModel:
        """Return the untrained model."""
        spec = learners.WeightedAgeingEnsemble(
            self.base_estimator,
            n_members=self.n_estimators,
            weighting=self.weight_calculation_method.removeprefix("pta_"),  # type: ignore[arg-type]
            ageing=self.aging_method,  # type: ignore[arg-type]
            theta=self.theta,
            rejuvenation=self.rejuvenation_power,
            prune_last=self.post_pruning,
        )
        return spec.build_model(schema, seed)


class NIE(StreamingEnsemble):
    """Learn++.NIE, for two imbalanced classes: `learners.LearnppNIE`.

    Parameters
    ----------
    base_estimator, n_estimators
        As in `SEA`; `n_estimators` is also the number of classifiers of a member.
    param_a, param_b
        The slope and the crossing of the sigmoid of ages.

    Examples
    --------
    >>> NIE().n_estimators
    5
    """

    def __init__(
        self,
        base_estimator: Any = None,
        n_estimators: int = 5,
        param_a: float = 1,
        param_b: float = 1,
    ) -> None:
        super().__init__(base_estimator, n_estimators)
        self.param_a, self.param_b = param_a, param_b

    def make_model(self, schema: Schema, seed: int) -> ChunkModel:
        """Return the untrained model."""
        spec = learners.LearnppNIE(
            self.base_estimator, n_members=self.n_estimators, slope=self.param_a, crossing=self.param_b
        )
        return spec.build_model(schema, seed)


class CDS(StreamingEnsemble):
    """Learn++.CDS, for two imbalanced classes: `learners.LearnppCDS`.

    Parameters
    ----------
    base_estimator, n_estimators
        As in `SEA`.
    a, b
        The slope and the crossing of the sigmoid of ages.

    Examples
    --------
    >>> CDS().a
    2
    """

    def __init__(
        self,
        base_estimator: Any = None,
        n_estimators: int = 10,
        a: float = 2,
        b: float = 2,
    ) -> None:
        super().__init__(base_estimator, n_estimators)
        self.a, self.b = a, b

    def make_model(self, schema: Schema, seed: int) -> ChunkModel:
        """Return the untrained model."""
        spec = learners.LearnppCDS(self.base_estimator, n_members=self.n_estimators, slope=self.a, crossing=self.b)
        return spec.build_model(schema, seed)


class KUE(StreamingEnsemble):
    """The kappa updated ensemble: `learners.KUE`.

    Parameters
    ----------
    base_estimator, n_estimators
        As in `SEA`.
    n_candidates
        The number of candidates per chunk.

    Examples
    --------
    >>> KUE().n_candidates
    1
    """

    def __init__(self, base_estimator: Any = None, n_estimators: int = 10, n_candidates: int = 1) -> None:
        super().__init__(base_estimator, n_estimators)
        self.n_candidates = n_candidates

    def make_model(self, schema: Schema, seed: int) -> ChunkModel:
        """Return the untrained model."""
        spec = learners.KUE(self.base_estimator, n_members=self.n_estimators, n_candidates=self.n_candidates)
        return spec.build_model(schema, seed)


class DWM(StreamingEnsemble):
    """Dynamic weighted majority, row by row: `learners.DWM`, with a change of weights at every `p`-th row.

    Parameters
    ----------
    base_estimator
        As in `SEA`.
    beta
        What the weight of a member that is wrong is multiplied by.
    theta
        The weight below which a member is dropped.
    p
        The number of rows between two changes.
    weighted
        Only kept: votes have the weights of the members, as in the paper.

    Examples
    --------
    >>> DWM().theta
    0.01
    """

    def __init__(
        self, base_estimator: Any = None, beta: float = 0.5, theta: float = 0.01, p: int = 1, weighted: bool = False
    ) -> None:
        super().__init__(base_estimator)
        self.beta, self.theta, self.p, self.weighted = beta, theta, p, weighted

    def make_model(self, schema: Schema, seed: int) -> Any:
        """Return the untrained model."""
        spec = learners.DWM(as_spec(self.base_estimator), factor=self.beta, threshold=self.theta, period=self.p)
        return _RowByRow(spec.build(schema, seed))


class _RowByRow:
    """A learner of rows as a model of chunks."""

    def __init__(self, learner: Learner) -> None:
        self.members, self.weights = [Member(learner, 0)], [1.0]

    def vote(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the votes for the classes of each row."""
        return self.members[0].vote(x)

    def learn_chunk(self, chunk: Chunk) -> None:
        """Learn the rows of a chunk."""
        self.members[0].learn(chunk)


class OnlineBagging(StreamingEnsemble):
    """Online bagging by chunks: members learn the rows with weights drawn from Poisson(1).

    `learners.OzaBag` learns row by row.

    Parameters
    ----------
    base_estimator, n_estimators
        As in `SEA`; the number of members is fixed.

    Examples
    --------
    >>> OnlineBagging().n_estimators
    10
    """

    def make_model(self, schema: Schema, seed: int) -> ChunkModel:
        """Return the untrained model."""
        builder = Builder(as_spec(self.base_estimator), schema, seed)
        return _Bag(builder, self.n_estimators, seed, decay=0.0, balance=None)


class OOB(StreamingEnsemble):
    """Oversampling-based online bagging by chunks, for imbalanced classes; `learners.OOB` learns row by row.

    Parameters
    ----------
    base_estimator, n_estimators
        As in `OnlineBagging`.
    time_decay_factor
        How slowly the sizes of the classes fade.

    Examples
    --------
    >>> OOB().time_decay_factor
    0.9
    """

    _balance: Callable[..., float] = staticmethod(max)

    def __init__(self, base_estimator: Any = None, n_estimators: int = 5, time_decay_factor: float = 0.9) -> None:
        super().__init__(base_estimator, n_estimators)
        self.time_decay_factor = time_decay_factor

    def make_model(self, schema: Schema, seed: int) -> ChunkModel:
        """Return the untrained model."""
        builder = Builder(as_spec(self.base_estimator), schema, seed)
        return _Bag(builder, self.n_estimators, seed, decay=self.time_decay_factor, balance=self._balance)


class UOB(OOB):
    """Undersampling-based online bagging by chunks, for imbalanced classes; `learners.UOB` learns row by row.

    Parameters
    ----------
    base_estimator, n_estimators, time_decay_factor
        As in `OOB`.

    Examples
    --------
    >>> UOB().n_estimators
    5
    """

    _balance: Callable[..., float] = staticmethod(min)


class _Bag(Pool):
    """Members that learn every chunk with Poisson weights."""

    def __init__(
        self, builder: Builder, n_members: int, seed: int, *, decay: float, balance: Callable[..., float] | None
    ) -> None:
        super().__init__(builder, n_members)
        self._seed, self._decay, self._balance = seed, decay, balance
        self._sizes: dict[int, float] = {}

    def learn_chunk(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        if not self.members:
            self.members = [self.builder.build(number) for number in range(self.n_members)]
            self.weights, self.builder.n_built = [1.0] * self.n_members, self.n_members
        rates = np.ones(len(chunk)) if self._balance is None else np.array([self._count(label) for label in chunk.y])
        for member in self.members:
            draws = np.random.default_rng([self._seed, chunk.number, member.number]).poisson(rates)
            if draws.any():
                member.learn(replace(chunk, weight=draws.astype(np.float64)).select(draws > 0))

    def _count(self, label: int) -> float:
        """Count a row of a class; return the mean of its weights."""
        sizes = {each: size * self._decay for each, size in self._sizes.items()}
        sizes[label] = sizes.get(label, 0.0) + 1.0 - self._decay
        self._sizes = sizes
        assert self._balance is not None
        return self._balance(sizes.values()) / sizes[label]
