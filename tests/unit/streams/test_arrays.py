"""Arrays and DataFrames as streams, and the check that any stream must pass."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from streamgauge._foreign import is_stream
from streamgauge.checks import check_stream
from streamgauge.errors import StreamgaugeError
from streamgauge.records import UNLABELLED, Attribute, Batch, Schema
from streamgauge.streams import SEA, ArrayStream, as_stream, in_memory, take

COLUMNS = {
    "price": [0.5, None, 2.5, 1.5],
    "units": [3, 1, 2, 2],
    "day": ["tu", "mo", None, "tu"],
    "open": [True, False, True, True],
    "move": ["up", "down", "up", None],
}
EXPECTED_X = [[0.5, 3, 1, 1], [np.nan, 1, 0, 0], [2.5, 2, np.nan, 1], [1.5, 2, 1, 1]]
EXPECTED_SCHEMA = Schema(
    (
        Attribute("price", missing=True),
        Attribute("units"),
        Attribute("day", ("mo", "tu"), missing=True),
        Attribute("open", ("false", "true")),
    ),
    ("down", "up"),
)
FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas with an index": pd.DataFrame(COLUMNS, index=pd.Index([7, 5, 9, 1], name="row")),
    "polars": pl.DataFrame(COLUMNS),
    "polars in chunks": pl.concat([pl.DataFrame(COLUMNS)[:1], pl.DataFrame(COLUMNS)[1:]], rechunk=False),
    "pyarrow": pa.table(COLUMNS),
    "pyarrow in chunks": pa.concat_tables([pa.table(COLUMNS)[:3], pa.table(COLUMNS)[3:]]),
}
WITH_LENGTHS = FRAMES["pandas"].assign(when=pd.timedelta_range("1s", periods=4))
UP_DOWN = Schema((Attribute("price"), Attribute("day", ("mo", "tu"))), ("up", "down"))


def rows_of(stream):
    return next(stream.batches(stream.n_rows))


# --- what comes in


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_every_kind_of_frame_becomes_the_same_stream(frame):
    stream = ArrayStream.from_frame(frame, "move")
    assert stream.schema == EXPECTED_SCHEMA
    np.testing.assert_array_equal(stream.x, EXPECTED_X)
    assert stream.y.tolist() == [1, 0, 1, UNLABELLED]
    assert stream.fingerprint == ArrayStream.from_frame(FRAMES["pyarrow"], "move").fingerprint
    check_stream(stream)


def test_a_given_schema_sets_codes_order_and_which_columns_are_read():
    schema = Schema((Attribute("day", ("su", "tu", "mo"), missing=True), Attribute("units")), ("up", "same", "down"))
    for frame in FRAMES.values():
        stream = ArrayStream.from_frame(frame, "move", schema=schema)
        np.testing.assert_array_equal(stream.x, [[1, 3], [2, 1], [np.nan, 2], [1, 2]])
        assert stream.y.tolist() == [0, 2, 0, UNLABELLED]


def test_weights_and_times_may_be_columns_of_the_frame():
    frame = FRAMES["pandas"].assign(w=[1.0, 0.0, 2.0, 1.0], t=pd.date_range("1970-01-02", periods=4, freq="s"))
    batch = rows_of(ArrayStream.from_frame(frame, "move", weight="w", time="t"))
    assert batch.weight is not None
    assert batch.time is not None
    assert batch.weight.tolist() == [1.0, 0.0, 2.0, 1.0]
    assert batch.time.tolist() == [86_400.0, 86_401.0, 86_402.0, 86_403.0]
    assert batch.x.shape == (4, 4)


@pytest.mark.parametrize(
    ("labels", "classes", "codes"),
    [
        ([10, 2, 10, 1], ("1", "2", "10"), [2, 1, 2, 0]),
        ([1.0, 0.0, float("nan"), 1.0], ("0", "1"), [1, 0, UNLABELLED, 1]),
        ([True, False, None, True], ("false", "true"), [1, 0, UNLABELLED, 1]),
        (np.array(["b", "a", "c", "b"]), ("a", "b", "c"), [1, 0, 2, 1]),
        (np.array(["b", None, "c", "b"], dtype=object), ("b", "c"), [0, UNLABELLED, 1, 0]),
        (np.array([3, 1, 1, 3], dtype=np.uint8), ("1", "3"), [1, 0, 0, 1]),
        (pd.Series(["b", "a", None, "b"], index=[4, 3, 2, 1]), ("a", "b"), [1, 0, UNLABELLED, 1]),
        (pd.Series(pd.Categorical(["lo", "hi", None, "lo"], ["lo", "mid", "hi"])), ("lo", "mid", "hi"), [0, 2, -1, 0]),
        (pl.Series(["b", "a", None, "b"], dtype=pl.Categorical), ("a", "b"), [1, 0, UNLABELLED, 1]),
        (pl.Series(["lo", "hi", None, "lo"], dtype=pl.Enum(["lo", "mid", "hi"])), ("lo", "mid", "hi"), [0, 2, -1, 0]),
    ],
)
def test_labels_of_any_kind_become_codes_sorted_or_in_the_order_of_their_categories(labels, classes, codes):
    stream = ArrayStream(np.zeros((4, 1)), labels)
    assert stream.schema.classes == classes
    assert stream.y.tolist() == codes


def test_a_whole_number_is_a_class_name_where_classes_are_named_so_and_else_a_code():
    x = np.zeros((3, 1))
    attributes = (Attribute("a"),)
    assert ArrayStream(x, [1, 2, 1], schema=Schema(attributes, ("1", "2", "3"))).y.tolist() == [0, 1, 0]
    assert ArrayStream(x, [1, 2, 1], schema=Schema(attributes, ("a", "b", "c"))).y.tolist() == [1, 2, 1]


def test_texts_beside_numbers_keep_numbers_numbers():
    stream = ArrayStream([["mo", 1.5], ["tu", 2.0]], ["up", "down"])
    assert stream.schema.attributes == (Attribute("a1", ("mo", "tu")), Attribute("a2"))
    assert stream.x.tolist() == [[0.0, 1.5], [1.0, 2.0]]


@settings(max_examples=50, deadline=None)
@given(
    x=hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=30), elements=st.floats(-1e300, 1e300)),
    order=st.sampled_from("CF"),
)
def test_any_array_of_numbers_comes_out_as_it_went_in(x, order):
    stream = ArrayStream(np.asarray(x, order=order), np.arange(len(x)) % 2)
    assert np.array_equal(rows_of(stream).x, x)
    check_stream(stream)


def test_rows_are_not_copied_and_cannot_be_written():
    x, y = np.zeros((10, 2)), np.zeros(10, dtype=np.int32)
    stream = ArrayStream.from_batch(Batch(0, x, y), Schema((Attribute("a"), Attribute("b")), ("up", "down")))
    batch = next(stream.batches(3, start=4))
    assert np.shares_memory(batch.x, x)
    with pytest.raises(ValueError, match="read-only"):
        batch.x[0, 0] = 1.0
    x[0, 0] = 0.0  # the owner's own array stays as it was


def test_a_fingerprint_differs_where_rows_or_schema_do():
    x, y = np.zeros((3, 2)), ["a", "b", "a"]
    streams = [
        ArrayStream(x, y),
        ArrayStream(x + np.array([0.0, 1e-300]), y),
        ArrayStream(x, ["a", "b", "b"]),
        ArrayStream(x, ["a", "c", "a"]),
        ArrayStream(x, y, weight=[1, 1, 1]),
        ArrayStream(x, y, time=[1, 1, 1]),
        ArrayStream({"p": x[:, 0], "q": x[:, 1]}, y),
    ]
    assert len({stream.fingerprint for stream in streams}) == len(streams)
    assert ArrayStream(x.copy(), y, name="other").fingerprint == streams[0].fingerprint


# --- what is refused


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ArrayStream(np.zeros(3), [1, 2, 3]), "x has shape (3,)"),
        (lambda: ArrayStream([[1.0, 2.0], [3.0]], [1, 2]), "x is not a table"),
        (lambda: ArrayStream(np.zeros((3, 1)), [1, 2]), "y has 2 values, but x has 3 rows"),
        (lambda: ArrayStream(np.zeros((2, 1)), np.zeros((2, 2))), "y is not a column"),
        (lambda: ArrayStream([[1.0], [np.inf]], [1, 2]), "row 1, column 'a1': the value is infinite"),
        (lambda: ArrayStream({"p": [1.0, -np.inf]}, [1, 2]), "row 1, column 'p': the value is infinite"),
        (lambda: ArrayStream({"p": [1.0, 2.0], "q": [1.0]}, [1, 2]), "p has 2, q has 1"),
        (lambda: ArrayStream([[1.0, 0.0], [np.nan, 1.0]], [0, 1], schema=UP_DOWN), "row 1, column 'price'"),
        (lambda: ArrayStream([[1.0, 7.0]], [0], schema=UP_DOWN), "row 0, attribute 1: 7 is not one of its 2"),
        (lambda: ArrayStream([[1.0]], [0], schema=UP_DOWN), "x has 1 columns, but the schema has 2"),
        (lambda: ArrayStream([[1.0, 0.0]], ["same"], schema=UP_DOWN), "row 0 of 'y': 'same' is not one of up, down"),
        (lambda: ArrayStream([[1.0, 0.0]] * 2, [0, 2], schema=UP_DOWN), "row 1 of 'y': '2' is not one of up, down"),
        (lambda: ArrayStream({"price": [1.0], "day": ["we"]}, [0], schema=UP_DOWN), "row 0 of 'day': 'we' is not"),
        (lambda: ArrayStream({"price": ["x"], "day": ["mo"]}, [0], schema=UP_DOWN), "column 'price' has type"),
        (lambda: ArrayStream({"price": [1.0]}, [0], schema=UP_DOWN), "there is no column 'day'"),
        (lambda: ArrayStream(np.zeros((51, 1)), np.arange(51) / 2), "'y' holds 51 different numbers: was regression"),
        (lambda: ArrayStream([[1.0]], [np.inf]), "row 0 of 'y': inf is not a finite number"),
        (lambda: ArrayStream([[1.0]] * 2, ["a", 1]), "y is not a column"),
        (lambda: ArrayStream([[1.0]], [None]), "no row has a label"),
        (lambda: ArrayStream([[1.0]] * 2, [0, 1], weight=[1.0, -1.0]), "row 1: weight -1"),
        (lambda: ArrayStream([[1.0]] * 2, [0, 1], weight=[1.0]), "weight has 1 values, but x has 2 rows"),
        (lambda: ArrayStream([[1.0]] * 2, [0, 1], time=[1.0, None]), "row 1: the time in 'time' is missing"),
        (lambda: ArrayStream(pd.DataFrame({"t": pd.to_datetime(["2020-01-01"])}), [0]), "no attribute; column 't'"),
        (lambda: ArrayStream(pa.table([[1], [2]], names=["a", "a"]), [0]), "the same name: 'a'"),
        (lambda: ArrayStream.from_frame(FRAMES["polars"], "mvoe"), "did you mean move?"),
        (lambda: as_stream(FRAMES["pandas"]), "target=..."),
        (lambda: as_stream(WITH_LENGTHS, target="move"), "convert it to seconds, or drop=('when',)"),
        (lambda: as_stream(5), "'int' is not a stream"),
        (lambda: take(ArrayStream([[1.0]], [0]), 2), "only 1 rows from row 0 on, not 2"),
    ],
)
def test_bad_input_is_refused_in_a_line_that_names_the_culprit(make, message):
    with pytest.raises(StreamgaugeError) as caught:
        make()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


# --- as_stream and take


def test_streams_pairs_and_frames_are_recognised():
    sea = SEA()
    assert as_stream(sea) is sea
    pair = as_stream((np.zeros((2, 1)), ["a", "b"]))
    assert is_stream(pair)
    assert pair.n_rows == 2
    for frame in FRAMES.values():
        assert as_stream(frame, target="move").schema == EXPECTED_SCHEMA


def test_rows_loaded_into_memory_are_those_of_the_stream_counted_from_0():
    stream = SEA(seed=5)
    whole = take(stream, 200)
    assert take(stream, 50, start=70).start == 70
    taken = in_memory(stream, 50, start=70)
    assert taken.schema == stream.schema
    assert np.array_equal(taken.x, whole.x[70:120])
    assert np.array_equal(taken.y, whole.y[70:120])
    assert next(taken.batches(10)).start == 0
    # Class codes are kept even where classes are named by other whole numbers.
    named = replace(stream.schema, classes=("1", "2"))
    assert np.array_equal(ArrayStream.from_batch(whole, named).y, whole.y)


# --- check_stream


class Broken:
    """A stream of ten rows whose batches go through a fault."""

    def __init__(self, fault):
        self._stream = ArrayStream(np.arange(100.0).reshape(50, 2), np.arange(50) % 2)
        self._fault = fault
        self.schema, self.n_rows, self.fingerprint = self._stream.schema, self._stream.n_rows, "broken"
        self.passes = 0

    def batches(self, size, start=0):
        self.passes += 1
        return (self._fault(self, batch, size) for batch in self._stream.batches(size, start))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda _, batch, __: replace(batch, start=batch.start + 1), "has start 1"),
        (lambda _, batch, size: replace(batch, x=batch.x + (size == 7)), "batches of 7 from row 0 on"),
        (lambda stream, batch, _: replace(batch, x=batch.x + (stream.passes == 2)), "other values"),
        (lambda _, batch, __: replace(batch, y=batch.y + np.int32(1)), "label 2 is not a class"),
        (lambda _, batch, __: replace(batch, y=batch.y.astype(np.int64)), "y"),
        (lambda _, batch, __: Batch(batch.start, batch.x[:-1], batch.y[:-1]), "49 of 50 rows"),
        (
            lambda _, batch, size: replace(batch, weight=np.full(len(batch), 2.0) if size == 64 else None),
            "batches of 64",
        ),
        (lambda stream, batch, _: replace(batch, x=batch.x + (stream.passes > 9)), "at the same time"),
    ],
)
def test_a_stream_that_breaks_its_contract_is_caught(fault, message):
    with pytest.raises((AssertionError, StreamgaugeError, TypeError)) as caught:
        check_stream(Broken(fault))
    assert message in str(caught.value)
