"""Learner that trains a model on chunks of rows; chunks of one row follow a stream exactly."""

from collections.abc import Callable
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import CallTimeoutError, StreamgaugeError
from streamgauge.learners.adapters.saved_states import SizeCache, measure_size, pickle_state, unpickle_state
from streamgauge.learners.baselines import make_stand_in
from streamgauge.learners.call_limit import begin_call
from streamgauge.learners.plain_loop import as_learner_error
from streamgauge.protocols import Learner
from streamgauge.records import Schema, Step, find_known
from streamgauge.records.columns import protect
from streamgauge.tasks import find_task

__all__ = ["ChunkedLearner", "Model", "RowBuffer", "choose_block_rows", "clean_votes", "learn_copies", "pad_rows"]

BLOCK_ROWS = 64
"""Number of rows per prediction call of a model; see `choose_block_rows` for long chunks and wide rows."""

LIMITS = (8, 512)
"""The fewest and most rows per prediction call."""

BLOCK_VALUES = 8192
"""The most values per prediction call, if it has more than the fewest rows: more would start threads of BLAS."""

MOST_ROWS = 4096
"""The most rows per prediction call of a model that takes any number, to limit the memory of what it computes."""

Predict = Callable[[NDArray[np.float64]], NDArray[Any]]
"""A prediction method of a model: votes or codes of rows."""


class Model(Protocol):
    """A model of another library."""

    @property
    def any_number(self) -> bool:
        """Whether predictions are the same, to the bit, however many rows are predicted at once."""
        ...

    def predict_votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the votes of each row for the classes, float64 [n, c]."""
        ...

    def predict_codes(self, x: NDArray[np.float64]) -> Any:  # noqa: ANN401
        """Return the class with the most votes of each row; with a numeric target, as `predict_votes`, numbers [n]."""
        ...

    def fit(self, x: NDArray[np.float64], y: Any, weight: NDArray[np.float64] | None) -> None:  # noqa: ANN401
        """Learn labelled rows in one call."""
        ...

    def save(self) -> Any:  # noqa: ANN401
        """Return the state, as an object that can be pickled."""
        ...

    def load(self, state: Any) -> None:  # noqa: ANN401
        """Restore a state."""
        ...


def choose_block_rows(n_columns: int, chunk_size: int) -> int:
    """Return the number of rows per prediction call.

    Rounding may depend on the number of rows of a call, so it is constant for a learner and rows are padded to it: the
    predictions are then the same however the rows are cut into batches. It is a power of two, so that a row is computed
    in the same way wherever it stands among them.

    Examples
    --------
    >>> choose_block_rows(10, 1), choose_block_rows(10, 100), choose_block_rows(10, 1000), choose_block_rows(5000, 1000)
    (64, 128, 512, 8)
    """
    size, most = LIMITS
    wanted = max(BLOCK_ROWS, min(chunk_size, most))
    while size < wanted and 2 * size * n_columns <= BLOCK_VALUES:
        size *= 2
    return size


def pad_rows(rows: Any, start: int, size: int) -> Any:  # noqa: ANN401
    """Return `size` rows of an array, sparse matrix or frame from `start` on; the last is repeated if there are fewer.

    Examples
    --------
    >>> pad_rows(np.array([[1.0], [2.0], [3.0]]), 2, 4).tolist()
    [[3.0], [3.0], [3.0], [3.0]]
    """
    n = rows.shape[0]
    rows = getattr(rows, "iloc", rows)
    if start + size <= n:
        return rows[start : start + size]
    padded = rows[np.minimum(np.arange(start, start + size), n - 1)]
    return protect(padded) if isinstance(padded, np.ndarray) else padded


class RowBuffer:
    """Labelled rows that wait to be learnt.

    Examples
    --------
    >>> buffer = RowBuffer(1)
    >>> buffer.add(np.array([[1.0], [2.0]]), np.array([0, 1], dtype=np.int32), None)
    >>> len(buffer), buffer.take()[0].tolist(), len(buffer)
    (2, [[1.0], [2.0]], 0)
    """

    def __init__(self, n_attributes: int, dtype: Any = np.int32) -> None:  # noqa: ANN401
        self._n_attributes, self._dtype, self._n = n_attributes, dtype, 0
        self._allocate(64)

    def _allocate(self, n_rows: int) -> None:
        self._x, self._y = np.empty((n_rows, self._n_attributes)), np.empty(n_rows, dtype=self._dtype)
        self._weight = np.empty(n_rows)

    def __len__(self) -> int:
        return self._n

    def __getstate__(self) -> tuple[Any, ...]:
        return self._n_attributes, *self.columns

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(state[0], state[2].dtype)  # type: ignore[misc]
        self.add(*state[1:])

    @property
    def columns(self) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        """The rows, labels and weights."""
        return self._x[: self._n], self._y[: self._n], self._weight[: self._n]

    @property
    def y(self) -> NDArray[np.int32]:
        """The labels."""
        return self._y[: self._n]

    @property
    def weight(self) -> NDArray[np.float64]:
        """The weights."""
        return self._weight[: self._n]

    def add(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Append copies of rows."""
        n = self._n + len(y)
        if n > len(self._y):
            columns = self.columns
            self._allocate(max(n, 2 * len(self._y)))
            kept = slice(0, self._n)
            self._x[kept], self._y[kept], self._weight[kept] = columns
        added = slice(self._n, n)
        self._x[added], self._y[added], self._weight[added] = x, y, 1.0 if weight is None else weight
        self._n = n

    def take(self) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64] | None]:
        """Return all rows with their labels and weights, None if all are 1, and remove them."""
        x, y, weight = self.columns
        self._n = 0
        self._allocate(len(self._y))  # a model may keep what it is given
        return protect(x), protect(y), None if (weight == 1.0).all() else protect(weight)


