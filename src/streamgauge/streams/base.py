"""What streams share: the base class of streams that are defined by their options, row ranges, true drifts."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import ClassVar

from streamgauge._foreign import adopt_stream, knows_drifts
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import Stream, StreamBase
from streamgauge.records import Drift, Schema

__all__ = [
    "OptionStream",
    "drifts_of",
    "list_periodic_drifts",
    "min_limit",
    "require_classes",
    "require_limit",
    "split_rows",
]


def drifts_of(stream: Stream, n_rows: int | None = None) -> tuple[Drift, ...]:
    """Return the true drifts of a stream, or of its first rows; none if the stream does not know its drifts.

    Parameters
    ----------
    stream
        The stream; one without a method ``drifts_before`` has no drifts.
    n_rows
        Number of rows to consider; None for all. A stream that drifts for ever needs a number.

    Examples
    --------
    >>> from streamgauge.streams import SEA, Gradual
    >>> drifts_of(Gradual(SEA(1), SEA(3), position=5000, width=1000))
    (Drift(position=5000, width=1000, kind='gradual'),)
    >>> [drift.position for drift in drifts_of(SEA(drift_every=100), 350)]
    [100, 200, 300]
    """
    if not knows_drifts(stream):
        return ()
    return adopt_stream(stream).drifts_before(min_limit(stream.n_rows, n_rows))


def require_limit(limit: int | None) -> int:
    """Return the limit of a list of drifts; raise if there is none.

    Examples
    --------
    >>> require_limit(None)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: the stream drifts for ever: pass n_rows to limit its drifts
    """
    if limit is None:
        msg = "the stream drifts for ever: pass n_rows to limit its drifts"
        raise StreamgaugeError(msg)
    return limit


def list_periodic_drifts(
    every: int, width: int, n_rows: int | None, row: int | None, kind: str | None = None
) -> tuple[Drift, ...]:
    """Return the drifts of a stream that drifts after every `every` rows, up to `row`.

    Examples
    --------
    >>> list_periodic_drifts(100, 10, None, 250)
    (Drift(position=100, width=10, kind='gradual'), Drift(position=200, width=10, kind='gradual'))
    """
    limit = require_limit(min_limit(n_rows, row))
    kind = kind or ("gradual" if width else "sudden")
    return tuple(Drift(position, width, kind) for position in range(every, limit, every))


@dataclass(frozen=True)
class OptionStream(StreamBase, ABC):
    """A stream that is a frozen dataclass of its options; its fingerprint names class, version and every option."""

    version: ClassVar[int] = 1
    """Incremented when the same options yield other rows."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """Schema of the rows."""

    @property
    def fingerprint(self) -> str:
        """Class name, version and every option."""
        options = []
        for field in fields(self):
            value = getattr(self, field.name)
            # A whole number passed for a float counts as that float.
            options.append(f"{field.name}={self._format_option(float(value) if field.type is float else value)}")
        return f"{type(self).__name__}/{self.version}({', '.join(options)})"

    def _format_option(self, value: object) -> str:
        return repr(value)


def require_classes(schema: Schema, what: str) -> None:
    """Raise if something that is about classes gets a stream with a numeric target.

    Examples
    --------
    >>> from streamgauge.records import NumericTarget
    >>> require_classes(Schema((), target=NumericTarget("price")), "a sample by classes")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: a sample by classes needs classes, and the target 'price' is a number
    """
    if schema.target is not None:
        msg = f"{what} needs classes, and the target {schema.target.name!r} is a number"
        raise StreamgaugeError(msg)


def min_limit(first: int | None, second: int | None) -> int | None:
    """Return the smaller of two limits; None means no limit.

    Examples
    --------
    >>> min_limit(None, 5), min_limit(7, 5), min_limit(None, None)
    (5, 5, None)
    """
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


def split_rows(n_rows: int | None, size: int, start: int = 0) -> Iterator[tuple[int, int]]:
    """Return an iterator over the first row and the number of rows of each batch; endless if `n_rows` is None.

    Examples
    --------
    >>> list(split_rows(10, size=4, start=1))
    [(1, 4), (5, 4), (9, 1)]
    """
    require_at_least("size", size, 1)
    require_at_least("start", start, 0)
    return _split_rows(n_rows, size, start)


def _split_rows(n_rows: int | None, size: int, start: int) -> Iterator[tuple[int, int]]:
    # Separate, so that the arguments are checked at the call and not at the first batch.
    while n_rows is None or start < n_rows:
        n = size if n_rows is None else min(size, n_rows - start)
        yield start, n
        start += n
