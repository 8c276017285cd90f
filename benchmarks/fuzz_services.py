"""Damaged requests to the dashboard and pushed rows, messages of pages, bytes of sockets; for `benchmarks.fuzzing`."""

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock
from urllib.parse import urlencode

from starlette.applications import Starlette

import streamgauge as sg
from benchmarks.bit_flips import write_journal, write_store
from benchmarks.fuzz_records import ODD, change_facts
from benchmarks.fuzz_texts import change
from benchmarks.fuzzing import Misread, Reader, Try
from benchmarks.slow_clients import find_free_port, start_dashboard
from streamgauge.errors import StreamgaugeError
from streamgauge.results import save
from streamgauge.serve.app import create_app
from streamgauge.serve.live import Watcher
from streamgauge.serve.run_folders import RunFolders
from streamgauge.streams.live.http_server import PushServer
from streamgauge.streams.live.push import Inbox
from streamgauge.streams.live.sockets import _Listener

HOST = "127.0.0.1:8765"
PANELS: tuple[dict[str, Any], ...] = (
    {"kind": "measure", "name": "accuracy", "under": "Landmark()"},
    {"kind": "pair", "name": "bayes", "under": "majority", "compared": "accuracy"},
    {"kind": "cost", "name": "cpu_seconds"},
)
PATHS = (
    *(
        "/",
        "/api/runs",
        "/api/run",
        "/api/verdicts",
        "/api/experiment",
        "/api/curves",
        "/api/table.csv",
        "/api/choices",
    ),
    *(
        "/metrics",
        "/health",
        "/assets/icon.svg",
        "/assets/../app.py",
        "/api/start",
        "/api/stop",
        "/api/live",
        "/nothing",
    ),
)
TEXTS = (
    "saved",
    "live",
    "store",
    "../saved",
    "/etc",
    "",
    "\0",
    "a" * 5000,
    "runs",
    "%2e%2e",
    "\u2028",
    "noises",
    "row",
    "time",
)
HEADERS = ((b"host", HOST.encode()), (b"origin", f"http://{HOST}".encode()), (b"content-type", b"application/json"))
ODD_HEADERS = (
    *(
        (b"host", value)
        for value in (b"", b"[", b"evil.example", b"127.0.0.1:99999999", b"\xff", b"127.0.0.1@evil.example")
    ),
    *((b"origin", value) for value in (b"null", b"http://[", b"http://evil.example", b"file://", b"\xe9")),
    *((b"cookie", value) for value in (b"streamgauge=\xff", b"a=b; =;;;", b"streamgauge=" + b"x" * 9000)),
    *((b"authorization", value) for value in (b"Bearer \xff", b"Basic x", b"Bearer")),
    *((b"if-none-match", b'"' * 100), (b"range", b"bytes=9-1"), (b"content-length", b"-5"), (b"x", b"y" * 60_000)),
)
START: dict[str, Any] = {"stream": "SEA(noise=0.1)", "learners": ["NaiveBayes"], "rows": 100, "measures": ["accuracy"]}
START |= {"scheme": "Bootstrap(3)", "forgettings": ["Window(50)"], "detectors": ["DDM"], "seed": 1, "name": "new"}
TOKENS = (
    b"\r\n", b"\n", b"\0", b"\xff", b":", b" ", b"Content-Length: 5\r\n", b"Content-Length: 99999999999999999999\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Expect: 100-continue\r\n", b"GET ", b"POST ", b"HTTP/1.1", b"HTTP/9.9",
    b"\r\n\r\n", b"X: " + b"y" * 9000 + b"\r\n", b"%00", b"%ff", b"?", b"#", b"//", b"-1",
    b"Upgrade: websocket\r\nConnection: Upgrade\r\n",
)  # fmt: skip


def write_runs(folder: Path) -> None:
    """Write saved results, a journal and a store."""
    learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    save(sg.evaluate(sg.SEA(n_rows=300), learners, every=50, progress=False), folder / "saved")
    (folder / "live").mkdir()
    write_journal(folder / "live")
    write_store(folder / "store")


def make_text(random: Random) -> str:
    """Return a value of a query."""
    kind = random.random()
    if kind < 0.4:
        return random.choice(TEXTS)
    if kind < 0.8:
        return json.dumps(
            change_facts(random.choice(PANELS), random) if random.random() < 0.5 else random.choice(PANELS)
        )
    return str(random.choice(ODD)).encode(errors="replace").decode()


