"""Events become rows, or are reported as malformed."""

import io
import json
import math
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.errors import StreamgaugeError
from streamgauge.records import Attribute, Schema
from streamgauge.streams.live import Kafka
from streamgauge.streams.live.decoding import Columns, Decoder, Format
from streamgauge.streams.live.events import Events
from streamgauge.streams.live.schemas import as_schema
from tests.support.live_examples import SCHEMA, as_csv, as_json, rows

AVRO = {
    "type": "record",
    "name": "Trade",
    "namespace": "market",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "price", "type": ["null", "double", "float", "int"]},
        {"name": "more", "type": {"type": "array", "items": {"type": "map", "values": "bytes"}}},
        {"name": "day", "type": ["null", "string"]},
        {"name": "class", "type": {"type": "enum", "name": "Way", "symbols": ["up", "down"]}},
        {"name": "again", "type": ["null", "Way"]},
        {"name": "when", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "mark", "type": {"type": "fixed", "name": "Mark", "size": 3}},
        {"name": "since", "type": {"type": "int", "logicalType": "date"}},
    ],
}


def events(values: list[bytes], **options: Any) -> Events:
    return Events(values, np.zeros(len(values)), **options)


def decoded(values: list[bytes], format: Format | None = None, schema: Schema = SCHEMA, **options: Any) -> Columns:  # noqa: A002
    return Decoder(schema, format or Format(), **{"target": "class", **options}).decode(events(values))


numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**64 - 1) | st.booleans()


@given(
    st.lists(st.tuples(numbers | st.none(), st.sampled_from(["mo", "tu", None]), st.sampled_from(["up", "down", None])))
)
def test_what_python_writes_as_json_is_read_as_python_would_read_it(given_rows: list[tuple[Any, Any, Any]]) -> None:
    columns = decoded([json.dumps({"price": p, "day": d, "class": c}).encode() for p, d, c in given_rows])
    assert columns.faults == []
    price = [math.nan if p is None else float(p) for p, _, _ in given_rows]
    day = [math.nan if d is None else ("mo", "tu").index(d) for _, d, _ in given_rows]
    np.testing.assert_array_equal(columns.x, np.array([price, day], dtype=np.float64).T.reshape(-1, 2))
    assert columns.y.tolist() == [-1 if c is None else SCHEMA.classes.index(c) for *_, c in given_rows]


@given(st.lists(st.binary(max_size=40) | st.text(max_size=40).map(str.encode), max_size=20))
def test_whatever_comes_is_a_row_or_a_fault(values: list[bytes]) -> None:
    avro = Format("avro", avro=json.dumps(AVRO))
    for form in (Format(), Format("csv", ("price", "day", "class")), avro):
        columns = decoded(values, form)
        found = sorted([*columns.event_index.tolist(), *(event for event, _ in columns.faults)])
        assert found == list(range(len(values)))
        assert np.isfinite(columns.x[~np.isnan(columns.x)]).all()


@given(st.binary(max_size=60))
def test_json_is_refused_where_python_refuses_it(value: bytes) -> None:
    try:
        read = json.loads(value, parse_constant=pytest.fail)
    except (ValueError, RecursionError, pytest.fail.Exception):
        read = None
    if decoded([value]).faults == []:
        assert isinstance(read, dict)


def test_lines_objects_and_records_of_the_same_rows_are_the_same() -> None:
    x, y = rows(500)
    way, day = SCHEMA.classes, SCHEMA.attributes[1].values or ()
    records = [
        {
            "id": i,
            "price": float(x[i, 0]),
            "more": [{"a": b"1"}, {}] * (i % 3),
            "day": day[int(x[i, 1])],
            "class": way[y[i]],
            "again": way[y[i]] if i % 2 else None,
            "when": 1_700_000_000_123 + i,
            "mark": b"abc",
            "since": i - 5,
        }
        for i in range(len(y))
    ]
    written = []
    schema = fastavro.parse_schema(json.loads(json.dumps(AVRO)))
    for record in records:
        file = io.BytesIO()
        fastavro.schemaless_writer(file, schema, record)
        written.append(file.getvalue())
    avro = decoded(written, Format("avro", avro=json.dumps(AVRO)), key="id", time="when", keyed=True)
    assert avro.faults == []
    assert avro.keys == [str(i).encode() for i in range(len(y))]
    assert avro.time is not None
    np.testing.assert_allclose(avro.time, 1_700_000_000.123 + np.arange(len(y)) / 1000, rtol=1e-15)
    dated = decoded(written, Format("avro", avro=json.dumps(AVRO)), time="since")
    np.testing.assert_array_equal(dated.time, (np.arange(len(y)) - 5) * 86_400.0)
    for columns in (avro, decoded(as_json(x, y)), decoded(as_csv(x, y), Format("csv", ("price", "day", "class")))):
        np.testing.assert_array_equal(columns.x, x)
        np.testing.assert_array_equal(columns.y, y)


def test_records_of_a_registry_name_one_schema() -> None:
    file = io.BytesIO()
    schema = {"type": "record", "name": "R", "fields": [{"name": "price", "type": "double"}]}
    fastavro.schemaless_writer(file, schema, {"price": 1.5})
    record = file.getvalue()
    framed = [b"\0\0\0\0\7" + record, record, b"\0\0\0\0\x08" + record, b"\0"]
    columns = decoded(framed, Format("avro", avro=json.dumps(schema), framed=True))
    assert columns.x[:, 0].tolist() == [1.5]
    assert [event for event, _ in columns.faults] == [1, 2, 3]
    assert columns.faults[1][1] == "it has the schema 8, but earlier events have 7"


