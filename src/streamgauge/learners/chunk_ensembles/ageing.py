"""An ensemble whose members lose weight as they age: WAE."""

from collections.abc import Collection
from typing import Any, Literal

import numpy as np

from streamgauge.learners.chunk_ensembles.members import Builder, Chunk, Column, add_up
from streamgauge.learners.chunk_ensembles.pools import Pool

__all__ = ["Ageing", "AgeingWay", "Weighting"]

Weighting = Literal["kuncheva", "same_for_each", "proportional_to_accuracy", "related_to_whole", "bell_curve"]
"""How the accuracy of a member is turned into its weight."""

AgeingWay = Literal["weights_proportional", "constant", "gaussian"]
"""How weights decrease with age."""


class Ageing(Pool):
    """WAE: members weighted by their accuracy on the chunk before the current one and by their age."""

    def __init__(
        self,
        builder: Builder,
        n_members: int,
        *,
        weighting: Weighting,
        ageing: AgeingWay,
        theta: float,
        rejuvenation: float,
        prune_last: bool,
    ) -> None:
        super().__init__(builder, n_members)
        self._weighting, self._ageing, self._theta = weighting, ageing, theta
        self._rejuvenation, self._prune_last = rejuvenation, prune_last
        self._ages: list[float] = []
        self._previous: Chunk | None = None

    def learn_chunk(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        previous = self._previous
        whole = previous.score_votes(self.vote(previous.x)) if previous else 0.0
        if previous and not self._prune_last:
            self._prune(previous)
        self.members.append(self.builder.train(chunk))
        self._ages.append(1.0)
        self.weights = [*self.weights, 1.0] if previous is None else self._compute_weights(previous, whole)
        self._drop(np.flatnonzero(np.array(self.weights) <= 0).tolist())
        if previous and self._prune_last:
            self._prune(previous)
        total = sum(self.weights)
        self.weights = [weight / total if total > 0 else 1.0 for weight in self.weights]
        self._ages = [age + 1.0 for age in self._ages]
        self._previous = chunk

    def _compute_weights(self, chunk: Chunk, whole: float) -> list[float]:
        """Return the weights of all members by their accuracy on a chunk and by their age."""
        accuracy = np.array([member.accuracy(chunk) for member in self.members])
        weights = self._weight_accuracies(accuracy, whole)
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
        return [float(weight) for weight in weights]

    def _weight_accuracies(self, accuracy: Column, whole: float) -> Column:
        """Return weights by accuracy alone; `whole` is the accuracy of the ensemble."""
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
        """If there are too many members, drop the one without which the others are most accurate."""
        if len(self.members) <= self.n_members:
            return
        votes = [member.vote(chunk.x) for member in self.members]
        worst, best_accuracy = 0, 0.0
        for candidate in range(len(votes)):
            others = add_up([vote if i != candidate else np.zeros_like(vote) for i, vote in enumerate(votes)])
            accuracy = chunk.score_votes(others)
            if accuracy > best_accuracy:
                worst, best_accuracy = candidate, accuracy
        self._drop([worst])

    def _drop(self, dropped: Collection[int]) -> None:
        """Drop members, unless that would be all of them."""
        rest = [i for i in range(len(self.members)) if i not in dropped]
        if rest:
            self.members, self._ages = [self.members[i] for i in rest], [self._ages[i] for i in rest]
            self.weights = [self.weights[i] for i in rest]

    @property
    def n_bytes(self) -> int:
        """The memory of the members and of the previous chunk in bytes."""
        chunk = self._previous
        return super().n_bytes + (chunk.x.nbytes + chunk.y.nbytes + chunk.weight.nbytes if chunk else 0)

    def save(self) -> tuple[dict[str, Any], list[bytes]]:
        """Return the complete state: facts, and the previous chunk with the saved members."""
        facts, parts = super().save()
        chunk = self._previous
        columns = [column.tobytes() for column in (chunk.x, chunk.y, chunk.weight)] if chunk else [b""] * 3
        shape = (chunk.number, *chunk.x.shape) if chunk else None
        return {**facts, "ages": self._ages, "before": shape}, [*columns, *parts]

    def restore(self, facts: dict[str, Any], parts: list[bytes]) -> None:
        """Restore a saved state."""
        x, y, weight, *states = parts
        super().restore(facts, states)
        self._ages, self._previous = facts["ages"], None
        if facts["before"] is not None:
            number, *shape = facts["before"]
            rows = np.frombuffer(x).reshape(shape)
            self._previous = Chunk(number, rows, np.frombuffer(y, dtype=np.int32), np.frombuffer(weight))
