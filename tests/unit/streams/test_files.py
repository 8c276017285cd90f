"""Files that are right: every format and compression gives the rows that other readers give."""

import bz2
import gzip
import io
import lzma
import pickle
import zipfile
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.fuzz_files import fuzz
from streamgauge.errors import StreamgaugeError
from streamgauge.records import UNLABELLED, Attribute, Schema
from streamgauge.streams import File
from streamgauge.streams.files.text_files import TextReader
from tests.support.file_examples import arff_text, example_table, whole
from tests.support.stand_ins import DATA


def expected_of(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    colour = table["colour"].map({"dark blue": 0, "green": 1, "red": 2})
    x = np.column_stack([table["number"], table["whole"], colour]).astype(float)
    return x, (table["label"] - 1).to_numpy()


def zipped(data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner.txt", data)
    return packed.getvalue()


PACK = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zip": zipped,
    ".zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("kind", [".csv", ".tsv", ".arff"])
def test_text_is_read_in_every_compression(tmp_path, kind, packing):
    table = example_table()
    text = (
        arff_text(table) if kind == ".arff" else table.to_csv(index=False, sep="\t" if kind == ".tsv" else ",").encode()
    )
    path = tmp_path / f"example{kind}{packing}"
    path.write_bytes(PACK[packing](text))
    stream = File(path)
    x, y = expected_of(table)
    assert stream.schema.classes == ("1", "2", "3")
    assert [a.values for a in stream.schema.attributes] == [None, None, ("dark blue", "green", "red")]
    assert stream.n_rows == len(table)
    for size, start in [(1, 0), (7, 0), (1000, 0), (64, 333), (5, 499)]:
        batch = whole(stream, size, start)
        np.testing.assert_array_equal(batch.x, x[start:])
        np.testing.assert_array_equal(batch.y, y[start:])
    assert list(stream.batches(10, len(table))) == []
    assert list(stream.batches(10, len(table) + 10)) == []


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream", "dictionary"])
def test_tables_are_read_as_text_is(tmp_path, kind):
    table = example_table()
    frame = pa.Table.from_pandas(table, preserve_index=False)
    if kind == "dictionary":
        frame = frame.set_column(2, "colour", frame["colour"].dictionary_encode())
    path = tmp_path / ("t.parquet" if kind in ("parquet", "dictionary") else "t.arrow")
    if path.suffix == ".parquet":
        pq.write_table(frame, path, row_group_size=130)
    else:
        make = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
        with make(path, frame.schema) as writer:
            writer.write_table(frame, max_chunksize=77)
    stream = File(path)
    x, y = expected_of(table)
    assert stream.n_rows == 500
    assert stream.schema.classes == ("1", "2", "3")
    for size, start in [(1000, 0), (50, 0), (33, 260), (1, 499)]:
        batch = whole(stream, size, start)
        np.testing.assert_array_equal(batch.x, x[start:])
        np.testing.assert_array_equal(batch.y, y[start:])
    by_name = File(path, nominal=("whole",), drop=("number",), weight=None)
    assert by_name.schema.attributes[0].values == tuple(str(v) for v in sorted(set(table["whole"])))


def test_archives_of_arrays_are_read_without_loading_them(tmp_path):
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(1000, 4)).astype(np.float32), rng.choice([10, 9, 7], 1000)
    weight = rng.random(1000)
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", X=x, y=y, weight=weight, attributes=np.array(["a", "b", "c", "d"]))
        stream = File(tmp_path / "a.npz", drop=("b",))
        batch = whole(stream, 77, 400)
        np.testing.assert_array_equal(batch.x, x[400:, [0, 2, 3]].astype(float))
        assert stream.schema.classes == ("7", "9", "10")
        np.testing.assert_array_equal(np.array([7, 9, 10])[batch.y], y[400:])
        np.testing.assert_array_equal(batch.weight, weight[400:])
    np.savez(tmp_path / "b.npz", x=x, y=np.where(y > 8, "yes", ""))
    batch = whole(File(tmp_path / "b.npz"))
    np.testing.assert_array_equal(batch.y, np.where(y > 8, 0, UNLABELLED))


CUTS = {
    "magic.arff": (10, {"1": 325, "0": 176}),
    "skin.arff": (3, {"0": 397, "1": 104}),
    "covtype.csv.gz": (54, {"1": 184, "2": 237, "3": 28, "4": 4, "5": 9, "6": 18, "7": 21}),
    "poker-hand-25k.csv": (10, {"0": 494, "1": 421, "2": 43, "3": 19, "4": 4, "5": 7, "6": 2, "8": 5, "9": 5}),
}
"""Attributes, and rows of each class in the order of the schema, as `cut`, `sort` and `uniq` count them."""


@pytest.mark.parametrize("name", CUTS)
def test_cuts_of_real_streams_have_their_attributes_classes_and_rows(name):
    n_attributes, classes = CUTS[name]
    stream = File(DATA / "streams" / name)
    assert (stream.schema.n_attributes, stream.schema.classes) == (n_attributes, tuple(classes))
    batch = whole(stream, 99)
    stream.schema.check(batch)
    assert np.bincount(batch.y).tolist() == list(classes.values())


def test_classes_are_names_and_never_indexes(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("a,c\n0.5,3\n1.5,1\n2.5,2\n3.5,10\n")
    stream = File(path)
    assert stream.schema.classes == ("1", "2", "3", "10")
    assert whole(stream).y.tolist() == [2, 0, 1, 3]
    path.write_text("@attribute a real\n@attribute c {3,1,2}\n@data\n0.5,3\n1.5,1\n")
    stream = File(path, format="arff")
    assert stream.schema.classes == ("3", "1", "2")
    assert whole(stream).y.tolist() == [0, 1]


def test_columns_are_chosen_by_name_and_position(tmp_path):
    path = tmp_path / "columns.csv"
    path.write_text("id;c;w;a;b\nr1;yes;2;0.5;7\nr2;no;0.25;1.5;8\nr3;yes;1;2.5;7\n")
    batch = whole(File(path, target="c", weight="w", drop=("id",), nominal=("b",)))
    assert batch.x.tolist() == [[0.5, 0], [1.5, 1], [2.5, 0]]
    assert (batch.y.tolist(), np.asarray(batch.weight).tolist()) == ([1, 0, 1], [2, 0.25, 1])
    assert whole(File(path, target=1, keep=(-2,))).x.tolist() == [[0.5], [1.5], [2.5]]
    assert File(path, target=-4, keep=("a", "b")).schema == File(path, target="c", keep=("b", "a")).schema


def test_a_header_is_found_out_where_it_can_be(tmp_path):
    path = tmp_path / "some.csv"
    for text, n_rows in [("a,b,c\n1,2,x\n3,4,y\n", 2), ("1,2,x\n3,4,y\n5,6,x\n7,8,y\n", 4), ("a,c\nu,1\nv,0\n", 2)]:
        path.write_text(text)
        assert File(path).n_rows == n_rows
    for text in ["u,v\nx,y\nz,y\n", "0,1,2\n3,4,5\n6,7,5\n", "2019,2020,class\n1,2,up\n3,4,up\n"]:
        path.write_text(text)
        with pytest.raises(StreamgaugeError, match=r"be a row: set header=True \(--header\) or"):
            _ = File(path).schema
        n_lines = text.count("\n")
        assert [File(path, header=header).n_rows for header in (True, False)] == [n_lines - 1, n_lines]


def test_a_declared_schema_needs_no_pass_and_gives_the_codes(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("a,day,c\n1,tu,yes\n2,mo,no\n")
    schema = Schema((Attribute("a"), Attribute("day", ("mo", "tu", "we"))), ("no", "yes", "maybe"))
    stream = File(path, declared=schema)
    assert stream.schema == schema
    assert (whole(stream).x.tolist(), whole(stream).y.tolist()) == ([[1, 1], [2, 0]], [1, 0])
    path.write_text("1,tu,yes\n?,mo,no\n")
    with pytest.raises(StreamgaugeError, match=r"line 2, column 1 \(attribute 'a'\): the value is missing"):
        whole(File(path, declared=schema))
    with pytest.raises(StreamgaugeError, match="not those of the declared schema: x0 instead of a, day"):
        _ = File(path, declared=schema, drop=(1,)).schema


def test_text_columns_are_left_out_with_a_note_or_kept(tmp_path):
    path = tmp_path / "text.csv"
    path.write_text("memo,town,a,c\n" + "".join(f"m{i},t{i % 9},{i},{i % 2}\n" for i in range(10_001)))
    stream = File(path)
    assert [(a.name, a.is_nominal) for a in stream.schema.attributes] == [("town", True), ("a", False)]
    (note,) = stream.notes
    assert note.startswith("column 'memo' is left out: it is text, with more than 10,000 different values in 10,")
    assert note.endswith("nominal=('memo',) (--nominal memo) keeps it as names")
    kept = File(path, nominal=("memo",))
    assert (len(kept.schema.attributes[0].values or ()), kept.notes) == (10_001, ())
    assert whole(kept, 500).x[:, 0].tolist() == np.argsort(np.argsort([f"m{i}" for i in range(10_001)])).tolist()
    assert File(path, drop=("memo",)).notes == ()


@pytest.mark.parametrize(("n_rows", "n_names", "left_out"), [(20, 20, False), (30, 28, True), (30, 27, False)])
def test_names_that_differ_in_nine_of_ten_rows_are_text(tmp_path, n_rows, n_names, left_out):
    path = tmp_path / "names.csv"
    path.write_text("s,a,c\n" + "".join(f"n{i % n_names},{i},{i % 2}\n" for i in range(n_rows)))
    assert (File(path).schema.n_attributes == 1) is left_out


def test_a_quoted_question_mark_in_arff_is_a_value_and_a_bare_one_is_missing(tmp_path):
    path = tmp_path / "text.arff"
    rows = "'?',x\n?,y\nb,x\n" * 40
    path.write_text(f"@attribute s string\n@attribute c {{x,y}}\n@data\n{rows}")
    assert (File(path).schema.attributes[0].values, File(path).schema.attributes[0].missing) == (("?", "b"), True)
    np.testing.assert_array_equal(whole(File(path)).x[:3, 0], [0.0, np.nan, 1.0])


def test_strings_and_dates_of_arff_follow_the_rules_of_csv(tmp_path):
    path = tmp_path / "text.arff"
    head = "@attribute s string\n@attribute d date {}\n@attribute a real\n@attribute c {{x,y}}\n@data\n"
    rows = "".join(f"'town {i % 3}','0{i % 9 + 1}.02.2024 1{i % 9}:30',{i},y\n" for i in range(9))
    path.write_text(head.format("'dd.MM.yyyy HH:mm'") + rows)
    stream = File(path)
    assert [(a.name, a.values) for a in stream.schema.attributes] == [
        ("s", ("town 0", "town 1", "town 2")),
        ("a", None),
    ]
    expected = [datetime(2024, 2, i + 1, 10 + i, 30, tzinfo=UTC).timestamp() for i in range(9)]
    np.testing.assert_array_equal(whole(stream, 4).time, expected)
    assert "column 'd' holds the times of the rows" in stream.notes[0]
    seconds = File(path, numeric=("d",))
    assert (whole(seconds).x[:, 1].tolist(), whole(seconds).time) == (expected, None)
    path.write_text(head.format("") + "a,?,1,y\nb,2024-01-01,2,x\n")
    assert File(path).schema.n_attributes == 2
    assert "column 'd' holds times, but 1 is missing: it is left out" in File(path).notes[0]


def test_the_content_tells_the_format_where_the_name_does_not(tmp_path):
    arff_rows = "\n" * 5_000 + "% note\n\n@RELATION r\n@attribute a real\n@attribute c {x,y}\n@data\n1,x\n2,y\n"
    table = pa.table({"a": [1.0, 2.0], "c": ["x", "y"]})
    path = tmp_path / "rows"
    path.write_text(arff_rows)
    found = [whole(File(path))]
    for text in ("a,c\n1,x\n2,y\n", "# note\nx 1:1\ny 1:2\n", "1|x\n2|y\n3|y\n4|x\n"):
        path.write_text(text)
        found.append(whole(File(path)))
    pq.write_table(table, path)
    found.append(whole(File(path)))
    for make in (pa.ipc.new_file, pa.ipc.new_stream):
        with make(path, table.schema) as writer:
            writer.write_table(table)
        found.append(whole(File(path)))
    with path.open("wb") as file:
        np.savez(file, x=np.array([[1.0], [2.0]]), y=np.array(["x", "y"]))
    found.append(whole(File(path)))
    assert all((batch.x[:2].tolist(), batch.y[:2].tolist()) == ([[1.0], [2.0]], [0, 1]) for batch in found)


def test_a_stream_pickles_and_its_fingerprint_tells_content_and_options(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    for path in (first, second):
        path.write_text("a,b,c\n1,2,x\n3,4,y\n")
    stream = File(first)
    assert pickle.loads(pickle.dumps(stream)).schema == stream.schema
    assert stream.fingerprint == File(second).fingerprint != File(first, target=0).fingerprint
    second.write_text("a,b,c\n1,2,x\n3,5,y\n")
    assert stream.fingerprint != File(second).fingerprint


def test_reading_from_a_late_row_on_goes_by_known_places(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("".join(f"{i},{i % 3}\n" for i in range(200_000)))
    stream = File(path, header=False)
    assert next(stream.batches(1, 199_999)).x.item() == 199_999
    reader = stream._reader
    assert isinstance(reader, TextReader)
    assert [mark[0] for mark in reader._marks] == [0, 65_536, 131_072, 196_608]
    for start in (0, 65_535, 65_536, 150_000, 199_999):
        assert next(stream.batches(3, start)).x[0, 0] == start


names = st.text(st.characters(blacklist_characters="\n\r\0", blacklist_categories=["Cs"]), min_size=1, max_size=12)

tables = st.integers(1, 4).flatmap(
    lambda d: st.lists(
        st.tuples(*[st.floats(allow_nan=True, allow_infinity=False)] * d, names), min_size=1, max_size=30
    )
)


@settings(max_examples=150, deadline=None)
@given(tables, st.sampled_from([",", ";", "\t", "|"]))
def test_any_table_that_pandas_writes_comes_back(tmp_path_factory, rows, delimiter):
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    labels = [row[-1].strip(" \t") or "?" for row in rows]
    table = pd.DataFrame([[*row[:-1], label] for row, label in zip(rows, labels, strict=True)])
    table.to_csv(path, index=False, header=False, sep=delimiter, na_rep="?", encoding="utf-8", lineterminator="\n")
    if set(labels) == {"?"}:
        with pytest.raises(StreamgaugeError, match="no row has a class"):
            _ = File(path, header=False, delimiter=delimiter).schema
        return
    stream = File(path, header=False, delimiter=delimiter)
    batch = whole(stream, 7)
    np.testing.assert_array_equal(batch.x, table.iloc[:, :-1].to_numpy(dtype=float))
    found = [stream.schema.classes[code] if code >= 0 else "?" for code in batch.y]
    assert found == labels


def test_mutated_files_are_read_as_a_slow_reference_reads_them():
    read_arff, read_csv = fuzz(2_000, seed=11)
    assert read_arff > 100
    assert read_csv > 200
