"""Files that are wrong: each fault is reported with file, line, column and what was expected."""

import gzip
import io
import re
import time
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.streams import File

ARFF = "@relation r\n@attribute a numeric\n@attribute day {mo, tu}\n@attribute c {1,2,3}\n@data\n"


def fault_of(path, size=3, **options):
    with pytest.raises(StreamgaugeError) as caught:
        for _ in File(path, **options).batches(size):
            pass
    return str(caught.value).removeprefix(f"{path}, ").removeprefix(f"{path}: ")


ARFF_FAULTS = {
    "a short row": ("1,mo,1\n2,tu\n", "line 7, column 3 (class 'c'): the row has only 2 of 3 values"),
    "a long row": ("1,mo,1,4\n", "line 6, column 4: the row has more than 3 values"),
    "an undeclared value": ("1,we,1\n", "line 6, column 2 (attribute 'day'): 'we' is not one of its values (mo, tu)"),
    "an undeclared class": ("1,mo,0\n", "line 6, column 3 (class 'c'): '0' is not one of its values (1, 2, 3)"),
    "a class that only looks the same": (
        "1,mo,1.0\n",
        "line 6, column 3 (class 'c'): '1.0' is not one of its values (1, 2, 3)",
    ),
    "no number": ("% x\n\n1.2.3,mo,1\n", "line 8, column 1 (attribute 'a'): '1.2.3' is not a number"),
    "nan": ("NaN,mo,1\n", "line 6, column 1 (attribute 'a'): 'NaN' is not a finite number"),
    "infinity": ("-inf,mo,1\n", "line 6, column 1 (attribute 'a'): '-inf' is not a finite number"),
    "too large a number": ("1e999,mo,1\n", "line 6, column 1 (attribute 'a'): '1e999' is not a finite number"),
    "an empty value": (
        "1,,1\n",
        "line 6, column 2 (attribute 'day'): the field is empty; write ? for a missing value",
    ),
    "another encoding": (
        "1,m\xf6,1\n",
        "line 6, column 2 (attribute 'day'): 'm\ufffd' is not UTF-8; convert the file",
    ),
    "a zero byte": (
        "1,\0mo,1\n",
        "line 6, column 2 (attribute 'day'): zero byte found: this is not a text file",
    ),
    "a quote that is not closed": (
        "1,'mo,1\n",
        "line 6, column 2 (attribute 'day'): the quote is not closed in this line "
        "(line breaks inside quotes are not supported)",
    ),
    "a negative weight": ("1,mo,1,{-2}\n", "line 6: the weight -2 is below 0"),
    "a sparse row with a column too many": ("{3 1}\n", "line 6: column number 3 is out of range (0 to 2)"),
    "a row that was cut off": (
        "1,mo,1\n2,t",
        "line 7, column 2 (attribute 'day'): 't' is not one of its values (mo, tu); "
        "this is the last line: the file may be truncated",
    ),
}


@pytest.mark.parametrize("what", ARFF_FAULTS)
def test_faults_of_rows_name_line_and_column(tmp_path, what):
    rows, expected = ARFF_FAULTS[what]
    path = tmp_path / "fault.arff"
    path.write_bytes((ARFF + rows).encode("latin-1"))
    for size in (1, 2, 1000):
        assert fault_of(path, size) == expected


