"""Frames are read by the rules of files: the same content is the same stream, to the bit."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import streamgauge as sg
from streamgauge._foreign import adopt_stream
from streamgauge.errors import StreamgaugeError
from streamgauge.labelling import DelayedByTime
from streamgauge.streams import ArrayStream, File, as_stream
from streamgauge.streams.columns import parse_times

NAMES = ["mo", "tu", "Zürich", "a,b", 'say "hi"', "东京", "x y", "ÅB", "b2"]
READERS: dict[str, Callable[[Path], Any]] = {
    "pandas": pd.read_csv,
    "pandas on Arrow": lambda path: pd.read_csv(path, dtype_backend="pyarrow", engine="pyarrow"),
    "pandas, nullable": lambda path: pd.read_csv(path, dtype_backend="numpy_nullable"),
    "polars": lambda path: pl.read_csv(path, infer_schema_length=None),
    "polars with dates": lambda path: pl.read_csv(path, infer_schema_length=None, try_parse_dates=True),
}


def write_csv(path: Path, table: dict[str, list[Any]]) -> Path:
    """Write a table; None is an empty cell."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(["" if value is None else value for value in row] for row in zip(*table.values(), strict=True))
    return path


def check_same(stream: Any, other: Any) -> None:
    """Check that two streams are equal to the bit."""
    assert stream.schema == other.schema
    assert stream.has_times == other.has_times
    rows, others = (next(one.batches(10_000)) for one in (stream, other))
    for column in ("x", "y", "weight", "time"):
        left, right = getattr(rows, column), getattr(others, column)
        assert (left is None) == (right is None), column
        if left is not None:
            np.testing.assert_array_equal(left, right, err_msg=column)


def columns_of(n: int) -> st.SearchStrategy[dict[str, list[Any]]]:
    """Draw a table of n rows: numbers, names, truth values, times and texts, with gaps."""

    def column(values: st.SearchStrategy[Any], *, gaps: bool = True) -> st.SearchStrategy[list[Any]]:
        return st.lists(st.none() | values if gaps else values, min_size=n, max_size=n)

    labels: st.SearchStrategy[list[Any]] = st.sampled_from(
        [["up", "down"], [0, 1, 2], [0.0, 1.0], [1.5, 2.5], ["True", "False"], ["true", "false"]]
    )
    days = st.lists(st.integers(0, 400), min_size=n, max_size=n).map(sorted)
    return st.fixed_dictionaries(
        {
            "count": column(st.integers(-1000, 1000)),
            "amount": column(st.integers(-(10**9), 10**9).map(lambda cents: cents / 100)),
            "place": column(st.sampled_from(NAMES)),
            "open": column(st.booleans(), gaps=False),
            "memo": column(st.integers(0, 10**6).map(lambda i: f"note {i}")),
            "day": days.map(lambda days: [str(np.datetime64("2024-01-01") + d) for d in days]),
            "seen": column(st.integers(0, 10**6).map(lambda s: f"{np.datetime64('2024-01-01T00:00:00') + s}")),
            "y": labels.flatmap(lambda known: column(st.sampled_from(known))),
        }
    ).filter(lambda table: any(label is not None for label in table["y"]))


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(table=st.integers(1, 50).flatmap(columns_of))
def test_a_file_and_the_frame_that_pandas_or_polars_read_from_it_are_the_same_stream(table, tmp_path):
    path = write_csv(tmp_path / "rows.csv", table)
    file = File(path, target="y", header=True)
    for name, read in READERS.items():
        if name == "pandas on Arrow" and any(value is None for value in table["y"]):
            continue  # an empty cell of its strings is an empty text, which only the name of the class can tell
        frame = ArrayStream.from_frame(read(path), "y")
        check_same(frame, file)
        assert frame.notes == file.notes, name


MESSY: dict[str, list[Any]] = {
    "when": ["2024-01-01T00:00:00Z", "2024-01-01T02:00:00+02:00", "2024-01-01T00:00:00.250Z", "2024-01-01 05:00+0430"]
    * 8,
    "price": [1.5, None, -0.1, 1e-7] * 8,
    "units": [3, None, 2, 12] * 8,
    "place": ["Zürich", "a,b", None, 'say "hi"'] * 8,
    "open": [True, False, True, True] * 8,
    "empty": [None] * 32,
    "memo": [f"bought for {i} €" for i in range(32)],
    "fraud": [0.0, 1.0, None, 0.0] * 8,
}
MESSY["when"].sort(key=pd.Timestamp)


