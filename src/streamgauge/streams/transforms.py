"""Streams changed from their first row to their last: other class shares, wrong labels, other attributes.

To make such a change begin at a row, let the changed stream take over from the stream itself: drift injected into real
data is ``Sudden(data, Swapped(data, "a", "b"), position=5000)``, and a dynamic imbalance is ``Gradual`` or
``Recurring`` between two imbalances.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from streamgauge.errors import StreamgaugeError, require_at_least, require_between, unknown_name
from streamgauge.protocols import Stream
from streamgauge.randomness import below, uniform
from streamgauge.records import UNLABELLED, Batch, Drift, Schema
from streamgauge.streams.candidates import find
from streamgauge.streams.composed import Composed, Cursor, require_stream, with_columns
from streamgauge.streams.generators.native import require_shares
from streamgauge.streams.true_drifts import drifts_of

__all__ = ["Covered", "Imbalanced", "Noisy", "Relabelled", "Shifted", "Swapped"]


@dataclass(frozen=True)
class _Changed(Composed):
    """A stream that is changed."""

    stream: Stream

    def __post_init__(self) -> None:
        require_stream("stream", self.stream)

    def _streams(self) -> tuple[Stream, ...]:
        return (self.stream,)

    @property
    def schema(self) -> Schema:
        """That of the stream."""
        return self.stream.schema

    @property
    def n_rows(self) -> int | None:
        """As many as the stream has."""
        return self.stream.n_rows

    def drifts_before(self, row: int | None) -> tuple[Drift, ...]:
        """Give those of the stream."""
        return drifts_of(self.stream, row)

    def _place(self, attribute: str) -> int:
        names = [a.name for a in self.stream.schema.attributes]
        if attribute not in names:
            error = unknown_name("attribute", str(attribute), names)
            raise error
        return names.index(attribute)

    def _numeric_place(self, attribute: str) -> int:
        place = self._place(attribute)
        if self.stream.schema.attributes[place].is_nominal:
            msg = f"the attribute {attribute!r} is nominal; this needs a numeric one"
            raise StreamgaugeError(msg)
        return place


@dataclass(frozen=True)
class Imbalanced(_Changed):
    """A stream with other shares of the classes.

    The class of a row is drawn. Where the row of the stream has another, one of that class is taken from the same
    position in another sample of the stream: rows keep their time, no row shows up twice, and any start costs the
    same. The stream must be a generator, or be made of generators; to sample stored rows see ``sample``. A class so
    rare that 1,000 candidates do not hold it is an error.

    Parameters
    ----------
    stream
        The stream.
    shares
        The share of each class, in the order of the schema; they add up to 1.
    seed
        Decides the classes.

    Examples
    --------
    >>> from streamgauge.streams import SEA, Gradual
    >>> rare = Imbalanced(SEA(), (0.95, 0.05))
    >>> float((next(rare.batches(100_000)).y == 1).mean().round(2))
    0.05
    >>> dynamic = Gradual(rare, Imbalanced(SEA(), (0.05, 0.95)), position=10_000, width=5_000)
    """

    shares: tuple[float, ...]
    seed: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_shares(self.shares, self.stream.schema.n_classes)
        require_at_least("seed", self.seed, 0)

    def _batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        batch = cursors[0].rows(first, n)
        bounds = np.cumsum(self.shares)
        bounds[-1] = 1.0
        drawn = uniform(self.seed, "class shares", 0, first, n)
        wanted = np.searchsorted(bounds, drawn, side="right").astype(np.int32)
        other = np.flatnonzero(batch.y != wanted)
        if len(other) == 0:
            return batch
        x = batch.x.copy()
        x[other] = find(self.stream, first + other.astype(np.int64), wanted[other])
        return with_columns(batch, x=x, y=wanted)


@dataclass(frozen=True)
class Noisy(_Changed):
    """A stream some of whose labels are wrong.

    Parameters
    ----------
    stream
        The stream.
    noise
        Probability that a label is replaced by that of another class, each equally likely.
    seed
        Decides which.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> clean, noisy = (next(s.batches(10_000)).y for s in (SEA(), Noisy(SEA(), noise=0.2)))
    >>> float((clean != noisy).mean().round(1))
    0.2
    """

    noise: float = 0.1
    seed: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_between("noise", self.noise, 0.0, 1.0, open_low=False)
        require_at_least("seed", self.seed, 0)

    def _batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        batch = cursors[0].rows(first, n)
        n_classes = self.schema.n_classes
        wrong = (uniform(self.seed, "label noise", 0, first, n) < self.noise) & (batch.y != UNLABELLED)
        if n_classes == 1 or not wrong.any():
            return batch
        step = 1 + below(self.seed, "label noise class", 0, first, n, n_classes - 1)
        y = np.where(wrong, (batch.y + step) % n_classes, batch.y).astype(np.int32)
        return with_columns(batch, y=y)


@dataclass(frozen=True)
class Swapped(_Changed):
    """A stream two of whose attributes have changed places.

    Parameters
    ----------
    stream
        The stream.
    first, second
        The names of the attributes: both numeric, or nominal with the same values.

    Examples
    --------
    >>> from streamgauge.streams import SEA, Sudden
    >>> stream = Sudden(SEA(), Swapped(SEA(), "a1", "a3"), position=5000)
    """

    first: str
    second: str

    def __post_init__(self) -> None:
        super().__post_init__()
        a, b = (self.stream.schema.attributes[place] for place in self._places)
        if a.values != b.values:
            msg = f"the attributes {self.first!r} and {self.second!r} cannot change places: their values differ"
            raise StreamgaugeError(msg)

    @property
    def _places(self) -> tuple[int, int]:
        return self._place(self.first), self._place(self.second)

    @cached_property
    def schema(self) -> Schema:
        """That of the stream, with what may be missing exchanged."""
        i, j = self._places
        attributes = list(self.stream.schema.attributes)
        a, b = attributes[i], attributes[j]
        attributes[i], attributes[j] = replace(a, missing=b.missing), replace(b, missing=a.missing)
        return Schema(tuple(attributes), self.stream.schema.classes)

    def _batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        batch = cursors[0].rows(first, n)
        x = batch.x.copy()
        i, j = self._places
        x[:, i], x[:, j] = batch.x[:, j], batch.x[:, i]
        return with_columns(batch, x=x)


@dataclass(frozen=True)
class Shifted(_Changed):
    """A stream with a number added to one of its numeric attributes.

    Parameters
    ----------
    stream
        The stream.
    attribute
        The name of the attribute.
    by
        What is added.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> stream = Shifted(SEA(), "a1", by=2.0)
    >>> float(next(stream.batches(1000)).x[:, 0].min()) >= 2.0
    True
    """

    attribute: str
    by: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._numeric_place(self.attribute)
        require_between("by", self.by, -1e300, 1e300)

    def _batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        batch = cursors[0].rows(first, n)
        x = batch.x.copy()
        x[:, self._place(self.attribute)] += self.by
        return with_columns(batch, x=x)


@dataclass(frozen=True)
class Covered(_Changed):
    """A stream one of whose attributes is hidden, as if its sensor were covered.

    Parameters
    ----------
    stream
        The stream.
    attribute
        The name of the attribute.
    value
        The number that it always shows, where it is numeric; None for missing values.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> next(Covered(SEA(), "a1", value=0.0).batches(3)).x[:, 0].tolist()
    [0.0, 0.0, 0.0]
    """

    attribute: str
    value: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._place(self.attribute)
        if self.value is not None:
            self._numeric_place(self.attribute)
            require_between("value", self.value, -1e300, 1e300)

    @cached_property
    def schema(self) -> Schema:
        """That of the stream; the attribute may be missing where it is."""
        place = self._place(self.attribute)
        attributes = list(self.stream.schema.attributes)
        attributes[place] = replace(attributes[place], missing=self.value is None)
        return Schema(tuple(attributes), self.stream.schema.classes)

    def _batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        batch = cursors[0].rows(first, n)
        x = batch.x.copy()
        x[:, self._place(self.attribute)] = np.nan if self.value is None else self.value
        return with_columns(batch, x=x)


@dataclass(frozen=True)
class Relabelled(_Changed):
    """A stream two of whose classes have changed places.

    Parameters
    ----------
    stream
        The stream.
    first, second
        The names of the classes.

    Examples
    --------
    >>> from streamgauge.streams import STAGGER, Sudden
    >>> stream = Sudden(STAGGER(), Relabelled(STAGGER(), "false", "true"), position=5000)
    """

    first: str
    second: str

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in (self.first, self.second):
            if name not in self.stream.schema.classes:
                error = unknown_name("class", str(name), self.stream.schema.classes)
                raise error

    def _batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        batch = cursors[0].rows(first, n)
        i, j = (self.stream.schema.classes.index(name) for name in (self.first, self.second))
        codes = np.arange(-1, self.schema.n_classes, dtype=np.int32)
        codes[[i + 1, j + 1]] = j, i
        return with_columns(batch, y=codes[batch.y + 1])
