"""The example service under load: it and the receiver of its alert are killed, and nothing is lost or doubled."""

import json
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

SERVICE = Path(__file__).parents[2] / "examples" / "gauge_service" / "service.py"

RECEIVER = """
import http.server, pathlib, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with pathlib.Path(sys.argv[2]).open("ab") as file:
            file.write(body + b"\\n")
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def find_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Parts:
    """The service and the receiver of its alerts, each a process that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port, self.alert_port = folder, find_port(), find_port()
        self.alerts = folder / "alerts.jsonl"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, part: str) -> None:
        commands: dict[str, list[Any]] = {
            "service": [SERVICE, "--folder", self.folder / "state", "--port", self.port,
                        "--alert", f"http://127.0.0.1:{self.alert_port}/"],
            "receiver": ["-c", RECEIVER, self.alert_port, self.alerts],
        }  # fmt: skip
        self.processes[part] = subprocess.Popen([sys.executable, *map(str, commands[part])])

    def kill(self, part: str) -> None:
        process = self.processes.pop(part)
        process.kill()
        process.wait()

    def request(self, path: str, message: dict[str, Any] | None = None) -> Any:
        """Send a request again until it is answered."""
        data = None if message is None else json.dumps(message).encode()
        deadline = time.monotonic() + 60.0
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", data, timeout=10.0) as answer:
                    return answer.read()
            except urllib.error.HTTPError:
                raise
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    running = Parts(tmp_path)
    yield running
    for process in running.processes.values():
        process.kill()
        process.wait()


KILLS = {333: "service", 700: "service", 1_100: "service", 1_300: "receiver"}


def push_under_kills(parts: Parts, n: int) -> int:
    """Send predictions, and labels in another order, while parts are killed; return how many answers were right."""
    draw, n_right = random.Random(1), 0
    waiting: list[dict[str, Any]] = []
    for number in range(n):
        message: dict[str, Any] = {"id": f"payment {number}", "amount": draw.uniform(0.0, 100.0)}
        for _ in range(1 + (number % 50 == 0)):  # a client that repeats itself
            answer = json.loads(parts.request("/predict", message))
        fraud = message["amount"] > 50.0
        n_right += answer["fraud"] == fraud
        waiting.append({"id": message["id"], "fraud": fraud})
        draw.shuffle(waiting)
        if len(waiting) > 100:
            parts.request("/labels", waiting.pop())
        if number in KILLS:
            parts.kill(KILLS[number])
            parts.start(KILLS[number])
        if number == 900:
            parts.start("receiver")
    for label in waiting * 2:
        parts.request("/labels", label)
    return n_right


def test_kills_of_each_part_lose_and_double_nothing_and_the_alert_comes_once(parts: Parts) -> None:
    parts.start("service")  # the receiver is not there yet: the alert has to wait for it
    n_right = push_under_kills(parts, n := 1_500)
    reading = json.loads(parts.request("/reading"))
    values = {tuple(names): value for *names, value in reading["values"]}
    assert reading["row"] == n
    assert values["champion", "Landmark()", "accuracy"] == pytest.approx(n_right / n)
    counts = reading["counts"]
    assert (counts["joined"], counts["waiting"], counts["early"], counts["expired"]) == (n, 0, 0, 0)
    assert any("champion breaks recall[fraud]>0.6" in verdict for verdict in reading["verdicts"])
    assert b'streamgauge_rows_total{gauge="payments"} 1500' in parts.request("/metrics")
    assert b"challenger" in parts.request("/report")
    deadline = time.monotonic() + 60.0
    while not parts.alerts.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    parts.processes["service"].send_signal(signal.SIGTERM)
    parts.processes["service"].wait(30.0)
    alerts = [json.loads(line) for line in parts.alerts.read_text().splitlines()]
    assert [(alert["learner"], alert["outcome"]) for alert in alerts] == [("champion", "broken")]


def test_requests_that_make_no_sense_are_refused(parts: Parts) -> None:
    parts.start("service")
    messages: list[dict[str, Any]] = [
        {},
        {"id": 1, "amount": 2.0},
        {"id": "a", "amount": "x"},
        {"id": "a" * 5000, "amount": 1},
    ]
    for message in messages:
        with pytest.raises(urllib.error.HTTPError, match="400"):
            parts.request("/predict", message)
    assert json.loads(parts.request("/reading"))["row"] == 0
