"""Ensembles for two imbalanced classes: Learn++.NIE and Learn++.CDS.

Both weight a member by the mean of its pseudo-errors ``error / (1 - error)`` on all chunks since it was built; a
sigmoid of its age gives recent chunks more weight (Ditzler and Polikar 2013). A member that is wrong more often than
right counts as one that guesses.
"""

from dataclasses import dataclass
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.learners.chunk_ensembles.members import LEAST_ERROR, Builder, Chunk, Column, Member, add_up
from streamgauge.learners.chunk_ensembles.smote import oversample
from streamgauge.randomness import below
from streamgauge.records import Schema

__all__ = ["Bagged", "Oversampled"]


@dataclass
class MemberGroup:
    """Members built from one chunk that vote as one, and the sums of their pseudo-errors since then."""

    members: list[Member]
    age: int = 0
    error_sum: float = 0.0
    weight_sum: float = 0.0

    def vote(self, x: Column) -> Column:
        """Return the mean of the members' votes."""
        return add_up([member.vote(x) / len(self.members) for member in self.members])

    def predict(self, x: Column) -> NDArray[np.intp]:
        """Return the class that most members predict."""
        votes = [member.vote(x) for member in self.members]
        predictions = [(vote == vote.max(axis=1, keepdims=True)).argmax(axis=1) for vote in votes]
        classes = np.arange(votes[0].shape[1])
        ballots = sum((predicted[:, np.newaxis] == classes).astype(int) for predicted in predictions)
        winners: NDArray[np.intp] = np.argmax(ballots, axis=1)
        return winners

    def add_error(self, error: float, slope: float, crossing: float) -> None:
        """Add the error on a chunk to the sums."""
        error = min(error, 0.5)
        weight = 1.0 / (1.0 + exp(-slope * (self.age - crossing)))
        self.error_sum += weight * error / (1.0 - error)
        self.weight_sum += weight
        self.age += 1

    @property
    def error(self) -> float:
        """The mean pseudo-error, from 0 to 1."""
        return self.error_sum / self.weight_sum if self.weight_sum > 0 else 0.0


class _Groups:
    """Groups of members, one per chunk; the one with the greatest error is dropped when there are too many."""

    def __init__(
        self, builder: Builder, schema: Schema, *, n_groups: int, slope: float, crossing: float, seed: int
    ) -> None:
        self._builder, self._n_groups, self._seed = builder, n_groups, seed
        self._slope, self._crossing = slope, crossing
        self._nominal = schema.n_values > 0
        self._counts = np.zeros(2)
        self._groups: list[MemberGroup] = []

    def vote(self, x: Column) -> Column:
        """Return the mean of the groups' votes, weighted by the logarithm of one over their errors."""
        weights = [log(1.0 / max(group.error, LEAST_ERROR)) for group in self._groups]
        total = sum(weights)
        if not total > 0.0:
            weights, total = [1.0] * len(weights), float(len(weights))
        voters = [(group, weight) for group, weight in zip(self._groups, weights, strict=True) if weight > 0]
        return add_up([group.vote(x) * (weight / total) for group, weight in voters])

    def _count_classes(self, chunk: Chunk) -> int:
        """Add a chunk to the counts of the classes; return the class that is rarer so far."""
        self._counts += np.bincount(chunk.y, chunk.weight, minlength=2)
        return int(self._counts[1] <= self._counts[0])

    def _add_errors(self, errors: list[float]) -> None:
        """Add the error of each group, and drop the worst group if there are too many."""
        for group, error in zip(self._groups, errors, strict=True):
            group.add_error(error, self._slope, self._crossing)
        if len(self._groups) > self._n_groups:
            del self._groups[int(np.argmax([group.error for group in self._groups]))]

    @property
    def n_bytes(self) -> int:
        """The memory of the members in bytes."""
        return sum(member.learner.n_bytes for group in self._groups for member in group.members)

    def save(self) -> tuple[dict[str, Any], list[bytes]]:
        """Return the complete state: facts, and the saved members."""
        groups = [[[m.number for m in g.members], g.age, g.error_sum, g.weight_sum] for g in self._groups]
        facts = {"n_built": self._builder.n_built, "counts": self._counts.tolist(), "groups": groups}
        return facts, [member.learner.save() for group in self._groups for member in group.members]

    def restore(self, facts: dict[str, Any], parts: list[bytes]) -> None:
        """Restore a saved state."""
        states = iter(parts)
        self._groups = [
            MemberGroup(self._builder.restore(numbers, [next(states) for _ in numbers]), *sums)
            for numbers, *sums in facts["groups"]
        ]
        self._counts, self._builder.n_built = np.array(facts["counts"]), facts["n_built"]


class Bagged(_Groups):
    """Learn++.NIE: several members per chunk, each trained on all rare rows and a small sample of the others."""

    def learn_chunk(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        rare = self._count_classes(chunk)
        self._groups.append(MemberGroup(self._train_members(chunk, rare)))
        errors = [1.0 - compute_f1(group.predict(chunk.x), chunk, rare) for group in self._groups]
        if errors[-1] > 0.5:
            self._groups[-1] = MemberGroup(self._train_members(chunk, rare))
        self._add_errors(errors)

    def _train_members(self, chunk: Chunk, rare: int) -> list[Member]:
        common_rows, rare_rows = np.flatnonzero(chunk.y != rare), np.flatnonzero(chunk.y == rare)
        size = len(chunk) // self._n_groups if len(common_rows) else 0
        members = []
        for _ in range(self._n_groups):
            number = self._builder.n_built
            drawn = below(self._seed, "sample", number, 0, size, len(common_rows)) if size else slice(0)
            members.append(self._builder.train(chunk.select(np.concatenate([common_rows[drawn], rare_rows]))))
        return members


class Oversampled(_Groups):
    """Learn++.CDS: one member per chunk, trained on its rows and synthetic rare rows that balance them (SMOTE)."""

    def learn_chunk(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        rare = self._count_classes(chunk)
        penalty = self._compute_penalties(chunk)
        balanced = oversample(chunk, rare, self._nominal, self._seed)
        self._groups.append(MemberGroup([self._builder.train(balanced)]))
        self._add_errors([float(np.sum(penalty[group.predict(chunk.x) != chunk.y])) for group in self._groups])

    def _compute_penalties(self, chunk: Chunk) -> Column:
        """Return the penalty of an error at each row, with a sum of 1: greater if the ensemble is wrong there."""
        penalty = chunk.weight / chunk.weight.sum()
        if self._groups:
            is_right = self.vote(chunk.x).argmax(axis=1) == chunk.y
            ensemble_error = float(penalty[~is_right].sum())
            penalty = np.where(is_right, ensemble_error * penalty, penalty)
        total = float(penalty.sum())
        shares: Column = penalty / total if total > 0 else penalty
        return shares


def compute_f1(predictions: NDArray[np.intp], chunk: Chunk, rare: int) -> float:
    """Return the F1 of the rarer class.

    Examples
    --------
    >>> chunk = Chunk(0, np.zeros((3, 1)), np.array([1, 1, 0], dtype=np.int32), np.ones(3))
    >>> round(compute_f1(np.array([1, 0, 0]), chunk, rare=1), 3)
    0.667
    """
    predicted, true = predictions == rare, chunk.y == rare
    total = float(chunk.weight[predicted].sum() + chunk.weight[true].sum())
    return 2.0 * float(chunk.weight[predicted & true].sum()) / total if total > 0 else 1.0