CSV_FAULTS = {
    "a short row": (
        "a,b,c\n1,2,x\n3,4\n",
        "line 3, column 3 (attribute 'c'): the row has only 2 of 3 values",
    ),
    "a long row": ("a,b,c\n1,2,x\n3,4,y,z\n", "line 3, column 4: the row has more than 3 values"),
    "a name twice": ("a,b,a\n1,2,x\n", "line 1, column 3 ('a'): column 1 has the same name: rename one of them"),
    "a decimal comma among numbers": (
        'a,c\n1,x\n"2,5",y\n',
        "line 3, column 1 (attribute 'a'): '2,5' is not a number (decimals need a point), unlike the values above; "
        "declare the column nominal (nominal=, --nominal), or this text missing (missing=, --missing)",
    ),
    "an index without a name": (
        ",a,c\n0,1,x\n",
        "line 1, column 1 has no name (a row index?): drop=(0,) drops it",
    ),
    "a name among numbers": (
        "a,c\n1,x\n2,y\nnone,x\n",
        "line 4, column 1 (attribute 'a'): 'none' is not a number, unlike the values above; "
        "declare the column nominal (nominal=, --nominal), or this text missing (missing=, --missing)",
    ),
    "nan among numbers": (
        "a,c\n1,x\nnan,y\n",
        "line 3, column 1 (attribute 'a'): 'nan' is not a finite number, unlike the values above; "
        "declare the column nominal (nominal=, --nominal), or this text missing (missing=, --missing)",
    ),
    "a number among names": (
        "a,b,c\nu,1,x\n7,2,y\n",
        "line 3, column 1 (attribute 'a'): '7' is a number, unlike the values above; "
        "declare the column nominal (nominal=, --nominal)",
    ),
    "text behind a quote": (
        'a,c\n"1"2,x\n',
        "line 2, column 1 (attribute 'a'): unexpected text after the closing quote",
    ),
    "no class at all": ("a,c\n1,?\n2,\n", "no row has a class in column 2 ('c')"),
    "a class of many values": (
        "c,a\n" + "".join(f"{i},{i}.5\n" for i in range(1500)),
        "the target 'a' holds more than 1,000 different numbers: was regression meant? Pass numeric=('a',) (--numeric"
        " a) to predict numbers, or nominal=('a',) (--nominal a) if they are classes; or name another column with"
        " target (--target)",
    ),
    "two delimiters": (
        "a;b,c\n1;2,3\n",
        "line 1 has both ',' and ';': set delimiter to the one that separates the values",
    ),
    "no delimiter": ("abc\n1\n", "line 1 has none of , ; | and tab: set delimiter to what separates the values"),
    "an empty file": ("", "it has no rows"),
    "blank lines alone": ("\n  \n", "it has no rows"),
    "a header alone": ("a,b,c\n", "it has no rows"),
}


@pytest.mark.parametrize("what", CSV_FAULTS)
def test_faults_of_csv_name_line_and_column(tmp_path, what):
    content, expected = CSV_FAULTS[what]
    path = tmp_path / "fault.csv"
    path.write_text(content)
    assert fault_of(path) == expected


def test_a_missing_value_can_be_spelt_as_one_likes(tmp_path):
    path = tmp_path / "missing.csv"
    path.write_text("a,b,c\n1,NA,x\n-999,u,NA\n3,u,y\n")
    stream = File(path, missing=("NA", "-999"))
    batch = next(stream.batches(10))
    np.testing.assert_array_equal(batch.x, [[1, np.nan], [np.nan, 0], [3, 0]])
    assert batch.y.tolist() == [0, -1, 1]
    assert [a.missing for a in stream.schema.attributes] == [True, True]


def test_an_empty_field_names_the_option_that_makes_it_missing(tmp_path):
    path = tmp_path / "fault.csv"
    path.write_text("a,b,c\n1,u,x\n2,,y\nNA,u,y\n")
    with pytest.raises(
        StreamgaugeError, match=r"line 3, column 2 .*the field is empty: add '' to missing \(--missing ''\)"
    ):
        _ = File(path, missing=("NA",)).schema
    assert File(path, missing=("NA", "")).schema.n_attributes == 2


def test_faults_of_headers_name_the_line(tmp_path):
    path = tmp_path / "fault.arff"
    for content, expected in [
        (
            "@attribute a real\n@attribute 'a' real\n@data\n",
            "line 2, column 2 (attribute 'a'): column 1 has the same name",
        ),
        (
            "@attribute a real\n@data\n1\n",
            "column 1 (class 'a') is numeric: the class must be nominal; pass numeric=('a',)",
        ),
        ("@relation x\n@attribute a real\n", "line 2: there is no @data line: the file is truncated or not ARFF"),
        ("a,b\n1,2\n", "line 1: expected @relation, @attribute or @data, found 'a,b'"),
        ("", "line 0: there is no @data line"),
        ("@attribute c {a,b}\n@data\n", "there is no attribute besides the class"),
    ]:
        path.write_text(content)
        assert fault_of(path).startswith(expected)
    path.write_bytes("@attribute a real\n".encode("utf-16"))
    assert fault_of(path) == "line 1: the file is in UTF-16; convert it to UTF-8"
    path = tmp_path / "fault.csv"
    path.write_bytes("a,c\n1,2\n".encode("utf-16"))
    assert fault_of(path) == "line 1: the file is in UTF-16; convert it to UTF-8"


