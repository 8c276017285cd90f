"""The counting conventions of MOA's evaluators, to reproduce their numbers: see docs/differences.md."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamgauge.records import ABSTAINED, Tallies, Trace
from streamgauge.records.columns import pad_classes
from streamgauge.records.serialise import loading, pack, pack_columns, unpack, unpack_columns

__all__ = ["MoaCounting", "SavableState"]


class SavableState(Protocol):
    """The state of a forgetting that can be saved."""

    def update(self, trace: Trace, reading_rows: Sequence[int]) -> Any:  # noqa: ANN401
        """Add a trace; return the tally before each of the reading rows."""
        ...

    @property
    def n_bytes(self) -> int:
        """The memory of the state in bytes."""
        ...

    def save(self) -> bytes:
        """Return the complete state."""
        ...

    def load(self, state: bytes) -> None:
        """Restore a saved state of the same forgetting."""
        ...


class MoaCounting:
    """A state that converts each trace to MOA's conventions before another state counts it.

    The majority class is that of all rows that the evaluator still counts, *including the current one*; ties go to the
    first class. The class before the first row is class 0. A row without a prediction counts as predicted class 0.

    Parameters
    ----------
    state
        The state that keeps the tally.
    n_classes
        The number of classes.
    width
        The number of rows that the evaluator counts; None for all.

    Examples
    --------
    >>> from streamgauge.forgetting import Landmark
    >>> y = np.array([1, 0, 0, 1, 1, 0, 0, 1], dtype=np.int32)
    >>> miss = np.zeros(8, dtype=np.bool_)
    >>> trace = Trace(np.arange(8), y, np.zeros_like(y), miss, miss)
    >>> tally = MoaCounting(Landmark().build(2), 2, None).update(trace, [8])[0]
    >>> tally.majority_hits, tally.no_change_hits
    (6.0, 3.0)
    """

    def __init__(self, state: SavableState, n_classes: int, width: int | None) -> None:
        self._state, self._width = state, width
        self._weights = np.zeros(n_classes)
        self._last = 0
        self._label, self._weight = np.empty(0, dtype=np.int32), np.empty(0)

    def update(self, trace: Trace, reading_rows: Sequence[int]) -> Tallies:
        """Add a trace; return the tally before each of the reading rows (ascending positions in the stream)."""
        tallies: Tallies = self._state.update(self._convert(trace), reading_rows)
        return tallies

    def _convert(self, trace: Trace) -> Trace:
        y = trace.y_true
        if not len(y):
            return trace
        previous = np.concatenate([[self._last], y[:-1]])
        self._last = int(y[-1])
        predicted = np.where(trace.y_pred == ABSTAINED, 0, trace.y_pred).astype(np.int32)
        majority = self._update_majority(trace)
        return replace(trace, y_pred=predicted, majority_hit=majority == y, no_change_hit=previous == y)

    def _update_majority(self, trace: Trace) -> NDArray[np.intp]:
        """Add the rows to the class weights; return the majority class after each row."""
        rows = np.arange(len(trace))
        weight = np.ones(len(trace)) if trace.weight is None else trace.weight
        changes = np.zeros((len(trace) + 1, len(self._weights)))
        changes[0] = self._weights
        changes[rows + 1, trace.y_true] = weight
        if self._width is not None:
            label = np.concatenate([self._label, trace.y_true])
            entered = np.concatenate([self._weight, weight])
            n_left = max(0, len(label) - self._width)
            leaving = rows[len(rows) - n_left :]
            changes[leaving + 1, label[:n_left]] -= entered[:n_left]
            self._label, self._weight = label[n_left:], entered[n_left:]
        weights = np.cumsum(changes, axis=0)  # row by row, so that splitting a trace gives the same bits
        self._weights = weights[-1].copy()
        majority: NDArray[np.intp] = np.argmax(weights[1:], axis=1)
        return majority

    @property
    def n_bytes(self) -> int:
        """The memory of the state in bytes."""
        return self._state.n_bytes + self._weights.nbytes + self._label.nbytes + self._weight.nbytes

    def save(self) -> bytes:
        """Return the complete state."""
        rows = pack_columns("rows", {}, {"weights": self._weights, "entered": self._weight, "label": self._label})
        return pack("MOA counting", {"last": self._last}, [self._state.save(), rows])

    def load(self, state: bytes) -> None:
        """Restore a saved state of the same forgetting, bit for bit."""
        facts, parts = unpack("MOA counting", state)
        with loading("MOA counting"):
            tally, rows = parts
            columns = unpack_columns("rows", rows)[1]
            last, weights, weight, label = (facts["last"], *(columns[name] for name in ("weights", "entered", "label")))
            if len(weights) > len(self._weights):
                msg = f"it counts {len(weights)} classes"
                raise ValueError(msg)
            weights = pad_classes(weights, len(self._weights))
            self._state.load(tally)
        self._last, self._weights, self._weight, self._label = last, weights, weight, label
