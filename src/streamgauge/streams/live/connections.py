"""Limits on the connections of a server, so that slow or silent clients cannot shut others out."""

import math
import sys
import threading
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass

__all__ = ["ConnectionTable", "count_affordable"]


@dataclass
class _Connection:
    """A connection, and since when it has waited for its client; None while the server works for it."""

    close: Callable[[], object]
    waits_since: float | None
    deadline: float
    n_bytes: int = 0


class ConnectionTable:
    """The open connections of a server. Threads may share it.

    If there are too many connections, or the bodies that are being received are too large in total, the connection that
    has waited longest for its client is closed.

    Parameters
    ----------
    max_connections
        The most open connections.
    max_bytes
        The most bytes of all bodies.

    Examples
    --------
    >>> table, closed = ConnectionTable(max_connections=2, max_bytes=100), []
    >>> for name in "abc":
    ...     table.add(name, lambda name=name: closed.append(name), seconds=10.0)
    >>> closed
    ['a']
    >>> table.reserve("b", 60), table.reserve("c", 60), closed
    (True, True, ['a', 'b'])
    """

    def __init__(self, *, max_connections: int, max_bytes: int = 0) -> None:
        self.max_connections, self.max_bytes = max_connections, max_bytes
        self.n_closed = 0
        """Number of connections that were closed because they were too slow or too many."""
        self._connections: dict[Hashable, _Connection] = {}
        self._n_bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._connections)

    def add(self, key: Hashable, close: Callable[[], object], *, seconds: float) -> None:
        """Add a connection that waits for its client for at most some seconds; `close` must not block."""
        now = time.monotonic()
        with self._lock:
            if len(self._connections) >= self.max_connections:
                self._close_longest_waiting()
            self._connections[key] = _Connection(close, now, now + seconds)

    def wait(self, key: Hashable, seconds: float) -> None:
        """Note that a connection begins to wait for its client, for at most some seconds in all."""
        now = time.monotonic()
        with self._lock:
            if (connection := self._connections.get(key)) is not None:
                connection.waits_since, connection.deadline = now, now + seconds

    def touch(self, key: Hashable) -> None:
        """Note that the client of a waiting connection was heard of; its deadline stays."""
        with self._lock:
            connection = self._connections.get(key)
            if connection is not None and connection.waits_since is not None:
                connection.waits_since = time.monotonic()

    def work(self, key: Hashable) -> None:
        """Note that a connection waits for the server, not for its client."""
        with self._lock:
            if (connection := self._connections.get(key)) is not None:
                connection.waits_since = None

    def reserve(self, key: Hashable, n_bytes: int) -> bool:
        """Reserve memory for a part of a body, if need be that of slower ones; return whether there is enough."""
        with self._lock:
            while (connection := self._connections.get(key)) is not None:
                if self._n_bytes + n_bytes <= self.max_bytes:
                    connection.n_bytes += n_bytes
                    self._n_bytes += n_bytes
                    return True
                if not self._close_longest_waiting(holding_bytes=True, other_than=connection):
                    return False
        return False

    def release(self, key: Hashable) -> None:
        """Release the memory of a body."""
        with self._lock:
            if (connection := self._connections.get(key)) is not None:
                self._n_bytes -= connection.n_bytes
                connection.n_bytes = 0

    def remove(self, key: Hashable) -> None:
        """Remove a connection that has ended; one that was removed before is ignored."""
        with self._lock:
            self._pop(key)

    def close_overdue(self) -> None:
        """Close the connections whose clients have taken too long."""
        self.close_waiting(time.monotonic())

    def close_waiting(self, deadline: float = math.inf) -> None:
        """Close the connections that wait for their clients until a deadline; by default all of them."""
        with self._lock:
            waiting = [key for key, each in self._connections.items() if each.waits_since is not None]
            for key in waiting:
                if self._connections[key].deadline < deadline:
                    self._close(key)

    def _close_longest_waiting(self, *, holding_bytes: bool = False, other_than: _Connection | None = None) -> bool:
        """Close the connection that has waited longest for its client; return whether there was one."""
        waiting = [
            (each.waits_since, key)
            for key, each in self._connections.items()
            if each.waits_since is not None and each is not other_than and (each.n_bytes or not holding_bytes)
        ]
        if not waiting:
            return False
        self._close(min(waiting, key=lambda pair: pair[0])[1])
        return True

    def _close(self, key: Hashable) -> None:
        self.n_closed += 1
        if (connection := self._pop(key)) is not None:
            with suppress(OSError):  # it has ended in the meantime
                connection.close()

    def _pop(self, key: Hashable) -> _Connection | None:
        connection = self._connections.pop(key, None)
        self._n_bytes -= 0 if connection is None else connection.n_bytes
        return connection


def count_affordable(most: int) -> int:
    """Return how many connections the limit on open files allows, at most `most`; half of the files are for others.

    Examples
    --------
    >>> 8 <= count_affordable(64) <= 64
    True
    """
    if sys.platform == "win32":  # where sockets are no files
        return most
    import resource  # noqa: PLC0415

    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return most if soft == resource.RLIM_INFINITY else max(8, min(most, soft // 2))
