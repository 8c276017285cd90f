"""HTTP server to which events are pushed."""

import json
import socket
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, cast

from streamgauge.errors import StreamgaugeError
from streamgauge.streams.live.connections import ConnectionTable, count_affordable
from streamgauge.streams.live.line_buffer import MAX_LINE_BYTES, LineBuffer
from streamgauge.streams.live.push import MAX_QUEUED_BYTES, Inbox, count_bytes
from streamgauge.streams.live.sockets import parse_address

__all__ = ["PushServer"]

MAX_CONNECTIONS = 256
"""The most open connections; for a further one, the one that has waited longest for its client is closed."""

MAX_BODY_BYTES = 1 << 24
"""The most bytes of a request; larger ones are refused."""

MAX_BODIES_BYTES = 1 << 26
"""The most bytes of all requests that are being received."""

HEADER_SECONDS = 30.0
"""The most time until a connection has sent the header of its next request."""

BODY_SECONDS = 60.0
"""The most time for the body of a request."""

PIECE_BYTES = 1 << 16


class PushServer:
    """Server that runs in a thread until it is stopped.

    Parameters
    ----------
    address
        The address to listen at, as host:port.
    inboxes
        The queue of each path.
    """

    def __init__(self, address: str, inboxes: dict[str, Inbox]) -> None:
        handler = type("Handler", (_Handler,), {"inboxes": inboxes})
        try:
            self._server = _QuietServer(parse_address(address), handler)
        except OSError as error:
            msg = f"cannot listen at {address}: {error.strerror or error}"
            raise StreamgaugeError(msg) from None
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop listening; further calls do nothing."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


class _QuietServer(ThreadingHTTPServer):
    """Server that does not write errors of connections to standard error, which belongs to the run."""

    request_queue_size = 1024

    def __init__(self, *args: Any) -> None:  # noqa: ANN401
        self.table = ConnectionTable(max_connections=count_affordable(MAX_CONNECTIONS), max_bytes=MAX_BODIES_BYTES)
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Handle the requests of a connection in a thread."""
        self.table.add(request, partial(request.shutdown, socket.SHUT_RDWR), seconds=HEADER_SECONDS)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401
        """Close a connection."""
        self.table.remove(request)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Close slow connections; called ten times a second."""
        self.table.close_overdue()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors of a connection."""


class _Handler(BaseHTTPRequestHandler):
    """Handler of one request."""

    inboxes: ClassVar[dict[str, Inbox]] = {}
    protocol_version = "HTTP/1.1"
    timeout = 30

    @property
    def _table(self) -> ConnectionTable:
        return cast("_QuietServer", self.server).table

    def handle_one_request(self) -> None:
        """Read the header of a request and answer it."""
        self._table.wait(self.request, HEADER_SECONDS)
        super().handle_one_request()

    def do_POST(self) -> None:
        """Queue the lines of a request."""
        inbox = self.inboxes.get(self.path.partition("?")[0])
        length = self.headers.get("Content-Length", "")
        if self.headers.get("Origin") is not None:
            self._answer(403, {"error": "requests of web pages are refused"}, close=True)
        elif inbox is None:
            self._answer(404, {"error": f"unknown path; use {' or '.join(self.inboxes)}"}, close=True)
        elif not length.isdecimal():
            self._answer(411, {"error": "the request has no Content-Length"}, close=True)
        elif len(length) > len(str(MAX_BODY_BYTES)) or int(length) > MAX_BODY_BYTES:
            self._answer(413, {"error": f"the request has more than {MAX_BODY_BYTES} bytes"}, close=True)
        else:
            try:
                self._receive(inbox, int(length))
            finally:
                self._table.release(self.request)

    def _receive(self, inbox: Inbox, length: int) -> None:
        """Receive a body and queue its lines."""
        body = self._read_body(length)
        self._table.work(self.request)
        if body is None:
            self._answer(503, {"error": "too many requests are being received: retry later"}, close=True)
        elif len(body) < length:
            self._answer(400, {"error": "the body is shorter than Content-Length"}, close=True)
        elif count_bytes(length, body.count(b"\n") + 1) > MAX_QUEUED_BYTES:
            self._answer(413, {"error": "the request has too many lines: send fewer at once"})
        elif inbox.add(lines := _split_lines(body)):
            self._answer(202, {"accepted": len(lines)})
        else:
            self._answer(503, {"error": "the queue of events is full: retry later"})

    def _read_body(self, length: int) -> bytes | None:
        """Return the body, empty if the client breaks off; None if there is no memory for it."""
        self._table.wait(self.request, BODY_SECONDS)
        pieces, missing = [], length
        while missing:
            piece = self.rfile.read1(min(missing, PIECE_BYTES))
            if not piece:
                return b""
            if not self._table.reserve(self.request, len(piece)):
                return None
            self._table.touch(self.request)
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def do_GET(self) -> None:
        """Return the number of queued lines of each path; serves as a check of health."""
        self._answer(200, {path: inbox.lag() for path, inbox in self.inboxes.items()})

    def _answer(self, status: int, content: dict[str, object], *, close: bool = False) -> None:
        self._table.wait(self.request, HEADER_SECONDS)
        body = json.dumps(content).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 503:
            self.send_header("Retry-After", "1")
        if close:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Write no log."""


def _split_lines(body: bytes) -> list[bytes]:
    buffer = LineBuffer()
    buffer.add(body)
    lines = []
    while more := buffer.take(len(body) // MAX_LINE_BYTES + 100_000):
        lines += more
    return lines + buffer.finish()
