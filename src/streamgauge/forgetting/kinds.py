"""Forgetting: how the past fades out of a tally.

A forgetting is a frozen value; the state of a cell is built from it. Whatever the forgetting, all measures are taken
from one and the same tally, so that they speak of the same rows. Areas under curves (AUC) need more than sums: windows
(`Window`, `TimeWindow`, `Tumbling`) keep the votes of their rows where such a measure is asked for, and are exact; the
others keep the votes in fine bins, in memory that does not grow, and rows in one bin count as tied.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.forgetting.moa_counting import MoaCounting
from streamgauge.records import Tallies, Trace, over_classes

__all__ = ["EWMA", "AdwinWindow", "Fading", "Landmark", "NativeForgetting", "TimeWindow", "Tumbling", "Window"]

N_BINS = 15
"""How many bins of confidence calibration is told for."""


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
        """Take in a trace; give the tally after the rows before each stop (ascending positions in the stream)."""
        counts = trace.n_before(np.asarray(reading_rows, dtype=np.int64))
        try:
            confusion, abstained, hits, widths, sums, ranks = self._kernel.update(
                np.ascontiguousarray(trace.y_true, dtype=np.int32),
                np.ascontiguousarray(trace.y_pred, dtype=np.int32),
                np.ascontiguousarray(trace.majority_hit, dtype=np.bool_),
                np.ascontiguousarray(trace.no_change_hit, dtype=np.bool_),
                _contiguous(trace.weight),
                counts,
                _contiguous(trace.votes),
                _contiguous(trace.time),
            )
        except ValueError as error:
            msg = f"in a trace of {len(trace)} rows: {error}"
            raise StreamgaugeError(msg) from None
        baselines = over_classes(hits)
        columns = (confusion, abstained, baselines[:, 0], baselines[:, 1], widths.astype(np.int64))
        squared_weight, log_loss, brier, calibration = self._told_apart(sums)
        return Tallies(*columns, squared_weight, log_loss, brier, calibration, ranks)

    def _told_apart(self, sums: NDArray[np.float64]) -> list[NDArray[np.float64] | None]:
        """Tell the sums of the statistics apart; native code has them in this order."""
        found: list[NDArray[np.float64] | None] = []
        place = 0
        for statistic in ("squared_weight", "log_loss", "brier"):
            asked = statistic in self._statistics
            found.append(sums[:, place] if asked else None)
            place += asked
        asked = "calibration" in self._statistics
        found.append(sums[:, place:].reshape(len(sums), 3, N_BINS) if asked else None)
        return found

    @property
    def n_bytes(self) -> int:
        """The memory it holds."""
        return self._kernel.n_bytes

    def save(self) -> bytes:
        """Give all of its state."""
        return self._kernel.save()

    def load(self, state: bytes) -> None:
        """Take over a saved state of one built alike, and go on from there bit for bit."""
        try:
            self._kernel.load(state)
        except ValueError as error:
            raise StreamgaugeError(str(error)) from None


@dataclass(frozen=True)
class Landmark:
    """Forgets nothing: covers every row since the start.

    Parameters
    ----------
    moa_compatible
        Whether to count as MOA's BasicClassificationPerformanceEvaluator does: see docs/differences.md.

    Examples
    --------
    >>> Landmark().weights_by_age(3).tolist()
    [1.0, 1.0, 1.0]
    """

    moa_compatible: bool = field(default=False, kw_only=True)

    def weights_by_age(self, n: int) -> NDArray[np.float64]:
        """Give the weights of the last `n` rows, the newest first."""
        return np.ones(n)

    def build(self, n_classes: int, statistics: Sequence[str] = ()) -> NativeForgetting | MoaCounting:
        """Build a state that has seen nothing, and keeps the statistics that measures need."""
        state = NativeForgetting(_native.landmark(n_classes, statistics), statistics)
        return MoaCounting(state, n_classes, None) if self.moa_compatible else state


@dataclass(frozen=True)
class Window:
    """Covers the last `width` scored rows, all alike.

    What leaves the window leaves exactly nothing behind, whatever the weights of the rows. It keeps a window: 4 bytes
    a row, 12 where rows have weights, and the votes where an area under a curve is measured, which then is exact.

    Parameters
    ----------
    width
        How many rows it covers, at least 1.
    moa_compatible
        Whether to count as MOA's WindowClassificationPerformanceEvaluator does: see docs/differences.md.

    Examples
    --------
    >>> Window(3).weights_by_age(5).tolist()
    [1.0, 1.0, 1.0, 0.0, 0.0]
    """

    width: int = 1000
    moa_compatible: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        require_at_least("width", self.width, 1)

    def weights_by_age(self, n: int) -> NDArray[np.float64]:
        """Give the weights of the last `n` rows, the newest first."""
        return (np.arange(n) < self.width).astype(np.float64)

    def build(self, n_classes: int, statistics: Sequence[str] = ()) -> NativeForgetting | MoaCounting:
        """Build a state that has seen nothing, and keeps the statistics that measures need."""
        state = NativeForgetting(_native.window(n_classes, self.width, statistics), statistics)
        return MoaCounting(state, n_classes, self.width) if self.moa_compatible else state


@dataclass(frozen=True)
class TimeWindow:
    """Covers the scored rows that arrived in the last `seconds` up to the newest.

    Rows must say when they arrived. A row leaves when it is `seconds` old or older, in the order of arrival. It keeps
    a window, with as many rows as came in that time.

    Parameters
    ----------
    seconds
        How much time it covers, above 0.

    Examples
    --------
    >>> y = np.zeros(4, dtype=np.int32)
    >>> hit = np.zeros(4, dtype=np.bool_)
    >>> trace = Trace(np.arange(4), y, y, hit, hit, time=np.array([0.0, 30.0, 60.0, 100.0]))
    >>> [tally.width for tally in TimeWindow(60.0).build(2).update(trace, reading_rows=[2, 3, 4])]
    [2, 2, 2]
    """

    seconds: float = 3600.0

    def __post_init__(self) -> None:
        require_between("seconds", self.seconds, 0.0, inf, open_high=True)

    def build(self, n_classes: int, statistics: Sequence[str] = ()) -> NativeForgetting:
        """Build a state that has seen nothing, and keeps the statistics that measures need."""
        return NativeForgetting(_native.time_window(n_classes, float(self.seconds), statistics), statistics)


@dataclass(frozen=True)
class Tumbling:
    """Covers the scored rows of one window after the other, each of `width` rows, without overlap.

    A reading covers the window of the newest row, as far as it has come: read it every `width` rows to see each window
    once and whole. Its memory does not grow; but it keeps the votes of the window where an area under a curve is
    measured, which then is exact.

    Parameters
    ----------
    width
        How many rows a window has, at least 1.

    Examples
    --------
    >>> y = np.zeros(5, dtype=np.int32)
    >>> hit = np.zeros(5, dtype=np.bool_)
    >>> trace = Trace(np.arange(5), y, y, hit, hit)
    >>> [tally.width for tally in Tumbling(3).build(2).update(trace, reading_rows=[2, 3, 4, 5])]
    [2, 3, 1, 2]
    """

    width: int = 1000

    def __post_init__(self) -> None:
        require_at_least("width", self.width, 1)

    def weights_by_age(self, n: int) -> NDArray[np.float64]:
        """Give the weights of the last `n` rows, the newest first."""
        return (np.arange(n) < (n - 1) % self.width + 1).astype(np.float64)

    def build(self, n_classes: int, statistics: Sequence[str] = ()) -> NativeForgetting:
        """Build a state that has seen nothing, and keeps the statistics that measures need."""
        return NativeForgetting(_native.tumbling(n_classes, self.width, statistics), statistics)


@dataclass(frozen=True)
class Fading:
    """Gives a row that lies `age` scored rows back the weight ``factor ** age``.

    The whole tally fades, so a rate is the faded hits over the faded weight: without bias from the first row on. The
    past counts as much as the last ``1 / (1 - factor)`` rows.

    Parameters
    ----------
    factor
        What is left of a weight after each row, in (0, 1].

    Examples
    --------
    >>> Fading(0.5).weights_by_age(4).tolist()
    [1.0, 0.5, 0.25, 0.125]
    """

    factor: float = 0.999

    def __post_init__(self) -> None:
        require_between("factor", self.factor, 0.0, 1.0)

    def weights_by_age(self, n: int) -> NDArray[np.float64]:
        """Give the weights of the last `n` rows, the newest first."""
        weights: NDArray[np.float64] = np.float64(self.factor) ** np.arange(n)
        return weights

    def build(self, n_classes: int, statistics: Sequence[str] = ()) -> NativeForgetting:
        """Build a state that has seen nothing, and keeps the statistics that measures need."""
        return NativeForgetting(_native.fading(n_classes, self.factor, statistics), statistics)


@dataclass(frozen=True)
class EWMA:
    """Exponentially weighted moving average: each row moves every rate by `alpha` of the difference.

    A row that lies `age` scored rows back has the weight ``(1 - alpha) ** age``; rates are weighted means, so they are
    without bias from the first row on, where an average that starts at 0 is far too low at first. It is
    ``Fading(1 - alpha)``, told by the step instead of by what is left.

    Parameters
    ----------
    alpha
        The share of the newest row in the long run, in (0, 1).

    Examples
    --------
    >>> EWMA(0.5).weights_by_age(4).tolist()
    [1.0, 0.5, 0.25, 0.125]
    """

    alpha: float = 0.001

    def __post_init__(self) -> None:
        require_between("alpha", self.alpha, 0.0, 1.0, open_high=True)

    def weights_by_age(self, n: int) -> NDArray[np.float64]:
        """Give the weights of the last `n` rows, the newest first."""
        weights: NDArray[np.float64] = np.float64(1.0 - self.alpha) ** np.arange(n)
        return weights

    def build(self, n_classes: int, statistics: Sequence[str] = ()) -> NativeForgetting:
        """Build a state that has seen nothing, and keeps the statistics that measures need."""
        return NativeForgetting(_native.fading(n_classes, 1.0 - self.alpha, statistics), statistics)


@dataclass(frozen=True)
class AdwinWindow:
    """Covers the scored rows since the error rate last changed: an adaptive window.

    ADWIN (Bifet and Gavaldà, 2007) watches the 0/1 loss of each row and drops the oldest rows when their error rate
    differs from that of the rest. Every measure is over that one window. The weights of rows count in the tally, not
    in the loss. Its memory grows with the logarithm of its width.

    Parameters
    ----------
    delta
        The significance of a difference that makes it drop rows, in (0, 1).
    clock
        After how many rows each it looks for a difference.
    max_buckets
        How many buckets of each size it keeps: with more, it cuts more finely.
    min_window_length
        How many rows each of two compared parts must have.
    grace_period
        Up to how many rows it looks for no difference.

    Examples
    --------
    >>> AdwinWindow(delta=0.01)
    AdwinWindow(delta=0.01, clock=32, max_buckets=5, min_window_length=5, grace_period=10)
    """

    delta: float = 0.002
    clock: int = 32
    max_buckets: int = 5
    min_window_length: int = 5
    grace_period: int = 10

    def __post_init__(self) -> None:
        require_between("delta", self.delta, 0.0, 1.0, open_high=True)
        require_at_least("clock", self.clock, 1)
        require_at_least("max_buckets", self.max_buckets, 1)
        require_at_least("min_window_length", self.min_window_length, 1)
        require_at_least("grace_period", self.grace_period, 0)

    def build(self, n_classes: int, statistics: Sequence[str] = ()) -> NativeForgetting:
        """Build a state that has seen nothing, and keeps the statistics that measures need."""
        options = (self.delta, self.clock, self.max_buckets, self.min_window_length, self.grace_period)
        return NativeForgetting(_native.adwin(n_classes, *options, statistics), statistics)


def _contiguous(column: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    return None if column is None else np.ascontiguousarray(column, dtype=np.float64)
