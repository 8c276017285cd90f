"""Periodic holdout: a set of rows that is never learnt is tested again and again."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import Inserting, Scheme, Stream, is_stream
from streamgauge.records import Batch, Step
from streamgauge.schemes.prequential import Prequential, Wrapping, require_scheme, rows_of

__all__ = ["Holdout"]

MOST_TESTED = 65_536
"""About how many test rows are in memory at once."""


@dataclass(frozen=True)
class Holdout(Wrapping):
    """After every so many rows, test a set of rows that is never learnt; the rows between are learnt untested.

    A reading is of the last test where no forgetting is asked for. The last test is after the last row.

    Parameters
    ----------
    every
        After how many rows to test.
    size
        How many rows to test each time.
    source
        A stream of test rows; None for rows cut from the stream itself.
    refreshed
        Whether each test has new rows: of another stream the next ones, of the stream itself the last of each period.
        Otherwise all tests have the same rows: the first ones.
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
    _is_cut: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        require_at_least("every", self.every, 1)
        require_at_least("size", self.size, 1)
        require_scheme(self.scheme, Inserting)
        if self.source is None and self.refreshed and self.size >= self.every:
            msg = f"size = {self.size}: of every {self.every} rows, some must be left to learn"
            raise StreamgaugeError(msg)
        if self.source is not None and (not is_stream(self.source) or isinstance(self.source, type)):
            msg = f"source = {self.source!r}: it must be a stream"
            raise StreamgaugeError(msg)

    def on(self, stream: Stream) -> "Holdout":
        """Know the first rows of the stream, where those are tested; other test rows must look like the stream's."""
        if self.source is None:
            return self if self.refreshed else replace(self, source=stream, _is_cut=True)
        ours, theirs = stream.schema, self.source.schema
        if ours.classes != theirs.classes or [a.name for a in ours.attributes] != [a.name for a in theirs.attributes]:
            msg = f"the test rows of {self.source!r} have other attributes or classes than the stream"
            raise StreamgaugeError(msg)
        return self

    @property
    def within(self) -> Scheme:
        """The scheme that says which rows a fold learns."""
        return self.scheme

    @property
    def period(self) -> tuple[int, int]:
        """After how many rows it tests how many."""
        return self.every, self.size

    @property
    def most_rows(self) -> int:
        """How many rows of the stream to read at once at most."""
        return self.every * max(1, MOST_TESTED // self.size)

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        """Learn the rows that are not held out; test those that are, where they are new."""
        step = self.scheme.step(batch, fold, seed)
        held = self._held_out(batch)
        weight = step.weight
        if held.any():
            weight = np.where(held, 0.0, 1.0 if weight is None else weight)
        return replace(step, test=held if self.source is None else np.zeros(len(batch), dtype=np.bool_), weight=weight)

    def _held_out(self, batch: Batch) -> NDArray[np.bool_]:
        rows = rows_of(batch)
        if self.source is None:
            return rows % self.every >= self.every - self.size
        return rows < (self.size if self._is_cut else 0)

    def inserted(self, start: int, stop: int) -> list[tuple[int, Batch]]:
        """Give the test rows, and after which rows of the stream they are tested."""
        if self.source is None:
            return []
        ends = range((start // self.every + 1) * self.every, stop + 1, self.every)
        return [(end - 1, self._test_set(end // self.every - 1)) for end in ends if self._has_come(end)]

    def last(self, n_rows: int) -> Batch | None:
        """Give the test rows for the end, where the last test was before it."""
        if self.source is None or n_rows % self.every == 0 or not self._has_come(n_rows):
            return None
        return self._test_set(n_rows // self.every)

    def _has_come(self, n_rows: int) -> bool:
        """Say whether the test rows are there after so many rows of the stream."""
        return not self._is_cut or n_rows >= self.size

    def _test_set(self, turn: int) -> Batch:
        """Give the test rows of a turn."""
        return self._read(turn * self.size) if self.refreshed else self._same_rows

    @cached_property
    def _same_rows(self) -> Batch:
        return self._read(0)

    def _read(self, start: int) -> Batch:
        source = self.source
        batch = None if source is None else next(source.batches(self.size, start), None)
        if source is None or batch is None or len(batch) < self.size:
            msg = f"{source!r} has too few rows: {self.size} are to be tested from its row {start} on"
            raise StreamgaugeError(msg)
        source.schema.check(batch)
        return batch
