"""True drifts of streams."""

from streamgauge._foreign import adopt_stream
from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Stream
from streamgauge.records import Drift
from streamgauge.streams.batching import min_limit

__all__ = ["drifts_of", "list_periodic_drifts", "require_limit"]


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
