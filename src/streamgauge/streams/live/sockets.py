"""A socket that sends lines."""

import selectors
import socket
import time
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from streamgauge.errors import StreamgaugeError
from streamgauge.streams.live.events import ENOUGH, NOTHING, Events, Position, Source
from streamgauge.streams.live.line_buffer import Lines, too_long
from streamgauge.streams.live.stream import LiveStream

__all__ = ["Socket", "address_of"]

CHUNK = 1 << 18
MOST_PEERS = 256
"""So many senders may be there at once; others wait until one leaves."""


@dataclass(frozen=True, repr=False)
class Socket(LiveStream):
    """Rows from a TCP socket, a line each.

    A socket cannot send again what it has sent: after a restart go on the rows that come then. It is read only as fast
    as rows are evaluated, so a quick sender is held up rather than its rows held in memory.

    Parameters
    ----------
    address
        Host and port of the rows, as in "localhost:9999"; `labels` is that of the labels.
    listen
        Whether to wait for senders there, rather than to connect to one.

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
                address_of(address)
        if self.format == "avro":
            msg = "a socket sends lines, which Avro records are not: give format='json' or 'csv'"
            raise StreamgaugeError(msg)

    def _sources(self, positions: list[Position | None]) -> list[Source]:  # noqa: ARG002
        addresses = [self.address] if self.labels is None else [self.address, self.labels]
        return [_Listener(address) if self.listen else _Caller(address) for address in addresses]


def address_of(text: str) -> tuple[str, int]:
    """Give the host and port of an address.

    Examples
    --------
    >>> address_of("localhost:9999")
    ('localhost', 9999)
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65_536:
        msg = f"address {text!r}: write it as host:port"
        raise StreamgaugeError(msg)
    return host.strip("[]"), int(port)


def _ready(sockets: list[socket.socket], seconds: float) -> list[socket.socket]:
    """Give those that have something to read, or have ended; wait for the first no longer than so many seconds."""
    with selectors.DefaultSelector() as selector:
        for one in sockets:
            selector.register(one, selectors.EVENT_READ)
        found = {key.fileobj for key, _ in selector.select(seconds)}
    return [one for one in sockets if one in found]


class _Peers:
    """Sockets that lines come from; what caller and listener share."""

    def __init__(self, address: str) -> None:
        self.name, self.trouble = address, ""
        self._address = address_of(address)
        self._peers: dict[socket.socket, Lines] = {}
        self._left: list[Lines] = []  # what senders that have gone have left behind

    def poll(self, most: int, seconds: float) -> Events:
        """Give up to `most` lines."""
        deadline = time.monotonic() + seconds
        lines: list[bytes] = []
        n_bytes = 0
        while True:
            fresh = self._take(most - len(lines), ENOUGH - n_bytes)
            lines += fresh
            n_bytes += sum(map(len, fresh))
            if len(lines) >= most or n_bytes >= ENOUGH:
                break
            if not self._read_on(0.0 if lines else max(0.0, deadline - time.monotonic())):
                break
        if not lines:
            return NOTHING
        now = time.time()
        name = self.name
        return Events(lines, np.full(len(lines), now), lambda _: name, faults=too_long(lines), until=now)

    def _take(self, most: int, enough: int) -> list[bytes]:
        """Take lines that are complete, no more than so many, and none once they have so many bytes."""
        lines: list[bytes] = []
        for held in [*self._left, *self._peers.values()]:
            fresh = held.take(most - len(lines)) if enough > 0 else []
            lines += fresh
            enough -= sum(map(len, fresh))
        self._left = [held for held in self._left if held.n_bytes]
        return lines

    def _waiting(self) -> list[socket.socket]:
        """Give the sockets that may have something."""
        return list(self._peers)

    def _accept(self, ready: socket.socket) -> bool:  # noqa: ARG002
        return False

    def _read_on(self, seconds: float) -> bool:
        """Read what there is; says whether there was anything. The last line of a peer that leaves may lack its end."""
        waiting = self._waiting()
        if not waiting:
            time.sleep(min(seconds, 0.1))
            return False
        ready = _ready(waiting, seconds)
        for one in ready:
            if self._accept(one):
                continue
            try:
                chunk = one.recv(CHUNK)
            except OSError:
                chunk = b""
            if chunk:
                self._peers[one].add(chunk)
            else:
                self._left.append(self._peers.pop(one))
                self._left[-1].add(b"\n")
                one.close()
        return bool(ready)

    @property
    def position(self) -> Position:
        """Nothing: it cannot go back."""
        return {}

    def commit(self, position: Position) -> None:
        """Do nothing: senders want no receipt."""

    def lag(self) -> int | None:
        """Say that nobody knows."""
        return None

    def close(self) -> None:
        """Close all sockets."""
        for peer in self._peers:
            peer.close()
        self._peers.clear()


class _Caller(_Peers):
    """Connects to a sender, again and again where that is needed."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._tried = 0.0
        if not self._waiting():
            msg = f"{self.trouble}; with listen=True it waits for a sender there"
            raise StreamgaugeError(msg)

    def _waiting(self) -> list[socket.socket]:
        if not self._peers and time.monotonic() - self._tried > 0.5:
            self._tried = time.monotonic()
            try:
                peer = socket.create_connection(self._address, timeout=5.0)
            except OSError as error:
                self.trouble = f"nobody answers at {self.name}: {error.strerror or error}"
            else:
                self._peers[peer], self.trouble = Lines(), ""
        return list(self._peers)


class _Listener(_Peers):
    """Waits for senders."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        try:
            self._server = socket.create_server(self._address)
        except OSError as error:
            msg = f"cannot listen at {address}: {error.strerror or error}"
            raise StreamgaugeError(msg) from None

    def _waiting(self) -> list[socket.socket]:
        return [self._server, *self._peers] if len(self._peers) < MOST_PEERS else list(self._peers)

    def _accept(self, ready: socket.socket) -> bool:
        if ready is not self._server:
            return False
        with suppress(OSError):
            peer, _ = self._server.accept()
            self._peers[peer] = Lines()
        return True

    def close(self) -> None:
        """Close all sockets."""
        super().close()
        self._server.close()
