"""Pushing rows and reading values: every kind of input, late labels, threads, events."""

import asyncio
import json
import threading
import time
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

from streamgauge import load
from streamgauge.errors import FailureWarning, StreamgaugeError
from streamgauge.gauge import Gauge
from streamgauge.records import Alarm, ModelVerdict, Verdict


def test_labels_and_predictions_may_be_texts_numbers_arrays_and_columns_of_pandas() -> None:
    gauge = Gauge(every=2)
    gauge.update("1", 1)
    gauge.update(np.int64(0), 1.0)
    gauge.update(True, np.str_("1"))
    gauge.update([1, 0], ["1", "0"])
    gauge.update(np.array([1, 0], dtype=np.uint8), np.array([True, False]))
    gauge.update(pd.Series([1, 0]), pd.Series([1.0, np.nan]))
    gauge.update(np.array(["1", "other"]), pd.Series(["1", "0"], dtype="category"))
    assert gauge.classes == ("1", "0", "other")
    assert gauge.n_rows == 11
    assert gauge.reading()["accuracy"] == pytest.approx(8 / 11)
    assert gauge.results().rows.tolist() == [2, 4, 6, 8, 10, 11]


def test_whole_numbers_of_any_size_are_classes() -> None:
    gauge = Gauge()
    for column in (np.array([5, 70_000, -3]), np.array([5, 7]), np.array([], dtype=np.int64)):
        gauge.update(column, column)
    assert gauge.classes == ("5", "70000", "-3", "7")
    assert gauge.reading()["accuracy"] == 1.0


def test_probabilities_may_be_rows_dictionaries_tables_and_scores_of_one_class() -> None:
    shares = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    y = ["ok", "ok", "fraud"]
    pushed: list[Any] = [
        shares,
        shares.tolist(),
        {"ok": shares[:, 0], "fraud": shares[:, 1]},
        [{"ok": ok, "fraud": fraud} for ok, fraud in shares],
        pd.DataFrame(shares, columns=["ok", "fraud"]),
    ]
    gauges = [Gauge(["log_loss", "accuracy"], classes=["ok", "fraud"]) for _ in range(len(pushed) + 2)]
    for gauge, y_pred in zip(gauges, pushed, strict=False):
        gauge.update(y, y_pred)
    for label, (ok, fraud) in zip(y, shares.tolist(), strict=True):
        gauges[-2].update(label, (ok, fraud))
        gauges[-1].update(label, {"fraud": fraud, "ok": ok})
    of_one = Gauge(["log_loss", "accuracy"], classes=["ok", "fraud"], score_of="fraud")
    of_one.update(y[:2], shares[:2, 1])
    of_one.update("fraud", 0.8)
    expected = -np.log([0.9, 0.4, 0.8]).mean(), 2 / 3
    for gauge in (*gauges, of_one):
        np.testing.assert_allclose(gauge.reading().values.ravel(), expected)


def test_rows_without_label_are_counted_and_not_scored() -> None:
    gauge = Gauge()
    gauge.update([1, None, 0], [1, 1, 0])
    gauge.update(None, 1)
    reading = gauge.reading()
    assert (reading.row, reading["accuracy"]) == (4, 1.0)
    labels = gauge.results().labels
    assert labels is not None
    assert labels.n_unknown.tolist() == [2]
    empty = Gauge()
    empty.update(None, None)
    assert np.isnan(empty.reading()["accuracy"])


def test_a_gauge_without_rows_has_no_values() -> None:
    gauge = Gauge(models=["a", "b"])
    assert gauge.reading().row == 0
    assert np.isnan(gauge.reading().values).all()
    assert not gauge.verdicts()
    assert not gauge.alarms()
    with pytest.raises(StreamgaugeError, match="no rows yet"):
        gauge.results()