@pytest.mark.parametrize("reader", READERS)
def test_a_messy_table_is_the_same_from_a_file_and_from_a_frame(reader, tmp_path):
    path = write_csv(tmp_path / "messy.csv", MESSY)
    options: dict[str, Any] = {"target": "fraud", "time": "when"}
    file, frame = File(path, header=True, **options), adopt_stream(as_stream(READERS[reader](path), **options))
    check_same(frame, file)
    assert [attribute.name for attribute in file.schema.attributes] == ["price", "units", "place", "open", "empty"]
    assert file.schema.classes == ("0", "1")
    assert file.schema.attributes[3].values == ("false", "true")
    assert any("'memo' is left out" in note and "nominal=('memo',)" in note for note in frame.notes)
    kept: dict[str, Any] = {"nominal": ("memo",), "drop": ("empty", "units")}
    check_same(as_stream(READERS[reader](path), **options, **kept), File(path, header=True, **options, **kept))


def test_a_parquet_file_and_its_frame_are_the_same_stream(tmp_path):
    table = pa.table(MESSY)
    pq.write_table(table, tmp_path / "messy.parquet")
    options: dict[str, Any] = {"target": "fraud", "time": "when"}
    check_same(as_stream(table, **options), File(tmp_path / "messy.parquet", **options))


# --- times

SECONDS = 1_700_000_000 + np.array([0, 0, 1, 5, 3600])
PLAIN = {"a": [1.0, 2.0, 3.0, 4.0, 5.0], "y": ["u", "v", "u", "v", "u"]}
STAMPS = pd.to_datetime(SECONDS, unit="s")
ZONED = STAMPS.tz_localize("UTC").tz_convert("Europe/Berlin")
TIMES: dict[str, Any] = {
    **{
        f"datetime64[{unit}]": pd.DataFrame(PLAIN).assign(t=STAMPS.astype(f"datetime64[{unit}]"))
        for unit in ("s", "ms", "us", "ns")
    },
    "in a zone": pd.DataFrame(PLAIN).assign(t=ZONED),
    "Arrow": pd.DataFrame(PLAIN).assign(t=pd.Series(STAMPS).astype("timestamp[ms][pyarrow]")),
    "ISO text": pd.DataFrame(PLAIN).assign(t=[stamp.isoformat() for stamp in ZONED]),
    "objects": pd.DataFrame(PLAIN).assign(t=pd.Series(list(STAMPS.to_pydatetime()), dtype=object)),
    "index": pd.DataFrame(PLAIN, index=pd.DatetimeIndex(STAMPS, name="t")),
    "polars": pl.DataFrame(PLAIN).with_columns(t=pl.Series(STAMPS.to_pydatetime().tolist())),
    "polars in a zone": pl.DataFrame(PLAIN).with_columns(
        t=pl.Series(STAMPS.to_pydatetime().tolist()).dt.replace_time_zone("UTC")
    ),
    "polars text": pl.DataFrame(PLAIN).with_columns(t=pl.Series([str(stamp) for stamp in STAMPS])),
    "pyarrow": pa.table({**PLAIN, "t": pa.array(STAMPS.to_pydatetime().tolist(), pa.timestamp("ns"))}),
    "NumPy": {**PLAIN, "t": np.array(SECONDS, dtype="datetime64[s]")},
    "NumPy in other units": {**PLAIN, "t": np.array(SECONDS, dtype="datetime64[s]").astype("datetime64[us]")},
    "Python": {**PLAIN, "t": list(STAMPS.to_pydatetime())},
}