def packed(kind: str, data: bytes) -> bytes:
    if kind == ".gz":
        return gzip.compress(data)
    if kind == ".zst":
        return bytes(pa.compress(data, codec="zstd", asbytes=True))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("inner.csv", data)
    return archive.getvalue()


@pytest.mark.parametrize("kind", [".gz", ".zst", ".zip"])
@pytest.mark.parametrize("damage", ["cut off", "changed"])
def test_damaged_compression_is_an_error_and_never_a_short_file(tmp_path, kind, damage):
    rng = np.random.default_rng(1)
    content = "a,c\n" + "".join(f"{v},{i % 2}\n" for i, v in enumerate(rng.random(20_000)))
    data = packed(kind, content.encode())
    middle = len(data) // 2
    data = data[:middle] if damage == "cut off" else data[:middle] + bytes(64) + data[middle + 64 :]
    path = tmp_path / f"damaged.csv{kind}"
    path.write_bytes(data)
    message = fault_of(path)
    assert "damaged or cut off" in message or (damage == "changed" and message.startswith("line "))


def test_a_file_that_is_cut_off_anywhere_is_never_read_short_in_silence(tmp_path):
    data = gzip.compress(b"a,c\n" + b"1.5,x\n2.5,y\n" * 50)
    path = tmp_path / "cut.csv.gz"
    for length in range(20, len(data)):
        path.write_bytes(data[:length])
        assert "damaged or cut off" in fault_of(path)


def test_other_mistakes_say_what_to_do(tmp_path):
    path = tmp_path / "some.csv"
    assert fault_of(path) == f"there is no file {path}"
    assert fault_of(tmp_path) == f"{tmp_path} is a directory, not a file"
    path.write_text("a,b,c\n1,2,x\n3,4,y\n")
    mistakes: list[tuple[dict[str, Any], str]] = [
        ({"target": "d"}, "there is no column for target called 'd'"),
        ({"target": 3}, "target = 3: it must be the name of a column or a position from -3 to 2"),
        ({"weight": "c"}, "target and weight are the same column, 'c'"),
        ({"keep": ()}, "there is no attribute besides the class"),
        ({"numeric": ("a",), "nominal": ("a",)}, "column 'a' is declared both numeric and nominal"),
        ({"delimiter": "a"}, "delimiter = 'a': it must be a comma"),
        ({"format": "cvs"}, "there is no format 'cvs'; did you mean csv?"),
        ({"format": "libsvm", "target": 1}, "the option target does not apply to libsvm files"),
        ({"format": "parquet"}, "cannot be read: it is damaged or cut off"),
    ]
    for options, expected in mistakes:
        assert expected in fault_of(path, **options)
    with pytest.raises(StreamgaugeError, match="size = 0"):
        File(path).batches(0)
    archive = tmp_path / "two.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.csv", "1,2\n")
        file.writestr("b.csv", "1,2\n")
    assert "holds 2 files (a.csv, b.csv); it must hold one" in fault_of(archive)


