"""Labellings: when labels arrive. They only hide and delay; predictions of rows with a hidden label are still scored.

A delayed label is learnt as soon as it arrives, exact to the row. Labels that arrive at the same time are learnt in
the order of their rows.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import adopt_labelling
from streamgauge._format.durations import Duration, read_duration
from streamgauge.errors import StreamgaugeError, require_at_least, require_between, unknown_name
from streamgauge.protocols import Labelling, LabellingBase
from streamgauge.randomness import uniform
from streamgauge.records import NEVER, Arrivals, Batch

__all__ = ["AllLabels", "Delayed", "DelayedAtRandom", "DelayedByColumn", "DelayedByTime", "First", "Fraction"]

Shape = Literal["uniform", "geometric"]
Unit = Literal["rows", "seconds", "time"]


@dataclass(frozen=True)
class AllLabels(LabellingBase):
    """Every label arrives right after the test of its row.

    Examples
    --------
    >>> AllLabels()
    AllLabels()
    """

    def arrivals(self, batch: Batch, seed: int) -> Arrivals | None:  # noqa: ARG002
        """Return None: nothing is hidden."""
        return None


@dataclass(frozen=True)
class Fraction(LabellingBase):
    """A random fraction of the labels arrives at once; the others never arrive.

    Parameters
    ----------
    share
        The share of labels that arrive, in [0, 1]; or a tuple of shares, one for each class.

    Examples
    --------
    >>> batch = Batch(0, np.zeros((1000, 1)), np.zeros(1000, dtype=np.int32))
    >>> arrivals = Fraction(0.1).arrivals(batch, seed=1)
    >>> 70 < (arrivals.row < NEVER).sum() < 130
    np.True_
    """

    share: float | tuple[float, ...] = 0.1

    def __post_init__(self) -> None:
        for share in self.share if isinstance(self.share, tuple) else (self.share,):
            require_between("share", share, 0.0, 1.0, open_low=False)

    def arrivals(self, batch: Batch, seed: int) -> Arrivals:
        """Draw the labels that arrive."""
        share: float | NDArray[np.float64]
        if isinstance(self.share, tuple):
            if batch.y.dtype.kind == "f":
                msg = f"share = {self.share}: a share for each class needs classes, and the target is a number"
                raise StreamgaugeError(msg)
            if batch.y.max(initial=0) >= len(self.share):
                msg = f"share = {self.share}: it needs a share for every class; class {batch.y.max()} has none"
                raise StreamgaugeError(msg)
            share = np.array(self.share)[batch.y]  # the share of an unlabelled row is not used
        else:
            share = self.share
        seen = uniform(seed, "labelled", 0, batch.start, len(batch)) < share
        return Arrivals(np.where(seen, batch.rows, NEVER))


@dataclass(frozen=True)
class First(LabellingBase):
    """Only the labels of the first rows arrive, at once.

    Parameters
    ----------
    rows
        The number of rows; with 0 no label ever arrives.

    Examples
    --------
    >>> batch = Batch(0, np.zeros((3, 1)), np.zeros(3, dtype=np.int32))
    >>> (First(2).arrivals(batch, seed=1).row == NEVER).tolist()
    [False, False, True]
    """

    rows: int = 1000

    def __post_init__(self) -> None:
        require_at_least("rows", self.rows, 0)

    def arrivals(self, batch: Batch, seed: int) -> Arrivals:  # noqa: ARG002
        """Hide all labels but the first."""
        rows = batch.rows
        return Arrivals(np.where(rows < self.rows, rows, NEVER))


@dataclass(frozen=True)
class Delayed(LabellingBase):
    """Every label arrives late by a number of rows: that of row i after the test of row ``i + rows``.

    Parameters
    ----------
    rows
        The delay in rows; 0 for none.
    of
        Which labels arrive at all.

    Examples
    --------
    >>> batch = Batch(7, np.zeros((2, 1)), np.zeros(2, dtype=np.int32))
    >>> Delayed(100).arrivals(batch, seed=1).row.tolist()
    [107, 108]
    """

    rows: int = 1000
    of: Labelling = AllLabels()

    def __post_init__(self) -> None:
        require_at_least("rows", self.rows, 0)
        _require_labelling(self.of)

    @property
    def delays(self) -> bool:
        """Whether labels are late."""
        return self.rows > 0 or adopt_labelling(self.of).delays

    def arrivals(self, batch: Batch, seed: int) -> Arrivals:
        """Delay every label."""
        return Arrivals(_delay(_arrival_rows(self.of, batch, seed), self.rows))


@dataclass(frozen=True)
class DelayedAtRandom(LabellingBase):
    """Every label arrives late by a random number of rows.

    Parameters
    ----------
    mean
        The mean delay in rows.
    shape
        "uniform", from 0 to twice the mean, or "geometric", which is unbounded.
    of
        Which labels arrive at all.

    Examples
    --------
    >>> batch = Batch(0, np.zeros((1000, 1)), np.zeros(1000, dtype=np.int32))
    >>> delay = DelayedAtRandom(50, "geometric").arrivals(batch, seed=1).row - np.arange(1000)
    >>> delay.min() >= 0, 45 < delay.mean() < 55
    (np.True_, np.True_)
    """

    mean: float = 1000.0
    shape: Shape = "uniform"
    of: Labelling = AllLabels()

    def __post_init__(self) -> None:
        require_between("mean", self.mean, 0.0, 1e15, open_low=False)
        if self.shape not in get_args(Shape):
            raise unknown_name(kind="shape", name=str(self.shape), known=get_args(Shape))
        _require_labelling(self.of)

    @property
    def delays(self) -> bool:
        """Whether labels can be late."""
        return self.mean > 0 or adopt_labelling(self.of).delays

    def arrivals(self, batch: Batch, seed: int) -> Arrivals:
        """Draw the delay of every label."""
        drawn = uniform(seed, "delay", 0, batch.start, len(batch))
        if self.shape == "uniform":
            delay = np.floor(drawn * (2.0 * self.mean + 1.0))
        else:
            stays = self.mean / (self.mean + 1.0)
            delay = np.floor(np.log1p(-drawn) / np.log(stays)) if stays > 0 else np.zeros(len(batch))
        return Arrivals(_delay(_arrival_rows(self.of, batch, seed), delay.astype(np.int64)))


@dataclass(frozen=True)
class DelayedByTime(LabellingBase):
    """Every label arrives a length of time after its row; rows must carry times.

    It is learnt before the test of the first row that is at least as late: with a delay of "1 h", the label of a row of
    10:00 is known to a row of 11:00. Rows of equal times arrive in their order. Labels that arrive after the last row
    are never learnt.

    Parameters
    ----------
    delay
        The delay: seconds, or text such as "30 days" or "1 h 30 min".
    of
        Which labels arrive at all.

    Examples
    --------
    >>> DelayedByTime("30 days").seconds
    2592000.0
    >>> batch = Batch(0, np.zeros((2, 1)), np.zeros(2, dtype=np.int32), time=np.array([0.0, 3.5]))
    >>> DelayedByTime(60).arrivals(batch, seed=1).time.tolist()
    [60.0, 63.5]
    """

    delay: Duration = 60.0
    of: Labelling = AllLabels()

    def __post_init__(self) -> None:
        read_duration("delay", self.delay, least=0.0)
        _require_labelling(self.of)

    @property
    def seconds(self) -> float:
        """The delay in seconds."""
        return read_duration("delay", self.delay, least=0.0)

    @property
    def needs_times(self) -> bool:
        """True: rows must carry times."""
        return True

    @property
    def delays(self) -> bool:
        """Whether labels are late."""
        return self.seconds > 0 or adopt_labelling(self.of).delays

    def arrivals(self, batch: Batch, seed: int) -> Arrivals:
        """Delay every label by time."""
        return Arrivals(_arrival_rows(self.of, batch, seed), _times(batch) + self.seconds)


@dataclass(frozen=True, eq=False)
class DelayedByColumn(LabellingBase):
    """Every label arrives late by the value of a column; a label with a missing value (NaN) never arrives.

    Parameters
    ----------
    column
        An attribute of the stream, which is hidden from the learners, since the delay is not known before the label
        arrives; or an array with a value for every row of the stream.
    unit
        What the column holds: a delay in "rows", a delay in "seconds", or the "time" at which the label arrives. The
        last two need rows with times.
    of
        Which labels arrive at all.

    Examples
    --------
    >>> batch = Batch(1, np.zeros((2, 1)), np.zeros(2, dtype=np.int32))
    >>> DelayedByColumn(np.array([5.0, 2.0, np.nan])).arrivals(batch, seed=1).row.tolist() == [3, NEVER]
    True
    """

    column: str | NDArray[np.float64]
    unit: Unit = "rows"
    of: Labelling = AllLabels()
    _index: int | None = None

    def __post_init__(self) -> None:
        if self.unit not in get_args(Unit):
            raise unknown_name(kind="unit", name=str(self.unit), known=get_args(Unit))
        _require_labelling(self.of)

    @property
    def delays(self) -> bool:
        """True: labels can be late."""
        return True

    @property
    def needs_times(self) -> bool:
        """Whether rows must carry times."""
        return self.unit != "rows"

    @property
    def attribute(self) -> str | None:
        """The attribute that is hidden from the learners."""
        return self.column if isinstance(self.column, str) else None

    def bind_column(self, index: int) -> "DelayedByColumn":
        """Return the labelling that reads its column at an index."""
        return DelayedByColumn(self.column, self.unit, self.of, index)

    def arrivals(self, batch: Batch, seed: int) -> Arrivals:
        """Delay every label by the value of the column."""
        values, arriving = self._values(batch), _arrival_rows(self.of, batch, seed)
        never = np.isnan(values)
        if self.unit == "rows":
            delay = np.where(never, 0.0, values)
            bad = (delay < 0) | (delay != np.floor(delay)) | (delay >= NEVER)
            if bad.any():
                position = int(np.argmax(bad))
                msg = f"row {batch.start + position}: a label cannot be delayed by {values[position]} rows"
                raise StreamgaugeError(msg)
            return Arrivals(np.where(never, NEVER, _delay(arriving, delay.astype(np.int64))))
        times = values if self.unit == "time" else _times(batch) + values
        return Arrivals(arriving, np.where(never, np.inf, times))

    def _values(self, batch: Batch) -> NDArray[np.float64]:
        if not isinstance(self.column, str):
            if batch.start + len(batch) > len(self.column):
                msg = f"the column of delays has only {len(self.column)} values, but the stream has more rows"
                raise StreamgaugeError(msg)
            return np.asarray(self.column[batch.start : batch.start + len(batch)], dtype=np.float64)
        if self._index is None:
            msg = f"the position of column {self.column!r} is unknown: use this labelling in an evaluation"
            raise StreamgaugeError(msg)
        return batch.x[:, self._index]


def _times(batch: Batch) -> NDArray[np.float64]:
    if batch.time is None:
        msg = "the rows have no times, so labels cannot be delayed by time: use Delayed(rows=...)"
        raise StreamgaugeError(msg)
    return batch.time


def _delay(rows: NDArray[np.int64], delay: int | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(rows == NEVER, NEVER, rows + delay)


def _arrival_rows(of: Labelling, batch: Batch, seed: int) -> NDArray[np.int64]:
    """Return the rows at which labels arrive before any further delay."""
    arrivals = of.arrivals(batch, seed)
    return batch.rows if arrivals is None or arrivals.row is None else arrivals.row


def _require_labelling(of: object) -> None:
    """Raise unless an option is a labelling whose labels can be delayed."""
    if not isinstance(of, Labelling) or isinstance(of, type):
        msg = f"of = {of!r}: it must be a labelling"
        raise StreamgaugeError(msg)
    if isinstance(of, DelayedByTime | DelayedByColumn):
        msg = f"of = {of!r}: labels delayed by time or by a column cannot be delayed again"
        raise StreamgaugeError(msg)
