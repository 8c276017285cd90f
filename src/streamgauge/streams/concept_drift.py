"""Changes of concept: streams joined so that one takes over from another.

Every stream is read at the position of the row in the whole, so nothing shifts when changes are nested: a change at row
5,000 of a change is at row 5,000. Before its window there is only the old concept, after it only the new. The true
drifts travel with the stream: see ``drifts_of``.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.protocols import Stream
from streamgauge.randomness import uniform
from streamgauge.records import Batch, Drift, Schema
from streamgauge.streams.candidates import find
from streamgauge.streams.composed import (
    Composed,
    Cursor,
    choose,
    common_schema,
    require_stream,
    require_streams,
    with_columns,
)
from streamgauge.streams.true_drifts import drifts_of, periodic, sooner

__all__ = ["Gradual", "Incremental", "Recurring", "Shape", "Sudden"]

Column = NDArray[np.float64]
Shape = str | Callable[[Column], Column]
"""How the new concept grows: ``sigmoid``, ``linear``, or a function from the share of the window that has passed, in
(0, 1), to the share of the new concept, in [0, 1]."""


def _sigmoid(passed: Column) -> Column:
    """Give 1 / (1 + exp(6 - 12 passed)): what MOA's sigmoid of width w does within 3 w rows around its position.

    NumPy's exponential differs between machines in the last bit. Sums and products do not, so here the exponential
    is the 64th power of a short series.
    """
    z = (6.0 - 12.0 * passed) / 64.0
    power = np.ones_like(z)
    for k in range(10, 0, -1):
        power = 1.0 + power * z / k
    for _ in range(6):
        power = power * power
    return 1.0 / (1.0 + power)


SHAPES: dict[str, Callable[[Column], Column]] = {"sigmoid": _sigmoid, "linear": lambda passed: passed}


def _require_shape(shape: Shape) -> None:
    if isinstance(shape, str):
        if shape not in SHAPES:
            error = unknown_name("shape", shape, SHAPES)
            raise error
    elif not callable(shape):
        msg = f"shape = {shape!r}: it must be 'sigmoid', 'linear' or a function"
        raise StreamgaugeError(msg)


def _grown(shape: Shape, passed: Column) -> Column:
    """Give the share of the new concept when a share of the window has passed."""
    if isinstance(shape, str):
        return SHAPES[shape](passed)
    share = np.asarray(shape(passed), dtype=np.float64)
    if share.shape != passed.shape or not ((share >= 0.0) & (share <= 1.0)).all():
        msg = "the function given as shape must turn an array into one of the same length, with values in [0, 1]"
        raise StreamgaugeError(msg)
    return share


@dataclass(frozen=True)
class _States:
    """Between which two concepts each row is, and the share of the second."""

    old: NDArray[np.intp]
    new: NDArray[np.intp]
    share: Column


class _Changing(Composed):
    """Concepts that take over from each other."""

    @cached_property
    def schema(self) -> Schema:
        """The schema that the concepts share."""
        return common_schema(self._streams())

    @property
    @abstractmethod
    def _kind(self) -> str:
        """Which kind of drift it is."""

    @abstractmethod
    def _states(self, first: int, n: int) -> _States:
        """Say where each row stands."""

    @abstractmethod
    def _draws(self, first: int, n: int) -> Column:
        """Draw a uniform number for each row."""

    def _batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        states = self._states(first, n)
        between = (states.share > 0.0) & (states.share < 1.0)
        if not between.any():
            return choose(cursors, np.where(states.share >= 1.0, states.new, states.old), first)
        takes_new = self._draws(first, n) < states.share
        if self._kind != "incremental":
            return choose(cursors, np.where(takes_new, states.new, states.old), first)
        return self._blended(cursors, first, states, takes_new)

    def _blended(self, cursors: Sequence[Cursor], first: int, states: _States, takes_new: NDArray[np.bool_]) -> Batch:
        """Give each row the class of one concept, and the weighted mean of rows of that class of both."""
        n = len(takes_new)
        streams = self._streams()
        batch = choose(cursors, np.where(takes_new, states.new, states.old), first)
        between = np.flatnonzero((states.share > 0.0) & (states.share < 1.0))
        x = batch.x.copy()
        numeric = self.schema.n_values == 0
        partners = np.where(takes_new, states.old, states.new)
        own_share = np.where(takes_new, states.share, 1.0 - states.share)
        for k in np.unique(partners[between]):
            rows = between[partners[between] == k]
            # A cursor of its own, so that those of the stream go on where they stopped.
            partner = next(streams[k].batches(n, first))
            values = partner.x[rows]
            other = np.flatnonzero(partner.y[rows] != batch.y[rows])
            if len(other):
                values[other] = find(streams[k], first + rows[other].astype(np.int64), batch.y[rows[other]])
            share = own_share[rows, None]
            mean = share * x[rows] + (1.0 - share) * values
            x[rows] = np.where(numeric, mean, x[rows])
        return with_columns(batch, x=x)


@dataclass(frozen=True)
class _Change(_Changing):
    """One concept that takes over from another."""

    before: Stream
    after: Stream
    position: int

    def __post_init__(self) -> None:
        require_stream("before", self.before)
        require_stream("after", self.after)
        require_at_least("position", self.position, 0)
        common_schema(self._streams())
        for name, stream in (("before", self.before), ("after", self.after)):
            if stream.n_rows is not None and stream.n_rows < self._drift.stop:
                msg = (
                    f"the stream {name} the change has {stream.n_rows} rows, but is wanted up to row {self._drift.stop}"
                )
                raise StreamgaugeError(msg)

    def _streams(self) -> tuple[Stream, ...]:
        return (self.before, self.after)

    @property
    def _drift(self) -> Drift:
        return Drift(self.position, 0, self._kind)

    @property
    def n_rows(self) -> int | None:
        """As many as the new concept has."""
        return self.after.n_rows

    def drifts_before(self, row: int | None) -> tuple[Drift, ...]:
        """Give this change, and those of its concepts that show."""
        own = self._drift
        early = drifts_of(self.before, sooner(own.stop, row))
        late = tuple(drift for drift in drifts_of(self.after, sooner(self.n_rows, row)) if drift.stop > own.position)
        return tuple(sorted((*early, *late, *(() if row is not None and own.position >= row else (own,)))))

    def _states(self, first: int, n: int) -> _States:
        return _States(np.zeros(n, dtype=np.intp), np.ones(n, dtype=np.intp), self._share(first, n))

    def _share(self, first: int, n: int) -> Column:
        return np.where(np.arange(first, first + n) >= self.position, 1.0, 0.0)


@dataclass(frozen=True)
class Sudden(_Change):
    """One concept until a row, and another from it on.

    Parameters
    ----------
    before, after
        The concepts; both are read at the position of the row in the whole.
    position
        The first row of the new concept.

    Examples
    --------
    >>> from streamgauge.streams import SEA, drifts_of
    >>> drifts_of(Sudden(Sudden(SEA(1), SEA(2), position=100), SEA(3), position=300))
    (Drift(position=100, width=0, kind='sudden'), Drift(position=300, width=0, kind='sudden'))
    """

    @property
    def _kind(self) -> str:
        return "sudden"

    def _draws(self, first: int, n: int) -> Column:  # noqa: ARG002  (nothing is left to chance)
        return np.zeros(n)


@dataclass(frozen=True)
class _Windowed(_Change):
    """A change that takes its time."""

    width: int
    shape: Shape = "sigmoid"
    seed: int = 1

    def __post_init__(self) -> None:
        require_at_least("width", self.width, 1)
        require_at_least("seed", self.seed, 0)
        _require_shape(self.shape)
        super().__post_init__()

    @property
    def _drift(self) -> Drift:
        return Drift(self.position, self.width, self._kind)

    def _share(self, first: int, n: int) -> Column:
        rows = np.arange(first, first + n)
        share = np.where(rows >= self.position, 1.0, 0.0)
        inside = (rows >= self.position) & (rows < self._drift.stop)
        if inside.any():
            share[inside] = _grown(self.shape, (rows[inside] - self.position + 0.5) / self.width)
        return share

    def _draws(self, first: int, n: int) -> Column:
        # The position makes the draws of nested changes independent of each other.
        return uniform(self.seed, "change of concept", self.position, first, n)


@dataclass(frozen=True)
class Gradual(_Windowed):
    """One concept that takes over from another row by row: in the window each row comes from one or the other.

    Parameters
    ----------
    before, after
        The concepts; both are read at the position of the row in the whole.
    position
        The first row that may come from the new concept.
    width
        How many rows the change takes; from row ``position + width`` on there is only the new concept.
    shape
        How the probability of the new concept grows: ``sigmoid``, ``linear``, or a function from the share of the
        window that has passed, in (0, 1), to the probability. MOA's sigmoid of width `w` around row `p`, which never
        ends, is the ``sigmoid`` of width ``3 * w`` from row ``p - 1.5 * w`` on.
    seed
        Decides which rows come from which concept.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> stream = Gradual(SEA(1), SEA(3), position=5000, width=1000, shape="linear")
    >>> next(stream.batches(100, start=5450)).start
    5450
    """

    @property
    def _kind(self) -> str:
        return "gradual"


@dataclass(frozen=True)
class Incremental(_Windowed):
    """One concept that turns into another: in the window the rows lie between those of both.

    A row of the window takes its class from the new concept with a probability that grows, else from the old one. Its
    numeric values are the weighted mean of a row of that class from each; nominal values are those of the concept
    that the class was taken from. Rows of the same class are found at the same position in other samples of the
    concepts, so both must be generators, or be made of generators.

    Parameters
    ----------
    before, after
        The concepts; both are read at the position of the row in the whole.
    position
        The first row that is not of the old concept alone.
    width
        How many rows the change takes; from row ``position + width`` on there is only the new concept.
    shape
        How the share of the new concept grows: ``sigmoid``, ``linear``, or a function from the share of the window
        that has passed, in (0, 1), to the share.
    seed
        Decides from which concept the classes are taken.

    Examples
    --------
    >>> from streamgauge.streams import RandomRBF
    >>> stream = Incremental(RandomRBF(seed=1), RandomRBF(seed=2), position=5000, width=1000)
    >>> next(stream.batches(100, start=5450)).x.shape
    (100, 10)
    """

    @property
    def _kind(self) -> str:
        return "incremental"


@dataclass(frozen=True)
class Recurring(_Changing):
    """Concepts that take turns, the first after the last.

    Parameters
    ----------
    concepts
        The concepts; all are read at the position of the row in the whole.
    every
        After how many rows the next concept takes over.
    width
        How many rows a change takes; 0 for sudden changes.
    kind
        How it comes: ``gradual`` (the rows of both mix) or ``incremental`` (see `Incremental`).
    shape
        How the share of the new concept grows, as in `Gradual`.
    seed
        Decides which rows come from which concept.

    Examples
    --------
    >>> from streamgauge.streams import SEA, drifts_of
    >>> stream = Recurring((SEA(1), SEA(3)), every=1000, width=100)
    >>> [drift.position for drift in drifts_of(stream, n_rows=3500)]
    [1000, 2000, 3000]
    """

    concepts: tuple[Stream, ...]
    every: int
    width: int = 0
    kind: str = "gradual"
    shape: Shape = "sigmoid"
    seed: int = 1

    def __post_init__(self) -> None:
        require_streams(self.concepts)
        require_at_least("every", self.every, 1)
        require_at_least("width", self.width, 0)
        require_at_least("seed", self.seed, 0)
        _require_shape(self.shape)
        if self.width > self.every:
            msg = f"width = {self.width}: a change must end before the next, {self.every} rows later"
            raise StreamgaugeError(msg)
        if self.kind not in ("gradual", "incremental"):
            error = unknown_name("kind of drift", self.kind, ("gradual", "incremental"))
            raise error
        common_schema(self.concepts)

    def _streams(self) -> tuple[Stream, ...]:
        return self.concepts

    @property
    def _kind(self) -> str:
        return self.kind if self.width else "sudden"

    @property
    def n_rows(self) -> int | None:
        """As many as the shortest concept has."""
        lengths = [stream.n_rows for stream in self.concepts if stream.n_rows is not None]
        return min(lengths, default=None)

    def drifts_before(self, row: int | None) -> tuple[Drift, ...]:
        """Give the changes of turn; those within a concept are not looked for."""
        return periodic(self.every, self.width, self.n_rows, row, self._kind)

    def _states(self, first: int, n: int) -> _States:
        rows = np.arange(first, first + n)
        turn, since = np.divmod(rows, self.every)
        share = np.ones(n)
        inside = (turn > 0) & (since < self.width)
        if inside.any():
            share[inside] = _grown(self.shape, (since[inside] + 0.5) / self.width)
        m = len(self.concepts)
        return _States((turn - 1) % m, turn % m, share)

    def _draws(self, first: int, n: int) -> Column:
        return uniform(self.seed, "recurring concepts", 0, first, n)
