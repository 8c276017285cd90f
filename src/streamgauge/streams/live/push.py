"""Rows that are pushed here over HTTP."""

import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streamgauge.errors import StreamgaugeError
from streamgauge.streams.live.events import ENOUGH, NOTHING, Events, Position, Source
from streamgauge.streams.live.line_buffer import too_long
from streamgauge.streams.live.sockets import address_of
from streamgauge.streams.live.stream import LiveStream

if TYPE_CHECKING:
    from streamgauge.streams.live.http_server import Server

__all__ = ["HttpPush", "Inbox"]

MOST_BYTES = 1 << 26
"""How many bytes of events may wait to be evaluated; whoever sends more is asked to come again."""


@dataclass(frozen=True, repr=False)
class HttpPush(LiveStream):
    """Rows that others push: ``curl --data-binary @rows.jsonl http://localhost:8765/rows``.

    A request has an event per line and is taken as a whole: 202 says that its lines wait to be evaluated, 503 that too
    many do and the sender must come again. What was taken and not yet evaluated is lost where the process ends.

    Parameters
    ----------
    address
        Where to listen, as in "localhost:8765", which only this machine can reach; nobody is asked who they are.
    labels
        The path to which labels are pushed, such as "/labels"; None where rows carry them.
    rows
        The path to which rows are pushed.

    Examples
    --------
    >>> schema = {"attributes": {"price": None}, "classes": ["up", "down"]}
    >>> HttpPush("localhost:8765", schema=schema).rows
    '/rows'
    """

    address: str
    rows: str = "/rows"

    def __post_init__(self) -> None:
        super().__post_init__()
        address_of(self.address)
        for path in (self.rows, self.labels):
            if path is not None and not path.startswith("/"):
                msg = f"{path!r} is not a path of requests: it must begin with /"
                raise StreamgaugeError(msg)
        if self.format == "avro":
            msg = "a request has lines, which Avro records are not: give format='json' or 'csv'"
            raise StreamgaugeError(msg)

    def _sources(self, positions: list[Position | None]) -> list[Source]:  # noqa: ARG002
        paths = [self.rows] if self.labels is None else [self.rows, self.labels]
        from streamgauge.streams.live.http_server import Server  # noqa: PLC0415  (30 ms that others need not pay)

        inboxes = {path: Inbox(path) for path in paths}
        server = Server(self.address, inboxes)
        for inbox in inboxes.values():
            inbox.server = server
        return list(inboxes.values())


class Inbox:
    """The lines that were pushed to one path.

    Examples
    --------
    >>> inbox = Inbox("/rows")
    >>> inbox.add([b"1,a", b"2,b"]), inbox.poll(1, 0.0).values, inbox.lag()
    (True, [b'1,a'], 1)
    """

    def __init__(self, path: str) -> None:
        self.name, self.trouble = path, ""
        self.server: Server | None = None
        self._lines: deque[tuple[bytes, float]] = deque()
        self._n_bytes = 0
        self._changed = threading.Condition()

    def add(self, lines: list[bytes]) -> bool:
        """Take lines in, all or none; says whether there was room."""
        n_bytes = sum(map(len, lines))
        now = time.time()
        with self._changed:
            if self._lines and self._n_bytes + n_bytes > MOST_BYTES:
                return False
            self._lines.extend((line, now) for line in lines)
            self._n_bytes += n_bytes
            self._changed.notify()
        return True

    def poll(self, most: int, seconds: float) -> Events:
        """Give up to `most` lines."""
        with self._changed:
            if not self._lines:
                self._changed.wait(seconds)
            taken: list[tuple[bytes, float]] = []
            n_bytes = 0
            while self._lines and len(taken) < most and n_bytes < ENOUGH:
                taken.append(self._lines.popleft())
                n_bytes += len(taken[-1][0])
            self._n_bytes -= n_bytes
        if not taken:
            return NOTHING
        lines, times = [line for line, _ in taken], np.array([moment for _, moment in taken])
        name = self.name
        return Events(lines, times, lambda _: name, faults=too_long(lines), until=float(times[-1]))

    @property
    def position(self) -> Position:
        """Nothing: it cannot go back."""
        return {}

    def commit(self, position: Position) -> None:
        """Do nothing: senders were answered before."""

    def lag(self) -> int | None:
        """Count the lines that wait."""
        return len(self._lines)

    def close(self) -> None:
        """Stop listening."""
        if self.server is not None:
            self.server.stop()
