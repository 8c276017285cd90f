"""How ensembles of two classes give the rarer one its due: Learn++.NIE and Learn++.CDS.

Both weigh a member by the mean of its pseudo-errors ``error / (1 - error)`` on all chunks since it was built, where
late chunks count more, by a sigmoid of its age (Ditzler and Polikar 2013). A member that is wrong more often than right
counts as one that guesses.
"""

from dataclasses import dataclass
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.learners.chunk_ensembles.members import Builder, Chunk, Column, Member, added_up
from streamgauge.learners.chunk_ensembles.smote import oversampled
from streamgauge.randomness import below
from streamgauge.records import Schema

__all__ = ["Bagged", "Oversampled"]

LEAST_ERROR = 1e-10
"""What keeps the weight of a member without error finite."""


@dataclass
class Group:
    """Learners built from one chunk, that vote as one, and the sums of their pseudo-errors since."""

    members: list[Member]
    age: int = 0
    errors: float = 0.0
    weights: float = 0.0

    def votes(self, x: Column) -> Column:
        """Vote with the mean of the members' votes."""
        return added_up([member.votes(x) / len(self.members) for member in self.members])

    def predictions(self, x: Column) -> NDArray[np.intp]:
        """Predict the class for which most members are."""
        votes = [member.votes(x) for member in self.members]
        ballots = [(vote == vote.max(axis=1, keepdims=True)).argmax(axis=1) for vote in votes]
        classes = np.arange(votes[0].shape[1])
        found: NDArray[np.intp] = sum((ballot[:, np.newaxis] == classes).astype(int) for ballot in ballots).argmax(
            axis=1
        )
        return found

    def judge(self, error: float, slope: float, crossing: float) -> None:
        """Take in the error on a chunk."""
        error = min(error, 0.5)
        weight = 1.0 / (1.0 + exp(-slope * (self.age - crossing)))
        self.errors += weight * error / (1.0 - error)
        self.weights += weight
        self.age += 1

    @property
    def error(self) -> float:
        """The mean pseudo-error, from 0 to 1."""
        return self.errors / self.weights if self.weights > 0 else 0.0


class _Groups:
    """Groups of learners, one per chunk; that with the greatest error goes when there are too many."""

    def __init__(
        self, builder: Builder, schema: Schema, n_groups: int, slope: float, crossing: float, seed: int
    ) -> None:
        self._builder, self._n_groups, self._seed = builder, n_groups, seed
        self._slope, self._crossing = slope, crossing
        self._nominal = schema.n_values > 0
        self._counts = np.zeros(2)
        self._groups: list[Group] = []

    def vote(self, x: Column) -> Column:
        """Vote with the groups, each weighted by the logarithm of one over its error."""
        weights = [log(1.0 / max(group.error, LEAST_ERROR)) for group in self._groups]
        total = sum(weights)
        if not total > 0.0:
            weights, total = [1.0] * len(weights), float(len(weights))
        votes = [g.votes(x) * (w / total) for g, w in zip(self._groups, weights, strict=True) if w > 0]
        return added_up(votes)

    def _count(self, chunk: Chunk) -> int:
        """Count the classes of a chunk; give the one that is rarer so far."""
        self._counts += np.bincount(chunk.y, chunk.weight, minlength=2)
        return int(self._counts[1] <= self._counts[0])

    def _judge(self, errors: list[float]) -> None:
        for group, error in zip(self._groups, errors, strict=True):
            group.judge(error, self._slope, self._crossing)
        if len(self._groups) > self._n_groups:
            del self._groups[int(np.argmax([group.error for group in self._groups]))]

    @property
    def n_bytes(self) -> int:
        """The memory of the members."""
        return sum(member.learner.n_bytes for group in self._groups for member in group.members)

    def facts(self) -> tuple[dict[str, Any], list[bytes]]:
        """Give all of its state."""
        groups = [[[m.number for m in g.members], g.age, g.errors, g.weights] for g in self._groups]
        facts = {"n_built": self._builder.n_built, "counts": self._counts.tolist(), "groups": groups}
        return facts, [member.learner.save() for group in self._groups for member in group.members]

    def restore(self, facts: dict[str, Any], parts: list[bytes]) -> None:
        """Take over a state."""
        states = iter(parts)
        self._groups = [
            Group(self._builder.loaded(numbers, [next(states) for _ in numbers]), *sums)
            for numbers, *sums in facts["groups"]
        ]
        self._counts, self._builder.n_built = np.array(facts["counts"]), facts["n_built"]


class Bagged(_Groups):
    """Learn++.NIE: from each chunk several learners, each of all rare rows and a small sample of the others."""

    def take(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        rare = self._count(chunk)
        self._groups.append(Group(self._new(chunk, rare)))
        errors = [1.0 - f1(group.predictions(chunk.x), chunk, rare) for group in self._groups]
        if errors[-1] > 0.5:
            self._groups[-1] = Group(self._new(chunk, rare))
        self._judge(errors)

    def _new(self, chunk: Chunk, rare: int) -> list[Member]:
        """Build learners of samples of the commoner rows with all of the rarer."""
        common, few = np.flatnonzero(chunk.y != rare), np.flatnonzero(chunk.y == rare)
        size = len(chunk) // self._n_groups if len(common) else 0
        members = []
        for _ in range(self._n_groups):
            number = self._builder.n_built
            sample = common[below(self._seed, "sample", number, 0, size, len(common))] if size else common[:0]
            members.append(self._builder.new(chunk.rows(np.concatenate([sample, few]))))
        return members


class Oversampled(_Groups):
    """Learn++.CDS: from each chunk a learner, of its rows and as many more rare ones as balance them (SMOTE)."""

    def take(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        rare = self._count(chunk)
        penalty = self._penalties(chunk)
        balanced = oversampled(chunk, rare, self._nominal, self._seed)
        self._groups.append(Group([self._builder.new(balanced)]))
        self._judge([float(np.sum(penalty[group.predictions(chunk.x) != chunk.y])) for group in self._groups])

    def _penalties(self, chunk: Chunk) -> Column:
        """Say what share of an error each row is worth: more where the ensemble is wrong."""
        penalty = chunk.weight / chunk.weight.sum()
        if self._groups:
            right = self.vote(chunk.x).argmax(axis=1) == chunk.y
            wrong = float(penalty[~right].sum())
            penalty = np.where(right, wrong * penalty, penalty)
        total = float(penalty.sum())
        shares: Column = penalty / total if total > 0 else penalty
        return shares


def f1(predictions: NDArray[np.intp], chunk: Chunk, rare: int) -> float:
    """Give the F1 of the rarer class.

    Examples
    --------
    >>> chunk = Chunk(0, np.zeros((3, 1)), np.array([1, 1, 0], dtype=np.int32), np.ones(3))
    >>> round(f1(np.array([1, 0, 0]), chunk, rare=1), 3)
    0.667
    """
    said, true = predictions == rare, chunk.y == rare
    either = float(chunk.weight[said].sum() + chunk.weight[true].sum())
    return 2.0 * float(chunk.weight[said & true].sum()) / either if either > 0 else 1.0
