"""Rows that are pushed over HTTP."""

import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streamgauge.errors import StreamgaugeError
from streamgauge.streams.live.events import MAX_POLL_BYTES, NO_EVENTS, Events, EventSource, Position, read_clock
from streamgauge.streams.live.line_buffer import find_too_long
from streamgauge.streams.live.sockets import parse_address
from streamgauge.streams.live.stream import LiveStream

if TYPE_CHECKING:
    from streamgauge.streams.live.http_server import PushServer

__all__ = ["HttpPush", "Inbox", "count_bytes"]

MAX_QUEUED_BYTES = 1 << 26
"""The most bytes of events that may be queued; further requests are answered with 503."""

LINE_BYTES = 128
"""Memory of a queued line beside its text."""


@dataclass(frozen=True, repr=False)
class HttpPush(LiveStream):
    """Rows that clients push: ``curl --data-binary @rows.jsonl http://localhost:9000/rows``.

    A request has one event per line and is accepted or refused as a whole: 202 means that its lines are queued, 503
    that the queue is full and the client must retry. Events that are queued when the process ends are lost. Requests of
    web pages are refused. Slow clients cannot shut others out: connections, their time and the memory of requests have
    limits, and the client that has kept the server waiting longest gives way.

    Parameters
    ----------
    address
        The address to listen at. "localhost:9000" can be reached only from this machine; there is no authentication.
    labels
        The path to which labels are pushed, such as "/labels"; None if rows carry them.
    rows
        The path to which rows are pushed.

    Examples
    --------
    >>> schema = {"attributes": {"price": None}, "classes": ["up", "down"]}
    >>> HttpPush("localhost:9000", schema=schema).rows
    '/rows'
    """

    address: str
    rows: str = "/rows"

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_address(self.address)
        for path in (self.rows, self.labels):
            if path is not None and not path.startswith("/"):
                msg = f"{path!r} is not a request path: it must begin with /"
                raise StreamgaugeError(msg)
        if self.format == "avro":
            msg = "a request consists of lines, so it cannot hold Avro records: use format='json' or 'csv'"
            raise StreamgaugeError(msg)

    def _open_sources(self, positions: list[Position | None]) -> list[EventSource]:  # noqa: ARG002
        paths = [self.rows] if self.labels is None else [self.rows, self.labels]
        from streamgauge.streams.live.http_server import PushServer  # noqa: PLC0415  (takes 30 ms)

        inboxes = {path: Inbox(path) for path in paths}
        server = PushServer(self.address, inboxes)
        for inbox in inboxes.values():
            inbox.server = server
        return list(inboxes.values())


def count_bytes(n_bytes: int, n_lines: int) -> int:
    """Return the memory of queued lines with a total length."""
    return n_bytes + LINE_BYTES * n_lines


class Inbox:
    """Queue of the lines that were pushed to one path.

    Examples
    --------
    >>> inbox = Inbox("/rows")
    >>> inbox.add([b"1,a", b"2,b"]), inbox.poll(1, 0.0).values, inbox.lag()
    (True, [b'1,a'], 1)
    """

    def __init__(self, path: str) -> None:
        self.name, self.problem = path, ""
        self.server: PushServer | None = None
        self._lines: deque[tuple[bytes, float]] = deque()
        self._n_bytes = 0
        self._added = threading.Condition()

    def add(self, lines: list[bytes]) -> bool:
        """Queue lines, all or none; return whether there was room."""
        n_bytes = count_bytes(sum(map(len, lines)), len(lines))
        now = read_clock()
        with self._added:
            if self._lines and self._n_bytes + n_bytes > MAX_QUEUED_BYTES:
                return False
            self._lines.extend((line, now) for line in lines)
            self._n_bytes += n_bytes
            self._added.notify()
        return True

    def poll(self, limit: int, seconds: float) -> Events:
        """Return up to `limit` lines."""
        with self._added:
            if not self._lines:
                self._added.wait(seconds)
            taken: list[tuple[bytes, float]] = []
            n_bytes = 0
            while self._lines and len(taken) < limit and n_bytes < MAX_POLL_BYTES:
                taken.append(self._lines.popleft())
                n_bytes += len(taken[-1][0])
            self._n_bytes -= count_bytes(n_bytes, len(taken))
        if not taken:
            return NO_EVENTS
        lines, times = [line for line, _ in taken], np.array([received for _, received in taken])
        name = self.name
        return Events(
            values=lines,
            received=times,
            locate=lambda _: name,
            faults=find_too_long(lines),
            watermark=float(times[-1]),
        )

    @property
    def position(self) -> Position:
        """Empty: pushed lines cannot be read again."""
        return {}

    def commit(self, position: Position) -> None:
        """Do nothing: requests have been answered before."""

    def lag(self) -> int | None:
        """Return the number of queued lines."""
        return len(self._lines)

    def close(self) -> None:
        """Stop listening."""
        if self.server is not None:
            self.server.stop()
