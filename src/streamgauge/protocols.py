"""The architecture on one page.

```
Stream --batches--> Scheme --steps--> Labelling --steps--> Learner --votes--> Trace
Trace --> Forgetting --tallies--> Measure --readings--> Results --> significance --> report
```

A protocol is satisfied, not inherited. Where cells run is said by a backend: see `streamgauge._engine.executor`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from streamgauge.records import Arrivals, Batch, Drift, Schema, Step, Tally, Trace

__all__ = [
    "Bound",
    "CellBatch",
    "Chunked",
    "Detector",
    "DetectorSpec",
    "Drifting",
    "Forgetting",
    "ForgettingState",
    "Inserting",
    "Labelling",
    "Learner",
    "LearnerSpec",
    "Measure",
    "Recorder",
    "Resumable",
    "Scheme",
    "Secretive",
    "Stream",
    "Trained",
    "Unsupervised",
    "is_stream",
]


class Stream(Protocol):
    """Says what the rows are. Re-iterable: it has no cursor, and any start and size give the same rows.

    A stream whose rows cannot but keep its schema may say so with an attribute ``checked = True``; the rows of any
    other are checked as they are read. One whose rows are in memory may say ``in_memory = True``: to give many of them
    at once then costs nothing.
    """

    @property
    def schema(self) -> Schema:
        """What the rows look like."""
        ...

    @property
    def n_rows(self) -> int | None:
        """How many rows there are; None where the stream never ends."""
        ...

    @property
    def fingerprint(self) -> str:
        """A short text that differs where the rows do."""
        ...

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Give the rows from `start` on, `size` at a time."""
        ...


@runtime_checkable
class Drifting(Protocol):
    """A stream that knows its own drifts, as a stream may."""

    def drifts_before(self, row: int | None) -> tuple[Drift, ...]:
        """Give the drifts that begin before a row, in order; all of them where it is None."""
        ...


@runtime_checkable
class Resumable(Protocol):
    """A stream that cannot be read again from any row, as a live one cannot, but can go on where it was.

    Its `batches` has a cursor: `start` must be the row that comes next, and a batch without rows says that none came
    for a while.
    """

    def state(self) -> bytes:
        """Give what it takes to go on behind the last batch handed out."""
        ...

    def restore(self, state: bytes) -> None:
        """Go on where a state was taken, in this process or another."""
        ...

    def committed(self, state: bytes) -> None:
        """Take note that a state is safe on disk: what came before it need never be sent again."""
        ...


def is_stream(thing: object) -> TypeGuard[Stream]:
    """Say whether a thing is a stream, by what its class has; asks nothing of the stream, for that may cost a pass.

    Examples
    --------
    >>> is_stream(42)
    False
    """
    return all(hasattr(type(thing), part) for part in ("schema", "n_rows", "fingerprint", "batches"))


@runtime_checkable
class Scheme(Protocol):
    """Says which rows are tested and which are learnt, per fold; runs nothing."""

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        ...

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        """Say what to do with each row of a batch in one fold."""
        ...


@runtime_checkable
class Bound(Protocol):
    """A scheme that must know the stream before it starts, as a scheme may."""

    def on(self, stream: Stream) -> "Scheme":
        """Give the scheme for a stream."""
        ...


@runtime_checkable
class Chunked(Protocol):
    """A scheme that puts off learning, as a scheme may."""

    def release(self, batch: Batch) -> NDArray[np.int64] | None:
        """Give for each row of a batch the row after whose test it may be learnt; None for its own."""
        ...


@runtime_checkable
class Inserting(Protocol):
    """A scheme that tests rows that are not the stream's at the time, as a scheme may."""

    @property
    def most_rows(self) -> int:
        """How many rows of the stream to read at once at most, so that what is put in fits into memory."""
        ...

    def inserted(self, start: int, stop: int) -> list[tuple[int, Batch]]:
        """Give what to test between two rows: after which row of the stream, and the rows with their own positions."""
        ...

    def last(self, n_rows: int) -> Batch | None:
        """Give what to test after the last row; None where that was done."""
        ...


@runtime_checkable
class Trained(Protocol):
    """A scheme that learns rows before it tests any, as a scheme may."""

    @property
    def training(self) -> int | Stream:
        """How many of the first rows of the stream, all of whose labels are there at once; or another stream."""
        ...


@runtime_checkable
class Labelling(Protocol):
    """Says when labels arrive; it can only hide or delay them."""

    def arrivals(self, batch: Batch, seed: int) -> Arrivals | None:
        """Say when the labels of the rows of a batch arrive; None where all do at once."""
        ...


