"""Transformed streams: other class shares, label noise, exchanged, shifted or hidden attributes.

A transform applies to all rows. To start it at a row, join the stream and its transform: drift injected into real data
is ``Sudden(data, Swapped(data, "a", "b"), position=5000)``, and a dynamic imbalance is ``Gradual`` or ``Recurring``
between two `Imbalanced` streams.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from streamgauge.errors import StreamgaugeError, require_at_least, require_between, unknown_name
from streamgauge.protocols import Stream
from streamgauge.randomness import below, uniform
from streamgauge.records import UNLABELLED, Batch, Drift, Schema
from streamgauge.streams.base import drifts_of, require_classes
from streamgauge.streams.batching import Cursor
from streamgauge.streams.composed import Composed, require_stream
from streamgauge.streams.generators.native import require_probability, require_shares
from streamgauge.streams.rows_of_class import find_rows_of_class

__all__ = ["Covered", "Imbalanced", "Noisy", "Relabelled", "Shifted", "Swapped"]


@dataclass(frozen=True)
class _Transformed(Composed):
    """A stream whose rows are transformed."""

    stream: Stream

    def __post_init__(self) -> None:
        require_stream("stream", self.stream)

    @property
    def _streams(self) -> tuple[Stream, ...]:
        return (self.stream,)

    @property
    def schema(self) -> Schema:
        """Schema of the stream."""
        return self.stream.schema

    @property
    def n_rows(self) -> int | None:
        """Number of rows of the stream."""
        return self.stream.n_rows

    def drifts_before(self, row: int | None) -> tuple[Drift, ...]:
        """Return the drifts of the stream that begin before a row."""
        return drifts_of(self.stream, row)

    def _find_attribute(self, name: str) -> int:
        """Return the index of an attribute."""
        names = [attribute.name for attribute in self.stream.schema.attributes]
        if name not in names:
            error = unknown_name("attribute", str(name), names)
            raise error
        return names.index(name)

    def _require_numeric(self, name: str) -> None:
        if self.stream.schema.attributes[self._find_attribute(name)].is_nominal:
            msg = f"the attribute {name!r} is nominal; it must be numeric"
            raise StreamgaugeError(msg)


@dataclass(frozen=True)
class Imbalanced(_Transformed):
    """A stream with other class shares.

    The class of each row is drawn. If the row of the stream has another class, it is replaced by a row of the drawn
    class at the same position in another sample of the stream: rows keep their position, no row occurs twice, and any
    start costs the same. The stream must be a generator or composed of generators; to sample stored rows see
    ``sample``. A class so rare that 1,000 candidates do not contain it is an error.

    Parameters
    ----------
    stream
        The stream.
    shares
        Share of each class, in the order of the schema; they add up to 1.
    seed
        Random seed of the classes.

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
        require_classes(self.stream.schema, "Imbalanced")
        require_shares(self.shares, self.stream.schema.n_classes)
        require_at_least("seed", self.seed, 0)

    def _build_batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        batch = cursors[0].read(first, n)
        bounds = np.cumsum(self.shares)
        bounds[-1] = 1.0
        drawn = uniform(self.seed, "class shares", 0, first, n)
        y = np.searchsorted(bounds, drawn, side="right").astype(np.int32)
        differs = np.flatnonzero(batch.y != y)
        if len(differs) == 0:
            return batch
        x = batch.x.copy()
        x[differs] = find_rows_of_class(self.stream, first + differs.astype(np.int64), y[differs])
        return replace(batch, x=x, y=y)