def test_a_file_that_changes_under_our_hands_is_noticed(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("a,c\n1,x\n2,y\n")
    stream = File(path)
    assert stream.n_rows == 2
    path.write_text("a,c\n1,x\n2,y\n3,z\n")
    with pytest.raises(StreamgaugeError, match="has changed since it was first read"):
        list(stream.batches(10))


def test_faults_of_tables_name_row_and_column(tmp_path):
    path = tmp_path / "t.parquet"
    for columns, expected in [
        ({"a": [1.0, np.inf], "c": ["x", "y"]}, "column 'a': row 1 (counted from 0) holds inf"),
        ({"a": [1, 2**60 + 1], "c": ["x", "y"]}, "column 'a': a value from row 0 on is not a float64"),
        ({"a": [1, 2], "c": [b"x", b"y"]}, "column 'c' holds binary; names must be text or numbers"),
        ({"a": [[1], [2]], "c": ["x", "y"]}, "column 'a' holds list"),
    ]:
        pq.write_table(pa.table(columns), path)
        assert fault_of(path).startswith(expected)
    pq.write_table(pa.table({"a": [1.0], "w": [-1.0], "c": ["x"]}), path)
    assert "not a weight of 0 or more" in fault_of(path, weight="w")
    path.write_bytes(path.read_bytes()[:-20])
    assert "damaged or cut off" in fault_of(path)


def test_faults_of_archives_name_the_array(tmp_path):
    path = tmp_path / "a.npz"
    x, y = np.zeros((4, 2)), np.arange(4)
    faults: list[tuple[dict[str, Any], str]] = [
        ({"x": x}, "has no array y; it holds x"),
        ({"x": x, "y": y[:3]}, "x has the shape (4, 2)"),
        ({"x": x, "y": y * 0.5}, "y holds float64; it must hold integers or strings"),
        ({"x": np.asfortranarray(np.ones((4, 2))), "y": y}, "is stored column by column"),
        ({"x": x + np.inf, "y": y}, "row 0 (counted from 0), column 1 of x: inf is not a finite float64"),
        ({"x": x, "y": y, "weight": -y}, "row 1 (counted from 0): the weight -1 is not a finite number of 0 or more"),
    ]
    for arrays, expected in faults:
        np.savez(path, **arrays)
        assert expected in fault_of(path)


def test_faults_of_libsvm_name_line_and_column(tmp_path):
    path = tmp_path / "a.svm"
    for content, expected in [
        ("1 1:2\n-1 2:x\n", "line 2, column 2: 'x' is not a number"),
        ("1 1:2\n-1 3:1 2:1\n", "line 2, column 3: index 2 is not greater than the one before it"),
        ("1:2\n", "line 1, column 1 (class): '1:2' is not a label"),
        ("1\n2\n", "has no values"),
    ]:
        path.write_text(content)
        assert expected in fault_of(path)


def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "long.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(60):
            file.write(b"".join(b"%d.25,%d,name%d\n" % (i, i % 7, i % 3) for i in range(20_000)))
    tracemalloc.start()
    try:
        n_rows = sum(len(batch) for batch in File(path).batches(1000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n_rows == 1_200_000
    assert peak < 8_000_000


def test_a_line_that_never_ends_is_refused_in_bounded_memory(tmp_path):
    path = tmp_path / "endless.csv"
    path.write_bytes(b"1,x\n2,y\n" + b"9" * (17 << 20))
    assert fault_of(path, header=False) == "line 3: the line is longer than 16777216 bytes"
    path.write_bytes(b"9" * (17 << 20))
    assert re.match("line 1: the line is longer", fault_of(path, delimiter=","))


def test_a_libsvm_file_with_an_index_out_of_proportion_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_text("0 600000:1\n1 5:1\n")
    started = time.perf_counter()
    with pytest.raises(StreamgaugeError, match="a value with index 600,000, too large for its 17 bytes"):
        _ = File(path).schema
    assert time.perf_counter() - started < 1.0
    path.write_text("0 10000:1\n1 5:1\n")
    assert File(path).schema.n_attributes == 10_000
    path.write_text("0 20000:1\n" + "".join(f"1 {index}:1\n" for index in range(1, 12_000)))
    assert File(path).schema.n_attributes == 20_000


@pytest.mark.parametrize("name", ["a.svm", "a.arff"])
def test_sparse_rows_cost_no_more_than_their_bytes_allow(tmp_path: Path, name: str) -> None:
    path, n = tmp_path / name, 9_000
    if name == "a.svm":
        path.write_text(f"0 {n}:1\n" + "1\n" * 100_000)
    else:
        head = "".join(f"@attribute a{i} numeric\n" for i in range(n))
        path.write_text(f"@relation r\n{head}@attribute c {{0,1}}\n@data\n" + "{}\n" * 100_000)
    with pytest.raises(StreamgaugeError, match="its rows are too sparse for 9,000 attributes"):
        for _ in File(path).batches(512):
            pass


def test_headers_cost_no_more_than_their_bytes_allow() -> None:
    def measure(n: int) -> float:
        header = b"@relation r\n" + b"".join(b"@attribute a%d numeric\n" % i for i in range(n)) + b"@data\n"
        started = time.thread_time()
        assert _native.ArffHeader().update(header) == len(header)
        return time.thread_time() - started

    few, many = (min(measure(n) for _ in range(3)) for n in (20_000, 80_000))
    assert many < 9 * few  # 4 times the attributes: 16 times the time if each were compared with all
