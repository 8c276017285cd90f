"""TCP sockets as live streams."""

import selectors
import socket
import time
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from streamgauge.errors import StreamgaugeError
from streamgauge.streams.live.events import MAX_POLL_BYTES, NO_EVENTS, Events, EventSource, Position, read_clock
from streamgauge.streams.live.line_buffer import LineBuffer, find_too_long
from streamgauge.streams.live.stream import LiveStream

__all__ = ["Socket", "parse_address"]

CHUNK_BYTES = 1 << 18
MAX_PEERS = 256
"""The most simultaneous connections; further senders wait until one closes."""
RECONNECT_SECONDS = 0.5
"""The least time between attempts to connect."""


@dataclass(frozen=True, repr=False)
class Socket(LiveStream):
    """Rows from a TCP socket, one per line.

    A socket cannot be read again: after a restart, evaluation continues with the rows that arrive then. Rows are read
    only as fast as they are evaluated, so a fast sender is slowed down instead of filling memory. Every row ends with a
    line end: a line that is cut off because the connection closes is malformed, since it may be incomplete.

    Parameters
    ----------
    address
        Host and port of the rows, as in "localhost:9999"; `labels` is the address of the labels.
    listen
        Whether to listen for senders at the address instead of connecting to it.

    Examples
    --------
    >>> schema = {"attributes": {"price": None}, "classes": ["up", "down"]}
    >>> Socket("localhost:9999", schema=schema, format="csv").listen
    False
    """

    address: str
    listen: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for address in (self.address, self.labels):
            if address is not None:
                parse_address(address)
        if self.format == "avro":
            msg = "a socket sends lines, so it cannot send Avro records: use format='json' or 'csv'"
            raise StreamgaugeError(msg)

    def _open_sources(self, positions: list[Position | None]) -> list[EventSource]:  # noqa: ARG002
        addresses = [self.address] if self.labels is None else [self.address, self.labels]
        return [_Listener(address) if self.listen else _Client(address) for address in addresses]


def parse_address(text: str) -> tuple[str, int]:
    """Return the host and port of an address.

    Examples
    --------
    >>> parse_address("localhost:9999")
    ('localhost', 9999)
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65_536:
        msg = f"address {text!r}: it must be host:port"
        raise StreamgaugeError(msg)
    return host.strip("[]"), int(port)


def _wait_for_data(sockets: list[socket.socket], seconds: float) -> list[socket.socket]:
    """Return the sockets that have data or were closed; wait at most `seconds` for the first."""
    with selectors.DefaultSelector() as selector:
        for candidate in sockets:
            selector.register(candidate, selectors.EVENT_READ)
        ready = {key.fileobj for key, _ in selector.select(seconds)}
    return [candidate for candidate in sockets if candidate in ready]


class _Peers:
    """Source of lines from any number of connections; base of client and listener."""

    def __init__(self, address: str) -> None:
        self.name, self.problem = address, ""
        self._address = parse_address(address)
        self._peers: dict[socket.socket, LineBuffer] = {}
        self._closed: list[LineBuffer] = []  # unread lines of closed connections
        self._cut_off: list[bytes] = []  # lines in which connections closed

    def poll(self, limit: int, seconds: float) -> Events:
        """Return up to `limit` lines."""
        deadline = time.monotonic() + seconds
        lines: list[bytes] = []
        n_bytes = 0
        while True:
            new_lines = self._take(limit - len(lines), MAX_POLL_BYTES - n_bytes)
            lines += new_lines
            n_bytes += sum(map(len, new_lines))
            if len(lines) >= limit or n_bytes >= MAX_POLL_BYTES:
                break
            if not self._read_available(0.0 if lines else max(0.0, deadline - time.monotonic())):
                break
        faults = find_too_long(lines)
        n_cut_off = limit - len(lines)
        cut_off, self._cut_off = self._cut_off[:n_cut_off], self._cut_off[n_cut_off:]
        faults += [(len(lines) + i, "the connection closed within the line") for i in range(len(cut_off))]
        lines += cut_off
        if not lines:
            return NO_EVENTS
        now = read_clock()
        name = self.name
        return Events(
            values=lines,
            received=np.full(len(lines), now),
            locate=lambda _: name,
            faults=faults,
            watermark=now,
        )

    def _take(self, limit: int, max_bytes: int) -> list[bytes]:
        """Remove and return up to `limit` complete lines, and no more once they have `max_bytes`."""
        lines: list[bytes] = []
        for buffer in [*self._closed, *self._peers.values()]:
            new_lines = buffer.take(limit - len(lines)) if max_bytes > 0 else []
            lines += new_lines
            max_bytes -= sum(map(len, new_lines))
        self._closed = [buffer for buffer in self._closed if buffer.n_bytes]
        return lines

    def _list_sockets(self) -> list[socket.socket]:
        """Return the sockets to read from."""
        return list(self._peers)

    def _accept(self, ready: socket.socket) -> bool:  # noqa: ARG002
        """Accept a connection if `ready` is a listening socket; return whether it is one."""
        return False

    def _read_available(self, seconds: float) -> bool:
        """Read what has arrived; return whether there was anything."""
        sockets = self._list_sockets()
        if not sockets:
            time.sleep(min(seconds, 0.1))
            return False
        ready = _wait_for_data(sockets, seconds)
        for peer in ready:
            if self._accept(peer):
                continue
            try:
                chunk = peer.recv(CHUNK_BYTES)
            except OSError:
                chunk = b""
            if chunk:
                self._peers[peer].add(chunk)
            else:
                buffer = self._peers.pop(peer)
                self._cut_off += buffer.cut_off()
                self._closed.append(buffer)
                peer.close()
        return bool(ready)

    @property
    def position(self) -> Position:
        """Empty: a socket cannot be read again."""
        return {}

    def commit(self, position: Position) -> None:
        """Do nothing: senders expect no acknowledgement."""

    def lag(self) -> int | None:
        """Return None: the lag is unknown."""
        return None

    def close(self) -> None:
        """Close all sockets."""
        for peer in self._peers:
            peer.close()
        self._peers.clear()


class _Client(_Peers):
    """Source that connects to a sender, and reconnects when the connection closes."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._tried = 0.0
        if not self._list_sockets():
            msg = f"{self.problem}; use listen=True to wait for a sender"
            raise StreamgaugeError(msg)

    def _list_sockets(self) -> list[socket.socket]:
        if not self._peers and time.monotonic() - self._tried > RECONNECT_SECONDS:
            self._tried = time.monotonic()
            try:
                peer = socket.create_connection(self._address, timeout=5.0)
            except OSError as error:
                self.problem = f"cannot connect to {self.name}: {error.strerror or error}"
            else:
                self._peers[peer], self.problem = LineBuffer(), ""
        return list(self._peers)


class _Listener(_Peers):
    """Source that accepts connections from senders."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        try:
            self._server = socket.create_server(self._address)
        except OSError as error:
            msg = f"cannot listen at {address}: {error.strerror or error}"
            raise StreamgaugeError(msg) from None

    def _list_sockets(self) -> list[socket.socket]:
        return [self._server, *self._peers] if len(self._peers) < MAX_PEERS else list(self._peers)

    def _accept(self, ready: socket.socket) -> bool:
        if ready is not self._server:
            return False
        with suppress(OSError):
            peer, _ = self._server.accept()
            self._peers[peer] = LineBuffer()
        return True

    def close(self) -> None:
        """Close all sockets."""
        super().close()
        self._server.close()
