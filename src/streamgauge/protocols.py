"""The contracts of all parts on one page.

```
Stream --batch--> Labelling --arrivals--> schedule --> Scheme --step of a fold--> Learner --predictions--> Trace
Trace --> Forgetting --tally--> Measure --reading--> Results --> significance --> report
```

An object of your own needs to satisfy a protocol only; it need not inherit from anything. What else an object may
offer, such as a stream that knows its own drifts, is a method with a default in the base class beside the protocol
(`StreamBase`, `SchemeBase`, `LabellingBase`): override what you need.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from streamgauge.records import Arrivals, Batch, Drift, Schema, Step, Tally, Trace

__all__ = [
    "FIRST_PASS",
    "CellBatch",
    "Detector",
    "DetectorSpec",
    "Forgetting",
    "ForgettingState",
    "Labelling",
    "LabellingBase",
    "Learner",
    "LearnerSpec",
    "LiveStreamBase",
    "MajorityBaseline",
    "Measure",
    "Recorder",
    "Scheme",
    "SchemeBase",
    "Stream",
    "StreamBase",
]

FIRST_PASS = 1 << 60
"""If a stream is read twice, the position of a row in the first pass is its position in the stream minus this."""


class Stream(Protocol):
    """The rows. Re-iterable: a stream has no cursor, and any start and batch size give the same rows."""

    @property
    def schema(self) -> Schema:
        """The attributes and classes of the rows."""
        ...

    @property
    def n_rows(self) -> int | None:
        """The number of rows; None if the stream never ends."""
        ...

    @property
    def fingerprint(self) -> str:
        """A short text that differs whenever the rows do."""
        ...

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Yield the rows from `start` on, `size` at a time."""
        ...


class StreamBase:
    """A stream with defaults for all that a stream may offer beyond `Stream`."""

    if TYPE_CHECKING:  # a class attribute here would become the default of a dataclass field

        @property
        def schema(self) -> Schema:
            """The attributes and classes of the rows."""

        @property
        def n_rows(self) -> int | None:
            """The number of rows; None if the stream never ends."""

        @property
        def fingerprint(self) -> str:
            """A short text that differs whenever the rows do."""

        def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
            """Yield the rows from `start` on, `size` at a time."""

    checked: bool = False
    """Whether the rows are known to match the schema, so that they are not checked again."""

    in_memory: bool = False
    """Whether all rows are in memory, so that large batches cost nothing."""

    ends: bool = False
    """Whether the stream is known to end without counting its rows."""

    @property
    def has_times(self) -> bool | None:
        """Whether rows carry times; None if only the rows themselves show it."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user must know about how the rows are read, such as columns that are left out; a sentence each."""
        return ()

    @property
    def status(self) -> str:
        """A short text on the state of a live source, for the progress bar."""
        return ""

    def facts(self) -> Mapping[str, object]:
        """Return counts of a live source, for the manifest."""
        return {}

    def drifts_before(self, row: int | None) -> tuple[Drift, ...]:  # noqa: ARG002
        """Return the known drifts that begin before a row, in order; all of them if it is None."""
        return ()


class LiveStreamBase(StreamBase):
    """A stream that cannot be read again from any row, but can be resumed from a saved state.

    Its `batches` has a cursor: `start` must be the next row, and a batch without rows means that none arrived for a
    while.
    """

    if TYPE_CHECKING:

        def state(self) -> bytes:
            """Return the state after the last batch that was handed out."""

        def restore(self, state: bytes) -> None:
            """Resume from a saved state, in this process or another."""

        def committed(self, state: bytes) -> None:
            """Acknowledge that a state is safe on disk: events before it need never be sent again."""


@runtime_checkable
class Scheme(Protocol):
    """Which rows are tested and which are learnt, per fold. A scheme runs nothing."""

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        ...

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        """Return what to do with each row of a batch in one fold."""
        ...


