"""How an ensemble's members lose weight as they age: WAE."""

from typing import Any, Literal

import numpy as np

from streamgauge.learners.chunk_ensembles.members import Builder, Chunk, Column, added_up
from streamgauge.learners.chunk_ensembles.pools import Pool

__all__ = ["Ageing", "AgeingWay", "Weighting"]

Weighting = Literal["kuncheva", "same_for_each", "proportional_to_accuracy", "related_to_whole", "bell_curve"]
"""How the accuracy of a member becomes its weight."""

AgeingWay = Literal["weights_proportional", "constant", "gaussian"]
"""How weights fall with age."""


class Ageing(Pool):
    """Members judged by the chunk before the one at hand, that lose weight as they age."""

    def __init__(
        self,
        builder: Builder,
        n_members: int,
        weighting: Weighting,
        ageing: AgeingWay,
        theta: float,
        rejuvenation: float,
        *,
        prune_last: bool,
    ) -> None:
        super().__init__(builder, n_members)
        self._weighting, self._ageing, self._theta = weighting, ageing, theta
        self._rejuvenation, self._prune_last = rejuvenation, prune_last
        self._ages: list[float] = []
        self._before: Chunk | None = None

    def take(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        before = self._before
        whole = self._accuracy(before) if before else 0.0
        if before and not self._prune_last:
            self._prune(before)
        self.members.append(self.builder.new(chunk))
        self._ages.append(1.0)
        self.weights = [*self.weights, 1.0] if before is None else self._weigh(before, whole)
        self._drop(np.flatnonzero(np.array(self.weights) <= 0).tolist())
        if before and self._prune_last:
            self._prune(before)
        total = sum(self.weights)
        self.weights = [weight / total if total > 0 else 1.0 for weight in self.weights]
        self._ages = [age + 1.0 for age in self._ages]
        self._before = chunk

    def _accuracy(self, chunk: Chunk) -> float:
        """Give the accuracy of the whole ensemble."""
        return chunk.mean((self.vote(chunk.x).argmax(axis=1) == chunk.y).astype(np.float64))

    def _weigh(self, chunk: Chunk, whole: float) -> list[float]:
        """Weigh all members by their accuracy on a chunk and by their age."""
        accuracy = np.array([member.accuracy(chunk) for member in self.members])
        weights = self._weights_of(accuracy, whole)
        if self._rejuvenation > 0:
            above = weights - weights.mean()
            self._ages = (np.array(self._ages) - self._rejuvenation * np.maximum(above, 0.0)).tolist()
        ages = np.array(self._ages)
        if self._ageing == "weights_proportional":
            weights = accuracy / np.sqrt(np.maximum(ages, 1e-10))
        elif self._ageing == "constant":
            weights = weights - self._theta * ages
            weights[weights < self._theta] = 0.0
        else:
            weights = np.exp(ages * weights / 2.0) / (2.0 * np.pi)
        found: list[float] = weights.tolist()
        return found

    def _weights_of(self, accuracy: Column, whole: float) -> Column:
        if self._weighting == "same_for_each":
            return np.ones_like(accuracy)
        if self._weighting == "proportional_to_accuracy":
            return accuracy
        if self._weighting == "kuncheva":
            with np.errstate(divide="ignore"):
                return np.maximum(np.log(accuracy / (1.0000001 - accuracy)), 0.0)
        if self._weighting == "related_to_whole":
            weights = accuracy / whole if whole > 0 else np.ones_like(accuracy)
        else:
            weights = np.exp((whole - accuracy) / 2.0) / (2.0 * np.pi)
        return np.where(weights < self._theta, 0.0, weights)

    def _prune(self, chunk: Chunk) -> None:
        """Where there are too many members, let that one go without which the others are right most often."""
        if len(self.members) <= self.n_members:
            return
        votes = [member.votes(chunk.x) for member in self.members]
        loser, best = 0, 0.0
        for candidate in range(len(votes)):
            others = added_up([vote if i != candidate else np.zeros_like(vote) for i, vote in enumerate(votes)])
            accuracy = chunk.mean((others.argmax(axis=1) == chunk.y).astype(np.float64))
            if accuracy > best:
                loser, best = candidate, accuracy
        self._drop([loser])

    def _drop(self, losers: list[int]) -> None:
        """Let members go, unless that would be all of them."""
        kept = [i for i in range(len(self.members)) if i not in losers] or range(len(self.members))
        self.members, self._ages = [self.members[i] for i in kept], [self._ages[i] for i in kept]
        self.weights = [self.weights[i] for i in kept]

    @property
    def n_bytes(self) -> int:
        """The memory of the members and of the chunk before."""
        chunk = self._before
        return super().n_bytes + (chunk.x.nbytes + chunk.y.nbytes + chunk.weight.nbytes if chunk else 0)

    def facts(self) -> tuple[dict[str, Any], list[bytes]]:
        """Give all of its state."""
        facts, parts = super().facts()
        chunk = self._before
        kept = [column.tobytes() for column in (chunk.x, chunk.y, chunk.weight)] if chunk else [b""] * 3
        shape = (chunk.number, *chunk.x.shape) if chunk else None
        return {**facts, "ages": self._ages, "before": shape}, [*kept, *parts]

    def restore(self, facts: dict[str, Any], parts: list[bytes]) -> None:
        """Take over a state."""
        x, y, weight, *states = parts
        super().restore(facts, states)
        self._ages, self._before = facts["ages"], None
        if facts["before"] is not None:
            number, *shape = facts["before"]
            rows = np.frombuffer(x).reshape(shape)
            self._before = Chunk(number, rows, np.frombuffer(y, dtype=np.int32), np.frombuffer(weight))
