"""Periodic holdout: test rows that are never learnt, at regular intervals."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import adopt_scheme, is_stream
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import Scheme, SchemeBase, Stream
from streamgauge.records import Batch, Step
from streamgauge.schemes.prequential import Prequential
from streamgauge.schemes.wrapping import WrappingScheme, require_scheme

__all__ = ["Holdout"]

MAX_TEST_ROWS = 65_536
"""The approximate number of test rows held in memory at once."""


@dataclass(frozen=True)
class Holdout(WrappingScheme):
    """Test a set of rows that is never learnt at regular intervals; learn the rows in between without testing them.

    Without a forgetting, a reading covers the last test. There is always a test after the last row.

    Parameters
    ----------
    every
        The number of rows between two tests.
    size
        The number of rows in a test.
    source
        A stream of test rows; None to cut them from the stream itself.
    refreshed
        Whether each test uses new rows: the next ones of `source`, or the last ones of each period of the stream.
        Otherwise all tests use the same rows, the first ones.
    scheme
        Which of the other rows a fold learns.

    Examples
    --------
    >>> batch = Batch(0, np.zeros((6, 1)), np.zeros(6, dtype=np.int32))
    >>> step = Holdout(every=3, size=1, refreshed=True).step(batch, fold=0, seed=1)
    >>> step.test.tolist()
    [False, False, True, False, False, True]
    >>> step.weight.tolist()
    [1.0, 1.0, 0.0, 1.0, 1.0, 0.0]
    """

    every: int = 10_000
    size: int = 1_000
    source: Stream | None = None
    refreshed: bool = False
    scheme: Scheme = Prequential()
    _tests_own_rows: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        require_at_least("every", self.every, 1)
        require_at_least("size", self.size, 1)
        require_scheme(self.scheme, without="inserted_tests")
        if self.source is None and self.refreshed and self.size >= self.every:
            msg = f"size = {self.size}: of every {self.every} rows, some must be left to learn"
            raise StreamgaugeError(msg)
        if self.source is not None and (not is_stream(self.source) or isinstance(self.source, type)):
            msg = f"source = {self.source!r}: it must be a stream"
            raise StreamgaugeError(msg)

    def bind(self, stream: Stream) -> "Holdout":
        """Read the test rows from the start of the stream, or check that those of `source` have its schema."""
        if self.source is None:
            return self if self.refreshed else replace(self, source=stream, _tests_own_rows=True)
        ours, theirs = stream.schema, self.source.schema
        if ours.classes != theirs.classes or [a.name for a in ours.attributes] != [a.name for a in theirs.attributes]:
            msg = f"the test rows of {self.source!r} have other attributes or classes than the stream"
            raise StreamgaugeError(msg)
        return self

    @property
    def inner(self) -> SchemeBase:
        """The scheme that chooses the rows a fold learns."""
        return adopt_scheme(self.scheme)

    @property
    def repeats_tests(self) -> bool:
        """Whether all tests use the same rows."""
        return not self.refreshed

    @property
    def period(self) -> tuple[int, int]:
        """After how many rows it tests, and how many rows."""
        return self.every, self.size

    @property
    def max_batch_rows(self) -> int:
        """The most rows of the stream to read at once."""
        return self.every * max(1, MAX_TEST_ROWS // self.size)

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        """Learn the rows that are not held out; test the held-out rows of the stream if each test uses new ones."""
        step = self.scheme.step(batch, fold, seed)
        held = self._held_out(batch)
        weight = step.weight
        if held.any():
            weight = np.where(held, 0.0, 1.0 if weight is None else weight)
        return replace(step, test=held if self.source is None else np.zeros(len(batch), dtype=np.bool_), weight=weight)

    def _held_out(self, batch: Batch) -> NDArray[np.bool_]:
        if self.source is None:
            return batch.rows % self.every >= self.every - self.size
        return batch.rows < (self.size if self._tests_own_rows else 0)

    def inserted_tests(self, start: int, stop: int) -> list[tuple[int, Batch]]:
        """Return the test rows, and after which rows of the stream they are tested."""
        if self.source is None:
            return []
        ends = range((start // self.every + 1) * self.every, stop + 1, self.every)
        return [(end - 1, self._read_test(end // self.every - 1)) for end in ends if self._is_available(end)]

    def final_test(self, n_rows: int) -> Batch | None:
        """Return the test rows for the end of the stream, unless a test has just been made."""
        if self.source is None or n_rows % self.every == 0 or not self._is_available(n_rows):
            return None
        return self._read_test(n_rows // self.every)

    def _is_available(self, n_rows: int) -> bool:
        return not self._tests_own_rows or n_rows >= self.size

    def _read_test(self, number: int) -> Batch:
        return self._read(number * self.size) if self.refreshed else self._first_rows

    @cached_property
    def _first_rows(self) -> Batch:
        return self._read(0)

    def _read(self, start: int) -> Batch:
        source = self.source
        batch = None if source is None else next(source.batches(self.size, start), None)
        if source is None or batch is None or len(batch) < self.size:
            msg = f"{source!r} has too few rows: a test needs {self.size} from its row {start} on"
            raise StreamgaugeError(msg)
        source.schema.check(batch)
        return batch
