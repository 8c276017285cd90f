"""The base class of schemes that wrap another one and change one aspect of it."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import adopt_scheme, overrides
from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Scheme, SchemeBase, Stream
from streamgauge.records import Batch, Step

__all__ = ["WrappingScheme", "mask_tests", "require_scheme"]


@dataclass(frozen=True)
class WrappingScheme(SchemeBase):
    """A scheme that changes one aspect of another; by default it passes everything on to the inner scheme."""

    if TYPE_CHECKING:

        @property
        def inner(self) -> SchemeBase:
            """The inner scheme."""

    @property
    def n_folds(self) -> int:
        """The number of folds of the inner scheme."""
        return self.inner.n_folds

    @property
    def test(self) -> str:
        """Which rows a fold tests."""
        return self.inner.test

    @property
    def training(self) -> int | Stream:
        """The rows learnt before the first test."""
        return self.inner.training

    @property
    def resampling(self) -> str:
        """How folds sample the rows they learn."""
        return self.inner.resampling

    @property
    def repeats_tests(self) -> bool:
        """Whether it tests the same rows again and again."""
        return self.inner.repeats_tests

    @property
    def period(self) -> tuple[int, int] | None:
        """For a holdout: after how many rows it tests, and how many rows; else None."""
        return self.inner.period

    @property
    def max_batch_rows(self) -> int:
        """The most rows of the stream to read at once."""
        return self.inner.max_batch_rows

    def bind(self, stream: Stream) -> SchemeBase:
        """Bind the inner scheme to the stream."""
        inner = self.inner
        bound = inner.bind(stream)
        return self if bound is inner else replace(self, scheme=bound)  # type: ignore[call-arg]

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        """Return the step of the inner scheme."""
        return self.inner.step(batch, fold, seed)

    def learnable_after(self, batch: Batch) -> NDArray[np.int64] | None:
        """Return for each row the row after whose test it may be learnt."""
        return self.inner.learnable_after(batch)

    def inserted_tests(self, start: int, stop: int) -> list[tuple[int, Batch]]:
        """Return the tests of other rows between two rows."""
        return self.inner.inserted_tests(start, stop)

    def final_test(self, n_rows: int) -> Batch | None:
        """Return other rows to test after the last row."""
        return self.inner.final_test(n_rows)


def mask_tests(step: Step) -> NDArray[np.bool_]:
    """Return which rows a step tests.

    Examples
    --------
    >>> mask_tests(Step(Batch(5, np.zeros((2, 1)), np.zeros(2, dtype=np.int32)))).tolist()
    [True, True]
    """
    return np.ones(len(step.batch), dtype=np.bool_) if step.test is None else step.test


def require_scheme(scheme: object, *, without: str | None = None) -> None:
    """Raise unless an option is a scheme; with `without`, a plain one that does not override that method.

    Examples
    --------
    >>> from streamgauge.schemes import Prequential
    >>> require_scheme(Prequential())
    """
    if not isinstance(scheme, Scheme) or isinstance(scheme, type):
        msg = f"scheme = {scheme!r}: it must be a scheme"
        raise StreamgaugeError(msg)
    if adopt_scheme(scheme).trains_first:
        msg = f"scheme = {scheme!r}: it reads the stream twice, so no other scheme can be around it"
        raise StreamgaugeError(msg)
    if without is not None and (isinstance(scheme, WrappingScheme) or overrides(scheme, without)):
        msg = f"scheme = {scheme!r}: it must be one that chooses the rows a fold learns, such as Bootstrap(10)"
        raise StreamgaugeError(msg)
