"""Sockets, growing files and pushed requests: rows come as they are sent, and nothing grows without bound."""

import gc
import json
import socket
import struct
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from peers.brokers import find_free_port
from streamgauge.errors import StreamgaugeError
from streamgauge.streams import ArrayStream
from streamgauge.streams.live import GrowingFile, HttpPush, Socket, growing, http_server, push, sockets
from streamgauge.streams.live import line_buffer as live_lines
from streamgauge.streams.live.events import Events
from streamgauge.streams.live.line_buffer import MAX_LINE_BYTES, LineBuffer
from streamgauge.streams.live.sockets import parse_address
from tests.support.live_examples import SCHEMA, as_csv, as_json, collected, labels_as_json, rows

LEARNERS = [sg.NaiveBayes(), sg.MajorityClass()]


def joined(events: list[bytes]) -> bytes:
    return b"".join(event + b"\n" for event in events)


def same_readings(stream: Any, x: np.ndarray, y: np.ndarray) -> None:
    """Check that a live stream gives what the same rows in memory give."""
    options: dict[str, Any] = {"every": 100, "n_rows": len(y), "scheme": sg.Bootstrap(3)}
    live, still = (sg.evaluate(s, LEARNERS, **options) for s in (stream, ArrayStream(x, y, schema=SCHEMA)))
    np.testing.assert_array_equal(live.values, still.values)
    assert live.complete


def test_a_file_is_read_while_it_grows_and_the_evaluation_is_that_of_its_rows(tmp_path: Path) -> None:
    x, y = rows(1000)
    path = tmp_path / "rows.csv"
    path.write_bytes(b"price,day,class\n" + joined(as_csv(x[:500], y[:500])))

    def grow() -> None:
        rest = joined(as_csv(x[500:], y[500:]))
        with path.open("ab") as file:
            for start in range(0, len(rest), 3001):
                file.write(rest[start : start + 3001])
                file.flush()
                time.sleep(0.005)

    with threading_of(grow):
        same_readings(GrowingFile(path, schema=SCHEMA, format="csv", header=True, max_wait=0.05), x, y)


class threading_of:  # noqa: N801
    """Do something beside the block."""

    def __init__(self, work: Any) -> None:
        self._thread = threading.Thread(target=work)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._thread.join()


def test_a_file_that_is_rotated_is_read_to_its_end_first(tmp_path: Path) -> None:
    x, y = rows(30)
    events = as_json(x, y)
    path = tmp_path / "rows.jsonl"
    stream = GrowingFile(path, schema=SCHEMA, max_wait=0.05)
    assert len(next(stream.batches(10))) == 0
    assert "does not exist yet" in stream.status
    path.write_bytes(joined(events[:10]))
    assert len(collected(stream, 10)) == 10
    with path.open("ab") as file:
        file.write(joined(events[10:15]) + events[15])  # the last without an end
    path.rename(tmp_path / "rows.1")
    path.write_bytes(joined(events[16:20]))
    batch = collected(stream, 10)
    np.testing.assert_array_equal(batch.x, x[10:20])
    path.write_bytes(joined(events[20:21]))  # cut and written again
    np.testing.assert_array_equal(collected(stream, 1).x, x[20:21])


def test_a_growing_file_continues_where_it_was_and_refuses_another(tmp_path: Path) -> None:
    x, y = rows(30)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(joined(as_json(x, y)))
    stream = GrowingFile(path, schema=SCHEMA, max_wait=0.05)
    first = next(stream.batches(7))
    state = stream.state()
    again = GrowingFile(path, schema=SCHEMA, max_wait=0.05)
    again.restore(state)
    rest = collected(again, 23)
    np.testing.assert_array_equal(np.concatenate([first.x, rest.x]), x)
    assert rest.start == 7
    path.unlink()
    path.write_bytes(b"{}\n")
    with pytest.raises(StreamgaugeError, match="is not the file that was read before"):
        again.restore(state)