@pytest.mark.parametrize(
    ("options", "row", "message"),
    [
        ({}, ([1, 0], [1]), "1 values, but there are 2 labels"),
        ({}, ([1], [[0.5, 0.5]]), "declare the classes"),
        ({"classes": [0, 1, 2]}, (1, [0.5, 0.5]), "2 probabilities for 3 classes"),
        ({"classes": [0, 1]}, (1, [0.5, -0.5]), "at least 0"),
        ({"classes": [0, 1]}, (1, {0: "much"}), "neither classes nor probabilities"),
        ({"classes": [0, 1], "score_of": 1}, (1, 1.5), "from 0 to 1"),
        ({}, (1, 1, -1.0), "weights must be"),
        ({}, ([1, 0], [1, 0], [1.0]), "weight: 1 values"),
        ({}, (1, 1, "heavy"), "weight:"),
        ({}, (1, 1, None, float("nan")), "times must be"),
        ({}, (1, object()), "is no class"),
        ({"models": ["a", "b"]}, (1, 1), "prediction of each model: a, b"),
        ({"models": ["a", "b"]}, (1, {"a": 1}), "prediction of each model: a, b"),
    ],
)
def test_rows_that_make_no_sense_are_refused_and_change_nothing(
    options: dict[str, Any], row: tuple[Any, ...], message: str
) -> None:
    gauge = Gauge(**options)
    with pytest.raises(StreamgaugeError, match=message):
        gauge.update(*row)
    assert gauge.n_rows == 0
    gauge.update(1, dict.fromkeys(options["models"], 1) if "models" in options else 1.0)
    assert gauge.reading().row == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": "kapa"}, "did you mean kappa"),
        ({"measures": "recall[fraud]"}, "pass classes="),
        ({"budgets": "recall[fraud]>0.5"}, "pass classes="),
        ({"classes": ["a", "a"]}, "there twice"),
        ({"models": []}, "give a name"),
        ({"models": ["a", "a"]}, "different names"),
        ({"every": 0}, "every"),
        ({"score_of": "fraud"}, "needs both classes"),
        ({"score_of": "fraud", "classes": ["a", "b"]}, "none of the classes"),
        ({"budgets": "error"}, "no < or >"),
        ({"forgetting": "Windw"}, "Window"),
    ],
)
def test_options_are_checked_before_the_first_row(options: dict[str, Any], message: str) -> None:
    with pytest.raises(StreamgaugeError, match=message):
        Gauge(**options)


def test_late_labels_find_their_predictions_in_any_order_and_once() -> None:
    gauge = Gauge(models=["a", "b"])
    gauge.predicted("first", {"a": 1, "b": 0})
    gauge.predicted("second", {"a": 0, "b": 0})
    gauge.predicted("first", {"a": 0, "b": 0})
    assert gauge.labelled("second", 0)
    assert not gauge.labelled("third", 1)
    gauge.predicted("third", {"a": 1, "b": 1})
    assert gauge.labelled("first", 1)
    assert not gauge.labelled("first", 0)
    gauge.predicted("third", {"a": 1, "b": 1})
    reading = gauge.reading()
    assert (reading.row, reading["a", "accuracy"]) == (3, 1.0)
    assert reading["b", "accuracy"] == pytest.approx(2 / 3)
    assert vars(gauge.counts) == {
        "joined": 3,
        "waiting": 0,
        "early": 0,
        "expired": 0,
        "late": 0,
        "unmatched": 0,
        "repeated": 3,
    }
    with pytest.raises(StreamgaugeError, match="must be a class"):
        gauge.labelled("fourth", None)
    with pytest.raises(StreamgaugeError, match="a text or a whole number"):
        gauge.labelled(1.5, 0)  # type: ignore[arg-type]


def test_predictions_expire_with_time_and_where_there_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("streamgauge.gauge.gauge.clock.time", lambda: now)
    gauge = Gauge(patience=60.0, most_waiting=2)
    gauge.predicted("a", 1)
    gauge.labelled("early", 1)
    now = 1061.0
    assert not gauge.labelled("a", 1)
    counts = gauge.counts
    assert (counts.expired, counts.late, counts.unmatched, counts.waiting) == (1, 1, 1, 0)
    for key in range(3):
        gauge.predicted(key, 1)
    assert not gauge.labelled(0, 1)
    assert gauge.labelled(1, 1)
    assert (gauge.counts.expired, gauge.n_rows) == (2, 1)


def test_times_are_now_where_a_forgetting_needs_them_and_else_all_or_none() -> None:
    gauge = Gauge(forgetting="TimeWindow(60)")
    gauge.update(1, 1)
    gauge.update([0, 0], [1, 0])
    assert gauge.reading()["accuracy"] == pytest.approx(2 / 3)
    assert gauge.reading().time == pytest.approx(time.time(), abs=10.0)
    dated = Gauge(forgetting="TimeWindow(60)")
    dated.update(1, 0, time=datetime(2026, 1, 1, tzinfo=UTC))
    dated.update([1, 1], [1, 1], time=np.array(["2026-01-01T00:01:00", "2026-01-01T00:01:01"], "M8[s]"))
    assert dated.reading()["accuracy"] == 1.0
    plain = Gauge()
    plain.update(1, 1)
    with pytest.raises(StreamgaugeError, match="the rows before had none"):
        plain.update(1, 1, time=5.0)


def test_readings_name_what_is_missing() -> None:
    gauge = Gauge(["accuracy", "kappa"], models=["a", "b"], forgetting=["Window(10)", "Landmark"])
    gauge.update(1, {"a": 1, "b": 0})
    reading = gauge.reading()
    assert reading["b", "accuracy", "Landmark()"] == 0.0
    with pytest.raises(StreamgaugeError, match="also give one of a, b"):
        reading["accuracy"]
    with pytest.raises(StreamgaugeError, match="kapa"):
        reading["kapa"]
    assert "a Landmark() accuracy 100.00%" in str(reading)
    with pytest.raises(StreamgaugeError, match="give one of a, b"):
        gauge.curve("accuracy")


