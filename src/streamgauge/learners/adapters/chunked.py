"""The learner round a model that learns chunks of rows: of one row, where a stream is to be followed exactly."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.learners.adapters.saved_states import Size, pickled, size_of, unpickled
from streamgauge.learners.plain_loop import as_learner_error, pick_winners
from streamgauge.records import ABSTAINED, UNLABELLED, Schema, Step

__all__ = ["ChunkLearner", "Model", "repeated", "usable"]

BLOCK = 64
"""How many rows a model of chunks votes for at once: always so many, for a sum may be rounded otherwise in others."""


Ask = Callable[[NDArray[np.float64]], NDArray[Any]]
"""What a model is asked of rows: its votes or its codes."""


class Model(Protocol):
    """What a library's model must do."""

    def votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Vote for the classes of each row, float64 [n, c]."""
        ...

    def codes(self, x: NDArray[np.float64]) -> NDArray[np.int32]:
        """Give the class with the most votes of each row."""
        ...

    def fit(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn rows of known class, all at once."""
        ...

    def save(self) -> Any:  # noqa: ANN401
        """Give its state, as something that can be pickled."""
        ...

    def load(self, state: Any) -> None:  # noqa: ANN401
        """Take over a state."""
        ...


class ChunkLearner:
    """Collects rows until there are `chunk_size` of them, then lets a model learn them all at once.

    It abstains until the first chunk was learnt. Which rows make a chunk depends on the rows alone, never on how they
    come in batches.

    Parameters
    ----------
    model
        What votes and learns.
    schema
        What the rows look like.
    chunk_size
        How many rows it learns at once.
    kind
        Whose saved states these are.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from streamgauge.learners import ScikitLearn
    >>> from streamgauge.streams import SEA, take
    >>> learner, rows = ScikitLearn(GaussianNB(), chunk_size=100).build(SEA().schema, seed=1), take(SEA(), 150)
    >>> predictions, _ = learner.interleave(Step(rows), with_votes=False)
    >>> bool((predictions[:100] == -1).all()), bool((predictions[100:] == -1).any())
    (True, False)
    """

    def __init__(self, model: Model, schema: Schema, chunk_size: int, kind: str) -> None:
        self._model, self._chunk_size, self._kind = model, chunk_size, kind
        self._n_classes = schema.n_classes
        self._learnt = False
        self._n_seen, self._size = 0, Size()
        self._chunk: list[tuple[NDArray[np.float64], int, float]] = []

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Vote for the classes of each row; changes nothing."""
        votes = np.zeros((len(x), self._n_classes))
        self._ask(self._model.votes, x, votes)
        return votes

    def _ask(self, ask: Ask, x: NDArray[np.float64], out: NDArray[Any]) -> None:
        """Fill in what the model says of rows, if it has learnt any."""
        if not self._learnt:
            return
        size = 1 if self._chunk_size == 1 else BLOCK
        for start in range(0, len(x), size):
            part = x[start : start + size]
            rows = part if len(part) == size else np.resize(part, (size, x.shape[1]))
            out[start : start + size] = ask(rows)[: len(part)]

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn rows of known class, a chunk at a time."""
        self._n_seen += len(y)
        for i in range(len(y)):
            if weight is None or weight[i] > 0:
                self._learn_one(x, y, weight, i)

    def learn_together(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn rows in one call, as many as they are; for ensembles that are made of chunks."""
        self._n_seen += len(y)
        self._model.fit(x, y, weight)
        self._learnt = True

    def _learn_one(
        self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None, i: int
    ) -> None:
        if self._chunk_size == 1:
            row = slice(i, i + 1)
            self._model.fit(x[row], y[row], None if weight is None else weight[row])
            self._learnt = True
            return
        self._chunk.append((x[i].copy(), int(y[i]), 1.0 if weight is None else float(weight[i])))
        if len(self._chunk) < self._chunk_size:
            return
        chunk, self._chunk = self._chunk, []
        rows, labels, weights = zip(*chunk, strict=True)
        weighted = np.array(weights)
        unweighted = bool((weighted == 1.0).all())
        self._model.fit(np.array(rows), np.array(labels, dtype=np.int32), None if unweighted else weighted)
        self._learnt = True

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Predict each tested row of a step, then learn it."""
        n = len(step.batch)
        self._n_seen += n
        run = self._row_by_row if self._chunk_size == 1 else self._chunk_by_chunk
        if not with_votes:
            predictions = np.full(n, ABSTAINED, dtype=np.int32)
            run(step, predictions, self._model.codes)
            return predictions, None
        votes = np.zeros((n, self._n_classes))
        run(step, votes, self._model.votes)
        return pick_winners(votes), votes

    def _row_by_row(self, step: Step, out: NDArray[Any], ask: Ask) -> None:
        """Do what `predict` and `learn` do, with nothing else round the calls of the model."""
        x, y, weight = step.batch.x, step.labels, step.learning_weight
        fit = self._model.fit
        learnt = _learnable(step).tolist()
        tested = [True] * len(y) if step.test is None else step.test.tolist()
        i = 0
        try:
            for i in range(len(y)):
                row = x[i : i + 1]
                if tested[i] and self._learnt:
                    out[i] = ask(row)[0]
                if learnt[i]:
                    fit(row, y[i : i + 1], None if weight is None else weight[i : i + 1])
                    self._learnt = True
        except Exception as error:
            raise as_learner_error(i, out, error, with_votes=out.ndim == 2) from error

    def _chunk_by_chunk(self, step: Step, out: NDArray[Any], ask: Ask) -> None:
        """Ask for all rows up to the one that fills a chunk at once."""
        x, y, weight = step.batch.x, step.labels, step.learning_weight
        learnable = np.flatnonzero(_learnable(step))
        fills = learnable[self._chunk_size - len(self._chunk) - 1 :: self._chunk_size].tolist()
        start = 0
        for stop in [fill + 1 for fill in fills] + [len(y)]:
            tested = np.arange(start, stop) if step.test is None else start + np.flatnonzero(step.test[start:stop])
            self._ask_for(tested, x, out, ask)
            try:
                for i in learnable[np.searchsorted(learnable, start) : np.searchsorted(learnable, stop)].tolist():
                    self._learn_one(x, y, weight, i)
            except Exception as error:
                raise as_learner_error(stop - 1, out, error, with_votes=out.ndim == 2) from error
            start = stop

    def _ask_for(
        self,
        rows: NDArray[np.intp],
        x: NDArray[np.float64],
        out: NDArray[Any],
        ask: Ask,
    ) -> None:
        told = out[rows]
        try:
            self._ask(ask, x[rows], told)
        except Exception:
            for i in rows.tolist():  # again one by one, to find the row that is to blame
                try:
                    self._ask(ask, x[i : i + 1], out[i : i + 1])
                except Exception as error:
                    raise as_learner_error(i, out, error, with_votes=out.ndim == 2) from error
        else:
            out[rows] = told

    @property
    def n_bytes(self) -> int:
        """The memory of all objects it holds, as measured every quarter more rows, for that takes long."""
        return self._size.after(self._n_seen, lambda: size_of((self._model, self._chunk)))

    def save(self) -> bytes:
        """Give all of its state, as a pickle: load only what you saved yourself."""
        return pickled(self._kind, (self._model.save(), self._learnt, self._chunk))

    def load(self, state: bytes) -> None:
        """Take over a saved state; it is a pickle, so it must come from a trusted place."""
        model, learnt, chunk = unpickled(self._kind, state)
        self._model.load(model)
        self._learnt, self._chunk, self._size = learnt, chunk, Size()


def usable(votes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Set votes that are negative or no numbers to 0, in place.

    Examples
    --------
    >>> usable(np.array([[np.nan, 0.5], [-1.0, 2.0]])).tolist()
    [[0.0, 0.5], [0.0, 2.0]]
    """
    good = (votes >= 0.0) & (votes < np.inf)
    if not good.all():
        votes[~good] = 0.0
    return votes


def repeated(
    fit: Callable[[NDArray[np.float64], NDArray[np.int32]], object],
    name: str,
    rows: tuple[NDArray[np.float64], NDArray[np.int32]],
    weight: NDArray[np.float64],
) -> None:
    """Let a model that takes no weights learn rows of whole weights as copies; others it cannot learn.

    Examples
    --------
    >>> rows = np.zeros((2, 1)), np.array([0, 1], dtype=np.int32)
    >>> repeated(lambda x, y: print(y), "Counter", rows, np.array([1.0, 2.0]))
    [0 1 1]
    """
    copies = np.rint(weight).astype(np.intp)
    if not np.array_equal(copies, weight):
        odd = weight[copies != weight][0]
        msg = f"{name} takes no sample_weight, so it cannot learn a row with weight {odd}"
        raise StreamgaugeError(msg)
    if copies.any():
        x, y = rows
        fit(np.repeat(x, copies, axis=0), np.repeat(y, copies))


def _learnable(step: Step) -> NDArray[np.bool_]:
    """Say which rows of a step may be learnt."""
    known: NDArray[np.bool_] = step.labels != UNLABELLED
    return known if step.learning_weight is None else known & (step.learning_weight > 0)