@pytest.mark.parametrize("frame", TIMES.values(), ids=TIMES)
@pytest.mark.parametrize("named", [True, False], ids=["named", "recognised"])
def test_times_of_any_type_are_seconds_since_1970_in_utc(frame, named):
    stream = adopt_stream(as_stream(frame, target="y", time="t" if named else None))
    rows = next(stream.batches(10))
    assert rows.time is not None
    assert rows.time.tolist() == SECONDS.tolist()
    assert [attribute.name for attribute in stream.schema.attributes] == ["a"]
    notes = [note for note in stream.notes if "holds the times of the rows" in note]
    assert len(notes) == (0 if named else 1)


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=20).map(sorted), st.sampled_from(["ms", "us", "ns"]))
def test_times_are_those_of_the_same_numbers_in_a_file(counts, unit):
    stamps = np.array(counts, dtype=f"datetime64[{unit}]")
    stream = ArrayStream(np.zeros((len(counts), 1)), np.arange(len(counts)) % 2, time=stamps)
    expected, _, _ = parse_times([str(count) for count in counts], unit)
    np.testing.assert_array_equal(next(stream.batches(100)).time, expected)


@pytest.mark.parametrize(
    ("times", "time_format"),
    [
        (SECONDS.tolist(), None),
        (SECONDS.astype(float).tolist(), "s"),
        ((SECONDS * 1000).tolist(), "ms"),
        ((SECONDS * 10**9).tolist(), "ns"),
        ([str(s) for s in SECONDS], None),
        ([stamp.strftime("%d/%m/%Y %H:%M:%S") for stamp in STAMPS], "%d/%m/%Y %H:%M:%S"),
    ],
)
def test_numbers_and_other_texts_are_times_where_the_format_says_so(times, time_format):
    rows = next(as_stream({**PLAIN, "t": times}, target="y", time="t", time_format=time_format).batches(10))
    assert rows.time is not None
    assert rows.time.tolist() == SECONDS.tolist()


ISO = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05"]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            {"t": (SECONDS * 1000).tolist()},
            {"time": "t"},
            "row 0 of 't': .*look like milliseconds: set time_format='ms'",
        ),
        ({"t": [20_240_101] * 5}, {"time": "t"}, "looks like a date: set time_format='%Y%m%d'"),
        ({"t": ["03/04/2024"] * 5}, {"time": "t"}, "row 0 of 't': '03/04/2024' is ambiguous"),
        ({"t": [*ISO[:3], None, ISO[4]]}, {"time": "t"}, "row 3: the time in 't' is missing"),
        ({"t": [*ISO[:4], ISO[1]]}, {"time": "t"}, "row 4: .*2024-01-02T.*before.*2024-01-04T.*sort the rows.*drop="),
        ({"t": [*ISO[:4], "2024-01-05T00:00Z"]}, {"time": "t"}, "row 4 of 't': .*has a time zone, while"),
        ({"t": ISO}, {"time": "t", "time_format": "%Y %Q"}, "time_format = '%Y %Q'"),
        ({"t": ISO}, {"time_format": "ms"}, "time_format='ms' needs the column"),
        ({"t": ISO}, {"time": "y"}, "target and time are the same column"),
        ({"t": ISO}, {"time": "tt"}, "no column for time called 'tt'; did you mean t?"),
        ({"t": ISO}, {"numeric": ("t",), "nominal": ("t",)}, "both numeric and nominal"),
        ({"t": ISO}, {"drop": ("t",), "labelling": DelayedByTime("1 day")}, r"needs the times.*time=\.\.\."),
    ],
)
def test_what_is_no_time_is_refused_with_the_row_and_what_to_do(columns, options, message):
    with pytest.raises(StreamgaugeError, match=message):
        sg.evaluate({**PLAIN, **columns}, sg.NaiveBayes(), target="y", **options)


def test_columns_of_times_that_are_not_the_time_of_the_rows_are_left_out_with_a_note():
    table = {**PLAIN, "s": ISO, "t": ISO, "u": ISO[::-1], "v": [None, *ISO[1:]]}
    stream = ArrayStream.from_frame(table, "y")
    assert not stream.has_times
    assert [attribute.name for attribute in stream.schema.attributes] == ["a"]
    assert len(stream.notes) == 4
    assert "time='s' (--time s)" in stream.notes[0]
    assert "they decrease" in stream.notes[2]
    assert "1 is missing" in stream.notes[3]
    chosen = ArrayStream.from_frame(table, "y", time="t", numeric=("u",))
    assert chosen.has_times
    assert [attribute.name for attribute in chosen.schema.attributes] == ["a", "u"]
    np.testing.assert_array_equal(chosen.x[:, 1], (np.arange(5)[::-1] + 19_723) * 86_400.0)


# --- text, targets and options


