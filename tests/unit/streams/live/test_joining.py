"""Rows and labels that come apart are joined by key, in bounded memory and within a time limit."""

import json
import time
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.errors import StreamgaugeError
from streamgauge.records import UNLABELLED
from streamgauge.streams.live.decoding import Columns
from streamgauge.streams.live.events import NO_EVENTS, Events, EventSource, Position
from streamgauge.streams.live.joining import Join, RecentKeys
from streamgauge.streams.live.reader import Input
from streamgauge.streams.live.stream import LiveStream
from tests.support.live_examples import SCHEMA, as_json, collected, labels_as_json, rows


class Script:
    """A source that brings what a test has written down: blocks of (value, time), at each poll no more than one."""

    def __init__(self, blocks: list[list[tuple[bytes, float]]], position: Position | None) -> None:
        self.events = [event for block in blocks for event in block]
        self.edges = np.cumsum([len(block) for block in blocks]).tolist()
        self.at = 0 if position is None else position["at"]
        self.name, self.problem = "script", ""

    def poll(self, limit: int, _seconds: float) -> Events:
        edge = next((edge for edge in self.edges if edge > self.at), self.at)
        block = self.events[self.at : min(edge, self.at + limit)]
        self.at += len(block)
        times = np.array([moment for _, moment in block], dtype=np.float64)
        return (
            Events([value for value, _ in block], times, watermark=times.max(initial=-np.inf)) if block else NO_EVENTS
        )

    @property
    def position(self) -> Position:
        return {"at": self.at}

    def commit(self, position: Position) -> None:
        pass

    def lag(self) -> int | None:
        return len(self.events) - self.at

    def close(self) -> None:
        pass


class Scripted(LiveStream):
    """A live stream of scripts."""

    scripts: list[list[list[tuple[bytes, float]]]]

    def _open_sources(self, positions: list[Position | None]) -> list[EventSource]:
        return [Script(blocks, position) for blocks, position in zip(self.scripts, positions, strict=False)]


def scripted(*scripts: list[list[tuple[bytes, float]]], **options: Any) -> Scripted:
    stream = Scripted(schema=SCHEMA, key="id", labels="labels" if len(scripts) > 1 else None, max_wait=0.02, **options)
    object.__setattr__(stream, "scripts", list(scripts))
    return stream


def blocks(values: list[bytes], times: np.ndarray, cuts: list[int]) -> list[list[tuple[bytes, float]]]:
    events = list(zip(values, times.tolist(), strict=True))
    edges = [0, *sorted(cut % (len(events) + 1) for cut in cuts), len(events)]
    return [events[start:stop] for start, stop in pairwise(edges)]


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(1, 60),
    cuts=st.tuples(st.lists(st.integers(0, 100), max_size=5), st.lists(st.integers(0, 100), max_size=5)),
    seed=st.integers(0, 100),
)
def test_rows_leave_in_their_order_with_the_labels_that_came_in_time(
    n: int, cuts: tuple[list[int], list[int]], seed: int
) -> None:
    random = np.random.default_rng(seed)
    x, y = rows(n, seed)
    keys = [f"k{i}" for i in range(n)]
    moment = np.arange(n, dtype=np.float64)
    stated = moment + random.choice([-20.0, -1.0, 0.0, 2.0, 30.0], n)  # some early, some much too late
    order = np.argsort(stated, kind="stable")
    # a last label long after all others, so that nothing is left waiting
    labels = [*np.array(labels_as_json(y, keys), dtype=object)[order], labels_as_json(y[:1], ["none"])[0]]
    times = np.append(stated[order], n + 1000.0)
    stream = scripted(blocks(as_json(x, None, keys), moment, cuts[0]), blocks(labels, times, cuts[1]), patience=10.0)
    batch = collected(stream, n, seconds=5)
    np.testing.assert_array_equal(batch.x, x)
    in_time = np.abs(stated - moment) <= 10.0
    np.testing.assert_array_equal(batch.y, np.where(in_time, y, UNLABELLED))
    counts = stream.counts
    assert (counts.rows, counts.unlabelled) == (n, n - in_time.sum())
    assert counts.late == np.count_nonzero(stated > moment + 10.0)  # whichever of the two was read first
    assert counts.unmatched == np.count_nonzero(stated < moment - 10.0)  # the label without a row may still find one


