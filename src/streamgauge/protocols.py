"""The architecture on one page.

```
Stream --batches--> Scheme --steps--> Labelling --steps--> Learner --votes--> Trace
Trace --> Forgetting --tallies--> Measure --readings--> Results --> significance --> report
```

A protocol is satisfied, not inherited.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeGuard, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from streamgauge.records import Batch, Drift, Schema, Step, Tally, Trace

__all__ = [
    "Backend",
    "Drifting",
    "Forgetting",
    "ForgettingState",
    "Labelling",
    "Learner",
    "LearnerSpec",
    "Measure",
    "Scheme",
    "Stream",
    "Workers",
    "is_stream",
]

Task = TypeVar("Task")
Done = TypeVar("Done")


class Stream(Protocol):
    """Says what the rows are. Re-iterable: it has no cursor, and any start and size give the same rows.

    A stream whose rows cannot but keep its schema may say so with an attribute ``checked = True``; the rows of any
    other are checked as they are read.
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
class Labelling(Protocol):
    """Says which labels a learner may see; only hides."""

    def reveal(self, step: Step, seed: int) -> Step:
        """Hide labels of a step."""
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
        """Predict each tested row of a step, then learn it, one row after the other; predictions and votes."""
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

    def update(self, trace: Trace, stops: Sequence[int]) -> Sequence[Tally]:
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


class Workers(Protocol):
    """Do tasks that share nothing."""

    def map(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> list[Done]:
        """Do the work of every task; the results come in the order of the tasks."""
        ...


@runtime_checkable
class Backend(Protocol):
    """Says where the cells run: a frozen value that starts workers."""

    def start(self) -> AbstractContextManager[Workers]:
        """Start workers for the length of a run."""
        ...
