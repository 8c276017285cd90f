"""Writers: what is written reads back as the same rows, also by others."""

import csv
import gzip
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.errors import StreamgaugeError
from streamgauge.evaluation import evaluate
from streamgauge.learners import NoChange
from streamgauge.records import UNLABELLED, Attribute, Batch, Schema
from streamgauge.results import tabulate_readings, write_table
from streamgauge.streams import SEA, ArrayStream, File, convert, write

NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), include_characters="\t ',\"%{}\\"),
    min_size=1,
    max_size=8,
).filter(lambda name: name == name.strip() and name != "?")


@st.composite
def streams(draw):
    kinds = draw(st.lists(st.none() | st.lists(NAMES, min_size=1, max_size=4, unique=True), min_size=1, max_size=4))
    names = draw(st.lists(NAMES, min_size=len(kinds), max_size=len(kinds), unique=True))
    values = [None if kind is None else tuple(kind) for kind in kinds]
    schema = Schema(
        tuple(Attribute(f"{name}_", kind, missing=True) for name, kind in zip(names, values, strict=True)),
        tuple(draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))),
    )
    n = draw(st.integers(1, 6))
    finite = st.floats(allow_nan=False, allow_infinity=False)
    columns = [
        draw(
            st.lists(
                st.just(np.nan) | (finite if kind is None else st.integers(0, len(kind) - 1)), min_size=n, max_size=n
            )
        )
        for kind in values
    ]
    y = draw(st.lists(st.integers(-1, schema.n_classes - 1), min_size=n, max_size=n))
    weight = draw(st.none() | st.lists(st.floats(0, 1e6), min_size=n, max_size=n))
    x = np.array(columns, dtype=np.float64).T.copy()
    batch = Batch(0, x, np.array(y, dtype=np.int32), None if weight is None else np.array(weight))
    return ArrayStream.from_batch(batch, schema)


def rows_of(stream):
    batches = list(stream.batches(1000))
    weights = [b.weight if b.weight is not None else np.ones(len(b)) for b in batches]
    x = np.concatenate([b.x for b in batches])
    return np.where(np.isnan(x), 7, x.view(np.int64)), np.concatenate([b.y for b in batches]), np.concatenate(weights)


def assert_same_rows(first, second):
    for one, other in zip(rows_of(first), rows_of(second), strict=True):
        np.testing.assert_array_equal(one, other)


@settings(max_examples=60, deadline=None)
@given(streams(), st.sampled_from(["arff", "arff.gz", "csv", "tsv.zst", "parquet"]))
def test_what_is_written_reads_back_to_the_last_bit(tmp_path_factory, stream, suffix):
    path = tmp_path_factory.mktemp("written") / f"rows.{suffix}"
    assert write(stream, path) == stream.n_rows
    weighted = next(stream.batches(1)).weight is not None and "arff" not in suffix
    options: dict[str, Any] = {"weight": "weight"} if weighted else {}
    if suffix in {"csv", "tsv.zst"}:
        options |= {"declared": stream.schema, "header": True, "delimiter": "," if suffix == "csv" else "\t"}
    found = File(path, **options)
    assert found.schema.classes == stream.schema.classes
    assert [a.values for a in found.schema.attributes] == [a.values for a in stream.schema.attributes]
    assert [a.name for a in found.schema.attributes] == [a.name for a in stream.schema.attributes]
    assert_same_rows(found, stream)


def small_stream(n=500):
    rng = np.random.default_rng(1)
    x = np.column_stack(
        [rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n), rng.integers(0, 3, n), rng.integers(-5, 5, n)]
    )
    schema = Schema((Attribute("a"), Attribute("b", ("x", "y z", "it's")), Attribute("c")), ("no", "yes"))
    return ArrayStream.from_batch(Batch(0, x, rng.integers(0, 2, n).astype(np.int32)), schema)


