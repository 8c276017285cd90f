"""The server that events are pushed to."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from streamgauge.errors import StreamgaugeError
from streamgauge.streams.live.line_buffer import LONGEST, Lines
from streamgauge.streams.live.push import Inbox
from streamgauge.streams.live.sockets import address_of

__all__ = ["Server"]

LARGEST_BODY = 1 << 24
"""A request with more bytes is refused."""


class Server:
    """Listens until one of its paths is closed.

    Parameters
    ----------
    address
        Where.
    inboxes
        What takes the lines of each path.
    """

    def __init__(self, address: str, inboxes: dict[str, Inbox]) -> None:
        handler = type("Handler", (_Handler,), {"inboxes": inboxes})
        try:
            self._server = _Quiet(address_of(address), handler)
        except OSError as error:
            msg = f"cannot listen at {address}: {error.strerror or error}"
            raise StreamgaugeError(msg) from None
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop listening; once is enough."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


class _Quiet(ThreadingHTTPServer):
    """Says nothing where a sender breaks off: standard error belongs to the run."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Go on with the other senders."""


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    inboxes: ClassVar[dict[str, Inbox]] = {}
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self) -> None:
        """Take the lines of a request."""
        inbox = self.inboxes.get(self.path.partition("?")[0])
        length = self.headers.get("Content-Length", "")
        if inbox is None:
            self._answer(404, {"error": f"there is {' and '.join(self.inboxes)}, and nothing else"}, close=True)
        elif not length.isdecimal():
            self._answer(411, {"error": "the request does not say how long it is"}, close=True)
        elif len(length) > len(str(LARGEST_BODY)) or int(length) > LARGEST_BODY:
            self._answer(413, {"error": f"the request has more than {LARGEST_BODY} bytes"}, close=True)
        else:
            body = self.rfile.read(int(length))
            lines = _lines_of(body)
            if len(body) < int(length):
                self._answer(400, {"error": "the request ended early"}, close=True)
            elif inbox.add(lines):
                self._answer(202, {"accepted": len(lines)})
            else:
                self._answer(503, {"error": "too many events wait to be evaluated: come again"})

    def do_GET(self) -> None:
        """Tell how many lines wait."""
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
        """Say nothing, for the same reason."""


def _lines_of(body: bytes) -> list[bytes]:
    lines = Lines()
    lines.add(body)
    found = []
    while fresh := lines.take(len(body) // LONGEST + 100_000):
        found += fresh
    return found + lines.finish()