def test_what_lies_inside_an_object_or_a_list_has_a_name_with_points() -> None:
    schema = Schema((Attribute("votes.up"), Attribute("votes.down"), Attribute("more.1")), ("up", "down"))
    columns = decoded(
        [b'{"votes": {"up": 0.25, "down": 0.75}, "more": [1, 2, 3], "class": "up"}', b'{"votes": 1, "more": [1, 2]}'],
        schema=schema,
    )
    assert columns.x.tolist() == [[0.25, 0.75, 2.0]]
    assert [event for event, _ in columns.faults] == [1]


def test_what_lies_in_lists_inside_each_other_is_found_and_null_holds_nothing() -> None:
    schema = Schema(tuple(Attribute(name, missing=True) for name in ("a.0.b", "a.1.1", "c.d")), ("up", "down"))
    columns = decoded(
        [b'{"a": [{"b": 1.5}, [2, 3]], "c": {"d": 4}}', b'{"a": [null], "c": null}', b'{"c": 1}', b"null"],
        schema=schema,
    )
    np.testing.assert_array_equal(columns.x, [[1.5, 3.0, 4.0], [np.nan] * 3])
    assert [event for event, _ in columns.faults] == [2, 3]
    assert "expected an object or a list, 'c'" in columns.faults[0][1]


@given(st.lists(st.decimals(-(10**30), 10**30, places=4).map(lambda d: d.copy_abs() if d == 0 else d), max_size=5))
def test_decimals_are_the_nearest_numbers(given_numbers: list[Decimal]) -> None:
    of = {"logicalType": "decimal", "precision": 38, "scale": 4}
    names = {"price": {"type": "bytes", **of}, "more": {"type": "fixed", "name": "F", "size": 16, **of}}
    schema = {"type": "record", "name": "R", "fields": [{"name": n, "type": t} for n, t in names.items()]}
    written = []
    for number in given_numbers:
        file = io.BytesIO()
        fastavro.schemaless_writer(file, fastavro.parse_schema(schema), {"price": number, "more": -number})
        written.append(file.getvalue())
    rows_are = Schema(tuple(map(Attribute, names)), ("up", "down"))
    columns = decoded(written, Format("avro", avro=json.dumps(schema)), rows_are)
    assert columns.faults == []
    expected = np.array([[float(number), -float(number)] for number in given_numbers]).reshape(-1, 2)
    np.testing.assert_array_equal(columns.x, expected)


def test_many_faults_take_time_in_proportion() -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "price", "type": "double"}]}
    started = time.process_time()
    columns = decoded([b"{}"] * 20_000, Format("avro", avro=json.dumps(schema), framed=True))
    assert len(columns.faults) == 20_000
    assert time.process_time() - started < 2


@pytest.mark.parametrize("classes", [[True, False], [0.0, 1.0, 1e21, 2.5e-7, -0.5], [0, 1], ["0", "x"]])
def test_classes_are_named_as_events_name_them(classes: list[object]) -> None:
    schema = as_schema({"attributes": {"price": classes}, "classes": classes})
    columns = decoded([json.dumps({"price": name, "class": name}).encode() for name in classes], schema=schema)
    assert columns.faults == []
    assert columns.y.tolist() == columns.x[:, 0].tolist() == list(range(len(classes)))


def test_a_key_must_be_there_and_short() -> None:
    values = [b'{"id": 1}', b'{"id": ""}', b"{}", json.dumps({"id": "x" * 1025}).encode()]
    columns = decoded(values, key="id", keyed=True)
    assert columns.keys == [b"1"]
    assert [why for _, why in columns.faults] == [
        "it has no key",
        "key 'id' is missing",
        "its key has more than 1024 bytes",
    ]
    outer = Decoder(SCHEMA, Format(), target=None, keyed=True).decode(events([b"{}", b"{}"], keys=[b"a", None]))
    assert outer.keys == [b"a"]
    assert outer.faults == [(1, "it has no key")]


def test_options_that_cannot_be_are_reported_at_once() -> None:
    for options, message in (
        ({"schema": None}, "a live stream needs schema"),
        ({"schema": {"attributes": {"a": "x"}, "classes": ["b"]}}, "attribute 'a' of the schema"),
        ({"schema": {"attributes": {"a": None}}}, "a schema has attributes and classes"),
        ({"schema": SCHEMA, "format": "jsn"}, "did you mean json"),
        ({"schema": SCHEMA, "format": "avro"}, "Avro events need avro_schema"),
        ({"schema": SCHEMA, "format": "avro", "avro_schema": "/nowhere.avsc"}, "cannot read the Avro schema"),
        ({"schema": SCHEMA, "format": "avro", "avro_schema": '"int"'}, "Avro schema of a record"),
        ({"schema": SCHEMA, "format": "csv", "columns": ("price",)}, "a CSV line"),
        ({"schema": SCHEMA, "target": "day"}, "'day' is used twice"),
        ({"schema": SCHEMA, "patience": 0}, "patience"),
        ({"schema": SCHEMA, "begin": "now"}, "start position"),
    ):
        with pytest.raises(StreamgaugeError, match=message):
            Kafka("rows", **options)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 100_000, "is not JSON: maximum recursion depth"),
        ('{"attributes": ["a", "a"], "classes": ["x"]}', "two attributes called 'a'"),
    ],
)
def test_an_odd_schema_is_refused_in_one_line(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "schema.json").write_text(text)
    with pytest.raises(StreamgaugeError, match=problem) as refusal:
        as_schema(tmp_path / "schema.json")
    assert len(str(refusal.value).splitlines()) == 1
