"""Events are delivered once each, retried, and never block."""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from streamgauge import Gauge, evaluate
from streamgauge.errors import StreamgaugeError
from streamgauge.records import Alarm, EarlierVerdict, ModelVerdict, Verdict
from streamgauge.sinks import Call, Command, Webhook, delivery, describe_event, identify_event

FACTS: Any = (0.081, (0.062, 0.1), 0.05, 0.05, 1, "empirical_bernstein", "error", "rate", False)
BROKEN = ModelVerdict("tree", "error<0.05", "broken", 9000, 8000, *FACTS)
DRIFT = Alarm(1200, "tree", 0, "DDM", "drift")


class Receiver:
    """An HTTP server that answers with given statuses, then with 200, and keeps what it got."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.got: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status = receiver.statuses.pop(0) if receiver.statuses else 200
                receiver.headers.append(dict(self.headers))
                if status == 200:
                    receiver.got.append(body)
                self.send_response(status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setattr(delivery, "FIRST_PAUSE", 0.01)
    server = Receiver()
    yield server
    server.stop()


def test_a_webhook_posts_each_event_once_and_tries_again_when_the_server_fails(receiver: Receiver) -> None:
    receiver.statuses = [503, 429, 500]
    with Webhook(receiver.url, headers={"Authorization": "Bearer x"}, source="shop") as sink:
        for event in (BROKEN, DRIFT, BROKEN):
            sink(event)
    assert [facts["event"] for facts in receiver.got] == ["model_verdict", "alarm"]
    assert receiver.got[0] == describe_event(BROKEN, "shop")
    assert receiver.headers[0]["Authorization"] == "Bearer x"
    assert {headers["Idempotency-Key"] for headers in receiver.headers[:4]} == {identify_event(BROKEN, "shop")}
    counts = sink.counts
    assert (counts.sent, counts.repeated, counts.failed, counts.waiting) == (2, 1, 0, 0)
    assert "500" in counts.last_error


@pytest.mark.parametrize("status", [404, 302])
def test_faults_of_the_request_and_redirects_are_not_tried_again(receiver: Receiver, status: int) -> None:
    receiver.statuses = [status]
    with Webhook(receiver.url, body=lambda facts: {"text": facts["text"]}) as sink:
        sink(BROKEN)
        sink(DRIFT)
    assert receiver.got == [{"text": "tree: drift signalled by DDM after row 1,200"}]
    assert (sink.counts.sent, sink.counts.failed) == (1, 1)


def test_a_server_that_does_not_answer_blocks_nobody_and_events_are_given_up_in_the_end() -> None:
    sink = Webhook("http://127.0.0.1:9/", patience=0.05, timeout=1.0)
    started = time.monotonic()
    for row in range(100):
        sink(Alarm(row, "tree", 0, "DDM", "drift"))
    assert time.monotonic() - started < 1.0
    counts = sink.close(timeout=0.3)
    assert (counts.sent, counts.waiting) == (0, 0)
    assert counts.failed == 100
    assert counts.last_error


def test_events_for_which_there_is_no_room_are_counted() -> None:
    go = threading.Event()
    sink = Call(lambda _: go.wait(30.0), most_waiting=3)
    for row in range(5):
        sink(Alarm(row, "tree", 0, "DDM", "drift"))
    assert (sink.counts.waiting, sink.counts.dropped) == (3, 2)
    go.set()
    assert sink.close().sent == 3


def test_only_some_events_are_sent() -> None:
    sent: list[dict[str, Any]] = []
    with Call(sent.append, only=lambda event: isinstance(event, ModelVerdict) and event.outcome == "broken") as sink:
        sink(DRIFT)
        sink(BROKEN)
    assert [facts["outcome"] for facts in sent] == ["broken"]


def test_a_ledger_keeps_events_from_being_sent_again_after_a_restart(tmp_path: Path) -> None:
    sent: list[dict[str, Any]] = []
    for _ in range(2):
        with Call(sent.append, ledger=tmp_path / "folder" / "sent.txt") as sink:
            sink(BROKEN)
    assert len(sent) == 1
    assert sink.counts.repeated == 1

    def fail(facts: dict[str, Any]) -> None:
        raise RuntimeError(facts["id"])

    with Call(fail, ledger=tmp_path / "failed.txt", patience=0.01) as failing:
        failing(DRIFT)
    assert failing.counts.failed == 1
    with Call(sent.append, ledger=tmp_path / "failed.txt") as sink:
        sink(DRIFT)
    assert len(sent) == 2


def test_a_closed_sink_can_be_used_again() -> None:
    sent: list[dict[str, Any]] = []
    sink = Call(sent.append)
    sink.close()
    for event in (BROKEN, DRIFT):
        sink(event)
        sink.close()
    assert [facts["event"] for facts in sent] == ["model_verdict", "alarm"]


def test_events_are_identified_by_what_they_say() -> None:
    pair: Any = Verdict("a", "b", "first", 4000, 0.1, (0.05, 0.15), 0.01, 0.05, 1, "x", "null")
    later = replace(BROKEN, outcome="undecided", row=None, earlier=EarlierVerdict("broken", 9000, 9500))
    events = [BROKEN, DRIFT, pair, later]
    assert len({identify_event(event) for event in events}) == 4
    assert len({identify_event(BROKEN, source) for source in ("", "shop")}) == 2
    for event in events:
        assert json.loads(json.dumps(describe_event(event), allow_nan=False))["id"] == identify_event(event)


def test_a_run_sends_its_verdicts() -> None:
    sent: list[dict[str, Any]] = []
    with Call(sent.append, source="run") as sink:
        evaluate("SEA(n_rows=6000)", ["NaiveBayes", "NoChange"], on_verdict=sink, budgets="error<0.4", every=500)
    assert {facts["event"] for facts in sent} == {"verdict", "model_verdict"}
    assert len({facts["id"] for facts in sent}) == len(sent)


def test_an_alert_of_a_restored_gauge_is_not_sent_again(tmp_path: Path, receiver: Receiver) -> None:
    def open_sink() -> Webhook:
        return Webhook(receiver.url, ledger=tmp_path / "sent.txt", source="shop")

    rows = [1] * 3000, [1, 1, 0] * 1000
    state = Gauge(budgets="error<0.2").to_bytes()
    for _ in range(2):  # the process is killed after the alert, and goes back to the state before it
        with open_sink() as sink, Gauge.from_bytes(state) as gauge:
            gauge.notify(sink)
            gauge.update(*rows)
    assert [facts["outcome"] for facts in receiver.got] == ["broken"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Webhook("ftp://example.org"), "http://"),
        (lambda: Webhook("http://"), "name a host"),
        (lambda: Webhook("http://localhost", timeout=-1.0), "timeout"),
        (lambda: Command(""), "name a program"),
        (lambda: Call(print, patience=-1.0), "patience"),
        (lambda: Call(print, most_waiting=0), "most_waiting"),
    ],
)
def test_options_are_checked(make: Any, message: str) -> None:
    with pytest.raises(StreamgaugeError, match=message):
        make()


def test_secrets_are_not_shown() -> None:
    sink = Webhook("https://user:word@hooks.example.org:8443/T000/secret", headers={"Authorization": "Bearer secret"})
    assert repr(sink) == "Webhook('https://hooks.example.org:8443')"
