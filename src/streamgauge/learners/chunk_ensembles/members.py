"""The learners of an ensemble, and rows in chunks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.protocols import Learner, LearnerSpec
from streamgauge.randomness import fold_seed
from streamgauge.records import Schema

__all__ = ["Builder", "Chunk", "Member", "added_up", "shares"]

Column = NDArray[np.float64]


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows that were learnt, with a weight each; `number` counts the chunks before it."""

    number: int
    x: Column
    y: NDArray[np.int32]
    weight: Column

    def __len__(self) -> int:
        return len(self.y)

    def rows(self, chosen: NDArray[np.intp] | NDArray[np.bool_]) -> "Chunk":
        """Give some of its rows."""
        return Chunk(self.number, np.ascontiguousarray(self.x[chosen]), self.y[chosen], self.weight[chosen])

    def mean(self, values: Column) -> float:
        """Average a value of each row by the rows' weights."""
        return float(np.dot(values, self.weight) / self.weight.sum())


@dataclass
class Member:
    """A learner of the ensemble; `number` says as the how manieth it was built, and so its seed."""

    learner: Learner
    number: int

    def votes(self, x: Column) -> Column:
        """Vote for the classes of each row: shares of 1, or 0 for all where it abstains."""
        return shares(self.learner.predict(x))

    def learn(self, chunk: Chunk) -> None:
        """Learn the rows of a chunk, in one call where the learner is one of another library that can."""
        learn = getattr(self.learner, "learn_together", self.learner.learn)
        learn(chunk.x, chunk.y, None if (chunk.weight == 1.0).all() else chunk.weight)

    def accuracy(self, chunk: Chunk) -> float:
        """Give the share of a chunk's weight that it predicts right."""
        return chunk.mean((self.votes(chunk.x).argmax(axis=1) == chunk.y).astype(np.float64))

    def squared_error(self, chunk: Chunk) -> float:
        """Give the mean squared distance of its vote for the true class from 1."""
        votes = self.votes(chunk.x)
        return chunk.mean((1.0 - votes[np.arange(len(chunk)), chunk.y]) ** 2)


class Builder:
    """Builds the members of an ensemble, each with its own seed."""

    def __init__(self, spec: LearnerSpec, schema: Schema, seed: int) -> None:
        self._spec, self._schema, self._seed = spec, schema, seed
        self.n_built = 0

    def new(self, chunk: Chunk) -> Member:
        """Build a member that has learnt a chunk."""
        member = self.again(self.n_built)
        self.n_built += 1
        member.learn(chunk)
        return member

    def again(self, number: int) -> Member:
        """Build a member with the seed of a number, as it was when it had learnt nothing."""
        return Member(self._spec.build(self._schema, fold_seed(self._seed, number, self._spec.seed)), number)

    def loaded(self, numbers: Sequence[int], states: Sequence[bytes]) -> list[Member]:
        """Build members anew from their numbers and saved states."""
        members = [self.again(number) for number in numbers]
        for member, state in zip(members, states, strict=True):
            member.learner.load(state)
        return members


def shares(votes: Column) -> Column:
    """Make the votes for each row add up to 1, where there are any.

    Examples
    --------
    >>> shares(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    totals = added_up([votes[:, i : i + 1] for i in range(votes.shape[1])])
    return np.divide(votes, totals, out=np.zeros_like(votes), where=totals > 0)


def added_up(tables: Sequence[Column]) -> Column:
    """Add tables one after the other: the same bits for any number of rows, which NumPy's sum does not promise.

    Examples
    --------
    >>> added_up([np.ones((1, 2)), np.ones((1, 2))]).tolist()
    [[2.0, 2.0]]
    """
    total = np.zeros_like(tables[0])
    for table in tables:
        total += table
    return total
