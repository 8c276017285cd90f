"""Learner that trains a model on chunks of rows; chunks of one row follow a stream exactly."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.learners.adapters.saved_states import SizeCache, measure_size, pickle_state, unpickle_state
from streamgauge.learners.baselines import make_majority_class
from streamgauge.learners.native import NativeLearner
from streamgauge.learners.plain_loop import as_learner_error, pick_winners
from streamgauge.records import ABSTAINED, UNLABELLED, Schema, Step
from streamgauge.records.columns import protect

__all__ = ["ChunkedLearner", "Model", "clean_votes", "learn_copies"]

BLOCK_ROWS = 64
"""Number of rows per prediction call of a model of chunks. It is constant, since rounding may depend on it."""

Predict = Callable[[NDArray[np.float64]], NDArray[Any]]
"""A prediction method of a model: votes or codes of rows."""


class Model(Protocol):
    """A model of another library."""

    def predict_votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the votes of each row for the classes, float64 [n, c]."""
        ...

    def predict_codes(self, x: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the class with the most votes of each row."""
        ...

    def fit(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn labelled rows in one call."""
        ...

    def save(self) -> Any:  # noqa: ANN401
        """Return the state, as an object that can be pickled."""
        ...

    def load(self, state: Any) -> None:  # noqa: ANN401
        """Restore a state."""
        ...


class ChunkedLearner:
    """Learner that collects rows until it has `chunk_size` of them, and then trains a model on the chunk.

    Until the first chunk has been learnt, it predicts the majority class of the rows collected so far. Chunks depend on
    the rows alone, not on the batches.

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
        self._schema, self._n_classes = schema, schema.n_classes
        self._is_trained = is_trained
        self._n_seen, self._size = 0, SizeCache()
        self._chunk: list[tuple[NDArray[np.float64], int, float]] = []

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the votes of each row; does not change the learner."""
        if not self._is_trained:
            return self._make_stand_in().predict(np.ascontiguousarray(x))
        votes = np.zeros((len(x), self._n_classes))
        self._predict_into(votes, x, self._model.predict_votes)
        return votes

    def _make_stand_in(self) -> NativeLearner:
        """Return a majority class learner that knows the rows of the first chunk so far."""
        labels = np.array([label for _, label, _ in self._chunk], dtype=np.int32)
        return make_majority_class(self._schema, labels, np.array([weight for _, _, weight in self._chunk]))

    def _predict_into(self, out: NDArray[Any], x: NDArray[np.float64], predict: Predict) -> None:
        """Fill `out` with the predictions for rows, if the model has been trained."""
        if not self._is_trained:
            return
        size = 1 if self._chunk_size == 1 else BLOCK_ROWS
        for start in range(0, len(x), size):
            block = x[start : start + size]
            padded = protect(block if len(block) == size else np.resize(block, (size, x.shape[1])))
            out[start : start + size] = predict(padded)[: len(block)]

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn labelled rows, a chunk at a time."""
        self._n_seen += len(y)
        for i in range(len(y)):
            if weight is None or weight[i] > 0:
                self._learn_one(x, y, weight, i)

    def learn_together(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn any number of rows in one call; for ensembles of chunks."""
        self._n_seen += len(y)
        self._model.fit(x, y, weight)
        self._is_trained = True

    def _learn_one(
        self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None, i: int
    ) -> None:
        if self._chunk_size == 1:
            row = slice(i, i + 1)
            self._model.fit(x[row], y[row], None if weight is None else weight[row])
            self._is_trained = True
            return
        self._chunk.append((x[i].copy(), int(y[i]), 1.0 if weight is None else float(weight[i])))
        if len(self._chunk) < self._chunk_size:
            return
        chunk, self._chunk = self._chunk, []
        rows, labels, weights = zip(*chunk, strict=True)
        weight_column = None if all(w == 1.0 for w in weights) else np.array(weights)
        self._model.fit(protect(np.array(rows)), protect(np.array(labels, dtype=np.int32)), protect(weight_column))
        self._is_trained = True

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Predict each tested row of a step, then learn it."""
        n = len(step.batch)
        self._n_seen += n
        run = self._run_row_by_row if self._chunk_size == 1 else self._run_chunk_by_chunk
        if not with_votes:
            predictions = np.full(n, ABSTAINED, dtype=np.int32)
            run(step, predictions, self._model.predict_codes)
            return predictions, None
        votes = np.zeros((n, self._n_classes))
        run(step, votes, self._model.predict_votes)
        return pick_winners(votes), votes

    def _run_row_by_row(self, step: Step, out: NDArray[Any], predict: Predict) -> None:
        """Call the model as `predict` and `learn` do, with as little overhead as possible."""
        x, y, weight = step.batch.x, step.labels, step.learning_weight
        fit = self._model.fit
        learnable = _find_learnable(step).tolist()
        tested = [True] * len(y) if step.test is None else step.test.tolist()
        i = 0
        try:
            for i in range(len(y)):
                row = x[i : i + 1]
                if tested[i] and self._is_trained:
                    out[i] = predict(row)[0]
                if learnable[i]:
                    fit(row, y[i : i + 1], None if weight is None else weight[i : i + 1])
                    self._is_trained = True
        except Exception as error:
            raise as_learner_error(i, out, error, with_votes=out.ndim == 2) from error

    def _run_chunk_by_chunk(self, step: Step, out: NDArray[Any], predict: Predict) -> None:
        """Predict all rows up to the one that completes a chunk at once."""
        x, y, weight = step.batch.x, step.labels, step.learning_weight
        learnable = np.flatnonzero(_find_learnable(step))
        last_rows = learnable[self._chunk_size - len(self._chunk) - 1 :: self._chunk_size].tolist()
        start = 0
        for stop in [row + 1 for row in last_rows] + [len(y)]:
            tested = np.arange(start, stop) if step.test is None else start + np.flatnonzero(step.test[start:stop])
            if self._is_trained:
                self._predict_rows(tested, x, out, predict)
            else:
                codes, votes = self._make_stand_in().interleave(step.part(start, stop), with_votes=out.ndim == 2)
                out[start:stop] = codes if votes is None else votes
            try:
                for i in learnable[np.searchsorted(learnable, start) : np.searchsorted(learnable, stop)].tolist():
                    self._learn_one(x, y, weight, i)
            except Exception as error:
                raise as_learner_error(stop - 1, out, error, with_votes=out.ndim == 2) from error
            start = stop

    def _predict_rows(
        self, rows: NDArray[np.intp], x: NDArray[np.float64], out: NDArray[Any], predict: Predict
    ) -> None:
        predictions = out[rows]
        try:
            self._predict_into(predictions, x[rows], predict)
        except Exception:
            for i in rows.tolist():  # one by one, to find the row that fails
                try:
                    self._predict_into(out[i : i + 1], x[i : i + 1], predict)
                except Exception as error:
                    raise as_learner_error(i, out, error, with_votes=out.ndim == 2) from error
        else:
            out[rows] = predictions

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
    is_labelled: NDArray[np.bool_] = step.labels != UNLABELLED
    return is_labelled if step.learning_weight is None else is_labelled & (step.learning_weight > 0)
