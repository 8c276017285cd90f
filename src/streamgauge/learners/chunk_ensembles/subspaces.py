"""Ensembles whose members see random subspaces of the attributes: KUE."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from streamgauge.learners.chunk_ensembles.members import Builder, Chunk, Column, Member
from streamgauge.learners.chunk_ensembles.pools import Pool
from streamgauge.randomness import below, fold_seed, poisson, uniform
from streamgauge.records import Schema

__all__ = ["KappaUpdated", "SubspaceBuilder", "compute_kappa"]


@dataclass
class SubspaceMember(Member):
    """A member that sees some attributes only."""

    attributes: NDArray[np.intp]

    def vote(self, x: Column) -> Column:
        """Return the votes for the classes of each row, with a sum of 1, or 0 for an abstention."""
        return super().vote(np.ascontiguousarray(x[:, self.attributes]))

    def learn(self, chunk: Chunk) -> None:
        """Learn the rows of a chunk."""
        super().learn(replace(chunk, x=np.ascontiguousarray(chunk.x[:, self.attributes])))


class SubspaceBuilder(Builder):
    """Builds members with a random subspace each, of 1 to all attributes; its number and the seed determine it."""

    def build(self, number: int) -> Member:
        """Build the untrained member of a number."""
        every, n = self._schema.attributes, self._schema.n_attributes
        size = 1 + int(below(self._seed, "size of subspace", number, 0, 1, n)[0])
        chosen = np.sort(np.argsort(uniform(self._seed, "subspace", number, 0, n), kind="stable")[:size])
        schema = Schema(tuple(every[i] for i in chosen), self._schema.classes)
        learner = self._spec.build(schema, fold_seed(self._seed, number, self._spec.seed))
        return SubspaceMember(learner, number, chosen)


class KappaUpdated(Pool):
    """KUE: members that learn bootstrap samples of every chunk, weighted by their kappa on the latest one."""

    def __init__(self, builder: Builder, n_members: int, n_candidates: int, seed: int) -> None:
        super().__init__(builder, n_members)
        self._n_candidates, self._seed = n_candidates, seed

    def learn_chunk(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        for member in self.members:
            self._train(member, chunk)
        is_first = not self.members
        if is_first:
            self.members = [self._build_next(chunk) for _ in range(self.n_members)]
        self.weights = [self._score(member, chunk) for member in self.members]
        for _ in range(0 if is_first else self._n_candidates):
            candidate = self._build_next(chunk)
            score, worst = self._score(candidate, chunk), int(np.argmin(self.weights))
            if score > self.weights[worst]:
                self.members[worst], self.weights[worst] = candidate, score

    def _build_next(self, chunk: Chunk) -> Member:
        """Build the next member and train it on a chunk."""
        member = self.builder.build(self.builder.n_built)
        self.builder.n_built += 1
        self._train(member, chunk)
        return member

    def _train(self, member: Member, chunk: Chunk) -> None:
        """Train a member on a bootstrap sample of a chunk."""
        drawn = poisson(fold_seed(self._seed, chunk.number, 0), "member weight", member.number, 0, len(chunk))
        if drawn.any():
            member.learn(replace(chunk, weight=chunk.weight * drawn).select(drawn > 0))

    @staticmethod
    def _score(member: Member, chunk: Chunk) -> float:
        return compute_kappa(member.vote(chunk.x).argmax(axis=1), chunk)


def compute_kappa(predictions: NDArray[np.intp], chunk: Chunk) -> float:
    """Return Cohen's kappa of predictions for a chunk; 1 if both know only one and the same class.

    Examples
    --------
    >>> chunk = Chunk(0, np.zeros((4, 1)), np.array([0, 0, 1, 1], dtype=np.int32), np.ones(4))
    >>> compute_kappa(np.array([0, 0, 1, 0]), chunk)
    0.5
    """
    n = int(max(predictions.max(), chunk.y.max())) + 1
    true, predicted = (np.bincount(codes, chunk.weight, minlength=n) for codes in (chunk.y, predictions))
    by_chance = float(np.dot(true, predicted)) / float(chunk.weight.sum()) ** 2
    right = chunk.average((predictions == chunk.y).astype(np.float64))
    return (right - by_chance) / (1.0 - by_chance) if by_chance < 1.0 else 1.0
