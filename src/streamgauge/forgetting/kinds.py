"""The forgettings: how the past fades out of a tally.

A forgetting is a frozen value; the state of a cell is built from it. All measures are computed from the same tally, so
they cover the same rows. Areas under curves (AUC) need more than sums: windows (`Window`, `TimeWindow`, `Tumbling`)
keep the votes of their rows if an area is measured, and are exact; the others keep the votes in sparse bins, in bounded
memory, which are exact until they are thousands: see `streamgauge.measures.areas`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil, log
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge._format.durations import Duration, read_duration
from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.forgetting.all_labels import AllLabelsTally
from streamgauge.forgetting.chunk_fading import ChunkFading
from streamgauge.forgetting.kept_rows import RowKeeper
from streamgauge.forgetting.moa_counting import MoaCounting
from streamgauge.records import NumberTallies, NumericTarget, Tallies, Trace, compute_amounts, sum_classes
from streamgauge.records.blocks import VoteBins
from streamgauge.records.serialise import loading, pack, unpack

__all__ = [
    "EWMA",
    "AdwinWindow",
    "Fading",
    "ForgettingBase",
    "Landmark",
    "NativeForgetting",
    "NumberSums",
    "TimeWindow",
    "Tumbling",
    "Window",
    "count_rows_above",
]

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
        with _convert_errors(trace):
            columns = _read_columns(trace, reading_rows)
            return self._make_tallies(self._kernel.update(**columns, time=_as_contiguous(trace.time)))

    def update_with_bins(
        self,
        trace: Trace,
        reading_rows: Sequence[int],
        ranked: NDArray[np.bool_],
        binned: NDArray[np.bool_],
        max_bins: int,
    ) -> tuple[Tallies, list[list[VoteBins]]]:
        """Add a trace; also return the bins of votes, as `vote_bins` does, at those reading rows that are `binned`.

        How votes rank rows is NaN at the reading rows that are not `ranked`, which saves time.
        """
        with _convert_errors(trace):
            columns = _read_columns(trace, reading_rows)
            tallies, bins = self._kernel.update_with_bins(**columns, ranked=ranked, binned=binned, max_bins=max_bins)
        return self._make_tallies(tallies), bins

    def _make_tallies(self, columns: tuple[Any, ...]) -> Tallies:
        confusion, abstained, hits, widths, sums, ranks = columns
        baselines = sum_classes(hits)
        of_all = {"majority_all_hits": baselines[:, 0]} if "majority_all_hits" in self._statistics else {}
        return Tallies(
            confusion=confusion,
            abstained=abstained,
            majority_hits=baselines[:, 0],
            no_change_hits=baselines[:, 1],
            width=widths.astype(np.int64),
            **self._split_statistics(sums),
            ranks=ranks,
            **of_all,
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

    def vote_bins(self, max_bins: int) -> list[VoteBins]:
        """Return the used bins of the votes for each class, at most `max_bins` (2 or more); only for `Landmark`.

        A bin is an interval of shares of the votes, a single number unless there are more than `max_bins`; then those
        with the least shares of the rows are joined with neighbours. An entry has the bins in ascending order, and
        their weights, [2, bins]: of the rows of the class, and of all other rows. Those of several times or parts of a
        stream are put into common bins by `streamgauge.records.blocks.align_bins`.

        Examples
        --------
        >>> state = Landmark().build(2, ["ranks"])
        >>> y, hit = np.array([0, 1], dtype=np.int32), np.zeros(2, dtype=np.bool_)
        >>> votes = np.array([[0.7, 0.3], [0.2, 0.8]])
        >>> _ = state.update(Trace(np.arange(2), y, y, hit, hit, votes=votes), [])
        >>> bins, weights = state.vote_bins(256)[1]
        >>> bool(bins[0] < bins[1]), weights.tolist()
        (True, [[0.0, 1.0], [1.0, 0.0]])
        """
        try:
            return self._kernel.vote_bins(max_bins)
        except ValueError as error:
            raise StreamgaugeError(str(error)) from None

    @property
    def n_bytes(self) -> int:
        """The memory of the state in bytes."""
        return self._kernel.n_bytes

    def save(self) -> bytes:
        """Return the complete state."""
        return self._kernel.save()

    def load(self, state: bytes) -> None:
        """Restore a saved state of the same forgetting, bit for bit; it may have fewer classes, the first of these."""
        try:
            self._kernel.load(state)
        except ValueError as error:
            raise StreamgaugeError(str(error)) from None

    def merge(self, state: bytes, classes: Sequence[int]) -> None:
        """Add the rows of a saved state, whose classes have these codes here; only for `Landmark`.

        Examples
        --------
        >>> y, hit = np.array([0, 1, 1], dtype=np.int32), np.zeros(3, dtype=np.bool_)
        >>> trace = Trace(np.arange(3), y, y, hit, hit)
        >>> first, second = (NativeForgetting(_native.landmark(2)) for _ in range(2))
        >>> _ = second.update(trace, [])
        >>> first.merge(second.save(), [1, 0])
        >>> first.update(trace, [0])[0].support.tolist()
        [2.0, 1.0]
        """
        try:
            self._kernel.merge(state, classes)
        except ValueError as error:
            raise StreamgaugeError(str(error)) from None


class NumberSums:
    """The state of a forgetting of numeric targets in native code; see `streamgauge.protocols.ForgettingState`.

    Parameters
    ----------
    kernel
        Keeps the weighted sum of each statistic.
    target
        The target.
    statistics
        The statistics, of `streamgauge.records.NUMBER_STATISTICS`.
    compute_losses
        Returns the losses of a trace in [0, 1], from which an adaptive window is cut; None for another forgetting.

    Examples
    --------
    >>> state = NumberSums(_native.landmark(0, ["absolute_error"]), NumericTarget(), ["absolute_error"])
    >>> y, baseline = np.array([1.0, 2.0, 4.0]), np.zeros(3)
    >>> trace = Trace(np.arange(3), y, np.ones(3), baseline, baseline)
    >>> state.update(trace, reading_rows=[1, 3]).column("absolute_error").tolist()
    [0.0, 4.0]
    """

    def __init__(
        self,
        kernel: _native.Forgetting,
        target: NumericTarget,
        statistics: Sequence[str],
        compute_losses: Callable[[Trace], NDArray[np.float64]] | None = None,
    ) -> None:
        self._kernel, self._target, self._statistics = kernel, target, tuple(statistics)
        self._compute_losses = compute_losses

    def update(self, trace: Trace, reading_rows: Sequence[int]) -> NumberTallies:
        """Add a trace; return the tally before each of the reading rows (ascending positions in the stream)."""
        with _convert_errors(trace):
            sums, widths = self._kernel.update_amounts(
                amounts=compute_amounts(trace, self._statistics, self._target.origin),
                weight=_as_contiguous(trace.weight),
                reading_rows=trace.count_before(np.asarray(reading_rows, dtype=np.int64)),
                losses=None if self._compute_losses is None else self._compute_losses(trace),
                time=_as_contiguous(trace.time),
            )
        total, *columns = np.ascontiguousarray(sums.T)
        return NumberTallies(
            total=total, sums=dict(zip(self._statistics, columns, strict=True)), width=widths.astype(np.int64)
        )

    @property
    def n_bytes(self) -> int:
        """The memory of the state in bytes."""
        return self._kernel.n_bytes

    def save(self) -> bytes:
        """Return the complete state."""
        facts = {"statistics": self._statistics, "origin": self._target.origin}
        return pack("sums of numbers", facts, [self._kernel.save()])

    def load(self, state: bytes) -> None:
        """Restore a saved state of the same forgetting, bit for bit."""
        facts, parts = unpack("sums of numbers", state)
        with loading("sums of numbers"):
            if tuple(facts["statistics"]) != self._statistics or facts["origin"] != self._target.origin:
                msg = f"it keeps {', '.join(facts['statistics'])} of targets counted from {facts['origin']}"
                raise ValueError(msg)
            self._kernel.load(parts[0])

    def merge(self, state: bytes, classes: Sequence[int]) -> None:
        """Raise: which rows are scored, and as what abstentions count, depends on the rows before them."""
        msg = (
            f"sums of numbers cannot be merged ({len(state)} bytes, {len(classes)} classes): the order of rows matters"
        )
        raise StreamgaugeError(msg)


State = NativeForgetting | MoaCounting | RowKeeper | ChunkFading | AllLabelsTally

NumberState = NumberSums | RowKeeper | ChunkFading

KEEPS_NO_ROWS = "it keeps no rows; use Window, TimeWindow, Tumbling or Landmark"

MOA_COUNTS_CLASSES = "moa_compatible counts classes as MOA does, and the target is a number"

NO_NUMBERS = Trace(*(np.empty(0) for _ in range(5)))  # type: ignore[arg-type]
"""A trace without rows."""

NOT_SUMMED = {"rows", "majority_all_hits"}
"""The statistics that the kernels do not keep."""


def _read_columns(trace: Trace, reading_rows: Sequence[int]) -> dict[str, Any]:
    """Return the columns of a trace as native code wants them, and how many of its rows are before each reading row."""
    return {
        "y_true": np.ascontiguousarray(trace.y_true, dtype=np.int32),
        "y_pred": np.ascontiguousarray(trace.y_pred, dtype=np.int32),
        "majority_hit": np.ascontiguousarray(trace.majority_hit, dtype=np.bool_),
        "no_change_hit": np.ascontiguousarray(trace.no_change_hit, dtype=np.bool_),
        "weight": _as_contiguous(trace.weight),
        "reading_rows": trace.count_before(np.asarray(reading_rows, dtype=np.int64)),
        "votes": _as_contiguous(trace.votes),
    }


@contextmanager
def _convert_errors(trace: Trace) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        msg = f"in a trace of {len(trace)} rows: {error}"
        raise StreamgaugeError(msg) from None


class ForgettingBase(ABC):
    """A forgetting whose state is kept in native code."""

    keeps_rows: ClassVar[Literal["none", "newest", "all"]] = "none"
    """Which rows it can keep one by one: it must cover them with their own weights, and no others."""

    needs_times: ClassVar[bool] = False
    """Whether rows must carry times."""

    moa_compatible: bool = False
    """Whether to count classes as MOA does."""

    def build(self, n_classes: int, statistics: Sequence[str] = ()) -> State:
        """Build an empty state that keeps, beyond the counts, the statistics that measures need."""
        sums = [statistic for statistic in statistics if statistic not in NOT_SUMMED]
        state: NativeForgetting | AllLabelsTally = NativeForgetting(self._build_kernel(n_classes, sums), statistics)
        if "majority_all_hits" in statistics and self.build_majority(n_classes) is not None:
            state = AllLabelsTally(state, NativeForgetting(self._build_kernel(n_classes, ())))
        if "rows" not in statistics:
            return state
        if self.keeps_rows == "none":
            raise StreamgaugeError(KEEPS_NO_ROWS)
        return RowKeeper(state, n_classes)

    def build_sums(
        self,
        target: NumericTarget,
        statistics: Sequence[str],
        compute_losses: Callable[[Trace], NDArray[np.float64]],  # noqa: ARG002
    ) -> NumberState:
        """Build an empty state that keeps the sums of statistics of a numeric target."""
        return self._wrap_sums(target, statistics, None)

    def _wrap_sums(
        self,
        target: NumericTarget,
        statistics: Sequence[str],
        compute_losses: Callable[[Trace], NDArray[np.float64]] | None,
    ) -> NumberState:
        if self.moa_compatible:
            raise ValueError(MOA_COUNTS_CLASSES)
        sums = [statistic for statistic in statistics if statistic != "rows"]
        compute_amounts(NO_NUMBERS, sums)  # checks their names
        state = NumberSums(self._build_kernel(0, sums), target, sums, compute_losses)
        if "rows" not in statistics:
            return state
        if self.keeps_rows == "none":
            raise ValueError(KEEPS_NO_ROWS)
        return RowKeeper.of_numbers(state)

    def build_majority(self, n_classes: int) -> _native.MajorityBaseline | None:  # noqa: ARG002
        """Build the majority class of the labels that it remembers, the baseline of `kappa_m`; None for all labels."""
        return None

    @abstractmethod
    def _build_kernel(self, n_classes: int, statistics: Sequence[str]) -> _native.Forgetting: ...


def _as_contiguous(column: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    return None if column is None else np.ascontiguousarray(column, dtype=np.float64)


@dataclass(frozen=True)
class Landmark(ForgettingBase):
    """Covers all rows since the start; nothing is forgotten.

    The memory is constant, unless a measure needs the rows themselves, such as a function of probabilities: then all
    rows are kept, and the stream must end.

    Parameters
    ----------
    moa_compatible
        Whether to count like MOA's BasicClassificationPerformanceEvaluator: see docs/differences.md.

    Examples
    --------
    >>> Landmark().weights_by_age(3).tolist()
    [1.0, 1.0, 1.0]
    """

    keeps_rows = "all"
    moa_compatible: bool = field(default=False, kw_only=True)

    def weights_by_age(self, n: int) -> NDArray[np.float64]:
        """Return the weights of the last `n` rows, newest first."""
        return np.ones(n)

    def build(self, n_classes: int, statistics: Sequence[str] = ()) -> State:
        """Build an empty state that keeps, beyond the counts, the statistics that measures need."""
        state = super().build(n_classes, statistics)
        return MoaCounting(state, n_classes, None) if self.moa_compatible else state

    def _build_kernel(self, n_classes: int, statistics: Sequence[str]) -> _native.Forgetting:
        return _native.landmark(n_classes, statistics)


@dataclass(frozen=True)
class Window(ForgettingBase):
    """Covers a sliding window: the last `width` scored rows, with equal weight.

    Rows that leave the window leave no rounding error behind, whatever their weights. It needs 4 bytes per row, 12 if
    rows have weights, plus the votes if an area under a curve is measured, which is then exact, or a function of
    probabilities.

    Parameters
    ----------
    width
        The number of rows, at least 1.
    moa_compatible
        Whether to count like MOA's WindowClassificationPerformanceEvaluator: see docs/differences.md.

    Examples
    --------
    >>> Window(3).weights_by_age(5).tolist()
    [1.0, 1.0, 1.0, 0.0, 0.0]
    """

    keeps_rows = "newest"
    width: int = 1000
    moa_compatible: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        require_at_least("width", self.width, 1)

    def weights_by_age(self, n: int) -> NDArray[np.float64]:
        """Return the weights of the last `n` rows, newest first."""
        return (np.arange(n) < self.width).astype(np.float64)

    def build(self, n_classes: int, statistics: Sequence[str] = ()) -> State:
        """Build an empty state that keeps, beyond the counts, the statistics that measures need."""
        state = super().build(n_classes, statistics)
        return MoaCounting(state, n_classes, self.width) if self.moa_compatible else state

    def build_majority(self, n_classes: int) -> _native.MajorityBaseline | None:
        """Build the majority class of the last `width` labels that have arrived; None where MOA's counts another."""
        return None if self.moa_compatible else _native.recent_labels(n_classes, self.width)

    def _build_kernel(self, n_classes: int, statistics: Sequence[str]) -> _native.Forgetting:
        return _native.window(n_classes, self.width, statistics)