class ChunkedLearner:
    """Learner that collects rows until it has `chunk_size` of them, and then trains a model on the chunk.

    Until the first chunk has been learnt, it predicts the majority class, or the mean target, of the rows collected so
    far. Chunks depend on the rows alone, not on the batches. All rows between two that complete a chunk are predicted
    together.

    Parameters
    ----------
    model
        The model.
    schema
        The schema of the rows.
    chunk_size
        Number of rows that are learnt at once.
    kind
        The kind of learner that its saved states name.
    is_trained
        Whether the model can predict before it has learnt a chunk.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from streamgauge.learners import MajorityClass, ScikitLearn
    >>> from streamgauge.streams import SEA, take
    >>> learner, rows = ScikitLearn(GaussianNB(), chunk_size=100).build(SEA().schema, seed=1), take(SEA(), 150)
    >>> predictions, _ = learner.interleave(Step(rows), with_votes=False)
    >>> majority, _ = MajorityClass().build(SEA().schema, seed=1).interleave(Step(rows), with_votes=False)
    >>> bool((predictions[:100] == majority[:100]).all()), bool((predictions[100:] == majority[100:]).all())
    (True, False)
    """

    def __init__(self, model: Model, schema: Schema, chunk_size: int, kind: str, *, is_trained: bool = False) -> None:
        self._model, self._chunk_size, self._kind = model, chunk_size, kind
        self._schema, self._task = schema, find_task(schema)
        self._is_trained = is_trained
        self._block_rows = choose_block_rows(schema.n_attributes, chunk_size)
        self._n_seen, self._size = 0, SizeCache()
        self._learning_seconds = 0.0
        self._chunk = RowBuffer(schema.n_attributes, self._task.make_abstentions(0).dtype)

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the votes of each row; does not change the learner."""
        if not self._is_trained:
            return self._make_stand_in().predict(np.ascontiguousarray(x))
        outputs = self._task.make_outputs(len(x))
        self._predict_into(outputs, x, self._model.predict_votes)
        return outputs

    def _make_stand_in(self) -> Learner:
        """Return a baseline that knows the rows of the first chunk so far."""
        return make_stand_in(self._schema, self._chunk.y, self._chunk.weight)

    def _predict_into(self, out: NDArray[Any], x: NDArray[np.float64], predict: Predict) -> None:
        """Fill `out` with the predictions for rows."""
        size = MOST_ROWS if self._model.any_number else self._block_rows
        for start in range(0, len(x), size):
            begin_call()
            part = out[start : start + size]
            rows = x[start : start + size] if self._model.any_number else pad_rows(x, start, size)
            part[:] = predict(rows)[: len(part)]

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn labelled rows, a chunk at a time."""
        self._n_seen += len(y)
        if weight is not None and not (weight > 0).all():
            learnt = weight > 0
            x, y, weight = x[learnt], y[learnt], weight[learnt]
        self._learn_rows(x, y, weight)

    def end_training(self) -> None:
        """Learn the rows of a chunk that is not full when training ends before the first test."""
        if len(self._chunk):
            self._fit(*self._chunk.take())

    @property
    def learning_seconds(self) -> float | None:
        """Seconds spent learning chunks; None if it learns row by row."""
        return None if self._chunk_size == 1 else self._learning_seconds

    def learn_together(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn any number of rows in one call; for ensembles of chunks."""
        self._n_seen += len(y)
        self._fit(x, y, weight)

    def _fit(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        begin_call()
        began = perf_counter()
        self._model.fit(x, y, weight)
        self._learning_seconds += perf_counter() - began
        self._is_trained = True

    def _learn_rows(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Collect rows, all of which count, and learn each chunk that they complete."""
        start = 0
        while start < len(y):
            part = slice(start, min(len(y), start + self._chunk_size - len(self._chunk)))
            part_weight = None if weight is None else weight[part]
            start = part.stop
            if self._chunk_size == 1:
                self._fit(x[part], y[part], part_weight)
                continue
            self._chunk.add(x[part], y[part], part_weight)
            if len(self._chunk) == self._chunk_size:
                self._fit(*self._chunk.take())

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Predict each tested row of a step, then learn it."""
        n = len(step.batch)
        self._n_seen += n
        if not with_votes:
            predictions = self._task.make_abstentions(n)
            self._run(step, predictions, self._model.predict_codes)
            return predictions, None
        votes = self._task.make_outputs(n)
        self._run(step, votes, self._model.predict_votes)
        return self._task.decide(votes), votes

    def _run(self, step: Step, out: NDArray[Any], predict: Predict) -> None:
        """Predict all rows up to the one that completes a chunk at once, then learn the chunk."""
        x, y, weight = step.batch.x, step.labels, step.learning_weight
        learnable = np.flatnonzero(_find_learnable(step))
        first = self._chunk_size - len(self._chunk) - 1
        last_rows = learnable[first :: self._chunk_size].tolist()
        start, n_learnt = 0, 0
        for index, stop in enumerate([*(row + 1 for row in last_rows), len(y)]):
            if start < stop:
                self._predict_rows(step, start, stop, out, predict)
            upto = first + 1 + index * self._chunk_size if index < len(last_rows) else len(learnable)
            rows, n_learnt = learnable[n_learnt:upto], upto
            try:
                if len(rows) == stop - start:  # consecutive, so that they need not be copied
                    self._learn_rows(x[start:stop], y[start:stop], None if weight is None else weight[start:stop])
                else:
                    self._learn_rows(x[rows], y[rows], None if weight is None else weight[rows])
            except (Exception, CallTimeoutError) as error:
                raise as_learner_error(stop - 1, out, error, with_votes=out.ndim == 2) from error
            start = stop

    def _predict_rows(self, step: Step, start: int, stop: int, out: NDArray[Any], predict: Predict) -> None:
        """Predict the tested rows among those of a step, from `start` to `stop`."""
        x = step.batch.x
        if not self._is_trained:
            codes, votes = self._make_stand_in().interleave(step.part(start, stop), with_votes=out.ndim == 2)
            out[start:stop] = codes if votes is None else votes
            return
        try:
            if step.test is None or step.test[start:stop].all():
                self._predict_into(out[start:stop], x[start:stop], predict)
                return
            rows = start + np.flatnonzero(step.test[start:stop])
            predictions = out[rows]
            self._predict_into(predictions, x[rows], predict)
            out[rows] = predictions
        except (Exception, CallTimeoutError) as error:
            if stop - start == 1 or isinstance(error, CallTimeoutError):
                raise as_learner_error(start, out, error, with_votes=out.ndim == 2) from error
            middle = (start + stop) // 2  # the halves show which row it was
            self._predict_rows(step, start, middle, out, predict)
            self._predict_rows(step, middle, stop, out, predict)

    @property
    def n_bytes(self) -> int:
        """Bytes of all objects of the learner; measured only after every quarter more rows, since it is slow."""
        return self._size.get(self._n_seen, lambda: measure_size((self._model, self._chunk)))

    def save(self) -> bytes:
        """Return the state as a pickle."""
        return pickle_state(self._kind, (self._model.save(), self._is_trained, self._chunk))

    def load(self, state: bytes) -> None:
        """Restore a saved state, which must be trusted since it is a pickle."""
        model, is_trained, chunk = unpickle_state(self._kind, state)
        self._model.load(model)
        self._is_trained, self._chunk, self._size = is_trained, chunk, SizeCache()


def clean_votes(votes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Set votes that are negative or not finite to 0, in place, and return them.

    Examples
    --------
    >>> clean_votes(np.array([[np.nan, 0.5], [-1.0, 2.0]])).tolist()
    [[0.0, 0.5], [0.0, 2.0]]
    """
    valid = (votes >= 0.0) & (votes < np.inf)
    if not valid.all():
        votes[~valid] = 0.0
    return votes


def learn_copies(
    fit: Callable[[NDArray[np.float64], NDArray[np.int32]], object],
    name: str,
    rows: tuple[NDArray[np.float64], NDArray[np.int32]],
    weight: NDArray[np.float64],
) -> None:
    """Train a model that takes no weights: repeat each row by its weight, which must be a whole number.

    Examples
    --------
    >>> rows = np.zeros((2, 1)), np.array([0, 1], dtype=np.int32)
    >>> learn_copies(lambda x, y: print(y), "Counter", rows, np.array([1.0, 2.0]))
    [0 1 1]
    """
    copies = np.rint(weight).astype(np.intp)
    if not np.array_equal(copies, weight):
        fractional = weight[copies != weight][0]
        msg = f"{name} takes no sample_weight, so it cannot learn a row with weight {fractional}"
        raise StreamgaugeError(msg)
    if copies.any():
        x, y = rows
        fit(protect(np.repeat(x, copies, axis=0)), protect(np.repeat(y, copies)))


def _find_learnable(step: Step) -> NDArray[np.bool_]:
    """Return which rows of a step can be learnt: labelled ones with a positive weight."""
    is_labelled = find_known(step.labels)
    return is_labelled if step.learning_weight is None else is_labelled & (step.learning_weight > 0)