def test_others_read_our_csv_and_parquet(tmp_path):
    stream = small_stream()
    write(stream, tmp_path / "a.csv.gz")
    write(stream, tmp_path / "a.parquet")
    with gzip.open(tmp_path / "a.csv.gz", "rt", newline="") as file:
        lines = list(csv.DictReader(file))
    for found in (lines, pq.read_table(tmp_path / "a.parquet").to_pylist()):
        assert [float(row["a"]) for row in found] == stream.x[:, 0].tolist()
        assert [row["b"] for row in found] == [("x", "y z", "it's")[int(code)] for code in stream.x[:, 1]]
        assert [row["class"] for row in found] == [("no", "yes")[code] for code in stream.y]


def test_numbers_have_the_digits_of_pythons(tmp_path):
    stream = small_stream()
    write(stream, tmp_path / "a.csv")
    for line, value in zip((tmp_path / "a.csv").read_text().splitlines()[1:], stream.x[:, 0], strict=True):
        text = line.split(",")[0]
        assert float(text) == value
        assert digits(text) == digits(repr(float(value)))


def digits(text):
    return text.split("e")[0].lstrip("-").replace(".", "").strip("0")


def test_the_same_rows_give_the_same_bytes(tmp_path):
    for suffix in ("arff", "csv.gz", "csv.zst", "parquet"):
        for name in ("one", "two"):
            write(small_stream(), tmp_path / f"rows.{suffix}")
            (tmp_path / f"rows.{suffix}").rename(tmp_path / f"{name}.{suffix}")
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", ["arff", "csv", "parquet"])
def test_a_write_that_fails_leaves_nothing(tmp_path, suffix):
    class Failing:
        schema, n_rows, fingerprint = small_stream().schema, 10, "x"

        def batches(self, size, start=0):
            yield from small_stream(5).batches(size, start)
            message = "broken"
            raise RuntimeError(message)

    with pytest.raises(RuntimeError, match="broken"):
        write(Failing(), tmp_path / f"rows.{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_no_more_rows_are_written_than_asked_for(tmp_path):
    assert write(small_stream(), tmp_path / "a.csv", n_rows=7) == 7
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 8


def test_infinite_numbers_are_refused_in_text(tmp_path):
    batch = Batch(0, np.array([[np.inf]]), np.zeros(1, dtype=np.int32))

    class Infinite:
        schema, n_rows, fingerprint = Schema((Attribute("a"),), ("no",)), 1, "x"

        def batches(self, size, start=0):  # noqa: ARG002
            yield batch

    with pytest.raises(StreamgaugeError, match="row 0, attribute 0: inf is not a finite number"):
        write(Infinite(), tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.txt", "ends in .arff, .csv or .tsv"),
        ("a.parquet.gz", "ends in"),
        ("a.csv", "there is already a column 'class'"),
    ],
)
def test_mistakes_are_reported(tmp_path, name, message):
    schema = Schema((Attribute("class"),), ("no",))
    stream = ArrayStream.from_batch(Batch(0, np.zeros((1, 1)), np.zeros(1, dtype=np.int32)), schema)
    with pytest.raises(StreamgaugeError, match=message):
        write(stream, tmp_path / name)


@pytest.mark.parametrize("value", ["?", "a\nb"])
def test_csv_refuses_values_it_cannot_hold(tmp_path, value):
    schema = Schema((Attribute("a", (value,)),), ("no",))
    stream = ArrayStream.from_batch(Batch(0, np.zeros((1, 1)), np.zeros(1, dtype=np.int32)), schema)
    with pytest.raises(StreamgaugeError, match="CSV"):
        write(stream, tmp_path / "a.csv")
    write(stream, tmp_path / "a.arff")
    assert File(tmp_path / "a.arff").schema.attributes[0].values == (value,)


def test_weights_that_come_late_need_a_column(tmp_path):
    lines = ["@relation r", "@attribute a numeric", "@attribute class {x,y}", "@data"]
    lines += ["1,x"] * 70_000 + ["2,y,{0.5}"]
    (tmp_path / "late.arff").write_text("\n".join(lines))
    with pytest.raises(StreamgaugeError, match="weight='weight'"):
        convert(tmp_path / "late.arff", tmp_path / "late.csv")
    assert convert(tmp_path / "late.arff", tmp_path / "late.csv", weight="w") == 70_001
    assert_same_rows(File(tmp_path / "late.csv", weight="w"), File(tmp_path / "late.arff"))


