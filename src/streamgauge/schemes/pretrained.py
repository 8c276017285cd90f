"""Schemes that learn first and test later."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import Scheme, Stream, is_stream
from streamgauge.records import Batch, Step
from streamgauge.schemes.prequential import Prequential, Wrapping, require_scheme, rows_of, testing

__all__ = ["Pretrained", "TrainThenTest"]


@dataclass(frozen=True)
class Pretrained(Wrapping):
    """Every fold first learns some rows with all their labels, untested; then a scheme goes on as ever.

    Parameters
    ----------
    training
        How many of the first rows of the stream; or another stream, whose rows are learnt before the first.
    scheme
        How it goes on.

    Examples
    --------
    >>> batch = Batch(0, np.zeros((3, 1)), np.zeros(3, dtype=np.int32))
    >>> Pretrained(2).step(batch, fold=0, seed=1).test.tolist()
    [False, False, True]
    """

    training: int | Stream = 1000
    scheme: Scheme = Prequential()

    def __post_init__(self) -> None:
        check_training(self.training)
        require_scheme(self.scheme)
        if isinstance(self.scheme, Pretrained | TrainThenTest):
            msg = f"scheme = {self.scheme!r}: it trains first, too; one of the two is enough"
            raise StreamgaugeError(msg)

    @property
    def within(self) -> Scheme:
        """The scheme that goes on."""
        return self.scheme

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        """Learn the rows for training, and do with the others what the scheme does."""
        first = is_training(batch, self.training)
        if not first.any():
            return self.scheme.step(batch, fold, seed)
        if first.all():
            return Step(batch, test=~first)
        step = self.scheme.step(batch, fold, seed)
        weight = None if step.weight is None else np.where(first, 1.0, step.weight)
        return replace(step, test=testing(step) & ~first, weight=weight)

    def release(self, batch: Batch) -> NDArray[np.int64] | None:
        """Let the rows for training be learnt at once."""
        found = super().release(batch)
        return None if found is None else np.where(is_training(batch, self.training), rows_of(batch), found)


@dataclass(frozen=True)
class TrainThenTest:
    """Learn some rows, then test all others and learn no more.

    Parameters
    ----------
    training
        How many of the first rows of the stream to learn; or another stream to learn.

    Examples
    --------
    >>> batch = Batch(0, np.zeros((3, 1)), np.zeros(3, dtype=np.int32))
    >>> step = TrainThenTest(2).step(batch, fold=0, seed=1)
    >>> step.test.tolist(), step.weight.tolist()
    ([False, False, True], [1.0, 1.0, 0.0])
    """

    training: int | Stream = 1000

    def __post_init__(self) -> None:
        check_training(self.training)

    @property
    def n_folds(self) -> int:
        """One."""
        return 1

    def step(self, batch: Batch, fold: int, seed: int) -> Step:  # noqa: ARG002
        """Learn the rows for training and test the others."""
        first = is_training(batch, self.training)
        return Step(batch, test=~first, weight=first.astype(np.float64))


def is_training(batch: Batch, training: int | Stream) -> NDArray[np.bool_]:
    """Say which rows of a batch are for training; those of another stream stand before row 0.

    Examples
    --------
    >>> is_training(Batch(1, np.zeros((2, 1)), np.zeros(2, dtype=np.int32)), 2).tolist()
    [True, False]
    """
    return rows_of(batch) < (training if isinstance(training, int) else 0)


def check_training(training: object) -> None:
    """Raise unless an option says what to train on.

    Examples
    --------
    >>> check_training(100)
    """
    if is_stream(training) and not isinstance(training, type):
        if training.n_rows is None:
            msg = f"training = {training!r}: it never ends; give it a number of rows"
            raise StreamgaugeError(msg)
        return
    if not isinstance(training, int):
        msg = f"training = {training!r}: it must be a number of rows or a stream"
        raise StreamgaugeError(msg)
    require_at_least("training", training, 0)