@pytest.mark.parametrize("listen", [False, True])
def test_a_socket_sends_rows_and_their_labels(listen: bool) -> None:
    x, y = rows(600)
    keys = [f"k{i}" for i in range(len(y))]
    ports = [find_free_port(), find_free_port()]
    contents = [joined(as_json(x, None, keys)), joined(labels_as_json(y, keys))]

    def send(port: int, content: bytes, server: socket.socket | None) -> None:
        if server is None:
            for _ in range(100):
                try:
                    peer = socket.create_connection(("127.0.0.1", port), timeout=5)
                    break
                except OSError:
                    time.sleep(0.05)
        else:
            peer, _ = server.accept()
            server.close()
        with peer:
            peer.sendall(content)
            time.sleep(0.3)

    servers = [None if listen else socket.create_server(("127.0.0.1", port)) for port in ports]
    senders = [threading.Thread(target=send, args=part) for part in zip(ports, contents, servers, strict=True)]
    for sender in senders:
        sender.start()
    address, labels = (f"127.0.0.1:{port}" for port in ports)
    stream = Socket(address, listen=listen, schema=SCHEMA, key="id", labels=labels, max_wait=0.05)
    same_readings(stream, x, y)
    for sender in senders:
        sender.join()
    stream.close()


def test_an_address_without_a_listener_is_reported() -> None:
    with pytest.raises(StreamgaugeError, match="cannot connect to"):
        next(Socket(f"127.0.0.1:{find_free_port()}", schema=SCHEMA).batches(1))
    for address in ("nowhere", "host:x", ":1", "host:70000"):
        with pytest.raises(StreamgaugeError, match="it must be host:port"):
            Socket(address, schema=SCHEMA)


def test_a_sender_is_held_up_by_a_slow_evaluation_and_nothing_is_lost() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{server.getsockname()[1]}"
    x, y = rows(1000)
    content = joined(as_csv(x, y)) * 400  # some 13 MB, far more than the buffers of a socket
    sent = 0

    def send() -> None:
        nonlocal sent
        peer, _ = server.accept()
        with peer:
            for start in range(0, len(content), 1 << 16):
                peer.sendall(content[start : start + (1 << 16)])
                sent = start

    with threading_of(send), server:
        stream = Socket(address, schema=SCHEMA, format="csv")
        first = next(stream.batches(100))
        time.sleep(0.5)
        assert sent < len(content) * 0.9
        before = sent
        time.sleep(0.2)
        assert sent == before  # it waits
        batch = collected(stream, 400_000 - len(first), size=20_000, seconds=60)
        assert len(first) + len(batch) == 400_000
        stream.close()


@pytest.fixture
def pushed() -> Iterator[tuple[HttpPush, str]]:
    address = f"localhost:{find_free_port()}"
    stream = HttpPush(address, schema=SCHEMA, key="id", labels="/labels", max_wait=0.05)
    assert len(next(stream.batches(1))) == 0
    yield stream, f"http://{address}"
    stream.close()


def post(url: str, body: bytes, **headers: str) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=10) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def test_rows_and_labels_are_pushed(pushed: tuple[HttpPush, str], monkeypatch: pytest.MonkeyPatch) -> None:
    stream, url = pushed
    x, y = rows(300)
    keys = [f"k{i}" for i in range(len(y))]
    assert post(f"{url}/rows", joined(as_json(x, None, keys))) == (202, {"accepted": 300})
    assert post(f"{url}/labels", joined(labels_as_json(y, keys))[:-1]) == (202, {"accepted": 300})
    assert post(f"{url}/nothing", b"x")[0] == 404
    batch = collected(stream, 300)
    np.testing.assert_array_equal(batch.x, x)
    np.testing.assert_array_equal(batch.y, y)
    monkeypatch.setattr(push, "MAX_QUEUED_BYTES", 100_000)
    answers = [post(f"{url}/rows", b"x" * 60_000)[0] for _ in range(3)]
    assert answers == [202, 503, 503]
    assert stream.lag == 1


def test_senders_that_break_off_or_lie_are_answered_in_silence(
    pushed: tuple[HttpPush, str], capfd: pytest.CaptureFixture[str]
) -> None:
    stream, url = pushed
    address = parse_address(url.removeprefix("http://"))
    head = b"POST /rows HTTP/1.1\r\nContent-Length: "
    for start in (b"PO", head + b"100\r\n\r\nabc"):
        with socket.create_connection(address) as peer:
            peer.sendall(start)
            time.sleep(0.05)
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset
    with socket.create_connection(address) as peer:
        peer.sendall(head + b"9" * 5000 + b"\r\n\r\n")
        assert peer.recv(1000).startswith(b"HTTP/1.1 413")
    assert post(f"{url}/rows", b"\n" * 250_000 + b"1\n2\n3") == (202, {"accepted": 3})
    assert capfd.readouterr().err == ""
    assert stream.lag == 3


