"""Objects of users: they need to satisfy a protocol only, and what they offer beyond it is used."""

from collections.abc import Iterator

import numpy as np
import pytest

import streamgauge as sg
from streamgauge._foreign import adopt_labelling, adopt_scheme, adopt_stream, is_stream, is_stream_class, save_part
from streamgauge.errors import StreamgaugeError
from streamgauge.labelling import AllLabels, DelayedByColumn
from streamgauge.protocols import LiveStreamBase, Scheme
from streamgauge.records import Arrivals, Attribute, Batch, Drift, Schema, Step
from streamgauge.schemes import Chunks, Holdout, WarmUp
from streamgauge.streams import as_stream, drifts_of


class PlainStream:
    """Satisfies the protocol and nothing more."""

    schema = Schema((Attribute("a"), Attribute("delay")), ("no", "yes"))
    n_rows = 300
    fingerprint = "plain"

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        for first in range(start, self.n_rows, size):
            rows = np.arange(first, min(first + size, self.n_rows))
            x = np.column_stack([rows % 7, rows % 3]).astype(np.float64)
            yield Batch(first, x, (rows % 2).astype(np.int32))


class RichStream(PlainStream):
    """Offers all that a stream may offer."""

    checked = True
    in_memory = True
    ends = True
    status = "3 behind"

    def facts(self) -> dict[str, object]:
        return {"n_events": 300}

    def drifts_before(self, row: int | None) -> tuple[Drift, ...]:
        return tuple(drift for drift in (Drift(100),) if row is None or drift.position < row)


class PlainScheme:
    """Tests and learns every row, in two folds."""

    n_folds = 2

    def step(self, batch: Batch, _fold: int, _seed: int) -> Step:
        return Step(batch)


class LateScheme(PlainScheme):
    """Learns a row ten rows later."""

    test = "training"

    def learnable_after(self, batch: Batch) -> np.ndarray:
        return batch.rows + 10


class LateLabelling:
    """Delays every label by five rows."""

    def arrivals(self, batch: Batch, _seed: int) -> Arrivals:
        return Arrivals(batch.rows + 5)


def test_our_own_objects_are_used_as_they_are() -> None:
    stream, scheme, labelling = sg.SEA(), sg.Bootstrap(3), AllLabels()
    assert adopt_stream(stream) is stream
    assert adopt_scheme(scheme) is scheme
    assert adopt_labelling(labelling) is labelling


def test_a_plain_stream_gets_the_defaults() -> None:
    stream = adopt_stream(PlainStream())
    assert (stream.checked, stream.in_memory, stream.ends, stream.status) == (False, False, False, "")
    assert stream.facts() == {}
    assert drifts_of(PlainStream()) == ()
    assert not isinstance(stream, LiveStreamBase)


def test_what_a_stream_offers_is_used() -> None:
    stream = adopt_stream(RichStream())
    assert (stream.checked, stream.in_memory, stream.ends, stream.status) == (True, True, True, "3 behind")
    assert stream.facts() == {"n_events": 300}
    assert drifts_of(RichStream()) == (Drift(100),)
    results = sg.evaluate(RichStream(), sg.NaiveBayes(), every=100)
    assert results.drifts == (Drift(100),)
    assert results.description["live"] == {"n_events": 300}


def test_a_stream_with_a_cursor_is_a_live_stream() -> None:
    class Live(PlainStream):
        def state(self) -> bytes:
            return b"7"

        def restore(self, state: bytes) -> None:
            self.restored = state

        def committed(self, state: bytes) -> None:
            self.safe = state

    live = Live()
    stream = adopt_stream(live)
    assert isinstance(stream, LiveStreamBase)
    stream.restore(stream.state())
    stream.committed(b"7")
    assert (live.restored, live.safe) == (b"7", b"7")


def test_a_plain_scheme_gets_the_defaults_and_what_a_scheme_offers_is_used() -> None:
    batch = next(PlainStream().batches(4))
    plain, late = adopt_scheme(PlainScheme()), adopt_scheme(LateScheme())
    assert (plain.n_folds, plain.test, plain.training, plain.period) == (2, "all", 0, None)
    assert plain.bind(PlainStream()) is plain
    assert plain.learnable_after(batch) is None
    assert plain.inserted_tests(0, 10) == []
    assert plain.final_test(10) is None
    assert late.test == "training"
    np.testing.assert_array_equal(late.learnable_after(batch), [10, 11, 12, 13])


@pytest.mark.parametrize("scheme", [PlainScheme(), LateScheme(), WarmUp(50, scheme=LateScheme())])
def test_a_scheme_of_a_user_runs_at_any_batch_size(scheme: Scheme) -> None:
    runs = [sg.evaluate(PlainStream(), sg.NaiveBayes(), scheme=scheme, every=50, batch_size=size) for size in (7, 300)]
    assert runs[0].values.tobytes() == runs[1].values.tobytes()


def test_a_scheme_that_defers_learning_is_not_wrapped_by_another_that_does() -> None:
    with pytest.raises(StreamgaugeError, match="such as Bootstrap"):
        Chunks(10, scheme=LateScheme())
    with pytest.raises(StreamgaugeError, match="such as Bootstrap"):
        Chunks(10, scheme=Holdout(20, 5))
    assert Chunks(10, scheme=PlainScheme()).n_folds == 2


def test_a_labelling_of_a_user_delays_and_a_column_is_hidden() -> None:
    assert adopt_labelling(LateLabelling()).attribute is None
    results = sg.evaluate(PlainStream(), sg.NaiveBayes(), labelling=LateLabelling())
    assert results.feedback is not None
    assert results.feedback.n_owed == 5
    assert adopt_labelling(DelayedByColumn("delay")).attribute == "delay"


def test_a_stream_is_recognised_without_reading_it_and_a_class_is_none() -> None:
    kind: object = PlainStream
    for thing, expected in ((kind, False), (PlainStream(), True), ("SEA", False)):
        assert is_stream(thing) is expected
    assert is_stream_class(PlainStream)
    with pytest.raises(StreamgaugeError, match="is not a stream"):
        as_stream(sg.SEA)


def test_the_rows_of_a_stream_without_drifts_are_not_counted() -> None:
    class Uncounted(PlainStream):
        @property
        def n_rows(self) -> int:  # type: ignore[override]
            msg = "counted"
            raise AssertionError(msg)

    assert drifts_of(Uncounted()) == ()


def test_a_scheme_of_a_user_that_knows_its_stream_runs_in_chunks() -> None:
    class Bound(PlainScheme):
        def bind(self, stream: object) -> "Bound":
            assert stream is not None
            return Bound()

    results = sg.evaluate(PlainStream(), sg.NaiveBayes(), scheme=Chunks(50, scheme=Bound()))
    assert results.n_folds == 2


def test_a_labelling_with_an_attribute_of_another_meaning_is_left_alone() -> None:
    class Named(LateLabelling):
        attribute = "something else"

    assert adopt_labelling(Named()).attribute is None


def test_a_part_without_save_is_named() -> None:
    with pytest.raises(StreamgaugeError, match=r"cannot save forgetting 0: object has no methods save"):
        save_part(object(), "forgetting 0")
