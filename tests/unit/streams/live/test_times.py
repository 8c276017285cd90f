"""Times of events: they are read as in files, and a row that was overtaken counts at the latest time so far."""

import io
import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import TimeWindow
from streamgauge.labelling import DelayedByTime
from streamgauge.streams import ArrayStream, GrowingFile
from streamgauge.streams.live.decoding import Columns, Decoder, Format
from streamgauge.streams.live.events import Events
from tests.support.live_examples import SCHEMA, as_json, rows

MOMENTS = st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1), timezones=st.sampled_from([UTC, None]))
FORMATS = ["%d/%m/%Y %H:%M:%S", "%m/%d/%y %I:%M %p", "%Y%m%d", "%b %d %Y %H.%M"]


def decode(values: list[bytes], form: Format) -> Columns:
    return Decoder(SCHEMA, form, target="class", time="at").decode(Events(values, np.zeros(len(values))))


def as_utc(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


@given(st.lists(MOMENTS, min_size=1, max_size=10), st.integers(-12, 12))
def test_iso_times_of_json_and_csv_are_those_of_python(moments: list[datetime], hours: int) -> None:
    zone = timezone(timedelta(hours=hours, minutes=30))
    moments = [moment.astimezone(zone) if moment.tzinfo else moment for moment in moments]
    texts = [moment.isoformat(" " if index % 2 else "T") for index, moment in enumerate(moments)]
    written = [json.dumps({"at": text, "price": 1.0, "class": "up"}).encode() for text in texts]
    lines = [f"{text},1.0,mo,up".encode() for text in texts]
    for values, form in ((written, Format()), (lines, Format("csv", ("at", "price", "day", "class")))):
        columns = decode(values, form)
        assert columns.faults == []
        assert columns.time is not None
        np.testing.assert_allclose(columns.time, [as_utc(moment) for moment in moments], rtol=0, atol=1e-6)


@pytest.mark.parametrize("time_format", FORMATS)
@given(moments=st.lists(MOMENTS, min_size=1, max_size=5))
def test_other_formats_are_those_of_strptime(time_format: str, moments: list[datetime]) -> None:
    texts = [moment.strftime(time_format) for moment in moments]
    expected = [as_utc(datetime.strptime(text, time_format)) for text in texts]
    lines = [f"{text},1.0,mo,up".encode() for text in texts]
    columns = decode(lines, Format("csv", ("at", "price", "day", "class"), time_format=time_format))
    assert columns.faults == []
    np.testing.assert_array_equal(columns.time, expected)


@pytest.mark.parametrize(("unit", "per_second"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_numbers_have_the_unit_that_is_set(unit: str, per_second: int) -> None:
    count = 1_706_704_215 * per_second + per_second // 4
    written = [json.dumps({"at": value, "price": 1, "class": "up"}).encode() for value in (count, str(count))]
    expected = count // per_second + (count % per_second) / per_second
    columns = decode(written, Format(time_format=unit))
    assert columns.faults == []
    assert columns.time is not None
    assert columns.time.tolist() == [expected, expected]


def test_a_bad_time_is_a_fault_that_states_what_to_set() -> None:
    values: list[Any] = [1_706_704_215_000, "03/04/2024", "yesterday", True, None, 20_240_131]
    columns = decode([json.dumps({"at": v, "price": 1, "class": "up"}).encode() for v in values], Format())
    reasons = [reason for _, reason in columns.faults]
    parts = ["time_format='ms'", "ambiguous", "not ISO 8601", "true is not a time", "is missing", "looks like a date"]
    assert len(columns.y) == 0
    for reason, part in zip(reasons, parts, strict=True):
        assert "time 'at'" in reason
        assert part in reason


@pytest.mark.parametrize("logical", ["timestamp-millis", "timestamp-micros", "date", None])
def test_avros_own_times_need_no_format_and_texts_and_numbers_are_read_as_elsewhere(logical: str | None) -> None:
    kind: Any = (
        "string" if logical is None else {"type": "int" if logical == "date" else "long", "logicalType": logical}
    )
    fields = [{"name": "at", "type": kind}, {"name": "price", "type": "double"}, {"name": "class", "type": "string"}]
    schema = {"type": "record", "name": "Trade", "fields": fields}
    moment: Any = datetime(2024, 1, 31, 12, 30, 15, 250_000, tzinfo=UTC)
    at, seconds = moment, moment.timestamp()
    if logical == "date":
        at, seconds = moment.date(), 1_706_659_200.0
    elif logical is None:
        at = "2024-01-31 13:30:15.25+01"
    file = io.BytesIO()
    fastavro.schemaless_writer(file, schema, {"at": at, "price": 1.0, "class": "up"})
    columns = decode([file.getvalue()], Format("avro", avro=json.dumps(schema)))
    assert columns.faults == []
    assert columns.time is not None
    assert columns.time.tolist() == [seconds]


def write_rows(path: Path, x: np.ndarray, y: np.ndarray, times: list[Any]) -> GrowingFile:
    """Write rows of JSON with times; return the file as a live stream."""
    events = (json.loads(event) for event in as_json(x, y))
    lines = [json.dumps({"at": at, **event}) for at, event in zip(times, events, strict=True)]
    path.write_text("".join(line + "\n" for line in lines))
    return GrowingFile(path, schema=SCHEMA, time="at", max_wait=0.05, dead_letters=path.with_suffix(".dead"))


def timed_rows(n: int) -> tuple[np.ndarray, np.ndarray, list[str], np.ndarray]:
    x, y = rows(n)
    seconds = 1_700_000_000.0 + np.cumsum(np.random.default_rng(3).integers(0, 100, n))
    return x, y, [datetime.fromtimestamp(s, UTC).isoformat() for s in seconds], seconds


def test_late_labels_and_windows_by_time_on_a_live_stream_are_those_of_the_rows_in_memory(tmp_path: Path) -> None:
    x, y, texts, seconds = timed_rows(1000)
    still = ArrayStream(x, y, schema=SCHEMA, time=seconds)
    live = write_rows(tmp_path / "rows.jsonl", x, y, texts)
    results = [
        sg.evaluate(
            stream,
            sg.NaiveBayes(),
            labelling=DelayedByTime("10 min"),
            forgetting=TimeWindow("1 h 30 min"),
            every=100,
            n_rows=1000,
        )
        for stream in (live, still)
    ]
    np.testing.assert_array_equal(results[0].values, results[1].values)


def test_a_row_that_was_overtaken_counts_at_the_latest_time_and_is_counted_also_after_a_restart(tmp_path: Path) -> None:
    x, y, texts, seconds = timed_rows(300)
    order = np.arange(300)
    order[40], order[45] = 45, 40
    texts[200] = "soon"
    written = [texts[i] for i in order]
    expected = np.maximum.accumulate(np.delete(seconds[order], 200))
    overtaken = np.count_nonzero(expected > np.delete(seconds[order], 200))
    live = write_rows(tmp_path / "rows.jsonl", x, y, written)
    first = next(live.batches(43))
    again = GrowingFile(
        **{name: getattr(live, name) for name in ("path", "schema", "time", "max_wait", "dead_letters")}
    )
    again.restore(live.state())
    rest = next(again.batches(300, start=43))
    assert first.time is not None
    assert rest.time is not None
    np.testing.assert_array_equal(np.append(first.time, rest.time), expected)
    assert again.counts.out_of_order == overtaken > 0
    assert again.counts.malformed == 1
    assert f"{overtaken} out of order" in str(again.counts)
    (letter,) = (json.loads(line) for line in (tmp_path / "rows.dead").read_text().splitlines())
    assert letter["reason"] == "malformed"
    assert "time 'at': 'soon' is not ISO 8601" in letter["why"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_format": "ms"}, "time_format='ms' needs the field that it describes"),
        ({"time": "at", "time_format": "%H:%M"}, "it must have one year"),
        ({"time": "at", "time_format": "iso"}, "time_format = 'iso'"),
    ],
)
def test_an_impossible_format_is_refused_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(StreamgaugeError, match=message):
        GrowingFile("rows.jsonl", schema=SCHEMA, **options)
