"""Notes on columns that are not what they seem: decimal commas, dates that are read as text, names with spaces."""

import pandas as pd
import polars as pl
import pytest

from streamgauge.errors import StreamgaugeError
from streamgauge.streams import ArrayStream, File

ROWS = "".join(f"{1 + i % 12}/15/2024 {i};{i % 9},5;{i},25;2024-01-{1 + i % 28:02};{'ny'[i % 2]}\n" for i in range(60))
TEXT = "Read At;level;exact;Service Day;late\n" + ROWS


@pytest.fixture(params=["file", "pandas", "polars"])
def notes(request, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(TEXT)
    if request.param == "file":
        return File(path).notes
    frame = pd.read_csv(path, sep=";") if request.param == "pandas" else pl.read_csv(path, separator=";")
    return ArrayStream.from_frame(frame, target="late").notes


def test_numbers_with_a_decimal_comma_are_noted(notes):
    assert "column 'level' is read as names, such as '0,5': to be numbers, they need a decimal point" in notes
    (exact,) = (note for note in notes if note.startswith("column 'exact' is left out"))
    assert exact.endswith("; to be numbers, values such as '0,25' need a decimal point")


def test_the_note_on_dates_of_another_format_names_the_options_that_read_them(notes):
    (times,) = (note for note in notes if note.startswith("column 'Read At' is left out"))
    assert times.endswith("; time='Read At' (--time 'Read At') with time_format (--time-format) reads times")


def test_dates_are_noted_among_very_many_too(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("at,size,late\n" + "".join(f"1/15/2024 {i},{i},{'ny'[i % 2]}\n" for i in range(10_100)))
    (note,) = File(path).notes
    assert note.endswith("time='at' (--time at) with time_format (--time-format) reads times")


@pytest.mark.parametrize("kind", ["file", "polars"])
def test_the_note_on_times_with_and_without_zones_names_the_option_that_finds_the_odd_one(tmp_path, kind):
    path = tmp_path / "rows.csv"
    rows = (f"2024-01-15T00:{i}{'' if i == 30 else 'Z'},{i},{'ny'[i % 2]}\n" for i in range(10, 50))
    path.write_text("at,size,late\n" + "".join(rows))
    stream = File(path) if kind == "file" else ArrayStream.from_frame(pl.read_csv(path), target="late")
    (note,) = stream.notes
    assert note.endswith("; one of the values is no time like '2024-01-15T00:10Z': time='at' (--time at) finds it")


def test_options_of_the_command_line_are_quoted_for_the_shell(notes):
    (service,) = (note for note in notes if note.startswith("column 'Service Day' holds times"))
    assert "numeric=('Service Day',) (--numeric 'Service Day') keeps it" in service


def test_no_note_if_the_names_are_declared(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(TEXT)
    declared = ("level", "exact", "Read At", "Service Day")
    assert File(path, nominal=declared, header=True).notes == ()
    frame = pl.read_csv(path, separator=";")
    assert ArrayStream.from_frame(frame, target="late", nominal=declared).notes == ()


def test_a_time_format_without_its_column_names_the_option(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(TEXT)
    with pytest.raises(StreamgaugeError, match=r"time_format='ms' needs the column .*: set time \(--time\)"):
        _ = File(path, time_format="ms").schema