def test_text_that_differs_in_nearly_every_row_is_left_out_unless_it_is_declared():
    n = 100
    frame = pd.DataFrame({"a": np.arange(n), "memo": [f"m{i}" for i in range(n)], "y": np.arange(n) % 2})
    stream = ArrayStream.from_frame(frame, "y")
    assert [attribute.name for attribute in stream.schema.attributes] == ["a"]
    assert "100 different values in 100 rows; nominal=('memo',) (--nominal memo)" in stream.notes[0]
    kept = ArrayStream.from_frame(frame, "y", nominal="memo")
    assert kept.schema.n_values[1] == n
    assert ArrayStream.from_frame(frame.astype({"memo": "category"}), "y").schema == kept.schema
    few = ArrayStream.from_frame(frame[:20], "y")
    assert [attribute.name for attribute in few.schema.attributes] == ["a", "memo"]


@pytest.mark.parametrize("values", [np.arange(51), np.arange(51) / 7], ids=["whole", "fractions"])
def test_many_different_numbers_are_no_classes_unless_they_are_declared(values):
    frame = pd.DataFrame({"a": np.zeros(51), "price": values})
    with pytest.raises(StreamgaugeError, match=r"'price' holds 51 different numbers: was regression meant\?"):
        as_stream(frame, target="price")
    with pytest.raises(StreamgaugeError, match="was regression meant"):
        as_stream((frame[["a"]], frame["price"]))
    assert as_stream(frame, target="price", nominal=("price",)).schema.n_classes == 51
    assert as_stream(frame.astype({"price": str}), target="price").schema.n_classes == 51
    assert as_stream(frame[:50], target="price").schema.n_classes == 50


def test_columns_are_kept_dropped_and_weighted_as_those_of_a_file(tmp_path):
    table: dict[str, list[Any]] = {"a": [1, 2, 3], "b": [4, 5, 6], "w": [1.0, 0.5, 2.0], "y": ["u", "v", "u"]}
    path = write_csv(tmp_path / "rows.csv", table)
    for options in (
        {"drop": "b"},
        {"keep": ("a",), "weight": "w"},
        {"drop": (0, "w")},
        {"nominal": ("a",), "weight": 2},
    ):
        check_same(
            as_stream(pd.DataFrame(table), target="y", **options), File(path, target="y", header=True, **options)
        )


@pytest.mark.parametrize(
    ("thing", "options", "message"),
    [
        (sg.SEA(), {"target": "y"}, "target='y' selects columns of a DataFrame, but 'SEA' is not a DataFrame"),
        (File("rows.csv"), {"time": "t"}, r"time='t' belongs to the file: File\('rows.csv', time='t'\)"),
        ((np.zeros((2, 1)), [0, 1]), {"drop": ("a",)}, r"drop=\('a',\) selects columns of a DataFrame"),
        ((pd.DataFrame({"a": [1]}), [0]), {"target": "y"}, "the labels are given as y"),
        (pl.LazyFrame({"a": [1]}), {}, r"collect it first: frame.collect\(\)"),
        (pl.LazyFrame({"a": [1]}), {"target": "a"}, r"not a DataFrame; collect it first: frame.collect\(\)"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {"target": "a"}, "Duplicate column names .*; rename one of them"),
        (
            pd.DataFrame({"a": [1, 2], "t": [1.0, None], "y": [0, 1]}),
            {"target": "y", "time": "t"},
            "row 1: the time in 't' is missing or infinite: fill it in, or remove the row",
        ),
        (pd.DataFrame({"a": [1], "b": [1]}), {}, r"target=\.\.\., one of a, b"),
        (pd.DataFrame({"y": [0, 1]}), {"target": "y"}, "no attribute besides the class"),
    ],
)
def test_options_for_something_else_are_refused(thing, options, message):
    with pytest.raises(StreamgaugeError, match=message):
        as_stream(thing, **options)


def test_labels_apart_from_their_frame_give_the_same_stream():
    frame = pd.DataFrame({**PLAIN, "t": STAMPS, "b": [1, 2, 3, 4, 5]})
    whole = as_stream(frame, target="y", drop=("b",))
    apart = as_stream((frame.drop(columns="y"), frame["y"]), time="t", drop=("b",))
    check_same(apart, whole)
