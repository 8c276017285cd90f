"""Learning chunk by chunk, whatever the size of the batches."""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamgauge.learners.chunk_ensembles.members import Chunk, Column
from streamgauge.learners.plain_loop import pick_winners
from streamgauge.records import UNLABELLED, Schema, Step
from streamgauge.records.serialise import pack, unpack

__all__ = ["ChunkLearner", "ChunkModel"]


class ChunkModel(Protocol):
    """What learns from chunks."""

    def vote(self, x: Column) -> Column:
        """Vote for the classes of each row, all 0 where it abstains; changes nothing."""
        ...

    def take(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        ...

    @property
    def n_bytes(self) -> int:
        """The memory it holds."""
        ...

    def facts(self) -> tuple[dict[str, Any], list[bytes]]:
        """Give all of its state."""
        ...

    def restore(self, facts: dict[str, Any], parts: list[bytes]) -> None:
        """Take over a state; unchanged where that fails."""
        ...


class ChunkLearner:
    """A learner that keeps rows until a chunk is full, then has its model learn them.

    Only rows that may be learnt count: those with a label and a weight above 0. Until the first chunk is full it
    abstains. Between two chunks the model does not change, so all rows in between are predicted at once.
    """

    def __init__(self, model: ChunkModel, schema: Schema, chunk_size: int) -> None:
        self._model, self._size = model, chunk_size
        self._n_classes = schema.n_classes
        self._n_chunks = self._n_kept = 0
        self._x = np.empty((chunk_size, schema.n_attributes))
        self._y = np.empty(chunk_size, dtype=np.int32)
        self._weight = np.empty(chunk_size)

    def predict(self, x: Column) -> Column:
        """Vote for the classes of each row; changes nothing."""
        if not self._n_chunks or not len(x):
            return np.zeros((len(x), self._n_classes))
        return self._model.vote(x)

    def learn(self, x: Column, y: NDArray[np.int32], weight: Column | None) -> None:
        """Keep rows of known class, and learn each chunk that is full."""
        weight = np.ones(len(y)) if weight is None else weight
        heavy = weight > 0
        for part in self._spans(heavy):
            self._keep(x[part][heavy[part]], y[part][heavy[part]], weight[part][heavy[part]])

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], Column | None]:
        """Predict each tested row of a step, then keep it, and learn each chunk that is full."""
        x, y = step.batch.x, step.labels
        weight = np.ones(len(y)) if step.learning_weight is None else step.learning_weight
        learnt = (y != UNLABELLED) & (weight > 0)
        tested = np.ones(len(y), dtype=np.bool_) if step.test is None else step.test
        votes = np.zeros((len(y), self._n_classes))
        for part in self._spans(learnt):
            rows = np.flatnonzero(tested[part]) + part.start
            votes[rows] = self.predict(np.ascontiguousarray(x[rows]))
            self._keep(x[part][learnt[part]], y[part][learnt[part]], weight[part][learnt[part]])
        return pick_winners(votes), votes if with_votes else None

    def _spans(self, learnt: NDArray[np.bool_]) -> Iterator[slice]:
        """Cut rows after each that fills a chunk."""
        fills = np.flatnonzero(learnt)[self._size - self._n_kept - 1 :: self._size] + 1
        reading_rows = [*fills.tolist(), len(learnt)]
        for start, stop in zip([0, *reading_rows], reading_rows, strict=False):
            if start < stop:
                yield slice(start, stop)

    def _keep(self, x: Column, y: NDArray[np.int32], weight: Column) -> None:
        """Keep rows that are at most as many as there is room for."""
        room = slice(self._n_kept, self._n_kept + len(y))
        self._x[room], self._y[room], self._weight[room] = x, y, weight
        self._n_kept += len(y)
        if self._n_kept == self._size:
            self._model.take(Chunk(self._n_chunks, self._x.copy(), self._y.copy(), self._weight.copy()))
            self._n_chunks, self._n_kept = self._n_chunks + 1, 0

    @property
    def n_bytes(self) -> int:
        """The memory of the model and of the rows kept."""
        return self._model.n_bytes + self._x.nbytes + self._y.nbytes + self._weight.nbytes

    def save(self) -> bytes:
        """Give all of its state."""
        facts, parts = self._model.facts()
        kept = slice(0, self._n_kept)
        columns = [column[kept].tobytes() for column in (self._x, self._y, self._weight)]
        about = {"n_chunks": self._n_chunks, "n_kept": self._n_kept, "model": facts}
        return pack(type(self._model).__name__, about, [*columns, *parts])

    def load(self, state: bytes) -> None:
        """Take over a saved state."""
        about, (x, y, weight, *parts) = unpack(type(self._model).__name__, state)
        n_kept = about["n_kept"]
        rows = np.frombuffer(x).reshape(n_kept, self._x.shape[1])
        self._model.restore(about["model"], parts)
        self._n_chunks, self._n_kept = about["n_chunks"], 0
        self._keep(rows, np.frombuffer(y, dtype=np.int32), np.frombuffer(weight))