def test_events_that_come_twice_too_late_or_broken_are_counted_and_set_aside(tmp_path: Any) -> None:
    letters = tmp_path / "dead" / "letters.jsonl"
    x, y = rows(3)
    row, label = as_json(x, None, ["a", "b", "c"]), labels_as_json(y, ["a", "b", "c"])
    stream = scripted(
        [[(row[0], 0.0), (row[0], 1.0), (b"\xff{", 2.0), (row[1], 3.0), (row[2], 4.0)]],
        [
            [(label[0], 0.0), (label[0], 1.0), (label[2], 5.0), (b'{"id": "b"}', 6.0)],
            [(labels_as_json(y[:1], ["unknown"])[0], 70.0), (label[1], 71.0)],
            [(labels_as_json(y[:1], ["later"])[0], 200.0)],
        ],
        patience=60.0,
        dead_letters=letters,
    )
    batch = collected(stream, 3, seconds=5)
    assert batch.y.tolist() == [y[0], UNLABELLED, y[2]]
    counts = stream.counts
    assert (counts.malformed, counts.duplicate, counts.late, counts.unlabelled) == (2, 2, 1, 1)
    written = [json.loads(line) for line in letters.read_text().splitlines()]
    assert [one["reason"] for one in written].count("malformed") == 2
    assert {"reason": "late", "key": "b", "value": label[1].decode()}.items() <= next(
        w for w in written if w["reason"] == "late"
    ).items()
    assert next(one for one in written if one["reason"] == "malformed")["value_base64"] == "/3s="
    assert "2 malformed, 2 duplicate, 1 late" in stream.status


def test_a_row_whose_label_never_comes_leaves_after_a_while() -> None:
    x, _ = rows(2)
    stream = scripted([[(event, 0.0) for event in as_json(x, None, ["a", "b"])]], [[]], patience=0.3)
    assert len(next(stream.batches(10))) == 0
    batch = collected(stream, 2, seconds=5)
    assert batch.y.tolist() == [UNLABELLED, UNLABELLED]


def test_no_more_wait_than_may_and_neither_side_can_block_the_other() -> None:
    n, limit = 400, 20
    x, y = rows(n)
    keys = [f"k{i}" for i in range(n)]
    row, label = as_json(x, None, keys), labels_as_json(y[::-1], keys[::-1])  # each side waits for the other's end
    time = np.zeros(n)
    one_by_one = list(range(n))
    stream = scripted(blocks(row, time, one_by_one), blocks(label, time, one_by_one), most_waiting=limit)
    batch = collected(stream, n, seconds=20)
    np.testing.assert_array_equal(batch.x, x)
    known = batch.y != UNLABELLED
    np.testing.assert_array_equal(batch.y[known], y[known])
    join = stream._reader._join
    assert join is not None
    assert len(join._early) <= limit
    assert len(join._rows.y) <= limit
    assert sum(map(len, join._labelled.save())) <= 2 * limit


def test_a_row_whose_key_came_before_is_reported_without_labels_of_their_own_too() -> None:
    x, y = rows(3)
    events = as_json(x, y, ["a", "b", "a"])
    stream = scripted([[(event, 0.0) for event in events]])
    batch = collected(stream, 2, seconds=5)
    np.testing.assert_array_equal(batch.x, x[:2])
    assert stream.counts.duplicate == 1


