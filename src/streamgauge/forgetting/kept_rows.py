"""Rows kept beside a tally, for measures that need each row with its votes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting.moa_counting import SavableState
from streamgauge.records import ScoredNumbers, ScoredRows, Trace, fill_abstentions
from streamgauge.records.columns import pad_classes
from streamgauge.records.serialise import loading, pack, pack_columns, unpack, unpack_columns

__all__ = ["RowKeeper"]

AFTER_ALL = np.iinfo(np.int64).max


class RowKeeper:
    """A state that keeps, beside the tally of another state, the rows that the tally covers.

    The other state must cover its newest rows with their own weights, as windows do.

    Examples
    --------
    >>> from streamgauge.forgetting import Window
    >>> y = np.array([0, 1, 1], dtype=np.int32)
    >>> miss = np.zeros(3, dtype=np.bool_)
    >>> trace = Trace(np.arange(3), y, y, miss, miss, votes=np.eye(2)[y])
    >>> [tally.rows.y_true.tolist() for tally in RowKeeper(Window(2).build(2), 2).update(trace, [1, 3])]
    [[0], [1, 1]]
    """

    def __init__(self, state: SavableState, n_classes: int) -> None:
        self._state, self._n_classes = state, n_classes
        self._columns: dict[str, NDArray[Any]] = {
            "y_true": np.empty(0, dtype=np.int32),
            "y_pred": np.empty(0, dtype=np.int32),
            "votes": np.empty((0, n_classes)),
        }
        self._make_rows: type[ScoredRows | ScoredNumbers] = ScoredRows
        self._begin = self._end = 0  # of the kept rows, within columns that have room for more

    @classmethod
    def of_numbers(cls, state: SavableState) -> "RowKeeper":
        """Build one around a state of a numeric target."""
        keeper = cls(state, 0)
        keeper._columns = {"y_true": np.empty(0), "y_pred": np.empty(0)}
        keeper._make_rows = ScoredNumbers
        return keeper

    def update(self, trace: Trace, reading_rows: Sequence[int]) -> Any:  # noqa: ANN401
        """Add a trace; return the tally before each of the reading rows (ascending positions in the stream)."""
        tallies = self._state.update(trace, [*reading_rows, AFTER_ALL])
        n_before = self._end - self._begin
        self._append(trace)
        ends = self._begin + n_before + trace.count_before(np.asarray(reading_rows, dtype=np.int64))
        rows = np.empty(len(ends), dtype=np.object_)
        for index, (end, width) in enumerate(zip(ends, tallies.width, strict=False)):
            rows[index] = self._make_rows(**self._select(end - width, end))
        self._begin = self._end - int(tallies.width[-1])
        return replace(tallies[: len(rows)], rows=rows)

    def _append(self, trace: Trace) -> None:
        if not len(trace):
            return
        if self._make_rows is ScoredNumbers:
            trace = fill_abstentions(trace)
        elif trace.votes is None:
            msg = f"in a trace of {len(trace)} rows: the measures need votes, and there are none"
            raise StreamgaugeError(msg)
        if trace.weight is not None and "weight" not in self._columns:
            self._columns["weight"] = np.ones(len(self._columns["y_true"]))
        if self._end + len(trace) > len(self._columns["y_true"]):
            self._make_room(len(trace))
        new = slice(self._end, self._end + len(trace))
        for name, column in self._columns.items():
            values = getattr(trace, name)
            column[new] = 1.0 if values is None else values
        self._end = new.stop

    def _make_room(self, n: int) -> None:
        """Copy the kept rows into larger columns; tallies may still show the old ones, so these are never reused."""
        n_kept = self._end - self._begin
        kept = self._select(self._begin, self._end)
        for name, column in kept.items():
            self._columns[name] = np.empty((2 * n_kept + n, *column.shape[1:]), dtype=column.dtype)
            self._columns[name][:n_kept] = column
        self._begin, self._end = 0, n_kept

    def _select(self, begin: int, end: int) -> dict[str, NDArray[Any]]:
        return {name: column[begin:end] for name, column in self._columns.items()}

    @property
    def n_bytes(self) -> int:
        """The memory of the state in bytes."""
        return self._state.n_bytes + sum(column.nbytes for column in self._columns.values())

    def save(self) -> bytes:
        """Return the complete state."""
        rows = pack_columns("rows", {}, self._select(self._begin, self._end))
        return pack("tally with rows", {"n_classes": self._n_classes}, [self._state.save(), rows])

    def load(self, state: bytes) -> None:
        """Restore a saved state of the same forgetting, bit for bit; it may have fewer classes."""
        facts, parts = unpack("tally with rows", state)
        with loading("tally with rows"):
            tally, rows = parts
            n_classes = facts["n_classes"]
            if n_classes > self._n_classes:
                msg = f"it has {n_classes} classes"
                raise ValueError(msg)
            columns = unpack_columns("rows", rows)[1]
            if columns.get("votes") is not None and columns["votes"].shape[1:] == (n_classes,):
                columns["votes"] = pad_classes(columns["votes"], self._n_classes)
            lengths = {len(column) for column in columns.values()}
            shapes = {name: column.shape[1:] for name, column in columns.items() if name != "weight"}
            if len(lengths) != 1 or shapes != {
                name: column.shape[1:] for name, column in self._columns.items() if name != "weight"
            }:
                msg = "its columns do not fit together"
                raise ValueError(msg)
            self._state.load(tally)
        self._columns, self._begin, self._end = columns, 0, len(columns["y_true"])