class SchemeBase:
    """A scheme with defaults for all that a scheme may do beyond `Scheme`."""

    if TYPE_CHECKING:

        def step(self, batch: Batch, fold: int, seed: int) -> Step:
            """Return what to do with each row of a batch in one fold."""

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return 1

    @property
    def test(self) -> str:
        """Which rows a fold tests: ``all``, ``training`` or ``held_out``."""
        return "all"

    @property
    def training(self) -> int | Stream:
        """The rows learnt before the first test, with all labels: the first n of the stream, or another stream."""
        return 0

    @property
    def repetitions(self) -> int:
        """How often the rows are divided into folds: fold ``r k + i`` is fold i of repetition r."""
        return 1

    @property
    def resampling(self) -> str:
        """How folds sample the rows they learn: ``Bootstrap``, ``CrossValidation``, ``Split``, or empty for none."""
        return ""

    @property
    def repeats_tests(self) -> bool:
        """Whether it tests the same rows again and again, so that tests over rows do not apply."""
        return False

    @property
    def trains_first(self) -> bool:
        """Whether the folds learn rows of the stream in a pass of its own, before the first test.

        The stream is then read twice; in the first pass, row i has position ``i - FIRST_PASS``, which is below 0.
        """
        return False

    @property
    def period(self) -> tuple[int, int] | None:
        """For a holdout: after how many rows it tests, and how many rows; else None."""
        return None

    @property
    def max_batch_rows(self) -> int:
        """The most rows of the stream to read at once, so that inserted tests fit into memory."""
        return sys.maxsize

    def bind(self, stream: Stream) -> "SchemeBase":  # noqa: ARG002
        """Return the scheme for a stream, for a scheme that needs to know the stream."""
        return self

    def learnable_after(self, batch: Batch) -> NDArray[np.int64] | None:  # noqa: ARG002
        """Return for each row the row after whose test it may be learnt; None for its own."""
        return None

    def inserted_tests(self, start: int, stop: int) -> list[tuple[int, Batch]]:  # noqa: ARG002
        """Return tests of other rows between two rows: after which row of the stream, and the rows to test."""
        return []

    def final_test(self, n_rows: int) -> Batch | None:  # noqa: ARG002
        """Return other rows to test after the last row; None if there are none."""
        return None


@runtime_checkable
class Labelling(Protocol):
    """When labels arrive. A labelling can only hide or delay them."""

    def arrivals(self, batch: Batch, seed: int) -> Arrivals | None:
        """Return when the labels of a batch arrive; None if all arrive at once."""
        ...


class LabellingBase:
    """A labelling with defaults for all that a labelling may do beyond `Labelling`."""

    if TYPE_CHECKING:

        def arrivals(self, batch: Batch, seed: int) -> Arrivals | None:
            """Return when the labels of a batch arrive; None if all arrive at once."""

    @property
    def attribute(self) -> str | None:
        """The column that only the labelling may read, hidden from the learners; None if there is none."""
        return None

    @property
    def delays(self) -> bool:
        """Whether labels can be late from the first row on; else they are from the first late one on."""
        return False

    @property
    def needs_times(self) -> bool:
        """Whether rows must carry times."""
        return False

    def bind_column(self, index: int) -> "LabellingBase":  # noqa: ARG002
        """Return the labelling that reads its column at an index."""
        return self


class Learner(Protocol):
    """Predicts a row, then learns it."""

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return votes for the classes of each row, float64 [n, c], all 0 for an abstention; changes nothing.

        With a numeric target it returns a number for each row, float64 [n], NaN for an abstention.
        """
        ...

    def learn(self, x: NDArray[np.float64], y: NDArray[Any], weight: NDArray[np.float64] | None) -> None:
        """Learn rows of known class, or number, one after the other; rows of weight 0 are skipped.

        A learner that can also use rows without a label has a method ``learn_unlabelled(x, weight)``. One that is
        fitted on all its training rows at once has a method ``end_training()``, called once in schemes that train
        first.
        """
        ...

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Predict each tested row of a step, then learn it, row by row; return predictions and votes.

        Numbers have no votes: None.

        A learner that fails at a row may raise a `LearnerError` with the predictions before it, which are then scored.
        """
        ...

    @property
    def n_bytes(self) -> int:
        """The memory of the model in bytes."""
        ...

    def save(self) -> bytes:
        """Return the whole state."""
        ...

    def load(self, state: bytes) -> None:
        """Restore the state of a learner with the same configuration, bit for bit."""
        ...


@runtime_checkable
class LearnerSpec(Protocol):
    """A learner's configuration: a frozen value that builds fresh learners.

    It may also have ``tasks``, the names of the tasks that it can do, such as ``("classification", "regression")``: a
    run of another task then refuses it before the first row.
    """

    @property
    def seed(self) -> int:
        """Two learners with the same seed share their random numbers."""
        ...

    @property
    def seedless(self) -> bool:
        """Whether its learners use no random numbers at all."""
        ...

    def build(self, schema: Schema, seed: int) -> Learner:
        """Build an untrained learner."""
        ...


