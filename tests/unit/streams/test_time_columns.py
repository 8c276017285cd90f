"""Columns of times in other roles than the time of the rows: the same from files and tables in memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from streamgauge.errors import StreamgaugeError
from streamgauge.streams import ArrayStream, File
from tests.support.file_examples import whole

NUMBERS = {"ts": ["01/02/2024", "05/12/2023"], "a": [1.0, 2.0], "c": ["u", "v"]}
DIGITS = {"ts": [20240201, 20231205], "a": [1.0, 2.0], "c": ["u", "v"]}
SECONDS = [1706745600.0, 1701734400.0]  # date -u -d 2024-02-01 +%s


def open_as(kind: str, folder: Path, table: dict[str, Any], **options: Any) -> Any:
    """Open a table as a stream of a kind."""
    frame = pd.DataFrame(table)
    if kind == "frame":
        return ArrayStream.from_frame(frame, **{"target": "c", **options})
    path = folder / f"table.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    stream = File(path, **options)
    assert stream.schema  # it is opened on first use
    return stream


KINDS = pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])


@KINDS
@pytest.mark.parametrize(("table", "time_format"), [(NUMBERS, "%d/%m/%Y"), (DIGITS, "%Y%m%d")], ids=["text", "digits"])
def test_a_format_describes_the_times_of_numeric_attributes(tmp_path, kind, table, time_format):
    stream = open_as(kind, tmp_path, table, numeric=("ts",), time_format=time_format)
    assert whole(stream).x[:, 0].tolist() == SECONDS
    assert not stream.has_times


@KINDS
def test_the_format_of_the_time_is_not_that_of_other_columns(tmp_path, kind):
    table: dict[str, Any] = {"sent": ["01/02/2023", "05/12/2023"], "due": ["2024-02-01", "2023-12-05"], "c": ["u", "v"]}
    stream = open_as(kind, tmp_path, table, time="sent", time_format="%d/%m/%Y", numeric=("due",))
    assert whole(stream).x[:, 0].tolist() == SECONDS
    table = {"sent": ["20230201", "20231205"], "price": [20240201, 7], "c": ["u", "v"]}
    stream = open_as(kind, tmp_path, table, time="sent", time_format="%Y%m%d", numeric=("price",))
    assert whole(stream).x[:, 0].tolist() == [20240201.0, 7.0]


@KINDS
def test_times_are_no_classes_unless_they_are_declared(tmp_path, kind):
    table = {"a": [1.0, 2.0, 3.0], "sent": ["2024-01-01", "2024-01-02", "2024-01-02"]}
    with pytest.raises(StreamgaugeError, match="the target 'sent' holds times: name another column with target"):
        open_as(kind, tmp_path, table, target="sent")
    stream = open_as(kind, tmp_path, table, target="sent", nominal=("sent",))
    assert stream.schema.classes == ("2024-01-01", "2024-01-02")


@KINDS
def test_times_are_no_weights(tmp_path, kind):
    table = {"a": [1.0, 2.0], "w": ["2024-01-01", "2024-01-02"], "c": ["u", "v"]}
    with pytest.raises(StreamgaugeError, match=r"'w'.*numbers are needed|weight 'w'.* is time: the weight must be num"):
        open_as(kind, tmp_path, table, weight="w")


@KINDS
def test_truth_values_are_no_times(tmp_path, kind):
    table = {"a": [1.0, 2.0], "late": [False, True], "c": ["u", "v"]}
    with pytest.raises(StreamgaugeError, match=r"'late'.*(not times|is not ISO 8601)"):
        open_as(kind, tmp_path, table, time="late")


@KINDS
def test_a_unit_for_text_is_refused_with_what_to_do(tmp_path, kind):
    table = {"t": ["2024-01-01", "2024-01-02"], "a": [1.0, 2.0], "c": ["u", "v"]}
    with pytest.raises(
        StreamgaugeError, match=r"'2024-01-01' is not a number.*set another time_format, or none for ISO"
    ):
        open_as(kind, tmp_path, table, time="t", time_format="ms")


@KINDS
def test_an_unknown_format_is_refused_for_numbers_too(tmp_path, kind):
    with pytest.raises(StreamgaugeError, match="time_format = 'hours': it must be s, ms, us or ns"):
        open_as(kind, tmp_path, {"t": [1, 2], "a": [1.0, 2.0], "c": ["u", "v"]}, time="t", time_format="hours")


@pytest.mark.parametrize("options", [{}, {"numeric": ("day",)}], ids=["time", "numeric"])
def test_a_date_of_arff_may_be_of_digits_alone(tmp_path, options):
    path = tmp_path / "days.arff"
    path.write_text(
        "@relation r\n@attribute day date yyyyMMdd\n@attribute a numeric\n@attribute c {u,v}\n@data\n"
        "20231205,1,u\n20240201,2,v\n"
    )
    rows = whole(File(path, **options))
    times = rows.x[:, 0] if options else rows.time
    assert times is not None
    assert times.tolist() == SECONDS[::-1]


def test_fractions_just_before_1970_lose_no_digit():
    counts = [-1_100, -100, 100]
    frame = pd.DataFrame({"t": counts, "a": [1.0, 2.0, 3.0], "c": ["u", "v", "u"]})
    times = whole(ArrayStream.from_frame(frame, "c", time="t", time_format="ms")).time
    assert times is not None
    assert times.tolist() == [-1.1, -0.1, 0.1]
    dated = whole(ArrayStream.from_frame(frame.assign(t=np.array(counts, dtype="M8[ms]")), "c")).time
    assert dated is not None
    assert dated.tolist() == [-1.1, -0.1, 0.1]


@pytest.mark.parametrize("kind", ["parquet", "frame"])
def test_categories_are_names_unless_they_are_named_as_times(tmp_path, kind):
    days = pd.Categorical([f"2024-01-{1 + i // 2:02}" for i in range(40)])
    notes = pd.Categorical([f"note {i}" for i in range(40)])
    table: dict[str, Any] = {"day": days, "note": notes, "c": ["u", "v"] * 20}
    stream = open_as(kind, tmp_path, table)
    assert [len(attribute.values or ()) for attribute in stream.schema.attributes] == [20, 40]
    assert not stream.has_times
    times = whole(open_as(kind, tmp_path, table, time="day")).time
    assert times is not None
    assert times[::2].tolist() == [1704067200.0 + 86_400 * i for i in range(20)]
    numbers = whole(open_as(kind, tmp_path, table, numeric=("day",))).x[:, 0]
    assert numbers.tolist() == times.tolist()


@KINDS
@pytest.mark.parametrize("option", ["numeric", "nominal"])
def test_the_time_of_the_rows_is_no_attribute_too(tmp_path, kind, option):
    table = {"ts": ["2024-01-01", "2024-01-02"], "a": [1.0, 2.0], "c": ["u", "v"]}
    with pytest.raises(StreamgaugeError, match=f"column 'ts' is named in both time and {option}"):
        open_as(kind, tmp_path, table, time="ts", **{option: ("ts",)})


def test_units_finer_than_nanoseconds_keep_their_fractions():
    stamps = np.array([5 * 10**12, 75 * 10**11], dtype="M8[ps]")
    assert whole(ArrayStream(np.zeros((2, 1)), ["u", "v"], time=stamps)).time.tolist() == [5.0, 7.5]  # type: ignore[union-attr]


def test_unsigned_numbers_beyond_the_signed_ones_are_times():
    frame = pd.DataFrame({"t": np.array([2**63, 2**63 + 2**20], dtype="u8"), "a": [1.0, 2.0], "c": ["u", "v"]})
    times = whole(ArrayStream.from_frame(frame, "c", time="t", time_format="ns")).time
    assert times is not None
    assert times.tolist() == [2**63 / 1e9, (2**63 + 2**20) / 1e9]
