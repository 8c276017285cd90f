"""Fading once per chunk of rows instead of once per row."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.forgetting.moa_counting import SavableState
from streamgauge.records import NumberTallies, Trace
from streamgauge.records.serialise import loading, pack, unpack

__all__ = ["ChunkFading"]

NOT_WEIGHTED = ("width", "ranks", "rows")
"""The columns of a tally that do not grow with the weights of its rows."""


class ChunkFading:
    """A state that fades once per chunk, around one that fades by a part of the factor with every row.

    With ``f = factor ** (1 / chunk)`` a row that is the k-th of its chunk (from 0) enters with the weight ``f ** k``,
    so that all rows of a chunk have the same weight; a tally at the m-th row of a chunk is divided by ``f ** m``.

    Parameters
    ----------
    state
        The state that fades by ``f`` with every row.
    factor
        The share of a weight that remains after each chunk.
    chunk
        The number of rows of a chunk.

    Examples
    --------
    >>> from streamgauge.forgetting import Fading
    >>> y, hit = np.zeros(5, dtype=np.int32), np.zeros(5, dtype=np.bool_)
    >>> tallies = Fading(0.5, chunk=2).build(2).update(Trace(np.arange(5), y, y, hit, hit), [1, 2, 3, 4, 5])
    >>> [round(tally.total, 6) for tally in tallies]
    [1.0, 2.0, 2.0, 3.0, 2.5]
    """

    def __init__(self, state: SavableState, factor: float, chunk: int) -> None:
        self._state, self._chunk = state, chunk
        self._powers: NDArray[np.float64] = np.float64(factor) ** (np.arange(chunk) / chunk)
        self._n_rows = 0

    def update(self, trace: Trace, reading_rows: Sequence[int]) -> Any:  # noqa: ANN401
        """Add a trace; return the tally before each of the reading rows (ascending positions in the stream)."""
        n_read = self._n_rows + trace.count_before(np.asarray(reading_rows, dtype=np.int64))
        weight = self._powers[(self._n_rows + np.arange(len(trace))) % self._chunk]
        weight = weight if trace.weight is None else weight * trace.weight
        tallies = self._state.update(replace(trace, weight=weight), reading_rows)
        self._n_rows += len(trace)
        scale = self._powers[(n_read - 1) % self._chunk]
        return _divide_weights(tallies, np.where(n_read > 0, scale, 1.0))

    @property
    def n_bytes(self) -> int:
        """The memory of the state in bytes."""
        return self._state.n_bytes + self._powers.nbytes

    def save(self) -> bytes:
        """Return the complete state."""
        return pack("chunk fading", {"n_rows": self._n_rows, "chunk": self._chunk}, [self._state.save()])

    def load(self, state: bytes) -> None:
        """Restore a saved state of the same forgetting, bit for bit."""
        facts, parts = unpack("chunk fading", state)
        with loading("chunk fading"):
            if facts["chunk"] != self._chunk:
                msg = f"it has chunks of {facts['chunk']} rows"
                raise ValueError(msg)
            n_rows = int(facts["n_rows"])
            self._state.load(parts[0])
        self._n_rows = n_rows


def _divide_weights(tallies: Any, scale: NDArray[np.float64]) -> Any:  # noqa: ANN401
    if isinstance(tallies, NumberTallies):
        sums = {name: column / scale for name, column in tallies.sums.items()}
        return replace(tallies, total=tallies.total / scale, sums=sums)
    columns = {}
    for part in fields(tallies):
        column = getattr(tallies, part.name)
        if column is not None and part.name not in NOT_WEIGHTED:
            divisor = scale * scale if part.name == "squared_weight" else scale
            columns[part.name] = column / divisor.reshape(-1, *[1] * (column.ndim - 1))
    return replace(tallies, **columns)
