"""Events as a source brings them, before anyone has looked into them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["NOTHING", "Events", "Position", "Source"]

Position = dict[str, Any]
"""Where a source goes on reading, in a form that JSON can hold; empty where it cannot go back."""


@dataclass(frozen=True)
class Events:
    """Some consecutive events of a source.

    Parameters
    ----------
    values
        What they hold.
    received
        When each came into the source, in seconds since 1970.
    place
        Tells where in the source an event stands, for people.
    keys
        The keys that the source itself knows of, where it knows any.
    faults
        Events that no decoder need see, and what is wrong with them.
    until
        All events that came before this time have been handed out, as far as the source knows.

    Examples
    --------
    >>> len(Events([b"1,a", b"2,b"], np.zeros(2)))
    2
    """

    values: list[bytes]
    received: NDArray[np.float64]
    place: Callable[[int], str] = str
    keys: Sequence[bytes | None] | None = None
    faults: Sequence[tuple[int, str]] = field(default=())
    until: float = -math.inf

    def __len__(self) -> int:
        return len(self.values)


NOTHING = Events([], np.empty(0))
"""No event."""


class Source(Protocol):
    """Where events come from. It holds no more of them than it hands out at once and its transport needs."""

    @property
    def name(self) -> str:
        """What it is called, for people."""
        ...

    @property
    def position(self) -> Position:
        """Where the event behind the last one handed out stands."""
        ...

    @property
    def trouble(self) -> str:
        """Why nothing comes at the moment, as far as that is known; empty where all is well."""
        ...

    def poll(self, most: int, seconds: float) -> Events:
        """Give up to `most` events; wait for the first, or for more, no longer than so many seconds."""
        ...

    def commit(self, position: Position) -> None:
        """Tell the other side that what stands before a position was dealt with for good."""
        ...

    def lag(self) -> int | None:
        """Count the events that have not been handed out yet; None where nobody knows."""
        ...

    def close(self) -> None:
        """Let go of connections and files."""
        ...
