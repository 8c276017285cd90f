"""A learner that comes to the stream with something learnt."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.learners.adapters import as_spec
from streamgauge.learners.bayes import NaiveBayes
from streamgauge.learners.plain_loop import pick_winners
from streamgauge.protocols import Learner, LearnerSpec, Stream
from streamgauge.records import UNLABELLED, Batch, Schema, Step
from streamgauge.streams import DATASETS, File, as_stream, load

__all__ = ["PretrainedModel"]

BATCH = 32_768


@dataclass(frozen=True)
class PretrainedModel:
    """A learner that has learnt other rows before, and that goes on learning or not.

    Parameters
    ----------
    learner
        Any learner, also one of another library.
    on
        What it has learnt: a stream, a file or the name of a real stream, or arrays ``(x, y)``; its schema must be
        that of the stream it is tested on.
    n_rows
        How many rows of it to learn; None for all.
    state
        Instead of `on`: what a learner of the same kind has saved (``learner.save()``), or the file that holds it.
    frozen
        Whether it learns no more.
    seed
        Two learners with the same seed share their randomness in each fold. A saved state has the randomness of the
        learner that saved it where the state tells it.

    Examples
    --------
    >>> from streamgauge import SEA, HoeffdingTree, evaluate
    >>> past = SEA(concept=1, n_rows=20_000, seed=7)
    >>> results = evaluate(SEA(concept=1, n_rows=1_000), PretrainedModel(HoeffdingTree(), on=past))
    >>> bool(results.curve("PretrainedModel", "accuracy")[-1, 0] > 0.85)
    True
    """

    learner: LearnerSpec = NaiveBayes()
    on: object = None
    n_rows: int | None = None
    state: bytes | str | Path | None = field(default=None, repr=False)
    frozen: bool = True
    seed: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "learner", as_spec(self.learner))
        if self.on is not None and self.state is not None:
            msg = "PretrainedModel takes either on, a stream or file to learn first, or state, what a learner has saved"
            raise StreamgaugeError(msg)
        if self.n_rows is not None:
            require_at_least("n_rows", self.n_rows, 1)

    @property
    def seedless(self) -> bool:
        """Whether its learner uses no randomness."""
        return self.learner.seedless

    def build(self, schema: Schema, seed: int) -> Learner:
        """Build a learner and have it learn, or load, its past."""
        if self.on is None and self.state is None:
            msg = "PretrainedModel needs a past: on, a stream or file to learn first, or state, what a learner has saved"
            raise StreamgaugeError(msg)
        learner = self.learner.build(schema, seed)
        if self.state is None:
            self._learn(learner, _past(self.on), schema)
        else:
            learner.load(self.state if isinstance(self.state, bytes) else _read(Path(self.state)))
        return _Frozen(learner, schema.n_classes) if self.frozen else learner

    def _learn(self, learner: Learner, stream: Stream, schema: Schema) -> None:
        _require_alike(stream.schema, schema)
        if self.n_rows is None and stream.n_rows is None:
            msg = "the stream to learn first never ends: say with n_rows how many rows to learn"
            raise StreamgaugeError(msg)
        for batch in stream.batches(BATCH):
            left = len(batch) if self.n_rows is None else min(len(batch), self.n_rows - batch.start)
            _learn_labelled(learner, batch, left)
            if self.n_rows is not None and batch.start + len(batch) >= self.n_rows:
                return


def _past(on: object) -> Stream:
    """Open what is to be learnt first."""
    if isinstance(on, str | Path):
        return load(str(on)) if str(on) in DATASETS and not Path(on).exists() else File(on)
    return as_stream(on)


def _learn_labelled(learner: Learner, batch: Batch, n_rows: int) -> None:
    """Learn the rows of known class among the first of a batch."""
    known = batch.y[:n_rows] != UNLABELLED
    weight = None if batch.weight is None else batch.weight[:n_rows][known]
    if weight is not None:
        known[known] = weight > 0
        weight = weight[weight > 0]
    learner.learn(np.ascontiguousarray(batch.x[:n_rows][known]), batch.y[:n_rows][known], weight)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        msg = f"cannot read the saved learner {path}: {error.strerror}"
        raise StreamgaugeError(msg) from None


def _require_alike(past: Schema, now: Schema) -> None:
    """Raise unless two schemas have the same columns and classes; whether values may be missing does not matter."""
    if past.classes != now.classes:
        msg = f"the rows learnt first have the classes {past.classes}, those of the stream {now.classes}"
        raise StreamgaugeError(msg)
    columns = [[(a.name, a.values) for a in schema.attributes] for schema in (past, now)]
    if columns[0] != columns[1]:
        names = [[name for name, _ in of_schema] for of_schema in columns]
        what = "attributes" if names[0] != names[1] else "values of attributes"
        msg = f"the rows learnt first have other {what} than those of the stream"
        raise StreamgaugeError(msg)


class _Frozen:
    """A learner that learns nothing more."""

    def __init__(self, learner: Learner, n_classes: int) -> None:
        self._learner, self._n_classes = learner, n_classes

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Vote for the classes of each row; changes nothing."""
        return self._learner.predict(x)

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn nothing."""

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Predict each tested row of a step."""
        votes = np.zeros((len(step.batch), self._n_classes))
        rows = slice(None) if step.test is None else step.test
        votes[rows] = self._learner.predict(np.ascontiguousarray(step.batch.x[rows]))
        return pick_winners(votes), votes if with_votes else None

    @property
    def n_bytes(self) -> int:
        """The memory it holds."""
        return self._learner.n_bytes

    def save(self) -> bytes:
        """Give all of its state."""
        return self._learner.save()

    def load(self, state: bytes) -> None:
        """Take over a saved state."""
        self._learner.load(state)