def test_a_poll_ends_once_it_has_enough_bytes_and_loses_no_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (growing, sockets, push):
        monkeypatch.setattr(module, "MAX_POLL_BYTES", 5000)
        monkeypatch.setattr(module, "CHUNK_BYTES", 1000, raising=False)
    lines = [b"%05d" % i + b"x" * 95 for i in range(1000)]
    path = tmp_path / "lines"
    path.write_bytes(joined(lines))
    inbox = push.Inbox("/rows")
    assert inbox.add(lines)
    listener = sockets._Listener(f"127.0.0.1:{find_free_port()}")
    with socket.create_connection(listener._address) as peer:
        peer.sendall(joined(lines))
    for source in (growing._Tail(path, None, header=False), inbox, listener):
        found: list[bytes] = []
        while fresh := source.poll(10**6, 0.2).values:
            assert len(fresh) <= 60
            found += fresh
        assert found == lines
        source.close()


def test_senders_that_leave_give_no_more_lines_than_are_asked_for() -> None:
    listener = sockets._Listener(f"127.0.0.1:{find_free_port()}")
    peers = [socket.create_connection(listener._address) for _ in range(3)]
    while len(listener._peers) < 3:
        listener.poll(1, 0.1)
    for i, peer in enumerate(peers):
        peer.sendall(b"%d\n" % i)
        peer.close()
    polls = [listener.poll(1, 0.5).values for _ in range(3)]
    assert sorted(polls) == [[b"0"], [b"1"], [b"2"]]
    listener.close()


@pytest.mark.parametrize("reset", [False, True])
def test_a_line_that_is_cut_off_by_a_disconnect_is_set_aside(tmp_path: Path, reset: bool) -> None:
    address, letters = f"127.0.0.1:{find_free_port()}", tmp_path / "letters.jsonl"
    stream = Socket(address, listen=True, schema=SCHEMA, format="csv", max_wait=0.05, dead_letters=letters)
    assert len(next(stream.batches(1))) == 0
    x, y = rows(3)
    lines = as_csv(x, y)
    with socket.create_connection(parse_address(address)) as peer:
        peer.sendall(joined(lines[:2]) + lines[2][: lines[2].rindex(b",")] + b",1")  # it could be a class, or its start
        time.sleep(0.1)
        if reset:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    batch = collected(stream, 2)
    np.testing.assert_array_equal(batch.x, x[:2])
    deadline = time.monotonic() + 5.0
    while not stream.facts()["malformed"] and time.monotonic() < deadline:
        assert len(next(stream.batches(10, 2))) == 0
    assert stream.facts()["malformed"] == 1
    stream.close()
    assert "the connection closed within the line" in letters.read_text(encoding="utf-8")


def test_the_rest_of_a_line_that_was_too_long_is_not_set_aside_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_lines, "MAX_LINE_BYTES", 10)
    lines = LineBuffer()
    lines.add(b"x" * 20)
    assert lines.take(5) == [b"x" * 11]
    lines.add(b"xx")
    assert lines.cut_off() == []
    lines.add(b"aa\nbb\ncc")
    assert lines.cut_off() == [b"cc"]
    assert lines.take(5) == [b"aa", b"bb"]


def test_pages_and_requests_of_very_many_lines_are_refused(pushed: tuple[HttpPush, str]) -> None:
    stream, url = pushed
    assert post(f"{url}/rows", b"1\n", Origin="http://evil.example")[0] == 403
    status, answer = post(f"{url}/rows", b"1\n" * 600_000)
    assert (status, answer) == (413, {"error": "the request has too many lines: send fewer at once"})
    assert stream.lag == 0