@dataclass(frozen=True)
class TimeWindow(ForgettingBase):
    """Covers the scored rows that arrived within a length of time, up to the newest.

    Rows must carry times. A row leaves when it is exactly that old or older, in the order of arrival: with "1 h", a row
    of 10:00 leaves at the first row of 11:00 or later. After a gap that is longer, only the newest row is left. The
    memory grows with the number of rows that arrive in that time.

    Parameters
    ----------
    span
        The time that it covers, above 0: seconds, or text such as "7 days" or "1 h 30 min".

    Examples
    --------
    >>> from streamgauge.records import Trace
    >>> y = np.zeros(4, dtype=np.int32)
    >>> hit = np.zeros(4, dtype=np.bool_)
    >>> trace = Trace(np.arange(4), y, y, hit, hit, time=np.array([0.0, 30.0, 60.0, 100.0]))
    >>> [tally.width for tally in TimeWindow(60.0).build(2).update(trace, reading_rows=[2, 3, 4])]
    [2, 2, 2]
    >>> TimeWindow("7 days").seconds
    604800.0
    """

    keeps_rows = "newest"
    needs_times = True
    span: Duration = 3600.0

    def __post_init__(self) -> None:
        read_duration("span", self.span)

    @property
    def seconds(self) -> float:
        """The time that it covers in seconds."""
        return read_duration("span", self.span)

    def build_majority(self, n_classes: int) -> _native.MajorityBaseline:
        """Build the majority class of the labels that arrived in that time."""
        return _native.timed_labels(n_classes, self.seconds)

    def _build_kernel(self, n_classes: int, statistics: Sequence[str]) -> _native.Forgetting:
        return _native.time_window(n_classes, self.seconds, statistics)


