"""Ensembles that weight their members by the current chunk: SEA, AWE and AUE."""

import numpy as np

from streamgauge.learners.chunk_ensembles.members import LEAST_ERROR, Builder, Chunk, Member
from streamgauge.learners.chunk_ensembles.pools import Pool

__all__ = ["AccuracyUpdated", "AccuracyWeighted", "SEAPool", "compute_guessing_error"]


class SEAPool(Pool):
    """SEA: members of equal weight, one per chunk; the least accurate one is dropped."""

    def learn_chunk(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        self.members.append(self.builder.train(chunk))
        self.weights.append(1.0)
        if len(self.members) > self.n_members:
            self.drop_worst([self.score_member(member, chunk) for member in self.members])

    def score_member(self, member: Member, chunk: Chunk) -> float:
        """Return how good a member is on a chunk."""
        return member.accuracy(chunk)


class AccuracyWeighted(Pool):
    """AWE: members weighted by the difference of their squared error to that of guessing."""

    def __init__(self, builder: Builder, n_members: int, n_splits: int) -> None:
        super().__init__(builder, n_members)
        self._n_splits = n_splits

    def compute_weight(self, error: float, chunk: Chunk) -> float:
        """Return the weight of a member with a squared error."""
        return compute_guessing_error(chunk) - error

    def learn_chunk(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        self.weights = [self.compute_weight(member.squared_error(chunk), chunk) for member in self.members]
        self.weights.append(self.compute_weight(self._cross_validate(chunk), chunk))
        self.members.append(self.builder.train(chunk))
        self.drop_worst(self.weights)

    def _cross_validate(self, chunk: Chunk) -> float:
        """Return the squared error of the next member within the chunk that it will be trained on."""
        errors = []
        for test in np.array_split(np.arange(len(chunk)), self._n_splits):
            training = np.ones(len(chunk), dtype=np.bool_)
            training[test] = False
            candidate = self.builder.build(self.builder.n_built)
            candidate.learn(chunk.select(training))
            errors.append(candidate.squared_error(chunk.select(test)))
        return sum(errors) / len(errors)


class AccuracyUpdated(AccuracyWeighted):
    """AUE: members weighted by one over their squared error, which continue to learn."""

    def compute_weight(self, error: float, chunk: Chunk) -> float:  # noqa: ARG002
        """Return the weight of a member with a squared error."""
        return 1.0 / (error + LEAST_ERROR)

    def learn_chunk(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        newest = self.builder.n_built
        super().learn_chunk(chunk)
        for member in self.members:
            if member.number != newest:
                member.learn(chunk)


def compute_guessing_error(chunk: Chunk) -> float:
    """Return the squared error of a learner that guesses by the shares of the classes.

    Examples
    --------
    >>> compute_guessing_error(Chunk(0, np.zeros((4, 1)), np.array([0, 1, 1, 1], dtype=np.int32), np.ones(4)))
    0.1875
    """
    share = np.bincount(chunk.y, chunk.weight) / chunk.weight.sum()
    return float(np.sum(share * (1.0 - share) ** 2))
