"""Schemes that train first and test later."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import adopt_scheme, is_stream
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import Scheme, SchemeBase, Stream
from streamgauge.records import Batch, Step
from streamgauge.schemes.holdout import Holdout
from streamgauge.schemes.prequential import Prequential
from streamgauge.schemes.wrapping import WrappingScheme, mask_tests, require_scheme

__all__ = ["Pretrained", "TrainThenTest"]


@dataclass(frozen=True)
class Pretrained(WrappingScheme):
    """Train every fold on some rows with all their labels, without testing them; then follow another scheme.

    Parameters
    ----------
    training
        The number of first rows of the stream; or another stream, learnt before the first row.
    scheme
        The scheme after training.

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
            msg = f"scheme = {self.scheme!r}: it trains first, too; use one of the two"
            raise StreamgaugeError(msg)
        if isinstance(self.training, int) and _holds_out_first_rows(self.scheme):
            msg = (
                f"scheme = {self.scheme!r}: it tests the first rows of the stream, which are learnt before;"
                " use Holdout(refreshed=True), test rows of another source, or train on another stream"
            )
            raise StreamgaugeError(msg)

    @property
    def inner(self) -> SchemeBase:
        """The scheme after training."""
        return adopt_scheme(self.scheme)

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        """Learn the training rows; follow the inner scheme for the others."""
        first = is_training(batch, self.training)
        if not first.any():
            return self.scheme.step(batch, fold, seed)
        if first.all():
            return Step(batch, test=~first)
        step = self.scheme.step(batch, fold, seed)
        weight = None if step.weight is None else np.where(first, 1.0, step.weight)
        return replace(step, test=mask_tests(step) & ~first, weight=weight)

    def learnable_after(self, batch: Batch) -> NDArray[np.int64] | None:
        """Return for each row the row after whose test it may be learnt; training rows are learnt at once."""
        learnable_after = super().learnable_after(batch)
        return (
            None
            if learnable_after is None
            else np.where(is_training(batch, self.training), batch.rows, learnable_after)
        )


@dataclass(frozen=True)
class TrainThenTest(SchemeBase):
    """Learn some rows, then test all others without learning them.

    Parameters
    ----------
    training
        The number of first rows of the stream to learn; or another stream to learn.

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

    def step(self, batch: Batch, fold: int, seed: int) -> Step:  # noqa: ARG002
        """Learn the training rows and test the others."""
        first = is_training(batch, self.training)
        return Step(batch, test=~first, weight=first.astype(np.float64))


def _holds_out_first_rows(scheme: Scheme) -> bool:
    """Return whether a scheme, or one inside it, tests the first rows of the stream again and again."""
    if isinstance(scheme, Holdout):
        return scheme.source is None and not scheme.refreshed
    return isinstance(scheme, WrappingScheme) and _holds_out_first_rows(scheme.inner)


def is_training(batch: Batch, training: int | Stream) -> NDArray[np.bool_]:
    """Return which rows of a batch are for training; those of another stream have positions below 0.

    Examples
    --------
    >>> is_training(Batch(1, np.zeros((2, 1)), np.zeros(2, dtype=np.int32)), 2).tolist()
    [True, False]
    """
    return batch.rows < (training if isinstance(training, int) else 0)


def check_training(training: object) -> None:
    """Raise unless an option is a number of training rows or a stream that ends.

    Examples
    --------
    >>> check_training(100)
    """
    if is_stream(training) and not isinstance(training, type):
        if training.n_rows is None:
            msg = f"training = {training!r}: it never ends; set its n_rows"
            raise StreamgaugeError(msg)
        return
    if not isinstance(training, int):
        msg = f"training = {training!r}: it must be a number of rows or a stream"
        raise StreamgaugeError(msg)
    require_at_least("training", training, 0)