def test_converting_there_and_back_keeps_everything(tmp_path):
    text = (
        "@relation 'my data'\n\n@attribute a numeric\n@attribute 'b c' {x,'y z'}\n@attribute move {up,down}\n\n@data\n"
    )
    text += "0.1,x,up\n?,'y z',down\n-3,?,?\n1e+300,x,up\n"
    (tmp_path / "a.arff").write_text(text)
    for first, second in (("parquet", "arff"), ("arff.gz", "arff"), ("arff.zst", "arff")):
        convert(tmp_path / "a.arff", tmp_path / f"b.{first}")
        convert(File(tmp_path / f"b.{first}", target="move"), tmp_path / f"c.{second}")
        assert_same_rows(File(tmp_path / "a.arff"), File(tmp_path / "c.arff"))
        assert (tmp_path / "c.arff").read_text().split("\n")[1:] == text.split("\n")[1:]
    assert pq.read_schema(tmp_path / "b.parquet").names == ["a", "b c", "move"]
    assert next(File(tmp_path / "b.parquet").batches(10)).y.tolist() == [0, 1, UNLABELLED, 0]


def test_no_flipped_bit_of_a_parquet_file_that_we_write_changes_a_row(tmp_path):
    path = tmp_path / "rows.parquet"
    write(SEA(n_rows=200, noise=0.1), path)
    whole, data = rows_of(File(path)), path.read_bytes()
    refused = 0
    for bit in range(0, 8 * len(data), 211):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            found = rows_of(File(path))
        except StreamgaugeError:
            refused += 1
        else:
            assert all(map(np.array_equal, found, whole)), bit
    assert refused > 100


def test_tables_of_readings_in_parquet_have_checksums_that_others_check(tmp_path):
    path = write_table(tabulate_readings(evaluate(SEA(n_rows=2_000), NoChange(), every=10)), tmp_path / "table.parquet")
    data = bytearray(path.read_bytes())
    data[300] ^= 1
    path.write_bytes(data)
    with pytest.raises(OSError, match="CRC checksum verification failed"):
        pq.read_table(path, page_checksum_verification=True)


def name_values(stream):
    """Return the names of the columns, and the value of each row in each; the order of values in CSV is its own."""
    (batch,), schema = stream.batches(100), stream.schema
    columns = [
        x.tolist() if a.values is None else [None if np.isnan(v) else a.values[int(v)] for v in x]
        for x, a in zip(batch.x.T, schema.attributes, strict=True)
    ]
    return [a.name for a in schema.attributes], columns, [None if y < 0 else schema.classes[y] for y in batch.y]


@pytest.mark.parametrize("suffix", ["arff", "csv", "tsv", "parquet", "arrow"])
@pytest.mark.parametrize(
    "name",
    ["", "a\0b", "\ud800", "\ufefffirst", "\x1b[31m", "\u202eb", "\u2028", "<b>", "[bold]", "\x7f", "e\u0301", "?"],
)
def test_odd_names_are_read_back_or_refused_when_they_are_written(tmp_path, name, suffix):
    path = tmp_path / f"rows.{suffix}"
    batch = Batch(0, np.array([[1.5, 0.0], [2.5, 1.0], [3.5, 1.0]]), np.array([0, 1, 1], dtype=np.int32))
    for schema in (
        Schema((Attribute(name), Attribute("k", ("u", "v"))), ("no", "yes")),
        Schema((Attribute("a"), Attribute("k", ("u", name))), ("no", "yes")),
        Schema((Attribute("a"), Attribute("k", ("u", "v"))), ("no", name)),
    ):
        stream = ArrayStream.from_batch(batch, schema)
        refusal = ""
        try:
            write(stream, path)
        except StreamgaugeError as error:
            refusal = str(error)
        if refusal:
            assert refusal.isprintable()
            continue
        assert name_values(File(path)) == name_values(stream)
