"""Slow clients: how quickly the dashboard and HTTP push answer others meanwhile, and how much their memory grows.

Run with ``python -m benchmarks slow_clients``. Each server runs in a process of its own and listens on this machine
only. A thousand connections are opened: a third are silent, a third send one byte of a header a second, a third send a
header and no body. Then bodies of 16 MB each but for their last byte are sent, 200 MB in all. Meanwhile another client
sends a request every 0.1 s; its slowest answer is printed, connecting included.
"""

import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from threading import Event, Thread
from typing import Any

N_CONNECTIONS = 1_000
BODY_BYTES = 16_000_000
BODIES_BYTES = 200_000_000
SECONDS = 20.0
MAX_ANSWER_SECONDS = 1.0
MAX_GROWTH_MB = 300.0

PUSH_SERVER = """
import sys, time
from streamgauge.streams.live import HttpPush
stream = HttpPush(f"127.0.0.1:{sys.argv[1]}", schema={"attributes": {"x": None}, "classes": ["a", "b"]}, format="csv")
batches = stream.batches(1_000)
next(batches)
print("ready", flush=True)
for _ in batches:
    pass
"""
DASHBOARD = "import sys; from streamgauge.cli.main import main; sys.exit(main())"


@dataclass
class Outcome:
    """What a server did under slow clients.

    Parameters
    ----------
    name
        The server.
    n_answers
        Number of answers that the other client got.
    slowest
        Seconds of the slowest of them.
    growth
        Greatest growth of the memory of the process, in MB.
    n_refused
        Number of its requests that were not answered with success.
    """

    name: str
    n_answers: int
    slowest: float
    growth: float
    n_refused: int

    @property
    def met(self) -> bool:
        """Whether the goals are met."""
        return self.n_refused == 0 and self.slowest <= MAX_ANSWER_SECONDS and self.growth <= MAX_GROWTH_MB


@contextmanager
def start_dashboard(folder: str) -> Iterator[tuple[int, int]]:
    """Start the dashboard; yield its process and port."""
    command = [sys.executable, "-c", DASHBOARD, "serve", folder, "--port", "0", "--log-file", f"{folder}/log"]
    with _start(command) as process:
        address = process.stdout.readline().split()[0]  # type: ignore[union-attr]
        yield process.pid, int(address.rstrip("/").rpartition(":")[2])


@contextmanager
def start_push(port: int) -> Iterator[tuple[int, int]]:
    """Start a stream that is pushed over HTTP; yield its process and port."""
    with _start([sys.executable, "-c", PUSH_SERVER, str(port)]) as process:
        process.stdout.readline()  # type: ignore[union-attr]
        yield process.pid, port


@contextmanager
def _start(command: list[str]) -> "Iterator[subprocess.Popen[str]]":
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]


def attack(  # noqa: PLR0913
    name: str,
    pid: int,
    port: int,
    *,
    paths: tuple[str, str],
    body: bytes,
    header: str = "",
    n_connections: int,
    bodies_bytes: int,
    seconds: float,
) -> Outcome:
    """Open slow connections and send stalled bodies to the second path, while another client requests the first."""
    outcome, stop = Outcome(name, 0, 0.0, 0.0, 0), Event()
    client = Thread(target=_request_repeatedly, args=(outcome, pid, (port, paths[0]), body, stop))
    with ExitStack() as stack:
        client.start()
        time.sleep(0.2)
        stack.callback(client.join)
        stack.callback(stop.set)
        ends = time.monotonic() + seconds
        peers = [stack.enter_context(peer) for peer in _connect(port, n_connections)]
        head = f"POST {paths[1]} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {BODY_BYTES}\r\n{header}"
        for peer in peers[::3]:
            _send(peer, head.encode() + b"\r\n")
        for _ in range(-(-bodies_bytes // BODY_BYTES)):
            for peer in _connect(port, 1):
                stack.enter_context(peer)
                _send(peer, head.encode() + b"\r\n" + b"x" * (BODY_BYTES - 1))
        while time.monotonic() < ends:
            for peer in peers[1::3]:
                _send(peer, b"x")
            time.sleep(1.0)
    return outcome


def _connect(port: int, n: int) -> Iterator[socket.socket]:
    for _ in range(n):
        peer = socket.create_connection(("127.0.0.1", port), timeout=10.0)
        peer.settimeout(1.0)
        yield peer


def _send(peer: socket.socket, data: bytes) -> None:
    with suppress(OSError):  # it was closed, or the server does not read
        peer.sendall(data)


def _request_repeatedly(outcome: Outcome, pid: int, address: tuple[int, str], body: bytes, stop: Event) -> None:
    before = measure_memory(pid)
    while not stop.wait(0.1):
        started = time.perf_counter()
        ok = _request(*address, body)
        outcome.slowest = max(outcome.slowest, time.perf_counter() - started)
        outcome.n_answers += ok
        outcome.n_refused += not ok
        outcome.growth = max(outcome.growth, measure_memory(pid) - before)


def _request(port: int, path: str, body: bytes) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=30.0)
    try:
        connection.request("POST" if body else "GET", path, body or None)
        return connection.getresponse().status < 300
    except OSError:
        return False
    finally:
        connection.close()


def measure_memory(pid: int) -> float:
    """Return the resident memory of a process, in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def raise_file_limit() -> None:
    """Raise the number of files that this process may open to what the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def find_free_port() -> int:
    """Return a free port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def run(
    n_connections: int = N_CONNECTIONS, bodies_bytes: int = BODIES_BYTES, seconds: float = SECONDS
) -> Iterator[Outcome]:
    """Attack both servers in turn."""
    raise_file_limit()
    size: dict[str, Any] = {"n_connections": n_connections, "bodies_bytes": bodies_bytes, "seconds": seconds}
    with tempfile.TemporaryDirectory() as folder, start_dashboard(folder) as (pid, port):
        paths = ("/api/runs", "/api/start")
        yield attack(
            "dashboard", pid, port, paths=paths, body=b"", header=f"Origin: http://127.0.0.1:{port}\r\n", **size
        )
    with start_push(find_free_port()) as (pid, port):
        yield attack("HTTP push", pid, port, paths=("/rows", "/rows"), body=b"1,a\n2,b\n", **size)


def main() -> None:
    """Attack both servers and print what happened."""
    print(f"{N_CONNECTIONS:,} slow connections and {BODIES_BYTES / 1e6:.0f} MB of stalled bodies for {SECONDS:.0f} s")
    for outcome in run():
        verdict = "met" if outcome.met else "MISSED"
        print(
            f"{outcome.name:10} {outcome.n_answers} answers to others, {outcome.n_refused} refused, "
            f"slowest {outcome.slowest:.3f} s (goal {MAX_ANSWER_SECONDS:.0f} s); "
            f"memory +{outcome.growth:.0f} MB (goal {MAX_GROWTH_MB:.0f} MB): {verdict}"
        )


if __name__ == "__main__":
    main()