@runtime_checkable
class Forgetting(Protocol):
    """How the past fades: a frozen value that builds the state of a cell.

    If measures need more than counts, `build` also gets the names of the statistics to keep
    (`streamgauge.records.STATISTICS`, or ``rows``) as a second argument; a forgetting that keeps counts alone need not
    accept it.

    A forgetting may also have ``build_majority(n_classes)``, which returns the baseline of `kappa_m` for its traces, a
    `MajorityBaseline`, or None for the majority class of all labels; that is also the baseline of a forgetting without
    this method. ``Window(1000).build_majority(n_classes)`` and those of the other forgettings may serve. For numeric
    targets it needs ``build_sums(target, statistics, compute_losses)``, which returns a state whose `update` returns
    `NumberTallies` with the weighted sums of `streamgauge.records.compute_amounts` for the statistics. One whose
    attribute ``needs_times`` is True is refused on streams without times.
    """

    def build(self, n_classes: int) -> "ForgettingState":
        """Build an empty state."""
        ...


class MajorityBaseline(Protocol):
    """The majority class of the labels that a forgetting remembers, in one fold."""

    def update(
        self,
        truth: NDArray[np.int32],
        labels: NDArray[np.int32],
        weight: NDArray[np.float64] | None,
        time: NDArray[np.float64] | None,
    ) -> NDArray[np.bool_]:
        """Predict each row, compare with its true class, then learn its label if it has one and its weight is above 0.

        A row without a label has -1. Return which predictions are correct.
        """
        ...

    def save(self) -> bytes:
        """Return the complete state."""
        ...

    def load(self, state: bytes) -> None:
        """Restore a saved state, bit for bit."""
        ...


class ForgettingState(Protocol):
    """The tally of one cell, in bounded memory.

    Checkpoints also need ``save() -> bytes`` and ``load(bytes)``.
    """

    def update(self, trace: Trace, reading_rows: Sequence[int]) -> Sequence[Tally]:
        """Add a trace; return the tally before each of the reading rows (ascending positions in the stream)."""
        ...


@runtime_checkable
class Measure(Protocol):
    """A pure function of a tally.

    It may also have ``statistics``, what it needs beyond counts; ``task``, the name of the task whose tallies it takes;
    ``needs_votes = True``; ``unit``, by default ``"rate"``, which is printed in percent; and ``over(tallies)``, its
    values for many tallies at once.
    """

    @property
    def name(self) -> str:
        """The name in results and tables."""
        ...

    @property
    def greater_is_better(self) -> bool:
        """Whether a greater value is better."""
        ...

    def __call__(self, tally: Tally) -> float:
        """Return the value for a tally."""
        ...


class Detector(Protocol):
    """Detects from values, such as errors, when the stream has changed; in bounded memory."""

    def update(self, values: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Add values in order; return for each `STABLE`, `WARNING` or `DRIFT`."""
        ...

    @property
    def n_bytes(self) -> int:
        """The memory of the detector in bytes."""
        ...

    def save(self) -> bytes:
        """Return the whole state."""
        ...

    def load(self, state: bytes) -> None:
        """Restore the state of a detector with the same configuration, bit for bit."""
        ...


@runtime_checkable
class DetectorSpec(Protocol):
    """A detector's configuration: a frozen value that builds fresh detectors."""

    def build(self) -> Detector:
        """Build a detector that has seen nothing."""
        ...


@dataclass(frozen=True)
class CellBatch:
    """What one cell (a learner in a fold) did in one batch.

    Parameters
    ----------
    learner, fold
        The cell.
    step
        The rows that it predicted and learnt.
    trace
        Its scored predictions.
    reading_rows, tallies
        After how many rows of the stream the tallies were taken, and the tallies by forgetting, then by reading row.
    unlabelled
        Its predictions for tested rows of unknown class, which are not scored; None if there are none.
    """

    learner: str
    fold: int
    step: Step
    trace: Trace
    reading_rows: Sequence[int]
    tallies: Sequence[Sequence[Tally]]
    unlabelled: Trace | None = None


@runtime_checkable
class Recorder(Protocol):
    """Records what a run does beyond its readings: a value that opens for the length of a run."""

    @property
    def needs_votes(self) -> bool:
        """Whether traces must carry votes."""
        ...

    def open(
        self, stream: Stream, schema: Schema, learners: Sequence[str], forgettings: Sequence[str], /
    ) -> AbstractContextManager[Callable[[CellBatch], None]]:
        """Open it for a run on rows of a schema; yield a callback for every batch of every cell, in order."""
        ...
