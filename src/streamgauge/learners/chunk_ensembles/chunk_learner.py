"""A learner that collects rows into chunks, whatever the size of the batches."""

from collections.abc import Iterator
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamgauge.learners.adapters.fit_only import predict_in_blocks
from streamgauge.learners.baselines import make_majority_class
from streamgauge.learners.chunk_ensembles.members import Chunk, Column
from streamgauge.learners.native import NativeLearner
from streamgauge.learners.plain_loop import as_learner_error, fill_votes, pick_winners
from streamgauge.records import UNLABELLED, Schema, Step
from streamgauge.records.serialise import pack, unpack

__all__ = ["ChunkLearner", "ChunkModel"]


class ChunkModel(Protocol):
    """A model that learns chunks."""

    def vote(self, x: Column) -> Column:
        """Return the votes for the classes of each row, all 0 for an abstention; the state does not change."""
        ...

    def learn_chunk(self, chunk: Chunk) -> None:
        """Learn a chunk."""
        ...

    @property
    def n_bytes(self) -> int:
        """The memory of the model in bytes."""
        ...

    def save(self) -> tuple[dict[str, Any], list[bytes]]:
        """Return the complete state: facts, and parts in bytes."""
        ...

    def restore(self, facts: dict[str, Any], parts: list[bytes]) -> None:
        """Restore a saved state; the model is unchanged if that fails."""
        ...


class ChunkLearner:
    """A learner that buffers rows until a chunk is full, then trains its model on the chunk.

    Only rows with a label and a weight above 0 count. Until the first chunk is full, it predicts the majority class of
    the buffered rows. The model does not change within a chunk, so all rows of a chunk are predicted at once; if the
    rounding of its votes may depend on the number of rows, in blocks of one size.
    """

    def __init__(self, model: ChunkModel, schema: Schema, chunk_size: int, *, is_row_wise: bool = True) -> None:
        self._model, self._size = model, chunk_size
        # A power of two, so that a row is computed in the same way wherever it stands in a block.
        self._block_rows = None if is_row_wise else 1 << (chunk_size - 1).bit_length()
        self._schema, self._n_classes = schema, schema.n_classes
        self._n_chunks = self._n_buffered = 0
        self.learning_seconds = 0.0
        self._x = np.empty((chunk_size, schema.n_attributes))
        self._y = np.empty(chunk_size, dtype=np.int32)
        self._weight = np.empty(chunk_size)

    def predict(self, x: Column) -> Column:
        """Return the votes for the classes of each row; the state does not change."""
        if not len(x):
            return np.zeros((0, self._n_classes))
        if not self._n_chunks:
            return self._make_stand_in().predict(np.ascontiguousarray(x))
        if self._block_rows is None:
            return self._model.vote(x)
        return predict_in_blocks(self._model.vote, x, self._n_classes, self._block_rows)

    def _make_stand_in(self) -> NativeLearner:
        """Return a majority class learner that knows the buffered rows."""
        n = self._n_buffered
        return make_majority_class(self._schema, self._y[:n], self._weight[:n])

    def learn(self, x: Column, y: NDArray[np.int32], weight: Column | None) -> None:
        """Buffer labelled rows, and learn each chunk that is full."""
        weight = np.ones(len(y)) if weight is None else weight
        learnt = weight > 0
        for span in self._split(learnt):
            self._buffer(x[span][learnt[span]], y[span][learnt[span]], weight[span][learnt[span]])

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], Column | None]:
        """Predict each tested row of a step, then buffer it, and learn each chunk that is full."""
        x, y = step.batch.x, step.labels
        weight = np.ones(len(y)) if step.learning_weight is None else step.learning_weight
        learnt = (y != UNLABELLED) & (weight > 0)
        tested = np.ones(len(y), dtype=np.bool_) if step.test is None else step.test
        votes = np.zeros((len(y), self._n_classes))
        for span in self._split(learnt):
            if self._n_chunks:
                rows = np.flatnonzero(tested[span]) + span.start
                fill_votes(self.predict, x, rows, votes, with_votes=with_votes)
            else:
                votes[span] = self._make_stand_in().interleave(step.part(span.start, span.stop), with_votes=True)[1]
            try:
                self._buffer(x[span][learnt[span]], y[span][learnt[span]], weight[span][learnt[span]])
            except Exception as error:
                raise as_learner_error(span.stop - 1, votes, error, with_votes=with_votes) from error
        return pick_winners(votes), votes if with_votes else None

    def _split(self, learnt: NDArray[np.bool_]) -> Iterator[slice]:
        """Split rows after each row that fills a chunk."""
        fills = np.flatnonzero(learnt)[self._size - self._n_buffered - 1 :: self._size] + 1
        ends = [*fills.tolist(), len(learnt)]
        for start, stop in zip([0, *ends], ends, strict=False):
            if start < stop:
                yield slice(start, stop)

    def _buffer(self, x: Column, y: NDArray[np.int32], weight: Column) -> None:
        """Buffer rows, at most as many as there is space for, and learn the chunk if it is then full."""
        free = slice(self._n_buffered, self._n_buffered + len(y))
        self._x[free], self._y[free], self._weight[free] = x, y, weight
        self._n_buffered += len(y)
        if self._n_buffered == self._size:
            began = perf_counter()
            self._model.learn_chunk(Chunk(self._n_chunks, self._x.copy(), self._y.copy(), self._weight.copy()))
            self.learning_seconds += perf_counter() - began
            self._n_chunks, self._n_buffered = self._n_chunks + 1, 0

    @property
    def n_bytes(self) -> int:
        """The memory of the model and of the buffer in bytes."""
        return self._model.n_bytes + self._x.nbytes + self._y.nbytes + self._weight.nbytes

    def save(self) -> bytes:
        """Return the complete state."""
        model, parts = self._model.save()
        columns = [column[: self._n_buffered].tobytes() for column in (self._x, self._y, self._weight)]
        facts = {"n_chunks": self._n_chunks, "n_kept": self._n_buffered, "model": model}
        return pack(type(self._model).__name__, facts, [*columns, *parts])

    def load(self, state: bytes) -> None:
        """Restore a saved state."""
        facts, (x, y, weight, *parts) = unpack(type(self._model).__name__, state)
        rows = np.frombuffer(x).reshape(facts["n_kept"], self._x.shape[1])
        self._model.restore(facts["model"], parts)
        self._n_chunks, self._n_buffered = facts["n_chunks"], 0
        self._buffer(rows, np.frombuffer(y, dtype=np.int32), np.frombuffer(weight))
