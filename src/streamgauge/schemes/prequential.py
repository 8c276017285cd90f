"""Prequential evaluation, and schemes that change one thing of another scheme."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import adopt_scheme, overrides
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import Scheme, SchemeBase, Stream
from streamgauge.records import Batch, Step
from streamgauge.schemes.folds import TestMode, check_test_mode

__all__ = ["Prequential", "WarmUp", "WrappingScheme", "mask_tests", "require_scheme"]


@dataclass(frozen=True)
class Prequential(SchemeBase):
    """Test every row, then learn it; one fold.

    Parameters
    ----------
    test
        "all" or "training", which are the same here: nothing is held out.

    Examples
    --------
    >>> Prequential().n_folds
    1
    """

    test: TestMode = "all"

    def __post_init__(self) -> None:
        check_test_mode(self.test)
        if self.test == "held_out":
            msg = "Prequential learns every row, so test='held_out' would test none; use CrossValidation or Bootstrap"
            raise StreamgaugeError(msg)

    def step(self, batch: Batch, fold: int, seed: int) -> Step:  # noqa: ARG002
        """Test and learn every row."""
        return Step(batch)


@dataclass(frozen=True)
class WrappingScheme(SchemeBase):
    """A scheme that changes one thing of another; by default it passes everything on to the inner scheme."""

    @property
    def inner(self) -> SchemeBase:
        """The inner scheme."""
        return Prequential()

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

    def release(self, batch: Batch) -> NDArray[np.int64] | None:
        """Return for each row the row after whose test it may be learnt."""
        return self.inner.release(batch)

    def inserted_tests(self, start: int, stop: int) -> list[tuple[int, Batch]]:
        """Return the tests of other rows between two rows."""
        return self.inner.inserted_tests(start, stop)

    def final_test(self, n_rows: int) -> Batch | None:
        """Return other rows to test after the last row."""
        return self.inner.final_test(n_rows)


@dataclass(frozen=True)
class WarmUp(WrappingScheme):
    """Learn the first rows as usual, but do not score them.

    Parameters
    ----------
    rows
        The number of rows.
    scheme
        The scheme whose first rows are not scored.

    Examples
    --------
    >>> batch = Batch(0, np.zeros((3, 1)), np.zeros(3, dtype=np.int32))
    >>> WarmUp(2).step(batch, fold=0, seed=1).test.tolist()
    [False, False, True]
    """

    rows: int = 1000
    scheme: Scheme = Prequential()

    def __post_init__(self) -> None:
        require_at_least("rows", self.rows, 0)
        require_scheme(self.scheme)

    @property
    def inner(self) -> SchemeBase:
        """The scheme whose first rows are not scored."""
        return adopt_scheme(self.scheme)

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        """Test only the rows after the first ones."""
        step = self.scheme.step(batch, fold, seed)
        return step if batch.start >= self.rows else replace(step, test=mask_tests(step) & (batch.rows >= self.rows))

    def inserted_tests(self, start: int, stop: int) -> list[tuple[int, Batch]]:
        """Return the tests of other rows between two rows, after the first rows."""
        return [(after, batch) for after, batch in super().inserted_tests(start, stop) if after >= self.rows]


def mask_tests(step: Step) -> NDArray[np.bool_]:
    """Return which rows a step tests.

    Examples
    --------
    >>> mask_tests(Step(Batch(5, np.zeros((2, 1)), np.zeros(2, dtype=np.int32)))).tolist()
    [True, True]
    """
    return np.ones(len(step.batch), dtype=np.bool_) if step.test is None else step.test


def require_scheme(scheme: object, *, without: str | None = None) -> None:
    """Raise unless an option is a scheme, and one that wraps no other and does not have a method itself.

    Examples
    --------
    >>> require_scheme(Prequential())
    """
    if not isinstance(scheme, Scheme) or isinstance(scheme, type):
        msg = f"scheme = {scheme!r}: it must be a scheme"
        raise StreamgaugeError(msg)
    if without is not None and (isinstance(scheme, WrappingScheme) or overrides(scheme, without)):
        msg = f"scheme = {scheme!r}: it must be one that chooses the rows a fold learns, such as Bootstrap(10)"
        raise StreamgaugeError(msg)
