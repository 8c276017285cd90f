"""How ensembles judge their members by the chunk at hand: SEA, AWE and AUE."""

import numpy as np

from streamgauge.learners.chunk_ensembles.members import Builder, Chunk
from streamgauge.learners.chunk_ensembles.pools import Pool

__all__ = ["AccuracyUpdated", "AccuracyWeighted", "Streaming", "guessing_error"]

LEAST_ERROR = 1e-10
"""What keeps the weight of a member without error finite."""


class Streaming(Pool):
    """Members of equal weight, one per chunk; the least accurate goes."""

    def take(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        self.members.append(self.builder.new(chunk))
        self.weights.append(1.0)
        if len(self.members) > self.n_members:
            self.drop_worst([member.accuracy(chunk) for member in self.members])


class AccuracyWeighted(Pool):
    """Members weighted by how much their squared error is below that of a guess."""

    def __init__(self, builder: Builder, n_members: int, n_splits: int) -> None:
        super().__init__(builder, n_members)
        self._n_splits = n_splits

    def weight_of(self, error: float, chunk: Chunk) -> float:
        """Weigh a member by its squared error."""
        return guessing_error(chunk) - error

    def take(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        self.weights = [self.weight_of(member.squared_error(chunk), chunk) for member in self.members]
        self.weights.append(self.weight_of(self._error_of_new(chunk), chunk))
        self.members.append(self.builder.new(chunk))
        self.drop_worst(self.weights)

    def _error_of_new(self, chunk: Chunk) -> float:
        """Find the squared error of a new member by cross-validation, since it is to learn the chunk itself."""
        errors = []
        for test in np.array_split(np.arange(len(chunk)), self._n_splits):
            training = np.ones(len(chunk), dtype=np.bool_)
            training[test] = False
            candidate = self.builder.again(self.builder.n_built)
            candidate.learn(chunk.rows(training))
            errors.append(candidate.squared_error(chunk.rows(test)))
        return sum(errors) / len(errors)


class AccuracyUpdated(AccuracyWeighted):
    """Members weighted by one over their squared error, that go on learning."""

    def weight_of(self, error: float, chunk: Chunk) -> float:  # noqa: ARG002
        """Weigh a member by its squared error."""
        return 1.0 / (error + LEAST_ERROR)

    def take(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        newest = self.builder.n_built
        super().take(chunk)
        for member in self.members:
            if member.number != newest:
                member.learn(chunk)


def guessing_error(chunk: Chunk) -> float:
    """Give the squared error of a learner that guesses by the shares of the classes.

    Examples
    --------
    >>> guessing_error(Chunk(0, np.zeros((4, 1)), np.array([0, 1, 1, 1], dtype=np.int32), np.ones(4)))
    0.1875
    """
    share = np.bincount(chunk.y, chunk.weight) / chunk.weight.sum()
    return float(np.sum(share * (1.0 - share) ** 2))
