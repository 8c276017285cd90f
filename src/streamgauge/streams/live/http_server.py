"""HTTP server to which events are pushed."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from streamgauge.errors import StreamgaugeError
from streamgauge.streams.live.line_buffer import MAX_LINE_BYTES, LineBuffer
from streamgauge.streams.live.push import Inbox
from streamgauge.streams.live.sockets import parse_address

__all__ = ["PushServer"]

MAX_BODY_BYTES = 1 << 24
"""The most bytes of a request; larger ones are refused."""


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

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors of a connection."""


class _Handler(BaseHTTPRequestHandler):
    """Handler of one request."""

    inboxes: ClassVar[dict[str, Inbox]] = {}
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self) -> None:
        """Queue the lines of a request."""
        inbox = self.inboxes.get(self.path.partition("?")[0])
        length = self.headers.get("Content-Length", "")
        if inbox is None:
            self._answer(404, {"error": f"unknown path; use {' or '.join(self.inboxes)}"}, close=True)
        elif not length.isdecimal():
            self._answer(411, {"error": "the request has no Content-Length"}, close=True)
        elif len(length) > len(str(MAX_BODY_BYTES)) or int(length) > MAX_BODY_BYTES:
            self._answer(413, {"error": f"the request has more than {MAX_BODY_BYTES} bytes"}, close=True)
        else:
            body = self.rfile.read(int(length))
            lines = _split_lines(body)
            if len(body) < int(length):
                self._answer(400, {"error": "the body is shorter than Content-Length"}, close=True)
            elif inbox.add(lines):
                self._answer(202, {"accepted": len(lines)})
            else:
                self._answer(503, {"error": "the queue of events is full: retry later"})

    def do_GET(self) -> None:
        """Return the number of queued lines of each path."""
        self._answer(200, {path: inbox.lag() for path, inbox in self.inboxes.items()})

    def _answer(self, status: int, content: dict[str, object], *, close: bool = False) -> None:
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
