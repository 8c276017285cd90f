"""The true drifts of streams."""

from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Drifting, Stream
from streamgauge.records import Drift

__all__ = ["drifts_of", "endless", "moved", "periodic", "sooner"]


def drifts_of(stream: Stream, n_rows: int | None = None) -> tuple[Drift, ...]:
    """Give the true drifts of a stream, or of its first rows; none where it does not know of any.

    Parameters
    ----------
    stream
        The stream; one without a method ``drifts_before`` has no drifts.
    n_rows
        How many of its rows to look at; None for all. A stream that drifts for ever needs a number.

    Examples
    --------
    >>> from streamgauge.streams import SEA, Gradual
    >>> drifts_of(Gradual(SEA(1), SEA(3), position=5000, width=1000))
    (Drift(position=5000, width=1000, kind='gradual'),)
    >>> [drift.position for drift in drifts_of(SEA(drift_every=100), 350)]
    [100, 200, 300]
    """
    return stream.drifts_before(sooner(stream.n_rows, n_rows)) if isinstance(stream, Drifting) else ()


def sooner(first: int | None, second: int | None) -> int | None:
    """Give the smaller of two limits of which each may be missing.

    Examples
    --------
    >>> sooner(None, 5), sooner(7, 5), sooner(None, None)
    (5, 5, None)
    """
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


def periodic(every: int, width: int, n_rows: int | None, row: int | None, kind: str | None = None) -> tuple[Drift, ...]:
    """Give the drifts of a stream that changes every so many rows, those that begin before a row.

    Examples
    --------
    >>> periodic(100, 10, None, 250)
    (Drift(position=100, width=10, kind='gradual'), Drift(position=200, width=10, kind='gradual'))
    """
    limit = sooner(n_rows, row)
    if limit is None:
        raise endless()
    kind = kind or ("gradual" if width else "sudden")
    return tuple(Drift(position, width, kind) for position in range(every, limit, every))


def endless() -> StreamgaugeError:
    """Make the error for drifts that never end.

    Examples
    --------
    >>> raise endless()
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: the stream drifts for ever; say up to which row its drifts are wanted
    """
    return StreamgaugeError("the stream drifts for ever; say up to which row its drifts are wanted")


def moved(drifts: tuple[Drift, ...], by: int) -> tuple[Drift, ...]:
    """Give the same drifts, so many rows later.

    Examples
    --------
    >>> moved((Drift(5),), 100)
    (Drift(position=105, width=0, kind='sudden'),)
    """
    return tuple(Drift(drift.position + by, drift.width, drift.kind) for drift in drifts)
