"""What the ensembles of chunks share: a pool of weighted members, of which the worst goes when there are too many."""

from typing import Any

import numpy as np

from streamgauge.learners.chunk_ensembles.members import Builder, Column, Member, added_up

__all__ = ["Pool"]


class Pool:
    """Members with a weight each, that vote together."""

    def __init__(self, builder: Builder, n_members: int) -> None:
        self.builder, self.n_members = builder, n_members
        self.members: list[Member] = []
        self.weights: list[float] = []

    def vote(self, x: Column) -> Column:
        """Vote with the weighted mean of the members' votes; with the plain mean where no weight is above 0."""
        weights = np.maximum(self.weights, 0.0)
        total = float(weights.sum())
        if not total > 0.0:
            weights, total = np.ones(len(self.members)), float(len(self.members))
        heavy = [(member, weight) for member, weight in zip(self.members, weights, strict=True) if weight > 0]
        return added_up([member.votes(x) * (weight / total) for member, weight in heavy])

    def drop_worst(self, worth: list[float]) -> None:
        """Let the member of least worth go, the first of equals, where there are too many."""
        if len(self.members) > self.n_members:
            worst = int(np.argmin(worth))
            del self.members[worst], self.weights[worst]

    @property
    def n_bytes(self) -> int:
        """The memory of the members."""
        return sum(member.learner.n_bytes for member in self.members)

    def facts(self) -> tuple[dict[str, Any], list[bytes]]:
        """Give all of its state."""
        numbers = [member.number for member in self.members]
        facts = {"n_built": self.builder.n_built, "numbers": numbers, "weights": self.weights}
        return facts, [member.learner.save() for member in self.members]

    def restore(self, facts: dict[str, Any], parts: list[bytes]) -> None:
        """Take over a state."""
        self.members = self.builder.loaded(facts["numbers"], parts)
        self.weights, self.builder.n_built = facts["weights"], facts["n_built"]
