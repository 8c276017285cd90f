"""The state that all native forgettings share, and the base class that builds it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting.moa_counting import MoaCounting
from streamgauge.records import Tallies, Trace, sum_classes

__all__ = ["ForgettingBase", "NativeForgetting"]

N_BINS = 15
"""The number of confidence bins of the calibration statistic."""


class NativeForgetting:
    """The state of a forgetting in native code; see `streamgauge.protocols.ForgettingState`.

    Examples
    --------
    >>> state = NativeForgetting(_native.landmark(2))
    >>> y = np.array([0, 1, 1], dtype=np.int32)
    >>> hit = np.array([False, False, True])
    >>> trace = Trace(np.array([10, 20, 30]), y, y, hit, hit)
    >>> [tally.width for tally in state.update(trace, reading_rows=[10, 21, 40])]
    [0, 2, 3]
    """

    def __init__(self, kernel: _native.Forgetting, statistics: Sequence[str] = ()) -> None:
        self._kernel = kernel
        self._statistics = statistics

    def update(self, trace: Trace, reading_rows: Sequence[int]) -> Tallies:
        """Add a trace; return the tally before each of the reading rows (ascending positions in the stream)."""
        counts = trace.count_before(np.asarray(reading_rows, dtype=np.int64))
        try:
            confusion, abstained, hits, widths, sums, ranks = self._kernel.update(
                np.ascontiguousarray(trace.y_true, dtype=np.int32),
                np.ascontiguousarray(trace.y_pred, dtype=np.int32),
                np.ascontiguousarray(trace.majority_hit, dtype=np.bool_),
                np.ascontiguousarray(trace.no_change_hit, dtype=np.bool_),
                _as_contiguous(trace.weight),
                counts,
                _as_contiguous(trace.votes),
                _as_contiguous(trace.time),
            )
        except ValueError as error:
            msg = f"in a trace of {len(trace)} rows: {error}"
            raise StreamgaugeError(msg) from None
        baselines = sum_classes(hits)
        return Tallies(
            confusion=confusion,
            abstained=abstained,
            majority_hits=baselines[:, 0],
            no_change_hits=baselines[:, 1],
            width=widths.astype(np.int64),
            **self._split_statistics(sums),
            ranks=ranks,
        )

    def _split_statistics(self, sums: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return the sums by statistic; native code has the columns in this order."""
        columns = {}
        index = 0
        for statistic in ("squared_weight", "log_loss", "brier"):
            if statistic in self._statistics:
                columns[statistic] = sums[:, index]
                index += 1
        if "calibration" in self._statistics:
            columns["calibration"] = sums[:, index:].reshape(len(sums), 3, N_BINS)
        return columns

    @property
    def n_bytes(self) -> int:
        """The memory of the state in bytes."""
        return self._kernel.n_bytes

    def save(self) -> bytes:
        """Return the complete state."""
        return self._kernel.save()

    def load(self, state: bytes) -> None:
        """Restore a saved state of the same forgetting, bit for bit."""
        try:
            self._kernel.load(state)
        except ValueError as error:
            raise StreamgaugeError(str(error)) from None


class ForgettingBase(ABC):
    """A forgetting whose state is kept in native code."""

    def build(self, n_classes: int, statistics: Sequence[str] = ()) -> NativeForgetting | MoaCounting:
        """Build an empty state that keeps, beyond the counts, the statistics that measures need."""
        return NativeForgetting(self._build_kernel(n_classes, statistics), statistics)

    @abstractmethod
    def _build_kernel(self, n_classes: int, statistics: Sequence[str]) -> _native.Forgetting: ...


def _as_contiguous(column: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    return None if column is None else np.ascontiguousarray(column, dtype=np.float64)
