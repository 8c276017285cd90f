"""Concept drift: streams in which one concept replaces another.

Every concept is read at the position of the row in the whole stream, so nothing shifts when drifts are nested: a drift
at row 5,000 of a nested stream is at row 5,000. Before its window all rows are of the old concept, after it all are of
the new one. The stream knows its true drifts: see ``drifts_of``.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.protocols import Stream
from streamgauge.randomness import uniform
from streamgauge.records import Batch, Drift, Schema
from streamgauge.streams.base import drifts_of, list_periodic_drifts, min_limit
from streamgauge.streams.batching import Cursor, choose_rows
from streamgauge.streams.composed import Composed, merge_schemas, require_stream, require_streams
from streamgauge.streams.rows_of_class import find_rows_of_class

__all__ = ["Gradual", "Incremental", "Recurring", "Shape", "Sudden"]

Column = NDArray[np.float64]
Shape = str | Callable[[Column], Column]
"""Transition of a drift: ``sigmoid``, ``linear``, or a function from the elapsed share of the window, in (0, 1), to the
share of the new concept, in [0, 1]."""


def _sigmoid(elapsed: Column) -> Column:
    """Return 1 / (1 + exp(6 - 12 elapsed)): MOA's sigmoid of width w within 3 w rows around its position.

    NumPy's exponential differs between machines in the last bit. Sums and products do not, so the exponential is
    computed as the 64th power of a short series.
    """
    z = (6.0 - 12.0 * elapsed) / 64.0
    power = np.ones_like(z)
    for k in range(10, 0, -1):
        power = 1.0 + power * z / k
    for _ in range(6):
        power = power * power
    return 1.0 / (1.0 + power)


SHAPES: dict[str, Callable[[Column], Column]] = {"sigmoid": _sigmoid, "linear": lambda elapsed: elapsed}


def _require_shape(shape: Shape) -> None:
    if isinstance(shape, str):
        if shape not in SHAPES:
            error = unknown_name("shape", shape, SHAPES)
            raise error
    elif not callable(shape):
        msg = f"shape = {shape!r}: it must be 'sigmoid', 'linear' or a function"
        raise StreamgaugeError(msg)


def _evaluate_shape(shape: Shape, elapsed: Column) -> Column:
    """Return the share of the new concept for an elapsed share of the window."""
    if isinstance(shape, str):
        return SHAPES[shape](elapsed)
    share = np.asarray(shape(elapsed), dtype=np.float64)
    if share.shape != elapsed.shape or not ((share >= 0.0) & (share <= 1.0)).all():
        msg = "the function passed as shape must map an array to one of the same length with values in [0, 1]"
        raise StreamgaugeError(msg)
    return share


@dataclass(frozen=True)
class _Transition:
    """For each row the indices of the old and the new concept, and the share of the new one."""

    old: NDArray[np.intp]
    new: NDArray[np.intp]
    share: Column

    @property
    def mixed(self) -> NDArray[np.bool_]:
        return (self.share > 0.0) & (self.share < 1.0)


class _DriftingStream(Composed):
    """A stream of concepts that replace each other."""

    @cached_property
    def schema(self) -> Schema:
        """Schema of all concepts."""
        return merge_schemas(self._streams)

    @property
    @abstractmethod
    def _kind(self) -> str:
        """Kind of the drift."""

    @abstractmethod
    def _compute_transition(self, first: int, n: int) -> _Transition:
        """Return the concepts of each row."""

    @abstractmethod
    def _draw_uniform(self, first: int, n: int) -> Column:
        """Draw a uniform number for each row."""

    def _build_batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        transition = self._compute_transition(first, n)
        mixed = transition.mixed.any()
        takes_new = (self._draw_uniform(first, n) < transition.share) if mixed else transition.share >= 1.0
        batch = choose_rows(cursors, np.where(takes_new, transition.new, transition.old), first)
        return self._blend(batch, transition, takes_new) if mixed and self._kind == "incremental" else batch

    def _blend(self, batch: Batch, transition: _Transition, takes_new: NDArray[np.bool_]) -> Batch:
        """Replace numeric values within the window by the weighted mean of rows of the same class of both concepts."""
        first, n = batch.start, len(batch)
        streams = self._streams
        mixed = np.flatnonzero(transition.mixed)
        x = batch.x.copy()
        numeric = self.schema.n_values == 0
        partners = np.where(takes_new, transition.old, transition.new)
        own_share = np.where(takes_new, transition.share, 1.0 - transition.share)
        for k in np.unique(partners[mixed]):
            rows = mixed[partners[mixed] == k]
            # Read past the cursors, which must continue where they stopped.
            partner = next(streams[k].batches(n, first))
            values = partner.x[rows]
            differs = np.flatnonzero(partner.y[rows] != batch.y[rows])
            if len(differs):
                positions = first + rows[differs].astype(np.int64)
                values[differs] = find_rows_of_class(streams[k], positions, batch.y[rows[differs]])
            share = own_share[rows, None]
            mean = share * x[rows] + (1.0 - share) * values
            x[rows] = np.where(numeric, mean, x[rows])
        return replace(batch, x=x)


@dataclass(frozen=True)
class _SingleDrift(_DriftingStream):
    """One concept that replaces another."""

    before: Stream
    after: Stream
    position: int

    def __post_init__(self) -> None:
        require_stream("before", self.before)
        require_stream("after", self.after)
        require_at_least("position", self.position, 0)
        merge_schemas(self._streams)
        for name, stream in (("before", self.before), ("after", self.after)):
            if stream.n_rows is not None and stream.n_rows < self._drift.stop:
                msg = f"the stream {name} the drift has {stream.n_rows} rows, but is read up to row {self._drift.stop}"
                raise StreamgaugeError(msg)

    @property
    def _streams(self) -> tuple[Stream, ...]:
        return (self.before, self.after)

    @property
    def _drift(self) -> Drift:
        return Drift(self.position, 0, self._kind)

    @property
    def n_rows(self) -> int | None:
        """Number of rows of the new concept."""
        return self.after.n_rows

    def drifts_before(self, row: int | None) -> tuple[Drift, ...]:
        """Return this drift and the visible drifts of both concepts that begin before a row."""
        own = self._drift
        early = drifts_of(self.before, min_limit(own.stop, row))
        late = tuple(drift for drift in drifts_of(self.after, min_limit(self.n_rows, row)) if drift.stop > own.position)
        return tuple(sorted((*early, *late, *(() if row is not None and own.position >= row else (own,)))))

    def _compute_transition(self, first: int, n: int) -> _Transition:
        return _Transition(np.zeros(n, dtype=np.intp), np.ones(n, dtype=np.intp), self._compute_share(first, n))

    def _compute_share(self, first: int, n: int) -> Column:
        return np.where(np.arange(first, first + n) >= self.position, 1.0, 0.0)


@dataclass(frozen=True)
class Sudden(_SingleDrift):
    """One concept before a row, another from that row on.

    Parameters
    ----------
    before, after
        The concepts; both are read at the position of the row in the whole stream.
    position
        First row of the new concept.

    Examples
    --------
    >>> from streamgauge.streams import SEA, drifts_of
    >>> drifts_of(Sudden(Sudden(SEA(1), SEA(2), position=100), SEA(3), position=300))
    (Drift(position=100, width=0, kind='sudden'), Drift(position=300, width=0, kind='sudden'))
    """

    @property
    def _kind(self) -> str:
        return "sudden"

    def _draw_uniform(self, first: int, n: int) -> Column:  # noqa: ARG002  (a sudden drift is not random)
        return np.zeros(n)


@dataclass(frozen=True)
class _WindowedDrift(_SingleDrift):
    """A drift that extends over a window of rows."""

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

    def _compute_share(self, first: int, n: int) -> Column:
        rows = np.arange(first, first + n)
        share = np.where(rows >= self.position, 1.0, 0.0)
        inside = (rows >= self.position) & (rows < self._drift.stop)
        if inside.any():
            share[inside] = _evaluate_shape(self.shape, (rows[inside] - self.position + 0.5) / self.width)
        return share

    def _draw_uniform(self, first: int, n: int) -> Column:
        # The position makes the draws of nested drifts independent of each other.
        return uniform(self.seed, "change of concept", self.position, first, n)


@dataclass(frozen=True)
class Gradual(_WindowedDrift):
    """One concept that replaces another row by row: each row of the window is drawn from one or the other.

    Parameters
    ----------
    before, after
        The concepts; both are read at the position of the row in the whole stream.
    position
        First row that may come from the new concept.
    width
        Number of rows of the window; from row ``position + width`` on all rows are of the new concept.
    shape
        Probability of the new concept: ``sigmoid``, ``linear``, or a function from the elapsed share of the window, in
        (0, 1), to the probability. MOA's sigmoid of width `w` around row `p`, which never ends, corresponds to
        ``sigmoid`` of width ``3 * w`` from row ``p - 1.5 * w`` on.
    seed
        Random seed of the choice of concepts.

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
class Incremental(_WindowedDrift):
    """One concept that turns into another: the rows of the window are interpolated between both.

    A row of the window takes its class from the new concept with increasing probability, else from the old one. Its
    numeric values are the weighted mean of one row of that class from each concept; nominal values are those of the
    concept that the class comes from. Rows of the same class are searched for at the same position in other samples of
    the concepts, so both must be generators or composed of generators.

    Parameters
    ----------
    before, after
        The concepts; both are read at the position of the row in the whole stream.
    position
        First row that is not of the old concept alone.
    width
        Number of rows of the window; from row ``position + width`` on all rows are of the new concept.
    shape
        Share of the new concept: ``sigmoid``, ``linear``, or a function from the elapsed share of the window, in
        (0, 1), to the share.
    seed
        Random seed of the choice of classes.

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
class Recurring(_DriftingStream):
    """Concepts that recur in a cycle.

    Parameters
    ----------
    concepts
        The concepts; all are read at the position of the row in the whole stream.
    every
        Number of rows after which the next concept takes over.
    width
        Number of rows of the window of a drift; 0 for sudden drifts.
    kind
        Kind of the drift: ``gradual`` (see `Gradual`) or ``incremental`` (see `Incremental`).
    shape
        Share of the new concept, as in `Gradual`.
    seed
        Random seed of the choice of concepts.

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
            msg = f"width = {self.width}: it must be at most every = {self.every}, so that drifts do not overlap"
            raise StreamgaugeError(msg)
        if self.kind not in ("gradual", "incremental"):
            error = unknown_name("kind of drift", self.kind, ("gradual", "incremental"))
            raise error
        merge_schemas(self.concepts)

    @property
    def _streams(self) -> tuple[Stream, ...]:
        return self.concepts

    @property
    def _kind(self) -> str:
        return self.kind if self.width else "sudden"

    @property
    def n_rows(self) -> int | None:
        """Number of rows of the shortest concept."""
        lengths = [stream.n_rows for stream in self.concepts if stream.n_rows is not None]
        return min(lengths, default=None)

    def drifts_before(self, row: int | None) -> tuple[Drift, ...]:
        """Return the changes from one concept to the next; drifts within a concept are not included."""
        return list_periodic_drifts(self.every, self.width, self.n_rows, row, self._kind)

    def _compute_transition(self, first: int, n: int) -> _Transition:
        rows = np.arange(first, first + n)
        turn, since = np.divmod(rows, self.every)
        share = np.ones(n)
        inside = (turn > 0) & (since < self.width)
        if inside.any():
            share[inside] = _evaluate_shape(self.shape, (since[inside] + 0.5) / self.width)
        m = len(self.concepts)
        return _Transition((turn - 1) % m, turn % m, share)

    def _draw_uniform(self, first: int, n: int) -> Column:
        return uniform(self.seed, "recurring concepts", 0, first, n)