@dataclass(frozen=True)
class Tumbling(ForgettingBase):
    """Covers the scored rows in consecutive windows of `width` rows, without overlap.

    A reading covers the window of the newest row up to that row: read every `width` rows to see each window once and
    complete. The memory is constant, plus the votes of a window if an area under a curve is measured, which is then
    exact.

    Parameters
    ----------
    width
        The number of rows of a window, at least 1.

    Examples
    --------
    >>> from streamgauge.records import Trace
    >>> y = np.zeros(5, dtype=np.int32)
    >>> hit = np.zeros(5, dtype=np.bool_)
    >>> trace = Trace(np.arange(5), y, y, hit, hit)
    >>> [tally.width for tally in Tumbling(3).build(2).update(trace, reading_rows=[2, 3, 4, 5])]
    [2, 3, 1, 2]
    """

    keeps_rows = "newest"
    width: int = 1000

    def __post_init__(self) -> None:
        require_at_least("width", self.width, 1)

    def weights_by_age(self, n: int) -> NDArray[np.float64]:
        """Return the weights of the last `n` rows, newest first."""
        return (np.arange(n) < (n - 1) % self.width + 1).astype(np.float64)

    def build_majority(self, n_classes: int) -> _native.MajorityBaseline:
        """Build the majority class of the last `width` labels that have arrived, of this window and the one before."""
        return _native.recent_labels(n_classes, self.width)

    def _build_kernel(self, n_classes: int, statistics: Sequence[str]) -> _native.Forgetting:
        return _native.tumbling(n_classes, self.width, statistics)


