"""Chunks of rows, and the members of an ensemble that learn them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import find_end_of_training
from streamgauge.learners.adapters.fit_only import EstimatorMember
from streamgauge.learners.adapters.row_frames import RowFrames
from streamgauge.learners.adapters.scikit_learn import ScikitLearn
from streamgauge.learners.refitted import Refitted
from streamgauge.protocols import Learner, LearnerSpec
from streamgauge.randomness import fold_seed
from streamgauge.records import Schema

__all__ = ["LEAST_ERROR", "Builder", "Chunk", "Column", "Member", "add_up", "scale_votes"]

Column = NDArray[np.float64]

LEAST_ERROR = 1e-10
"""Keeps the weight of a member without error finite."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive learnt rows with their weights; `number` is the index of the chunk in the stream."""

    number: int
    x: Column
    y: NDArray[np.int32]
    weight: Column

    def __len__(self) -> int:
        return len(self.y)

    def select(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> "Chunk":
        """Return the chunk with only the given rows."""
        return Chunk(self.number, np.ascontiguousarray(self.x[rows]), self.y[rows], self.weight[rows])

    def average(self, values: Column) -> float:
        """Return the mean of a value per row, weighted by the rows' weights."""
        return float(np.dot(values, self.weight) / self.weight.sum())

    def score_votes(self, votes: Column) -> float:
        """Return the accuracy of votes for the rows."""
        return self.average((votes.argmax(axis=1) == self.y).astype(np.float64))


@runtime_checkable
class _LearnsTogether(Protocol):
    """A learner that can learn any number of rows in one call."""

    def learn_together(self, x: Column, y: NDArray[np.int32], weight: Column | None) -> None: ...


@dataclass
class Member:
    """A learner of the ensemble; `number` is the index at which it was built, which determines its seed."""

    learner: Learner | EstimatorMember
    number: int

    def vote(self, x: Column) -> Column:
        """Return the votes for the classes of each row, with a sum of 1, or 0 for an abstention."""
        return scale_votes(self.learner.predict(x))

    def learn(self, chunk: Chunk) -> None:
        """Learn the rows of a chunk; a model from another library gets them in a single call."""
        learner, columns = self.learner, (chunk.x, chunk.y, None if (chunk.weight == 1.0).all() else chunk.weight)
        if isinstance(learner, EstimatorMember):
            learner.learn_chunk(*columns)
        elif isinstance(learner, _LearnsTogether):
            learner.learn_together(*columns)
        else:
            learner.learn(*columns)
            end_training = find_end_of_training(learner)
            if end_training is not None:
                end_training()

    def accuracy(self, chunk: Chunk) -> float:
        """Return the accuracy on a chunk."""
        return chunk.score_votes(self.vote(chunk.x))

    def squared_error(self, chunk: Chunk) -> float:
        """Return the mean of ``(1 - vote for the true class) ** 2`` over a chunk."""
        votes = self.vote(chunk.x)
        return chunk.average((1.0 - votes[np.arange(len(chunk)), chunk.y]) ** 2)


class Builder:
    """Builds the members of an ensemble, each with a separate seed.

    A member of scikit-learn is fitted on its chunk, as in stream-learn.
    """

    def __init__(self, spec: LearnerSpec, schema: Schema, seed: int) -> None:
        self._spec, self._schema, self._seed = spec, schema, seed
        self.n_built = 0
        self._updates = False
        self._prototype = _make_prototype(spec, schema)

    @property
    def is_row_wise(self) -> bool:
        """Whether members vote with the same bits whatever rows are predicted together."""
        return self._prototype is None or self._prototype.is_row_wise

    def set_updates(self) -> None:
        """Have members continue to learn after their first chunk."""
        self._updates = True
        if self._prototype is not None and not self._prototype.can_be_updated:  # such as a pipeline
            self._prototype = None

    def train(self, chunk: Chunk) -> Member:
        """Build the next member and train it on a chunk."""
        member = self.build(self.n_built)
        self.n_built += 1
        member.learn(chunk)
        return member

    def build(self, number: int) -> Member:
        """Build the untrained member of a number."""
        seed = fold_seed(self._seed, number, self._spec.seed)
        if self._prototype is not None:
            return Member(self._prototype.make_copy(seed, is_updated=self._updates), number)
        return Member(self._spec.build(self._schema, seed), number)

    def restore(self, numbers: Sequence[int], states: Sequence[bytes]) -> list[Member]:
        """Rebuild members from their numbers and saved states."""
        members = [self.build(number) for number in numbers]
        for member, state in zip(members, states, strict=True):
            member.learner.load(state)
        return members


def _make_prototype(spec: LearnerSpec, schema: Schema) -> EstimatorMember | None:
    """Return a member without rows for a model of scikit-learn; None for another learner."""
    if isinstance(spec, Refitted) and not isinstance(spec.estimator, LearnerSpec):
        return EstimatorMember(spec.estimator, schema)
    if isinstance(spec, ScikitLearn):
        return EstimatorMember(spec.estimator, schema, None if spec.rows is None else RowFrames(schema, spec.rows))
    return None


def scale_votes(votes: Column) -> Column:
    """Return the votes scaled to a sum of 1 in each row; rows without votes stay 0.

    Examples
    --------
    >>> scale_votes(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    totals = add_up([votes[:, i : i + 1] for i in range(votes.shape[1])])
    return np.divide(votes, totals, out=np.zeros_like(votes), where=totals > 0)


def add_up(tables: Sequence[Column]) -> Column:
    """Return the sum of tables, added in order: the same bits for any number of rows, unlike NumPy's sum.

    Examples
    --------
    >>> add_up([np.ones((1, 2)), np.ones((1, 2))]).tolist()
    [[2.0, 2.0]]
    """
    total = np.zeros_like(tables[0])
    for table in tables:
        total += table
    return total
