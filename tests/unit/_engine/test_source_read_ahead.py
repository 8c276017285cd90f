"""Reading ahead: the same rows in the same order, never far ahead, and nothing left behind."""

import threading
import time

import numpy as np
import pytest

import streamgauge as sg
from streamgauge._engine.source import read_ahead
from streamgauge.streams import ArrayStream


def test_items_come_in_their_order_and_an_error_in_its_place():
    def items():
        yield 1
        yield 2
        msg = "broken"
        raise OSError(msg)

    with read_ahead(items()) as ahead:
        assert [next(ahead), next(ahead)] == [1, 2]
        with pytest.raises(OSError, match="broken"):
            next(ahead)


def test_no_more_than_two_items_are_read_before_they_are_asked_for():
    n_read = []

    def items():
        for item in range(100):
            n_read.append(item)
            yield item

    with read_ahead(items()) as ahead:
        for taken in range(10):
            assert next(ahead) == taken
            time.sleep(0.01)
            assert len(n_read) <= taken + 3


def test_a_run_that_is_left_early_leaves_no_reader_and_an_open_stream_is_closed():
    closed = threading.Event()

    def items():
        try:
            while True:
                yield 0
        finally:
            closed.set()

    with read_ahead(items()) as ahead:
        next(ahead)
    assert closed.is_set()
    watched = iter(sg.Evaluation(sg.SEA(), sg.NaiveBayes(), every=250, batch_size=100, backend=sg.Threads(2)))
    assert next(watched).row == 250
    assert any(thread.name == "streamgauge-reader" for thread in threading.enumerate())
    watched.close()  # type: ignore[attr-defined]
    assert not any(thread.name == "streamgauge-reader" for thread in threading.enumerate())


def test_the_rows_are_read_in_a_thread_of_their_own_but_not_where_one_thread_was_asked_for():
    x, y = np.zeros((300, 1)), np.zeros(300, dtype=np.int64)
    seen: dict[int, set[str]] = {1: set(), 2: set()}

    class Watched(ArrayStream):
        def batches(self, size, start=0):
            for batch in super().batches(size, start):
                seen[n].add(threading.current_thread().name)
                yield batch

    for n in (1, 2):
        sg.evaluate(Watched(x, y), sg.NoChange(), backend=sg.Threads(n), batch_size=100)
    assert seen == {1: {"MainThread"}, 2: {"streamgauge-reader"}}


def test_an_error_of_the_stream_comes_after_the_rows_before_it():
    class Broken(ArrayStream):
        def batches(self, size, start=0):
            for batch in super().batches(size, start):
                if batch.start >= 200:
                    msg = "row 200 is broken"
                    raise sg.StreamgaugeError(msg)
                yield batch

    stream = Broken(np.zeros((300, 1)), np.zeros(300, dtype=np.int64))
    run = sg.Evaluation(stream, sg.NoChange(), batch_size=100, backend=sg.Threads(2)).advance()
    assert [next(run).n_rows, next(run).n_rows] == [100, 200]
    with pytest.raises(sg.StreamgaugeError, match="row 200"):
        next(run)