def test_stalled_bodies_give_way_to_others_and_their_memory_is_bounded(
    pushed: tuple[HttpPush, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, url = pushed
    table = find_table(url)
    monkeypatch.setattr(table, "max_bytes", 1_000_000)
    head = b"POST /rows HTTP/1.1\r\nContent-Length: 400000\r\n\r\n"
    peers = [socket.create_connection(parse_address(url.removeprefix("http://"))) for _ in range(10)]
    for peer in peers:
        peer.sendall(head + b"x" * 399_999)
    assert post(f"{url}/rows", b"x" * 400_000)[0] == 202
    assert table._n_bytes <= 1_000_000
    for peer in peers:
        peer.close()
    wait_until(lambda: table._n_bytes == 0 and len(table) == 0)


def test_silent_connections_give_way_to_others_and_end(
    pushed: tuple[HttpPush, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, url = pushed
    table = find_table(url)
    monkeypatch.setattr(table, "max_connections", 8)
    peers = [socket.create_connection(parse_address(url.removeprefix("http://"))) for _ in range(40)]
    assert post(f"{url}/rows", b"x")[0] == 202
    wait_until(lambda: table.n_closed >= 33)
    assert len(table) <= 8
    monkeypatch.setattr(http_server, "HEADER_SECONDS", 0.2)
    late = socket.create_connection(parse_address(url.removeprefix("http://")))
    late.settimeout(5.0)
    assert late.recv(1) == b""
    for peer in (*peers, late):
        peer.close()


def find_table(url: str) -> Any:
    """Return the table of connections of the server at an address."""
    port = int(url.rpartition(":")[2])
    servers = (found for found in gc.get_objects() if isinstance(found, http_server._QuietServer))
    return next(server.table for server in servers if server.server_address[1] == port)


def wait_until(done: Any) -> None:
    deadline = time.monotonic() + 10.0
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_side_without_room_does_not_let_the_other_be_asked_without_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = rows(2000)
    (tmp_path / "rows").write_bytes(joined(as_json(x, None, [f"k{i}" for i in range(len(y))])))
    (tmp_path / "labels").write_bytes(b"")
    stream = GrowingFile(
        tmp_path / "rows", schema=SCHEMA, key="id", labels=str(tmp_path / "labels"), most_waiting=1000, max_wait=0.2
    )
    batches = stream.batches(100)
    next(batches)
    asked = 0
    poll = growing._Tail.poll

    def counted(self: growing._Tail, limit: int, seconds: float) -> Events:
        nonlocal asked
        asked += 1
        return poll(self, limit, seconds)

    monkeypatch.setattr(growing._Tail, "poll", counted)
    assert len(next(batches)) == 0
    assert asked < 50
    stream.close()


def test_lines_are_cut_the_same_however_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_lines, "MAX_LINE_BYTES", 10)
    content = b"a\r\n\n  \nbb\n" + b"x" * 35 + b"\nccc\n" + b"y" * 10 + b"\nd"
    expected = [b"a", b"bb", b"x" * 11, b"ccc", b"y" * 10, b"d"]
    for size in range(1, 70):
        lines, found = LineBuffer(), []
        for start in range(0, len(content), size):
            lines.add(content[start : start + size])
            while fresh := lines.take(2):
                found += [line[:11] for line in fresh]
            assert lines.n_bytes <= 10 + size
        found += lines.finish()
        assert found == expected
        assert lines.n_taken == len(content)
    assert MAX_LINE_BYTES > 10


def test_a_live_run_ends_by_its_time_limit_even_where_nothing_comes(tmp_path: Path) -> None:
    stream = GrowingFile(tmp_path / "none.jsonl", schema=SCHEMA, max_wait=0.05)
    started = time.monotonic()
    results = sg.evaluate(stream, sg.NaiveBayes(), time_limit=0.3)
    assert time.monotonic() - started < 5
    assert not results.complete
    assert results.n_rows == 0
    assert results.description["ended_by"] == "time limit"


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_labels_find_their_rows_though_the_clock_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: float
) -> None:
    x, y = rows(20)
    keys = [f"k{i}" for i in range(20)]
    (tmp_path / "rows").write_bytes(joined(as_json(x, None, keys)))
    (tmp_path / "labels").write_bytes(b"")
    stream = GrowingFile(
        tmp_path / "rows", schema=SCHEMA, key="id", labels=str(tmp_path / "labels"), patience=60.0, max_wait=0.05
    )
    assert len(next(stream.batches(20))) == 0
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + jump)
    (tmp_path / "labels").write_bytes(joined(labels_as_json(y, keys)))
    assert collected(stream, 20).y.tolist() == y.tolist()
    stream.close()