@dataclass(frozen=True)
class Fading(ForgettingBase):
    """Weights a row that is `age` scored rows old with ``factor ** age``.

    The whole tally fades, so a rate is the faded hits divided by the faded weight and is unbiased from the first row
    on. The effective number of rows is ``1 / (1 - factor)``; `count_rows_above` is the number of rows that matter.

    With a `chunk` of more than one row the tally fades once per chunk, before its first row: after chunk i the sums are
    ``S_i = L_i + factor * S_(i-1)`` and ``B_i = n_i + factor * B_(i-1)`` (Gama et al. 2009). A reading within a chunk
    sees the rows of that chunk so far with a weight of 1.

    Parameters
    ----------
    factor
        The share of a weight that remains after each row, or each chunk, in (0, 1].
    chunk
        The number of scored rows between two fadings, at least 1.

    Examples
    --------
    >>> Fading(0.5).weights_by_age(4).tolist(), Fading(0.5, chunk=2).weights_by_age(5).tolist()
    ([1.0, 0.5, 0.25, 0.125], [1.0, 0.5, 0.5, 0.25, 0.25])

    References
    ----------
    Gama, Sebastião and Rodrigues, "Issues in evaluation of stream learning algorithms", 2009.
    """

    factor: float = 0.999
    chunk: int = 1

    def __post_init__(self) -> None:
        require_between("factor", self.factor, 0.0, 1.0)
        require_at_least("chunk", self.chunk, 1)

    def weights_by_age(self, n: int) -> NDArray[np.float64]:
        """Return the weights of the last `n` rows, newest first."""
        number = np.arange(n)[::-1] // self.chunk
        weights: NDArray[np.float64] = np.float64(self.factor) ** ((n - 1) // self.chunk - number)
        return weights

    def build(self, n_classes: int, statistics: Sequence[str] = ()) -> State:
        """Build an empty state that keeps, beyond the counts, the statistics that measures need."""
        state = super().build(n_classes, statistics)
        return state if self.chunk == 1 else ChunkFading(state, self.factor, self.chunk)

    def build_sums(
        self,
        target: NumericTarget,
        statistics: Sequence[str],
        compute_losses: Callable[[Trace], NDArray[np.float64]],
    ) -> NumberState:
        """Build an empty state that keeps the sums of statistics of a numeric target."""
        state = super().build_sums(target, statistics, compute_losses)
        return state if self.chunk == 1 else ChunkFading(state, self.factor, self.chunk)

    def build_majority(self, n_classes: int) -> _native.MajorityBaseline:
        """Build the majority class of labels that fade with each label, or chunk of labels, that arrives."""
        return _native.fading_labels(n_classes, self.factor, self.chunk)

    def _build_kernel(self, n_classes: int, statistics: Sequence[str]) -> _native.Forgetting:
        factor = self.factor if self.chunk == 1 else self.factor ** (1.0 / self.chunk)
        return _native.fading(n_classes, factor, statistics)


def count_rows_above(factor: float, epsilon: float) -> int:
    """Return the number of rows, or chunks, after which a faded weight has fallen to `epsilon` or below.

    It is ``log(epsilon) / log(factor)``, rounded up: older rows can be ignored (Gama et al. 2009).

    Parameters
    ----------
    factor
        The fading factor, in (0, 1).
    epsilon
        A weight that can be ignored, in (0, 1).

    Examples
    --------
    >>> count_rows_above(0.995, 2.9e-7), count_rows_above(0.5, 0.25)
    (3004, 2)
    """
    require_between("factor", factor, 0.0, 1.0, open_high=True)
    require_between("epsilon", epsilon, 0.0, 1.0, open_high=True)
    n_rows = log(epsilon) / log(factor)
    nearest = round(n_rows)
    return nearest if abs(n_rows - nearest) < 1e-9 * nearest else ceil(n_rows)


@dataclass(frozen=True)
class EWMA(ForgettingBase):
    """Exponentially weighted moving average: each row moves every rate by `alpha` of the difference.

    It equals ``Fading(1 - alpha)``: a row that is `age` scored rows old has the weight ``(1 - alpha) ** age``. Rates
    are weighted means and unbiased from the first row on, unlike an average that starts at 0.

    Parameters
    ----------
    alpha
        The weight of the newest row in the long run, in (0, 1).

    Examples
    --------
    >>> EWMA(0.5).weights_by_age(4).tolist()
    [1.0, 0.5, 0.25, 0.125]
    """

    alpha: float = 0.001

    def __post_init__(self) -> None:
        require_between("alpha", self.alpha, 0.0, 1.0, open_high=True)

    def weights_by_age(self, n: int) -> NDArray[np.float64]:
        """Return the weights of the last `n` rows, newest first."""
        return Fading(1.0 - self.alpha).weights_by_age(n)

    def build_majority(self, n_classes: int) -> _native.MajorityBaseline:
        """Build the majority class of labels that fade with each that arrives."""
        return Fading(1.0 - self.alpha).build_majority(n_classes)

    def _build_kernel(self, n_classes: int, statistics: Sequence[str]) -> _native.Forgetting:
        return _native.fading(n_classes, 1.0 - self.alpha, statistics)


@dataclass(frozen=True)
class AdwinWindow(ForgettingBase):
    """Covers the scored rows since the error rate last changed: an adaptive window.

    ADWIN (Bifet and Gavaldà, 2007) monitors the 0/1 loss of each row and drops the oldest rows when their error rate
    differs from that of the rest. With a numeric target the loss is the share of the absolute error in its sum with
    that of the mean of the targets so far, between 0 and 1. Every measure covers this window. The weights of rows count
    in the tally, not in the loss. The memory grows with the logarithm of the width.

    Parameters
    ----------
    delta
        The significance level of a difference that makes it drop rows, in (0, 1).
    clock
        The number of rows between two checks for a difference.
    max_buckets
        The number of buckets of each size: more buckets give finer cuts.
    min_window_length
        The least number of rows in each of the two compared parts.
    grace_period
        The number of rows in the window up to which it does not check.

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

    def build_majority(self, n_classes: int) -> _native.MajorityBaseline:
        """Build the majority class of the labels since its own error rate last changed."""
        return _native.adaptive_labels(n_classes, *self._options)

    def _build_kernel(self, n_classes: int, statistics: Sequence[str]) -> _native.Forgetting:
        return _native.adwin(n_classes, *self._options, statistics)

    def build_sums(
        self,
        target: NumericTarget,
        statistics: Sequence[str],
        compute_losses: Callable[[Trace], NDArray[np.float64]],
    ) -> NumberState:
        """Build an empty state that keeps the sums of statistics of a numeric target."""
        return self._wrap_sums(target, statistics, compute_losses)

    @property
    def _options(self) -> tuple[float, int, int, int, int]:
        return self.delta, self.clock, self.max_buckets, self.min_window_length, self.grace_period
