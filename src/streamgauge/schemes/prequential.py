"""Schemes that say when rows are tested and learnt; how many folds there are says the scheme within."""

from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import Bound, Chunked, Inserting, Scheme, Stream, Trained
from streamgauge.records import Batch, Step
from streamgauge.schemes.modes import TestMode, check_mode

__all__ = ["Chunks", "Prequential", "WarmUp", "Wrapping", "require_scheme", "rows_of", "testing"]


@dataclass(frozen=True)
class Prequential:
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
        check_mode(self.test)
        if self.test == "held_out":
            msg = "Prequential learns every row, so test='held_out' would test none; use CrossValidation or Bootstrap"
            raise StreamgaugeError(msg)

    @property
    def n_folds(self) -> int:
        """One."""
        return 1

    def step(self, batch: Batch, fold: int, seed: int) -> Step:  # noqa: ARG002
        """Test and learn every row."""
        return Step(batch)


@dataclass(frozen=True)
class Wrapping:
    """What the schemes share that change one thing of another; the rest is the other's."""

    @property
    def within(self) -> Scheme:
        """The other scheme."""
        return Prequential()

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return self.within.n_folds

    @property
    def test(self) -> str:
        """Which rows a fold tests."""
        return str(getattr(self.within, "test", "all"))

    @property
    def training(self) -> int | Stream:
        """What is learnt before any row is tested."""
        return self.within.training if isinstance(self.within, Trained) else 0

    @property
    def period(self) -> tuple[int, int] | None:
        """After how many rows a holdout tests how many; None where there is no holdout."""
        return self.within.period if isinstance(self.within, Wrapping) else None

    @property
    def most_rows(self) -> int:
        """How many rows of the stream to read at once at most."""
        return self.within.most_rows if isinstance(self.within, Inserting) else 1 << 62

    def on(self, stream: Stream) -> Scheme:
        """Let the other scheme know the stream."""
        within = self.within
        return replace(self, scheme=within.on(stream)) if isinstance(within, Bound) else self  # type: ignore[call-arg]

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        """Do what the other scheme does."""
        return self.within.step(batch, fold, seed)

    def release(self, batch: Batch) -> NDArray[np.int64] | None:
        """Give for each row of a batch the row after whose test it may be learnt."""
        return self.within.release(batch) if isinstance(self.within, Chunked) else None

    def inserted(self, start: int, stop: int) -> list[tuple[int, Batch]]:
        """Give what to test between two rows that is not the stream's."""
        return self.within.inserted(start, stop) if isinstance(self.within, Inserting) else []

    def last(self, n_rows: int) -> Batch | None:
        """Give what to test after the last row."""
        return self.within.last(n_rows) if isinstance(self.within, Inserting) else None


@dataclass(frozen=True)
class Chunks(Wrapping):
    """Test a chunk of rows, then learn all of it, and so on with the next.

    Parameters
    ----------
    sizes
        How many rows a chunk has; or a tuple of sizes, which chunks have in turn.
    scheme
        Which of these rows a fold tests and learns.

    Examples
    --------
    >>> batch = Batch(0, np.zeros((7, 1)), np.zeros(7, dtype=np.int32))
    >>> Chunks(3).release(batch).tolist()
    [2, 2, 2, 5, 5, 5, 8]
    >>> Chunks((1, 2)).release(batch).tolist()
    [0, 2, 2, 3, 5, 5, 6]
    """

    sizes: int | tuple[int, ...] = 1000
    scheme: Scheme = Prequential()

    def __post_init__(self) -> None:
        if self.sizes == ():
            msg = "sizes = (): a chunk needs a size"
            raise StreamgaugeError(msg)
        for size in self._sizes:
            require_at_least("sizes", size, 1)
        require_scheme(self.scheme, Chunked)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return self.sizes if isinstance(self.sizes, tuple) else (self.sizes,)

    @property
    def within(self) -> Scheme:
        """The scheme that says which rows a fold tests and learns."""
        return self.scheme

    def release(self, batch: Batch) -> NDArray[np.int64]:
        """Give for each row of a batch the last of its chunk."""
        ends = np.array(list(accumulate(self._sizes)))
        turn, place = np.divmod(rows_of(batch), ends[-1])
        last: NDArray[np.int64] = turn * ends[-1] + ends[np.searchsorted(ends, place, side="right")] - 1
        return last


@dataclass(frozen=True)
class WarmUp(Wrapping):
    """The first rows are learnt as ever, but not scored.

    Parameters
    ----------
    rows
        How many.
    scheme
        The scheme that they are left out of.

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
    def within(self) -> Scheme:
        """The scheme that the rows are left out of."""
        return self.scheme

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        """Test only the rows after the first."""
        step = self.scheme.step(batch, fold, seed)
        return step if batch.start >= self.rows else replace(step, test=testing(step) & (rows_of(batch) >= self.rows))

    def inserted(self, start: int, stop: int) -> list[tuple[int, Batch]]:
        """Give what to test between two rows that is not the stream's."""
        return [(after, batch) for after, batch in super().inserted(start, stop) if after >= self.rows]


def rows_of(batch: Batch) -> NDArray[np.int64]:
    """Give the positions of the rows of a batch.

    Examples
    --------
    >>> rows_of(Batch(5, np.zeros((2, 1)), np.zeros(2, dtype=np.int32))).tolist()
    [5, 6]
    """
    return batch.rows


def testing(step: Step) -> NDArray[np.bool_]:
    """Say which rows a step tests.

    Examples
    --------
    >>> testing(Step(Batch(5, np.zeros((2, 1)), np.zeros(2, dtype=np.int32)))).tolist()
    [True, True]
    """
    return np.ones(len(step.batch), dtype=np.bool_) if step.test is None else step.test


def require_scheme(scheme: object, *unlike: type) -> None:
    """Raise unless an option is a scheme, and not one that does what another does around it.

    Examples
    --------
    >>> require_scheme(Prequential())
    """
    if not isinstance(scheme, Scheme) or isinstance(scheme, type):
        msg = f"scheme = {scheme!r}: it must be a scheme"
        raise StreamgaugeError(msg)
    if unlike and isinstance(scheme, Wrapping | unlike[0]):
        msg = f"scheme = {scheme!r}: it must be one that says which rows a fold learns, such as Bootstrap(10)"
        raise StreamgaugeError(msg)