@pytest.mark.parametrize("apart", [False, True])
def test_a_restored_stream_continues_as_if_nothing_had_been(apart: bool, tmp_path: Any) -> None:
    n = 200
    x, y = rows(n)
    keys = [f"k{i % 190}" for i in range(n)]
    random = np.random.default_rng(1)
    moment = np.arange(n, dtype=np.float64)
    row = as_json(x, None if apart else y, keys)
    row[17] = b"{"
    stated = moment + random.choice([-5.0, 3.0, 50.0], n)
    order = np.argsort(stated)
    label = list(np.array(labels_as_json(y, keys), dtype=object)[order])
    scripts = [blocks(row, moment, list(range(0, n, 7)))]
    if apart:
        scripts.append(blocks(label, stated[order], list(range(0, n, 11))))

    def run(reading_rows: list[int], letters: Any) -> tuple[np.ndarray, np.ndarray, object, str]:
        parts = []
        stream = scripted(*scripts, patience=10.0, dead_letters=letters)
        for stop in reading_rows:
            parts.append(collected(stream, stop, size=13, seconds=2))
            state = stream.state()
            next(stream.batches(13, stream.counts.rows))  # read, but not safe
            stream = scripted(*scripts, patience=10.0, dead_letters=letters)
            stream.restore(state)
            assert stream.state() == state
        parts.append(collected(stream, 10_000, size=13, seconds=1.0))
        rejected = letters.read_text()
        return np.concatenate([p.x for p in parts]), np.concatenate([p.y for p in parts]), stream.counts, rejected

    whole = run([], tmp_path / "whole.jsonl")
    cut = run([20, 50], tmp_path / "cut.jsonl")
    np.testing.assert_array_equal(whole[0], cut[0])
    np.testing.assert_array_equal(whole[1], cut[1])
    assert whole[2] == cut[2]
    assert sorted(whole[3].splitlines()) == sorted(cut[3].splitlines())


def test_a_damaged_or_foreign_state_is_refused() -> None:
    stream = scripted([[]])
    for state in (b"", b"nonsense", stream.state()[:-30]):
        with pytest.raises(StreamgaugeError, match="not a saved state of a live stream"):
            stream.restore(state)
    with pytest.raises(StreamgaugeError, match="another live stream"):
        scripted([[]], [[]]).restore(stream.state())


def test_it_cannot_go_back_but_can_start_over() -> None:
    x, y = rows(4)
    stream = scripted([[(event, 0.0) for event in as_json(x, y, ["a", "b", "c", "d"])]])
    assert len(collected(stream, 4)) == 4
    with pytest.raises(StreamgaugeError, match="cannot go to row 2: it is at row 4"):
        next(stream.batches(10, 2))
    assert len(next(stream.batches(10))) == 4


def test_recent_keys_are_at_least_as_many_as_asked_for_and_no_more_than_twice() -> None:
    keys = RecentKeys(10)
    for i in range(1000):
        keys.add([str(i).encode()])
        assert all(str(j).encode() in keys for j in range(max(0, i - 9), i + 1))
        assert sum(map(len, keys.save())) <= 20


def test_a_join_without_rows_gives_none() -> None:
    nothing = Columns(
        np.empty(0, dtype=np.int64), np.empty((0, 1)), np.empty(0, dtype=np.int32), None, None, [], np.empty(0), []
    )
    join = Join(1, 1.0, 10)
    assert join.add_rows(nothing) == join.add_labels(nothing) == []
    assert len(join.take(5).y) == 0


def test_a_moment_without_events_is_no_sign_that_there_are_no_more() -> None:
    inlet = Input(cast("Any", SimpleNamespace(poll=lambda *_: NO_EVENTS)), cast("Any", None))
    inlet.poll(10, 0.0)
    assert inlet.is_idle
    assert not inlet.is_idle_for(0.05)
    time.sleep(0.06)
    inlet.poll(10, 0.0)
    assert inlet.is_idle_for(0.05)
    inlet.restart_clock()
    assert not inlet.is_idle_for(0.05)
