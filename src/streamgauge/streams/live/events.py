"""Raw events of a source, before they are decoded."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_POLL_BYTES", "NO_EVENTS", "EventSource", "Events", "PollSize", "Position", "read_clock"]

MAX_POLL_BYTES = 1 << 24
"""A poll stops once its events have this many bytes; further events wait in the source."""

_MONOTONIC_START = time.time() - time.monotonic()

Position = dict[str, Any]
"""The position from which a source resumes, serialisable as JSON; empty if it cannot go back."""


@dataclass(frozen=True)
class Events:
    """Consecutive events of a source.

    Parameters
    ----------
    values
        The content of each event.
    received
        When each event reached the source, in seconds since 1970.
    locate
        Describes the location of an event in the source, for error reports.
    keys
        The keys that the source itself stores with the events, if any.
    faults
        Events that must not be decoded, with the reason.
    watermark
        All events received before this time have been handed out, as far as the source knows.

    Examples
    --------
    >>> len(Events([b"1,a", b"2,b"], np.zeros(2)))
    2
    """

    values: list[bytes]
    received: NDArray[np.float64]
    locate: Callable[[int], str] = str
    keys: Sequence[bytes | None] | None = None
    faults: Sequence[tuple[int, str]] = field(default=())
    watermark: float = -math.inf

    def __len__(self) -> int:
        return len(self.values)


NO_EVENTS = Events([], np.empty(0))


def read_clock() -> float:
    """Return the time in seconds since 1970, which does not jump when the clock of the system is set.

    Examples
    --------
    >>> read_clock() <= read_clock()
    True
    """
    return _MONOTONIC_START + time.monotonic()


class PollSize:
    """The number of events to request from a source that limits replies by count, not by bytes.

    Examples
    --------
    >>> size = PollSize()
    >>> size.choose(1_000_000)
    256
    >>> size.update(256, 256 * 4096)
    >>> size.choose(1_000_000), size.choose(1_000_000, MAX_POLL_BYTES - 1), size.choose(10)
    (4096, 1, 10)
    """

    def __init__(self) -> None:
        self._event_bytes = 1 << 16  # large, so that the first request is small

    def choose(self, limit: int, n_bytes: int = 0) -> int:
        """Return how many events to request, at most `limit`, if `n_bytes` have been received already."""
        return max(1, min(limit, (MAX_POLL_BYTES - n_bytes) // self._event_bytes))

    def update(self, n: int, n_bytes: int) -> None:
        """Set the expected event length from a reply of `n` events."""
        self._event_bytes = max(1, -(-n_bytes // n))


class EventSource(Protocol):
    """A source of events. It buffers no more than one poll returns and its transport needs."""

    @property
    def name(self) -> str:
        """Display name."""
        ...

    @property
    def position(self) -> Position:
        """Position behind the last event that was handed out."""
        ...

    @property
    def problem(self) -> str:
        """Why no events arrive at the moment, if known; empty if there is no problem."""
        ...

    def poll(self, limit: int, seconds: float) -> Events:
        """Return up to `limit` events, fewer if they reach `MAX_POLL_BYTES`; wait at most `seconds` for them."""
        ...

    def commit(self, position: Position) -> None:
        """Acknowledge to the sender all events before a position."""
        ...

    def lag(self) -> int | None:
        """Return the number of events that have not been handed out yet; None if unknown."""
        ...

    def close(self) -> None:
        """Close connections and files."""
        ...
