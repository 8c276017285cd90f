"""A learner that is trained, or restored, before the stream starts."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import find_end_of_training
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
    """A learner that was trained on other rows first, and then stays frozen or continues to learn.

    Parameters
    ----------
    learner
        The learner; it may come from any supported library.
    on
        The training rows: a stream, a file, the name of a data set, or arrays ``(x, y)``; the schema must be that of
        the evaluated stream.
    n_rows
        The number of training rows; None for all.
    state
        Instead of `on`: the saved state of a learner of the same kind (``learner.save()``), or a file with that state.
    frozen
        Whether it stops learning after the training.
    seed
        Two learners with the same seed share their randomness in each fold. A saved state keeps the randomness of the
        learner that saved it, if the state includes it.

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
    trained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "learner", as_spec(self.learner))
        if self.on is not None and self.state is not None:
            msg = "PretrainedModel takes either on, a stream or file to train on, or state, a saved learner: not both"
            raise StreamgaugeError(msg)
        if self.n_rows is not None:
            require_at_least("n_rows", self.n_rows, 1)

    @property
    def seedless(self) -> bool:
        """Whether its learner uses no randomness."""
        return self.learner.seedless

    def build(self, schema: Schema, seed: int) -> Learner:
        """Build a learner and train it, or restore its state."""
        if self.on is None and self.state is None:
            msg = "PretrainedModel needs either on, a stream or file to train on, or state, a saved learner"
            raise StreamgaugeError(msg)
        learner = self.learner.build(schema, seed)
        if self.state is None:
            self._train(learner, _open_training(self.on), schema)
            end_training = find_end_of_training(learner)
            if end_training is not None:
                end_training()
        else:
            learner.load(self.state if isinstance(self.state, bytes) else _read_state(Path(self.state)))
        return _FrozenLearner(learner, schema.n_classes) if self.frozen else learner

    def _train(self, learner: Learner, stream: Stream, schema: Schema) -> None:
        _require_same_columns(stream.schema, schema)
        if self.n_rows is None and stream.n_rows is None:
            msg = "the training stream never ends: set n_rows, the number of rows to train on"
            raise StreamgaugeError(msg)
        for batch in stream.batches(BATCH):
            n_learnt = len(batch) if self.n_rows is None else min(len(batch), self.n_rows - batch.start)
            _learn_labelled(learner, batch, n_learnt)
            if self.n_rows is not None and batch.start + len(batch) >= self.n_rows:
                return


def _open_training(on: object) -> Stream:
    if isinstance(on, str | Path):
        return load(str(on)) if str(on) in DATASETS and not Path(on).exists() else File(on)
    return as_stream(on)


def _learn_labelled(learner: Learner, batch: Batch, n_rows: int) -> None:
    """Learn the labelled rows of positive weight among the first `n_rows` of a batch."""
    known = batch.y[:n_rows] != UNLABELLED
    weight = None if batch.weight is None else batch.weight[:n_rows][known]
    if weight is not None:
        known[known] = weight > 0
        weight = weight[weight > 0]
    learner.learn(np.ascontiguousarray(batch.x[:n_rows][known]), batch.y[:n_rows][known], weight)


def _read_state(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        msg = f"cannot read the saved learner {path}: {error.strerror}"
        raise StreamgaugeError(msg) from None


def _require_same_columns(training: Schema, stream: Schema) -> None:
    """Raise unless two schemas have the same columns and classes; whether values may be missing does not matter."""
    if training.classes != stream.classes:
        msg = f"the training rows have the classes {training.classes}, but the stream has {stream.classes}"
        raise StreamgaugeError(msg)
    if [a.name for a in training.attributes] != [a.name for a in stream.attributes]:
        msg = "the training rows have other attributes than the stream"
        raise StreamgaugeError(msg)
    if [a.values for a in training.attributes] != [a.values for a in stream.attributes]:
        msg = "the training rows have other values of attributes than the stream"
        raise StreamgaugeError(msg)


class _FrozenLearner:
    """A learner that no longer learns."""

    def __init__(self, learner: Learner, n_classes: int) -> None:
        self._learner, self._n_classes = learner, n_classes

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the votes for the classes of each row."""
        return self._learner.predict(x)

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Do nothing: the learner is frozen."""

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Predict each tested row of a step."""
        votes = np.zeros((len(step.batch), self._n_classes))
        rows = slice(None) if step.test is None else step.test
        votes[rows] = self._learner.predict(np.ascontiguousarray(step.batch.x[rows]))
        return pick_winners(votes), votes if with_votes else None

    @property
    def n_bytes(self) -> int:
        """The memory of the learner in bytes."""
        return self._learner.n_bytes

    def save(self) -> bytes:
        """Return the complete state."""
        return self._learner.save()

    def load(self, state: bytes) -> None:
        """Restore a saved state."""
        self._learner.load(state)