@dataclass(frozen=True)
class Noisy(_Transformed):
    """A stream with label noise.

    Parameters
    ----------
    stream
        The stream.
    noise
        Probability that a label is replaced by another class, each equally likely.
    seed
        Random seed of the noise.

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
        require_classes(self.stream.schema, "Noisy")
        require_probability("noise", self.noise)
        require_at_least("seed", self.seed, 0)

    def _build_batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        batch = cursors[0].read(first, n)
        n_classes = self.schema.n_classes
        wrong = (uniform(self.seed, "label noise", 0, first, n) < self.noise) & (batch.y != UNLABELLED)
        if n_classes == 1 or not wrong.any():
            return batch
        step = 1 + below(self.seed, "label noise class", 0, first, n, n_classes - 1)
        y = np.where(wrong, (batch.y + step) % n_classes, batch.y).astype(np.int32)
        return replace(batch, y=y)


@dataclass(frozen=True)
class Swapped(_Transformed):
    """A stream with the values of two attributes exchanged.

    Parameters
    ----------
    stream
        The stream.
    first, second
        Names of the attributes: both numeric, or both nominal with the same values.

    Examples
    --------
    >>> from streamgauge.streams import SEA, Sudden
    >>> stream = Sudden(SEA(), Swapped(SEA(), "a1", "a3"), position=5000)
    """

    first: str
    second: str

    def __post_init__(self) -> None:
        super().__post_init__()
        a, b = (self.stream.schema.attributes[i] for i in self._indices)
        if a.values != b.values:
            msg = f"the attributes {self.first!r} and {self.second!r} cannot be swapped: their values differ"
            raise StreamgaugeError(msg)

    @property
    def _indices(self) -> tuple[int, int]:
        return self._find_attribute(self.first), self._find_attribute(self.second)

    @cached_property
    def schema(self) -> Schema:
        """Schema of the stream, with `missing` of the two attributes exchanged."""
        i, j = self._indices
        attributes = list(self.stream.schema.attributes)
        a, b = attributes[i], attributes[j]
        attributes[i], attributes[j] = replace(a, missing=b.missing), replace(b, missing=a.missing)
        return replace(self.stream.schema, attributes=tuple(attributes))

    def _build_batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        batch = cursors[0].read(first, n)
        x = batch.x.copy()
        i, j = self._indices
        x[:, i], x[:, j] = batch.x[:, j], batch.x[:, i]
        return replace(batch, x=x)


@dataclass(frozen=True)
class Shifted(_Transformed):
    """A stream with a constant added to a numeric attribute.

    Parameters
    ----------
    stream
        The stream.
    attribute
        Name of the attribute.
    by
        The constant.

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
        self._require_numeric(self.attribute)
        require_between("by", self.by, -1e300, 1e300)

    def _build_batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        batch = cursors[0].read(first, n)
        x = batch.x.copy()
        x[:, self._find_attribute(self.attribute)] += self.by
        return replace(batch, x=x)


@dataclass(frozen=True)
class Covered(_Transformed):
    """A stream with one attribute hidden, like a covered sensor.

    Parameters
    ----------
    stream
        The stream.
    attribute
        Name of the attribute.
    value
        Constant value of a numeric attribute; None for missing values.

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
        self._find_attribute(self.attribute)
        if self.value is not None:
            self._require_numeric(self.attribute)
            require_between("value", self.value, -1e300, 1e300)

    @cached_property
    def schema(self) -> Schema:
        """Schema of the stream; the attribute may be missing if `value` is None."""
        index = self._find_attribute(self.attribute)
        attributes = list(self.stream.schema.attributes)
        attributes[index] = replace(attributes[index], missing=self.value is None)
        return replace(self.stream.schema, attributes=tuple(attributes))

    def _build_batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        batch = cursors[0].read(first, n)
        x = batch.x.copy()
        x[:, self._find_attribute(self.attribute)] = np.nan if self.value is None else self.value
        return replace(batch, x=x)


@dataclass(frozen=True)
class Relabelled(_Transformed):
    """A stream with two classes exchanged.

    Parameters
    ----------
    stream
        The stream.
    first, second
        Names of the classes.

    Examples
    --------
    >>> from streamgauge.streams import STAGGER, Sudden
    >>> stream = Sudden(STAGGER(), Relabelled(STAGGER(), "false", "true"), position=5000)
    """

    first: str
    second: str

    def __post_init__(self) -> None:
        super().__post_init__()
        require_classes(self.stream.schema, "Relabelled")
        for name in (self.first, self.second):
            if name not in self.stream.schema.classes:
                error = unknown_name("class", str(name), self.stream.schema.classes)
                raise error

    def _build_batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        batch = cursors[0].read(first, n)
        i, j = (self.stream.schema.classes.index(name) for name in (self.first, self.second))
        codes = np.arange(-1, self.schema.n_classes, dtype=np.int32)
        codes[[i + 1, j + 1]] = j, i
        return replace(batch, y=codes[batch.y + 1])