def try_request(app: Starlette, random: Random) -> None:
    """Send a request to the application: no answer is an internal error, and JSON is one that all clients read."""
    path = random.choice(PATHS)
    query = {
        name: make_text(random) for name in ("id", "panel", "name", "points", "from", "to", "x", "hidden", "token")
    }
    query |= {"id": random.choice(("saved", "live", "store"))} if random.random() < 0.6 else {}
    query |= {"panel": json.dumps(random.choice(PANELS))} if random.random() < 0.5 else {}
    query |= {
        name: random.choice(("", "1", "100", "1e3")) for name in ("points", "from", "to") if random.random() < 0.7
    }
    query |= {"x": "row"} if random.random() < 0.7 else {}
    kept = {name: text for name, text in query.items() if random.random() < (0.7 if name != "token" else 0.02)}
    body = json.dumps(change_facts(START, random)).encode()
    body = change(body, random, TOKENS) if random.random() < 0.3 else body
    body = b"[" * 60_000 if random.random() < 0.01 else body
    headers = [*HEADERS, random.choice(ODD_HEADERS)] if random.random() < 0.1 else [*HEADERS]
    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST"
        if path in {"/api/start", "/api/stop"}
        else random.choice(("GET", "GET", "HEAD", "PUT", "\xe9")),
        "path": path,
        "raw_path": path.encode(),
        "query_string": change(urlencode(kept).encode(), random, TOKENS)
        if random.random() < 0.1
        else urlencode(kept).encode(),
        "headers": dict(reversed(headers)).items() if random.random() < 0.5 else headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8765),
        "scheme": "http",
        "http_version": "1.1",
    }
    scope["headers"] = list(scope["headers"])
    status, content = asyncio.run(_answer(app, scope, body))
    if status >= 500:
        msg = f"{scope}, {body!r}: {status}"
        raise AssertionError(msg)
    if status >= 400:
        msg = f"{status}"
        raise StreamgaugeError(msg)
    if path.startswith("/api/") and path not in {"/api/curves", "/api/table.csv"} and content:
        json.loads(content, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> object:
    raise AssertionError(name)


async def _answer(app: Starlette, scope: dict[str, Any], body: bytes) -> tuple[int, bytes]:
    """Return status and body of the answer to a request."""
    status, content, pieces = 0, b"", [body]

    async def receive() -> dict[str, Any]:
        if pieces:
            return {"type": "http.request", "body": pieces.pop(), "more_body": False}
        await asyncio.sleep(3600.0)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:  # noqa: ANN401
        nonlocal status, content
        status = message.get("status", status)
        content += message.get("body", b"")

    await app(scope, receive, send)
    return status, content


def try_message(run_folders: RunFolders, random: Random) -> None:
    """Send a message of a page and follow what changes; a wrong message closes its connection."""
    wanted: Any = {"runs": {"saved": [0, 0], "live": [0, 3]}, "panels": list(PANELS)}
    wanted = change_facts(wanted, random) if random.random() < 0.9 else change_facts([wanted], random)
    watcher = Watcher(run_folders)
    try:
        watcher.subscribe(wanted)
    except (ValueError, TypeError, RecursionError) as error:  # those after which a connection is closed
        raise StreamgaugeError(" ".join(str(error).split())) from None
    for _ in range(2):
        json.dumps(watcher.find_changes(), default=str)


def exchange(port: int, request: bytes) -> bytes:
    """Send bytes and return the answer; raise if there is no end of it within five seconds."""
    with socket.create_connection(("127.0.0.1", port), timeout=5.0) as peer:
        with suppress(OSError):  # the server has closed the connection
            peer.sendall(request)
            peer.shutdown(socket.SHUT_WR)
        answer = b""
        with suppress(ConnectionError):
            while piece := peer.recv(1 << 16):
                answer += piece
    return answer


def check_status(answer: bytes) -> int:
    """Return the status of the first answer; raise if it is an internal error, or a refusal."""
    status = int(answer[9:12]) if answer.startswith(b"HTTP/1.") else 0
    if status >= 500 and status not in {501, 505}:  # an unknown method or version
        raise AssertionError(answer)
    if status == 0 or status >= 400:
        msg = f"{status}"
        raise StreamgaugeError(msg)
    return status


def try_bytes(port: int, random: Random) -> None:
    """Send a damaged request to a dashboard."""
    path = f"{random.choice(PATHS)}?{urlencode({'id': random.choice(TEXTS)})}"
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n\r\n"
    if random.random() < 0.3:
        key = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        key += f"Sec-WebSocket-Key: {'A' * 22}=="
        frame = "\x81\x85\0\0\0\0hello" if random.random() < 0.5 else ""
        request = request.replace(path, "/api/live").replace("\r\n\r\n", f"\r\n{key}\r\n\r\n{frame}")
    data = request.encode("latin-1")
    check_status(exchange(port, change(data, random, TOKENS) if random.random() < 0.8 else data))


def try_push(server: tuple[int, Inbox], random: Random) -> bool | None:
    """Push damaged requests; what is queued must be the lines of the body."""
    port, inbox = server
    body = b"".join(
        random.choice((b"1,a\n", b"2.5,b\r\n", b"\n", b"?,a", b"\xff\n", b"  \n")) for _ in range(random.randrange(6))
    )
    head = b"POST /rows HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    request = head + body
    if random.random() < 0.7:
        request = change(request, random, TOKENS)
    answer = exchange(port, request)
    queued = inbox.poll(1000, 0.0).values
    check_status(answer)
    if answer.count(b"HTTP/1.1 ") != 1 or not answer.startswith(b"HTTP/1.1 202") or request != head + body:
        return None
    expected = [line.removesuffix(b"\r") for line in body.split(b"\n") if line.strip()]
    if queued != expected:
        msg = f"{request!r}: {queued}"
        raise Misread(msg)
    return True


def try_lines(server: tuple[int, _Listener], random: Random) -> bool:
    """Send lines in pieces, and break off; complete lines are read, the last one is a fault."""
    port, listener = server
    parts = (b"1,a\n", b"2.5,b\r\n", b"\n", b"?,a", b"\xff\0\n", b"\r", b"x" * 70_000, b"{}\n")
    data = b"".join(random.choice(parts) for _ in range(random.randrange(1, 8)))
    with socket.create_connection(("127.0.0.1", port), timeout=5.0) as peer:
        for start in range(0, len(data), step := random.choice((1 << 20, 20_000, 7000))):
            peer.sendall(data[start : start + step])
    *lines, rest = data.split(b"\n")
    expected = [line.removesuffix(b"\r") for line in lines if line.strip()]
    cut_off = [rest] if rest.strip() else []
    found: list[bytes] = []
    faulty: list[bytes] = []
    deadline = time.monotonic() + 4.0
    while time.monotonic() < deadline and (len(found) + len(faulty) < len(expected) + len(cut_off) or listener._peers):
        events = listener.poll(1000, 0.02)
        bad = {index for index, _ in events.faults}
        found += [line for index, line in enumerate(events.values) if index not in bad]
        faulty += [line for index, line in enumerate(events.values) if index in bad]
    if (found, faulty) != (expected, cut_off):
        msg = f"{data!r}: {found}, {faulty}"
        raise Misread(msg)
    return True


@contextmanager
def open_app(folder: Path) -> Iterator[Try]:
    """Return what sends requests to the application; runs that it starts are none."""
    write_runs(folder)
    process = mock.Mock(**{"poll.return_value": 0})
    with mock.patch("streamgauge.serve.launched_runs.subprocess.Popen", return_value=process):
        yield partial(try_request, create_app(RunFolders(folder)))


@contextmanager
def open_folder(folder: Path) -> Iterator[Try]:
    """Return what follows runs as pages do."""
    write_runs(folder)
    yield partial(try_message, RunFolders(folder))


@contextmanager
def open_server(folder: Path) -> Iterator[Try]:
    """Return what sends bytes to a dashboard."""
    write_runs(folder)
    with start_dashboard(str(folder)) as (_, port):
        yield partial(try_bytes, port)


@contextmanager
def open_push(_: Path) -> Iterator[Try]:
    """Return what pushes rows."""
    inbox, port = Inbox("/rows"), find_free_port()
    server = PushServer(f"127.0.0.1:{port}", {"/rows": inbox})
    try:
        yield partial(try_push, (port, inbox))
    finally:
        server.stop()


@contextmanager
def open_listener(_: Path) -> Iterator[Try]:
    """Return what sends lines to a socket."""
    port = find_free_port()
    listener = _Listener(f"127.0.0.1:{port}")
    try:
        yield partial(try_lines, (port, listener))
    finally:
        listener.close()


READERS = (
    Reader("requests of the dashboard", 15, open_app),
    Reader("messages of pages", 6, open_folder),
    Reader("dashboard, bytes", 5, open_server),
    Reader("HTTP push, bytes", 8, open_push, "our own in Python"),
    Reader("sockets, bytes", 5, open_listener, "our own in Python"),
)
