"""A pool of weighted members with a limited size, on which the ensembles of chunks are built."""

from typing import Any

import numpy as np

from streamgauge.learners.chunk_ensembles.members import Builder, Column, Member, add_up

__all__ = ["Pool"]


class Pool:
    """Weighted members that vote together."""

    def __init__(self, builder: Builder, n_members: int) -> None:
        self.builder, self.n_members = builder, n_members
        self.members: list[Member] = []
        self.weights: list[float] = []

    def vote(self, x: Column) -> Column:
        """Return the weighted mean of the members' votes; the unweighted mean if no weight is above 0."""
        weights = np.maximum(self.weights, 0.0)
        total = float(weights.sum())
        if not total > 0.0:
            weights, total = np.ones(len(self.members)), float(len(self.members))
        voters = [(member, weight) for member, weight in zip(self.members, weights, strict=True) if weight > 0]
        return add_up([member.vote(x) * (weight / total) for member, weight in voters])

    def drop_worst(self, scores: list[float]) -> None:
        """Drop the member with the lowest score, the first in a tie, if there are too many members."""
        if len(self.members) > self.n_members:
            worst = int(np.argmin(scores))
            del self.members[worst], self.weights[worst]

    @property
    def n_bytes(self) -> int:
        """The memory of the members in bytes."""
        return sum(member.learner.n_bytes for member in self.members)

    def save(self) -> tuple[dict[str, Any], list[bytes]]:
        """Return the complete state: facts, and the saved members."""
        numbers = [member.number for member in self.members]
        facts = {"n_built": self.builder.n_built, "numbers": numbers, "weights": self.weights}
        return facts, [member.learner.save() for member in self.members]

    def restore(self, facts: dict[str, Any], parts: list[bytes]) -> None:
        """Restore a saved state."""
        self.members = self.builder.restore(facts["numbers"], parts)
        self.weights, self.builder.n_built = facts["weights"], facts["n_built"]
