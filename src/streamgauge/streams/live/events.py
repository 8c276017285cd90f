"""Events as a source brings them, before anyone has looked into them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["ENOUGH", "NOTHING", "Events", "Portion", "Position", "Source"]

ENOUGH = 1 << 24
"""A poll ends once its events have so many bytes, however few they are; the next ones wait where they come from."""

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


class Portion:
    """How many events to ask for at once where only the answer tells how long they are.

    Examples
    --------
    >>> portion = Portion()
    >>> portion.size(1_000_000)
    256
    >>> portion.note(256, 256 * 4096)
    >>> portion.size(1_000_000), portion.size(1_000_000, ENOUGH - 1), portion.size(10)
    (4096, 1, 10)
    """

    def __init__(self) -> None:
        self._length = 1 << 16  # a guess on the safe side

    def size(self, most: int, n_bytes: int = 0) -> int:
        """Say for how many to ask, up to `most`, where so many bytes are there already."""
        return max(1, min(most, (ENOUGH - n_bytes) // self._length))

    def note(self, n: int, n_bytes: int) -> None:
        """Go from now on by the length of so many events."""
        self._length = max(1, -(-n_bytes // n))


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
        """Give up to `most` events, fewer where those have `ENOUGH` bytes.

        Wait for the first, or for more, no longer than so many seconds.
        """
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
