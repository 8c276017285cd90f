"""Times in files: the parser beside Python's, and times of rows in every format."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.streams import SEA, File, Joined, Noisy, convert, write
from tests.support.file_examples import whole

zones = st.one_of(st.none(), st.just(UTC), st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m))))
moments = st.builds(
    lambda moment, zone: moment.replace(tzinfo=zone), st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)), zones
)


def in_seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def parse(text: str, time_format: str | None = None) -> float:
    times, _, fault = _native.parse_times([text], time_format)
    assert fault is None, fault
    return float(times[0])


@given(moments, st.sampled_from(["auto", "minutes", "seconds", "milliseconds", "microseconds"]), st.sampled_from("T "))
def test_iso_times_are_those_of_python(moment, precision, separator):
    text = moment.isoformat(separator, precision)
    assert parse(text) == in_seconds(datetime.fromisoformat(text))
    assert _native.is_time(text)


@given(
    moments,
    st.sampled_from(
        [
            "%d/%m/%Y %H:%M",
            "%m/%d/%Y %I:%M:%S %p",
            "%Y%m%d%H%M%S.%f",
            "%d %B %Y, %H.%M.%S",
            "%b %d %Y %H:%M",
            "%Y-%j",
            "%Y",
            "%H:%M %d.%m.%Y",
        ]
    ),
)
def test_formats_are_those_of_strptime(moment, time_format):
    moment = moment.replace(tzinfo=None)
    if moment.year < 1000:
        moment = moment.replace(year=moment.year + 1000)
    text = moment.strftime(time_format)
    assert parse(text, time_format) == in_seconds(datetime.strptime(text, time_format))


@given(st.text("0123456789-/:TZ +. apm", max_size=25))
def test_what_python_refuses_is_no_time(text):
    if _native.is_time(text):
        datetime.fromisoformat(text)


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)))
def test_a_time_is_written_as_python_writes_it(moment):
    seconds = in_seconds(moment.replace(microsecond=0))
    assert _native.format_time(seconds) == moment.replace(microsecond=0).isoformat() + "Z"


START = datetime(2024, 2, 28, 23, 0, tzinfo=UTC)
MOMENTS = [START + timedelta(minutes=17.25 * (i // 2)) for i in range(40)]
SECONDS = [moment.timestamp() for moment in MOMENTS]


def write_csv(path: Path, texts: list[str], name: str = "sent") -> Path:
    rows = "".join(f"{i},{text},{'ab'[i % 2]}\n" for i, text in enumerate(texts))
    path.write_text(f"n,{name},c\n{rows}")
    return path


WRITTEN: dict[str, tuple[list[str], dict[str, Any]]] = {
    "ISO": ([moment.isoformat() for moment in MOMENTS], {}),
    "ISO in quotes": ([f'" {moment:%Y-%m-%d %H:%M:%S}"'.replace('" ', '"') for moment in MOMENTS], {}),
    "other zones": (
        [m.astimezone(timezone(timedelta(hours=i % 9))).isoformat() for i, m in enumerate(MOMENTS)],
        {"time": "sent"},
    ),
    "seconds": ([str(s) for s in SECONDS], {"time": "sent"}),
    "milliseconds": ([str(int(s * 1000)) for s in SECONDS], {"time": 1, "time_format": "ms"}),
    "nanoseconds": ([str(int(s) * 10**9) for s in SECONDS], {"time": -2, "time_format": "ns"}),
    "day first": ([f"{m:%d/%m/%Y %H:%M:%S}" for m in MOMENTS], {"time": "sent", "time_format": "%d/%m/%Y %H:%M:%S"}),
}


@pytest.mark.parametrize(("texts", "options"), WRITTEN.values(), ids=WRITTEN)
def test_times_of_csv_are_seconds_since_1970_in_utc(tmp_path, texts, options):
    stream = File(write_csv(tmp_path / "t.csv", texts), **options)
    assert stream.has_times
    assert [attribute.name for attribute in stream.schema.attributes] == ["n"]
    for size, start in ((40, 0), (7, 0), (3, 11)):
        np.testing.assert_array_equal(whole(stream, size, start).time, SECONDS[start:])
    declared = File(tmp_path / "t.csv", **{"time": "sent", **options}, declared=stream.schema)
    np.testing.assert_array_equal(whole(declared, 9).time, SECONDS)


def test_recognised_times_are_noted_and_can_be_kept_or_dropped(tmp_path):
    path = write_csv(tmp_path / "t.csv", WRITTEN["ISO"][0])
    (note,) = File(path).notes
    assert "column 'sent' holds the times of the rows" in note
    assert "time='sent' (--time sent)" in note
    assert File(path, time="sent").notes == ()
    kept = File(path, numeric=("sent",))
    assert (whole(kept).x[:, 1].tolist(), whole(kept).time, kept.has_times) == (SECONDS, None, False)
    assert File(path, drop=("sent",)).has_times is False
    assert File(path, nominal=("sent",)).schema.attributes[1].is_nominal


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (["2024-01-02", "2024-01-01"] * 20, "holds times, but they decrease"),
        (["2024-01-02", ""] * 20, "holds times, but 20 are missing"),
    ],
    ids=["decreasing", "missing"],
)
def test_columns_of_times_that_cannot_be_the_time_are_left_out(tmp_path, texts, reason):
    stream = File(write_csv(tmp_path / "t.csv", texts))
    assert (stream.has_times, stream.schema.n_attributes) == (False, 1)
    assert reason in stream.notes[0]
    assert "numeric=('sent',) (--numeric sent) keeps it" in stream.notes[0]


def test_a_column_that_only_begins_with_a_time_holds_names(tmp_path):
    stream = File(write_csv(tmp_path / "t.csv", ["2024-01-02", "never", "2024-01-02", "soon"] * 10))
    assert stream.schema.attributes[1].values == ("2024-01-02", "never", "soon")


AT = "line 3, column 2 (time 'sent'): "
FAULTS = {
    "decreasing": (
        ["2024-01-02", "2024-01-01"],
        {},
        AT + "the time 2024-01-01T00:00:00Z is before",
    ),
    "missing": (["2024-01-02", "?"], {}, AT + "the time is missing"),
    "missing by name": (
        ["2024-01-02", "1970-01-01"],
        {"missing": ("1970-01-01",)},
        AT + "the time is",
    ),
    "mixed": (
        ["2024-01-02 10:00", "2024-01-02T10:00Z"],
        {},
        AT + "'2024-01-02T10:00Z' has a time zone",
    ),
    "ambiguous": (["03/04/2024", "03/04/2024"], {}, "is ambiguous: day or month first; set time_format='%d/%m/%Y' or"),
    "milliseconds": (["1706704215000"] * 2, {}, "look like milliseconds: set time_format='ms'"),
    "words": (["yesterday"] * 2, {}, "is not ISO 8601"),
    "other format": (["2024-01-02"] * 2, {"time_format": "%d.%m.%Y"}, "does not have the time_format '%d.%m.%Y'"),
    "no format": (["2024-01-02"] * 2, {"time_format": "iso"}, "time_format = 'iso': it must be s, ms, us or ns"),
}


@pytest.mark.parametrize(("texts", "options", "message"), FAULTS.values(), ids=FAULTS)
def test_faults_of_times_are_found_before_the_first_row(tmp_path, texts, options, message):
    stream = File(write_csv(tmp_path / "t.csv", texts), time="sent", header=True, **options)
    with pytest.raises(StreamgaugeError) as error:
        _ = stream.schema
    assert message in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "t.csv"))


def test_decreasing_times_are_refused_with_a_declared_schema_too(tmp_path):
    path = write_csv(tmp_path / "t.csv", ["2024-01-01", "2024-01-02", "2024-01-01"])
    schema = File(path, drop=("sent",)).schema
    with pytest.raises(StreamgaugeError, match=r"row 2 \(counted from 0\): the time in 'sent', 2024-01-01T00:00:00Z"):
        whole(File(path, time="sent", declared=schema), 1)


def as_arrow(kind: str) -> Any:
    if kind == "text":
        return pa.array([moment.isoformat() for moment in MOMENTS])
    if kind == "seconds":
        return pa.array(SECONDS)
    if kind == "int64":
        return pa.array([int(s * 1_000) for s in SECONDS])
    unit, _, zone = kind.partition(" ")
    return pa.array([moment.replace(tzinfo=None) for moment in MOMENTS]).cast(pa.timestamp(unit, zone or None))


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("kind", ["ms", "us", "ns", "us Europe/Berlin", "text", "seconds", "int64"])
def test_times_of_tables_are_seconds_since_1970_in_utc(tmp_path, kind, suffix):
    table = pa.table({"n": range(40), "sent": as_arrow(kind), "c": ["a", "b"] * 20})
    path = tmp_path / f"t.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, path, row_group_size=7)
    else:
        with pa.ipc.new_file(str(path), table.schema) as file:
            file.write_table(table, max_chunksize=7)
    options: dict[str, Any] = {"time": "sent"} if kind in ("seconds", "int64") else {}
    options |= {"time_format": "ms"} if kind == "int64" else {}
    stream = File(path, **options)
    np.testing.assert_array_equal(whole(stream, 9, 3).time, SECONDS[3:])
    assert bool(stream.notes) is not bool(options)
    pq.write_table(pa.table({"n": [1] * 8, "t": [*SECONDS[:6], 0, 1], "c": ["a", "b"] * 4}), path)
    with pytest.raises(StreamgaugeError, match=r"row 6 \(counted from 0\)"):
        _ = File(path, time="t", format="parquet").schema


def test_the_array_time_of_an_archive_is_the_time_of_its_rows(tmp_path):
    x, y = np.zeros((40, 2)), np.arange(40) % 2
    for times in (np.array(SECONDS), np.array([m.replace(tzinfo=None) for m in MOMENTS], dtype="M8[ms]")):
        np.savez(tmp_path / "t.npz", x=x, y=y, time=times)
        np.testing.assert_array_equal(whole(File(tmp_path / "t.npz"), 7).time, SECONDS)
    np.savez(tmp_path / "t.npz", x=x, y=y, time=np.array(SECONDS)[::-1])
    with pytest.raises(StreamgaugeError, match="row 2: the time in 'time'"):
        _ = File(tmp_path / "t.npz").schema


def test_streams_of_streams_pass_on_times_and_notes(tmp_path):
    file = File(write_csv(tmp_path / "t.csv", WRITTEN["ISO"][0]))
    noisy = Noisy(file, 0.1)
    assert (noisy.has_times, noisy.notes) == (True, file.notes)
    np.testing.assert_array_equal(whole(noisy, 7).time, SECONDS)
    assert Joined((noisy, noisy)).notes == file.notes
    assert Joined((SEA(n_rows=5), SEA(2, n_rows=5))).has_times is False


def test_a_target_of_many_numbers_is_questioned(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("a,price\n" + "".join(f"{i},{i}.5\n" for i in range(51)))
    with pytest.raises(StreamgaugeError, match="was regression meant"):
        _ = File(path).schema
    assert File(path, nominal=("price",)).schema.n_classes == 51
    write(SEA(n_rows=10), tmp_path / "t.parquet")
    pq.write_table(pa.table({"a": range(60), "price": range(60)}), tmp_path / "t.parquet")
    with pytest.raises(StreamgaugeError, match="was regression meant"):
        _ = File(tmp_path / "t.parquet").schema


@pytest.mark.parametrize("suffix", ["csv", "arff", "parquet", "arrow"])
def test_times_survive_a_conversion(tmp_path, suffix):
    file = File(write_csv(tmp_path / "t.csv", WRITTEN["ISO"][0]), time="sent")
    convert(file, tmp_path / f"copy.{suffix}")
    copy = File(tmp_path / f"copy.{suffix}", time="sent")
    np.testing.assert_array_equal(whole(copy, 7).time, SECONDS)
    np.testing.assert_array_equal(whole(copy, 7).x, whole(file, 9).x)
    assert [attribute.name for attribute in copy.schema.attributes] == ["n"]
