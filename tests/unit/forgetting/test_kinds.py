"""Forgetting against independent implementations: scikit-learn on the same slice, River's ADWIN."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from streamgauge.checks import check_forgetting
from streamgauge.checks.forgetting import same_bits, sample_trace
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import EWMA, AdwinWindow, Fading, Landmark, TimeWindow, Tumbling, Window
from streamgauge.measures import accuracy
from streamgauge.protocols import Forgetting
from streamgauge.records import Tally, Trace

FORGETTINGS: list[Forgetting] = [
    Landmark(),
    Window(1),
    Window(100),
    Window(5_000),
    TimeWindow(7.5),
    TimeWindow(1e6),
    Tumbling(1),
    Tumbling(77),
    EWMA(0.01),
    Fading(1.0),
    Fading(0.99),
    Fading(1e-3),
    AdwinWindow(),
    AdwinWindow(delta=0.3, clock=1, max_buckets=1, min_window_length=1, grace_period=0),
]


def last_tally(forgetting: Forgetting, n_classes: int, trace: Trace) -> Tally:
    return forgetting.build(n_classes).update(trace, [int(trace.row[-1]) + 1])[0]


@pytest.mark.parametrize("forgetting", FORGETTINGS, ids=repr)
def test_every_forgetting_keeps_its_contract(forgetting: Any) -> None:
    assert isinstance(forgetting, Forgetting)
    check_forgetting(forgetting)


def test_the_check_finds_a_forgetting_that_forgets_wrongly() -> None:
    class Wrong:
        def weights_by_age(self, n: int) -> NDArray[np.float64]:
            return np.ones(n)

        def build(self, n_classes: int) -> Any:
            return Window(100).build(n_classes)

    with pytest.raises(AssertionError, match="confusion"):
        check_forgetting(Wrong())


def test_the_check_finds_a_forgetting_that_depends_on_the_pieces() -> None:
    class Hasty:
        """A window that is emptied with every piece."""

        def build(self, n_classes: int) -> "Hasty":
            self.n_classes = n_classes
            return self

        def update(self, trace: Trace, reading_rows: Sequence[int]) -> Sequence[Tally]:
            return Landmark().build(self.n_classes).update(trace, reading_rows)

    with pytest.raises(AssertionError, match="pieces of 1 rows"):
        check_forgetting(Hasty())


@pytest.mark.parametrize("forgetting", FORGETTINGS, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_saved_state_continues_bit_for_bit(forgetting: Any, weighted: bool) -> None:
    trace = sample_trace(2)
    if weighted:
        trace = replace(trace, weight=np.random.default_rng(1).random(len(trace)))
    reading_rows = trace.row[1_000::90].tolist()
    straight = forgetting.build(4).update(trace, reading_rows)
    first, second = forgetting.build(4), forgetting.build(4)
    first.update(trace.part(0, 1_000), [])
    second.load(first.save())
    assert all(map(same_bits, straight, second.update(trace.part(1_000, len(trace)), reading_rows)))
    with pytest.raises(StreamgaugeError, match="not a saved"):
        second.load(first.save()[:-3])
    with pytest.raises(StreamgaugeError, match="not a saved"):
        forgetting.build(3).load(first.save())


def test_a_stop_means_the_rows_before_it() -> None:
    y = np.array([0, 1, 1], dtype=np.int32)
    hit = np.array([True, False, True])
    trace = Trace(np.array([5, 8, 9]), y, y, hit, hit)
    widths = [tally.width for tally in Landmark().build(2).update(trace, [0, 5, 6, 8, 9, 10])]
    assert widths == [0, 0, 1, 1, 2, 3]


def test_a_class_that_left_a_weighted_window_leaves_exactly_nothing() -> None:
    y, y_pred = (np.repeat(codes, 500).astype(np.int32) for codes in ([0, 1, 1], [1, 1, 0]))
    hit = np.ones(len(y), dtype=np.bool_)
    trace = Trace(np.arange(len(y)), y, y_pred, hit, hit, np.random.default_rng(3).random(len(y)))
    for forgetting in (Window(300), AdwinWindow()):
        tally = last_tally(forgetting, 2, trace)
        assert tally.width < 600
        assert tally.confusion[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("n_classes", [2, 40])
@pytest.mark.parametrize(
    "forgetting",
    [Landmark(), Window(1_000), Tumbling(1_000), TimeWindow(1.0), EWMA(), Fading(0.999), AdwinWindow()],
    ids=repr,
)
def test_memory_stays_bounded(forgetting: Any, n_classes: int) -> None:
    rng = np.random.default_rng(5)
    state, sizes = forgetting.build(n_classes), []
    for start in range(0, 1_000_000, 50_000):
        y = rng.integers(0, n_classes, 50_000).astype(np.int32)
        y_pred = np.where(rng.random(50_000) < 0.2, (y + 1) % n_classes, y).astype(np.int32)
        hit = rng.random(50_000) < 0.5
        row = np.arange(start, start + 50_000)
        state.update(Trace(row, y, y_pred, hit, hit, time=row / 1_000.0), [])
        sizes.append(state.n_bytes)
    # An adaptive window grows by one level of buckets when its width doubles; the others do not grow at all.
    assert sizes[-1] <= sizes[4] * (1.6 if isinstance(forgetting, AdwinWindow) else 1)
    assert sizes[-1] < 1_000_000


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Window(0), "width = 0"),
        (lambda: Window(2.5), "width = 2.5"),  # type: ignore[arg-type]
        (lambda: Tumbling(0), "width = 0"),
        (lambda: TimeWindow(0.0), r"span = 0.0: it must be a number in \(0, 1e\+15\] of seconds, or text such as"),
        (lambda: TimeWindow(float("inf")), "span = inf"),
        (lambda: TimeWindow("7 dayz"), "span = '7 dayz': write seconds, or a number and a unit"),
        (lambda: EWMA(1.0), "alpha = 1.0"),
        (lambda: Fading(0.0), r"factor = 0.0: it must be a number in \(0, 1\]"),
        (lambda: Fading(1.1), "factor = 1.1"),
        (lambda: Fading(float("nan")), "factor = nan"),
        (lambda: AdwinWindow(delta=0.0), r"delta = 0.0: it must be a number in \(0, 1\)"),
        (lambda: AdwinWindow(delta=1.0), "delta = 1.0"),
        (lambda: AdwinWindow(clock=0), "clock = 0"),
        (lambda: AdwinWindow(max_buckets=0), "max_buckets = 0"),
        (lambda: AdwinWindow(min_window_length=0), "min_window_length = 0"),
        (lambda: AdwinWindow(grace_period=-1), "grace_period = -1"),
    ],
)
def test_an_option_outside_its_range_is_named(make: Callable[[], Forgetting], message: str) -> None:
    with pytest.raises(StreamgaugeError, match=message):
        make()


def test_a_trace_that_cannot_be_is_refused_with_the_row() -> None:
    trace = sample_trace(1)
    with pytest.raises(StreamgaugeError, match="row 0: label 4 is not a class code"):
        Landmark().build(2).update(replace(trace, y_true=trace.y_true + 4), [])
    with pytest.raises(StreamgaugeError, match="reading_rows"):
        Landmark().build(4).update(trace, [100, 50])


def hits_of(*correct: bool) -> Trace:
    y = np.zeros(len(correct), dtype=np.int32)
    never = np.zeros(len(correct), dtype=np.bool_)
    return Trace(np.arange(len(correct)), y, np.where(correct, 0, 1).astype(np.int32), never, never)


def test_a_tumbling_window_is_read_whole_at_its_end_and_empty_of_the_past_after_it() -> None:
    trace = hits_of(True, True, True, False, False, True)
    tallies = Tumbling(3).build(2).update(trace, [1, 3, 4, 6])
    assert [(tally.width, tally.hits) for tally in tallies] == [(1, 1.0), (3, 3.0), (1, 0.0), (3, 1.0)]


def test_a_window_of_time_covers_the_time_and_not_the_rows() -> None:
    trace = replace(hits_of(*[True] * 6), time=np.array([0.0, 1.0, 2.0, 10.0, 10.0, 12.0]))
    state = TimeWindow(2.0).build(2)
    assert [tally.width for tally in state.update(trace, range(1, 7))] == [1, 2, 2, 1, 2, 1]
    # A row that comes late does not turn the clock back.
    late = replace(hits_of(True, True), row=np.array([6, 7]), time=np.array([11.0, 12.5]))
    assert [tally.width for tally in state.update(late, [7, 8])] == [2, 3]
    with pytest.raises(StreamgaugeError, match="needs rows with arrival times"):
        state.update(replace(hits_of(True), row=np.array([8])), [])
    with pytest.raises(StreamgaugeError, match="time of every row must be known"):
        state.update(replace(hits_of(True), row=np.array([8]), time=np.array([np.nan])), [])


def test_averages_that_fade_have_no_bias_from_the_first_row_on() -> None:
    # T5: MOA's average starts at 0, and says 10 percent after 20 rows of which 11 are right.
    correct = [True] * 11 + [False] * 9
    order = np.random.default_rng(1).permutation(20)
    trace = hits_of(*np.array(correct)[order].tolist())
    for forgetting in (EWMA(0.01), Fading(0.99)):
        tallies = forgetting.build(2).update(trace, range(1, 21))
        assert accuracy(tallies[0]) == float(trace.correct[0])
        assert accuracy(tallies[-1]) == pytest.approx(0.55, abs=0.03)


def test_whole_weights_are_counted_exactly_whatever_came_before() -> None:
    # T22: ten million rows in and out leave no trace, and a weighted window has no ghost of a class.
    rng = np.random.default_rng(3)
    state = Window(100).build(3)
    for _ in range(20):
        y = rng.integers(0, 3, 5_000).astype(np.int32)
        hit = y == 0
        trace = Trace(np.arange(5_000), y, y, hit, hit, rng.integers(0, 4, 5_000).astype(float))
        tally = state.update(trace, [5_000])[0]
        assert trace.weight is not None
        assert tally.support.tolist() == np.bincount(y[-100:], weights=trace.weight[-100:], minlength=3).tolist()
        state = Window(100).build(3) if state.n_bytes > 10_000 else state


def test_landmark_sums_of_fractions_do_not_drift() -> None:
    n = 200_000
    y = np.zeros(n, dtype=np.int32)
    hit = y > 0
    state = Landmark().build(2)
    for _ in range(5):
        state.update(Trace(np.arange(n), y, y, hit, hit, np.full(n, 0.1)), [])
    tally = state.update(hits_of(), [n])[0]
    assert tally.hits == pytest.approx(5 * n * 0.1, rel=1e-15)