@runtime_checkable
class Secretive(Protocol):
    """A labelling that takes a column of the rows for itself, so that learners must not see it, as one may."""

    @property
    def attribute(self) -> str | None:
        """The name of the column; None where it takes none."""
        ...

    def told_by(self, place: int) -> Labelling:
        """Give the labelling that reads the column at a place."""
        ...


class Learner(Protocol):
    """Predicts a row, then learns it."""

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Vote for the classes of each row, float64 [n, c], all 0 where it abstains; changes nothing."""
        ...

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn rows of known class, one after the other; rows of weight 0 are left out."""
        ...

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Predict each tested row of a step, then learn it, one row after the other; predictions and votes.

        One that fails at a row may raise a `LearnerError` with what it has done before, which is then scored.
        """
        ...

    @property
    def n_bytes(self) -> int:
        """The memory it holds."""
        ...

    def save(self) -> bytes:
        """Give all of its state."""
        ...

    def load(self, state: bytes) -> None:
        """Take over a saved state of a learner built alike, and go on from there bit for bit."""
        ...


@runtime_checkable
class Unsupervised(Protocol):
    """A learner that can use rows without a label, as a learner may.

    Its `interleave` learns them in their turn: those rows of a step whose label is hidden or unknown and whose weight
    is above 0, after they were tested.
    """

    def learn_unlabelled(self, x: NDArray[np.float64], weight: NDArray[np.float64] | None) -> None:
        """Learn rows whose class is not known, one after the other."""
        ...


@runtime_checkable
class LearnerSpec(Protocol):
    """A learner's configuration: a frozen value that builds fresh learners."""

    @property
    def seed(self) -> int:
        """The option that makes two learners share their randomness."""
        ...

    @property
    def seedless(self) -> bool:
        """Whether its learners use no randomness at all."""
        ...

    def build(self, schema: Schema, seed: int) -> Learner:
        """Build a learner that has seen nothing."""
        ...


@runtime_checkable
class Forgetting(Protocol):
    """Says how the past fades: a frozen value that builds the state of a cell.

    Where measures need more than counts, `build` is also given the names of the statistics to keep
    (`streamgauge.records.STATISTICS`); one that keeps counts alone need not take them.
    """

    def build(self, n_classes: int) -> "ForgettingState":
        """Build a state that has seen nothing."""
        ...


class ForgettingState(Protocol):
    """Keeps a tally of one cell, in bounded memory."""

    def update(self, trace: Trace, reading_rows: Sequence[int]) -> Sequence[Tally]:
        """Take in a trace; give the tally after the rows before each stop (ascending positions in the stream)."""
        ...


@runtime_checkable
class Measure(Protocol):
    """A pure function of a tally.

    It may also have: ``statistics``, what it needs of a tally beyond the counts; ``needs_votes = True``, where that is
    made of votes; ``unit``, which is ``"rate"`` unless it says otherwise, and shown in percent; ``over(tallies)``, its
    values for many tallies at once.
    """

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def greater_is_better(self) -> bool:
        """Whether a greater value is better."""
        ...

    def __call__(self, tally: Tally) -> float:
        """Measure a tally."""
        ...


class Detector(Protocol):
    """Tells from values, such as errors, when the stream has changed; in bounded memory."""

    def update(self, values: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Take in values, in order; give what each showed: `STABLE`, `WARNING` or `DRIFT`."""
        ...

    @property
    def n_bytes(self) -> int:
        """The memory it holds."""
        ...

    def save(self) -> bytes:
        """Give all of its state."""
        ...

    def load(self, state: bytes) -> None:
        """Take over a saved state of a detector built alike, and go on from there bit for bit."""
        ...


@runtime_checkable
class DetectorSpec(Protocol):
    """A detector's configuration: a frozen value that builds fresh detectors."""

    def build(self) -> Detector:
        """Build a detector that has seen nothing."""
        ...


@dataclass(frozen=True)
class CellBatch:
    """What one batch brought to one cell: a learner in a fold.

    Parameters
    ----------
    learner, fold
        The cell.
    step
        The rows that it predicted and learnt.
    trace
        Its scored predictions.
    reading_rows, tallies
        After how many rows of the stream the tallies were taken, and those, first by forgetting, then by stop.
    """

    learner: str
    fold: int
    step: Step
    trace: Trace
    reading_rows: Sequence[int]
    tallies: Sequence[Sequence[Tally]]


@runtime_checkable
class Recorder(Protocol):
    """Keeps what a run brings beyond its readings: a value that opens for the length of a run."""

    @property
    def needs_votes(self) -> bool:
        """Whether traces must carry votes."""
        ...

    def open(
        self, stream: Stream, schema: Schema, learners: Sequence[str], forgettings: Sequence[str], /
    ) -> AbstractContextManager[Callable[[CellBatch], None]]:
        """Open it for a run on rows of a schema; what it yields is called with every passage, in order."""
        ...