def test_threads_lose_and_double_nothing() -> None:
    gauge = Gauge(["accuracy", "tp[1]"], classes=[0, 1], every=500)
    n_threads, n = 4, 30_000

    def push(thread: int) -> None:
        for row in range(n):
            gauge.update(1, 1 if row % 3 else 0)
            if row % 5000 == 0:
                gauge.reading()
        gauge.predicted(f"key {thread}", 1)
        gauge.labelled(f"key {thread}", 1)
        gauge.update(np.ones(1000, dtype=int), np.ones(1000, dtype=int))

    threads = [threading.Thread(target=push, args=(thread,)) for thread in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reading = gauge.reading()
    assert reading.row == n_threads * (n + 1001)
    assert reading["tp[1]"] == n_threads * (n * 2 // 3 + 1001)
    assert gauge.results().rows.tolist()[:3] == [500, 1000, 1500]


def test_coroutines_can_push_and_read() -> None:
    async def run() -> float:
        gauge = Gauge()

        async def push(start: int) -> None:
            for row in range(200):
                gauge.predicted(start + row, row % 2)
                await asyncio.sleep(0)
                gauge.labelled(start + row, 1)

        await asyncio.gather(*(push(1000 * number) for number in range(10)))
        reading = await asyncio.to_thread(gauge.reading)
        assert reading.row == 2000
        return reading["accuracy"]

    assert asyncio.run(run()) == 0.5


def test_events_come_once_each_without_anybody_reading() -> None:
    events: list[Any] = []
    random = np.random.default_rng(1)
    with Gauge(models=["a", "b"], budgets="error<0.3", detectors="DDM", every=100) as gauge:
        gauge.notify(events.append)
        y = random.integers(0, 2, 4000)
        right = np.where(np.arange(4000) < 2000, 0.8, 0.4)
        worse, better = (np.where(random.random(4000) < share, y, 1 - y) for share in (right, 0.97))
        gauge.update(y, {"a": worse, "b": better})
        deadline = time.monotonic() + 30.0
        while not events and time.monotonic() < deadline:
            time.sleep(0.05)
        assert events
    n = len(events)
    kinds = {type(event) for event in events}
    assert kinds == {Alarm, ModelVerdict, Verdict}
    assert sum(isinstance(event, Alarm) for event in events) == len(gauge.alarms())
    broken = [event for event in events if isinstance(event, ModelVerdict) and event.outcome == "broken"]
    assert [event.learner for event in broken] == ["a"]
    gauge.reading()
    gauge.results()
    assert len(events) == n


def test_a_function_that_fails_for_an_event_does_not_stop_the_measuring() -> None:
    def fail(event: Any) -> None:
        msg = f"no room for {type(event).__name__}"
        raise RuntimeError(msg)

    events: list[Any] = []
    with Gauge(budgets="error<0.3", every=100) as gauge:
        gauge.notify(fail)
        gauge.notify(events.append)
        with pytest.warns(FailureWarning, match="no room for ModelVerdict"):
            gauge.update([1] * 70_000, [0] * 70_000)
    assert (len(events), gauge.reading().row) == (1, 70_000)


def test_an_error_of_a_measure_is_raised_again_and_not_hidden() -> None:
    def fails(tally: Any) -> float:
        msg = f"{tally.hits} hits"
        raise RuntimeError(msg)

    gauge = Gauge(fails, every=10)
    with pytest.raises(StreamgaugeError, match="the measure fails failed"):
        gauge.update([1] * 70_000, [1] * 70_000)
    with pytest.raises(StreamgaugeError, match="has failed before"):
        gauge.reading()


def test_long_curves_are_thinned_and_keep_their_ends() -> None:
    gauge = Gauge(every=1)
    column = np.arange(10_000) % 2
    gauge.update(column, np.zeros(10_000, dtype=int))
    gauge.reading()
    rows, values = gauge.curve("accuracy")
    assert len(rows) <= 4096
    assert rows[-1] == 10_000
    np.testing.assert_allclose(values, (rows + 1) // 2 / rows)


def test_results_can_be_reported_saved_and_compared(tmp_path: Any) -> None:
    random = np.random.default_rng(2)
    gauge = Gauge(["accuracy", "kappa"], models=["champion", "challenger"], budgets="error<0.4", every=100)
    y = random.integers(0, 2, 2000)
    gauge.update(
        y, {name: np.where(random.random(2000) < p, y, 1 - y) for name, p in (("champion", 0.8), ("challenger", 0.9))}
    )
    page = gauge.report(tmp_path / "report.html").read_text()
    assert "challenger" in page
    assert "error<0.4" in page or "error&lt;0.4" in page
    results = gauge.results()
    assert results.compare("champion", "challenger").better == "challenger"
    folder = results.save(tmp_path / "run")
    assert json.loads((folder / "manifest.json").read_text())
    assert load(folder).learners == ("champion", "challenger")
