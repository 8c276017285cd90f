"""Rows are tested and learnt in exactly the order in which they and their labels come, at any batch size."""

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamgauge as sg
from streamgauge._engine.schedule import Scheduler
from streamgauge.errors import StreamgaugeError
from streamgauge.evaluation import Evaluation, evaluate
from streamgauge.labelling import AllLabels, Delayed, DelayedAtRandom, DelayedByColumn, DelayedByTime, First, Fraction
from streamgauge.learners.plain_loop import run_row_by_row
from streamgauge.records import NEVER, Arrivals, Batch
from streamgauge.schemes import Chunks, CrossValidation, Holdout, Prequential, Pretrained, TrainThenTest, WarmUp
from streamgauge.streams import ArrayStream
from streamgauge.tasks import Classification

BATCH_SIZES = (1, 7, 64, 1000)


@dataclass(frozen=True)
class Diary:
    """A learner that writes down what is done to it; the first value of a row says which it is."""

    log: list[Any]
    seed: int = 1
    seedless: ClassVar[bool] = True

    def build(self, _schema, _seed):
        return _Diary(self.log)


class _Diary:
    n_bytes = 0

    def __init__(self, log):
        self.log = log

    def predict(self, x):
        self.log.append(("test", int(x[0, 0])))
        return np.ones((1, 2))

    def learn(self, x, y, _weight):
        self.log.append(("learn", int(x[0, 0]), int(y[0])))

    def learn_unlabelled(self, x, _weight):
        self.log.append(("see", int(x[0, 0])))

    def interleave(self, step, *, with_votes):
        return run_row_by_row(self, step, Classification(("a", "b")), with_votes=with_votes)

    def save(self):
        return b""

    def load(self, _state):
        pass


def numbered(n, *, time=None, y=None, **columns):
    labels = np.arange(n) % 2 if y is None else y
    x = np.column_stack([np.arange(n, dtype=float), *columns.values()])
    return ArrayStream(x, labels.astype(np.int32), time=time)


def diary(stream, batch_size, **options):
    log: list[Any] = []
    results = evaluate(stream, {"diary": Diary(log)}, batch_size=batch_size, resources=False, **options)
    return log, results


def expected(n, come, *, release=None, score="first", before=None, late=True):  # noqa: C901
    """Do it the slow way: `come[i]` is the row after whose test the label of row i is there.

    If labels are late, rows are not tested before the first was learnt; how many is returned, too, and what is owed.
    """
    release = list(range(n)) if release is None else release
    log: list[Any] = []
    waiting: list[int] = []
    left_out: list[int] = []

    def test(row):
        if not late or any(entry[0] == "learn" for entry in log):
            log.append(("test", row))
        else:
            left_out.append(row)

    def learn(rows):
        for row in sorted(rows):
            waiting.remove(row)
            if score == "last":
                test(row)
            log.append(("learn", row, row % 2))

    for now in range(n):
        if before is not None:
            learn([row for row in waiting if before[row] <= now and release[row] < now])
        at_once = max(come[now], release[now]) <= now
        others = [row for row in waiting if max(come[row], release[row]) <= now]
        if score == "first" or (score == "labelled" and come[now] < NEVER):
            test(now)
        if not at_once or others:  # its label is not there yet when the next thing is done
            log.append(("see", now))
        waiting.append(now)
        learn([row for row in waiting if max(come[row], release[row]) <= now])
    n_owed = sum(n <= come[row] < NEVER for row in range(n))
    left_out = [row for row in left_out if score != "labelled" or come[row] < n]
    return log, n_owed, len(left_out)


@given(
    delays=st.lists(st.one_of(st.integers(0, 12), st.just(None)), min_size=1, max_size=40),
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    chunked=st.booleans(),
    score=st.sampled_from(["first", "last", "labelled"]),
    batch_size=st.integers(1, 50),
)
@settings(max_examples=150, deadline=None)
def test_every_row_is_tested_and_learnt_when_it_and_its_label_come(delays, sizes, chunked, score, batch_size):
    n = len(delays)
    come = [NEVER if delay is None else row + delay for row, delay in enumerate(delays)]
    release: list[int] = []
    while chunked and len(release) < n:
        for size in sizes:
            release += [len(release) + size - 1] * size
    column = np.array([np.nan if delay is None else delay for delay in delays], dtype=float)
    log, results = diary(
        numbered(n),
        batch_size,
        labelling=DelayedByColumn(column),
        scheme=Chunks(tuple(sizes)) if chunked else Prequential(),
        score=score,
    )
    wanted, owed, left_out = expected(n, come, release=release[:n] if chunked else None, score=score)
    assert log == wanted
    n_scored = sum(entry[0] == "test" and (score != "labelled" or come[entry[1]] < n) for entry in log)
    assert results.feedback.n_left_out == left_out
    assert results.feedback.n_owed == owed
    assert results.feedback.n_hidden == delays.count(None)
    assert results.feedback.n_revealed == n - owed - delays.count(None)
    assert results.feedback.n_scored.tolist() == [n_scored]


@pytest.mark.parametrize("d", [0, 1, 6, 7, 8, 63, 64, 65, 500])
def test_a_delay_of_d_rows_is_exact_to_the_row_at_any_batch_size(d):
    n = 200
    wanted: list[Any] = []
    for row in range(n):
        if row > d or not d:  # no label was learnt before
            wanted.append(("test", row))
        if d:
            wanted.append(("see", row))
        if row >= d:
            wanted.append(("learn", row - d, (row - d) % 2))
    for size in BATCH_SIZES:
        log, results = diary(numbered(n), size, labelling=Delayed(d))
        assert log == wanted
        assert results.feedback.n_owed == min(d, n)


@given(
    steps=st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=1, max_size=40),
    seconds=st.sampled_from([0.0, 0.5, 1.0, 2.5, 10.0]),
    batch_size=st.integers(1, 50),
)
@settings(max_examples=100, deadline=None)
def test_a_label_that_is_delayed_by_time_is_learnt_before_the_first_row_that_comes_later(steps, seconds, batch_size):
    time = np.cumsum(steps)
    n = len(time)
    later = [next((r for r in range(n) if time[r] >= time[row] + seconds), NEVER) for row in range(n)]
    # A row that comes with its own label, or after it in the same instant, is learnt right after its test.
    come = [row if later[row] <= row else NEVER for row in range(n)]
    log, results = diary(numbered(n, time=time), batch_size, labelling=DelayedByTime(seconds))
    wanted, _, left_out = expected(n, come, before=later, late=seconds > 0)
    assert log == wanted
    assert results.feedback.n_left_out == left_out
    assert results.feedback.n_owed == n - sum(entry[0] == "learn" for entry in log)


def test_the_column_that_tells_the_delay_is_not_shown_to_learners():
    delay = np.array([3.0, 0.0, np.nan, 1.0, 0.0, 0.0])
    stream = ArrayStream({"id": np.arange(6.0), "delay": delay}, np.arange(6) % 2)
    for size in BATCH_SIZES:
        log, results = diary(stream, size, labelling=DelayedByColumn("delay"))
        assert log == diary(numbered(6), size, labelling=DelayedByColumn(delay))[0]
        assert results.feedback.n_hidden == 1
    with pytest.raises(StreamgaugeError, match="did you mean delay"):
        evaluate(stream, sg.NoChange(), labelling=DelayedByColumn("dely"))


def test_the_unit_of_a_column_may_be_seconds_or_a_time():
    time = np.arange(20.0)
    delay = np.tile([0.0, 2.5], 10)
    by_seconds, by_time = (
        diary(numbered(20, time=time), 7, labelling=DelayedByColumn(column, unit))[0]  # type: ignore[arg-type]
        for column, unit in ((delay, "seconds"), (time + delay, "time"))
    )
    assert by_seconds == by_time
    assert by_seconds.index(("learn", 1, 1)) == by_seconds.index(("test", 4)) - 1


@pytest.mark.parametrize(
    ("column", "culprit"),
    [(np.array([0.0, -1.0]), "row 1"), (np.array([0.5, 1.0]), "row 0"), (np.array([1.0]), "has only 1 values")],
)
def test_a_column_of_impossible_delays_is_refused_with_the_row(column, culprit):
    with pytest.raises(StreamgaugeError, match=culprit):
        evaluate(numbered(2), sg.NoChange(), labelling=DelayedByColumn(column))


def test_rows_without_times_cannot_have_labels_delayed_by_time():
    with pytest.raises(StreamgaugeError, match="needs the times of the rows"):
        evaluate(numbered(5), sg.NoChange(), labelling=DelayedByTime(5))
    with pytest.raises(StreamgaugeError, match=r"row 2: the time in .time.*is before that of the row above"):
        evaluate(numbered(4, time=np.array([0.0, 2.0, 1.0, 3.0])), sg.NoChange(), labelling=DelayedByTime(5))


def arriving(labelling, batch):
    rows = labelling.arrivals(batch, seed=3).row
    assert rows is not None
    return rows


@pytest.mark.parametrize("shape", ["uniform", "geometric"])
def test_random_delays_have_the_mean_asked_for_and_do_not_depend_on_batches(shape):
    labelling = DelayedAtRandom(40, shape)
    batch = Batch(0, np.zeros((50_000, 1)), np.zeros(50_000, dtype=np.int32))
    delay = arriving(labelling, batch) - np.arange(50_000)
    assert delay.min() == 0
    assert abs(delay.mean() - 40) < 1
    part = arriving(labelling, Batch(100, np.zeros((10, 1)), np.zeros(10, dtype=np.int32)))
    np.testing.assert_array_equal(part, delay[100:110] + np.arange(100, 110))
    assert arriving(DelayedAtRandom(0, shape), batch).tolist() == list(range(50_000))
    logs = [diary(numbered(300), size, labelling=labelling)[0] for size in BATCH_SIZES]
    assert all(log == logs[0] for log in logs)


def test_a_fraction_of_labels_arrives_at_random_or_per_class():
    n = 20_000
    stream = numbered(n)
    log, results = diary(stream, 1000, labelling=Fraction(0.3), every=n)
    assert abs(results.feedback.n_revealed / n - 0.3) < 0.02
    assert results.feedback.n_revealed + results.feedback.n_hidden == n
    assert results.feedback.n_scored.tolist() == [n]  # what is hidden is still scored
    assert sum(entry[0] == "see" for entry in log) == results.feedback.n_hidden
    log, _ = diary(stream, 1000, labelling=Fraction((0.0, 1.0)), every=n)
    assert {entry[2] for entry in log if entry[0] == "learn"} == {1}
    with pytest.raises(StreamgaugeError, match="a share for every class"):
        evaluate(stream, sg.NoChange(), labelling=Fraction((0.5,)))


def test_limited_feedback_scores_only_rows_whose_label_comes_and_says_how_many():
    _, results = diary(numbered(1000), 64, labelling=First(100), score="labelled")
    assert results.feedback.n_scored.tolist() == [100]
    _, results = diary(numbered(1000), 64, labelling=First(100))
    assert results.feedback.n_scored.tolist() == [1000]
    y = np.where(np.arange(1000) < 250, 1, -1)
    schema = sg.SEA().schema
    unknown = ArrayStream.from_batch(Batch(0, np.zeros((1000, 3)), y.astype(np.int32)), schema)
    feedback = evaluate(unknown, sg.NoChange()).feedback
    assert feedback is not None
    assert (feedback.n_revealed, feedback.n_unknown, feedback.n_hidden) == (250, 750, 0)
    assert feedback.n_scored.tolist() == [250]


def test_labels_may_be_both_partial_and_late():
    log, results = diary(numbered(100), 7, labelling=Delayed(10, of=First(20)))
    assert [entry[1] for entry in log if entry[0] == "learn"] == list(range(20))
    assert log.index(("learn", 3, 1)) == log.index(("test", 13)) + 2
    assert (results.feedback.n_hidden, results.feedback.n_owed) == (80, 0)
    with pytest.raises(StreamgaugeError, match="delayed again"):
        Delayed(5, of=DelayedByTime(3))
    with pytest.raises(StreamgaugeError, match="must be a labelling"):
        Delayed(5, of="all")  # type: ignore[arg-type]


def test_the_last_prediction_before_the_label_is_scored_where_it_was_made():
    stream = sg.SEA(n_rows=3000, noise=0.1)
    first, last = (
        Evaluation(stream, sg.NaiveBayes(), labelling=Delayed(500), every=1000, score=score)
        for score in ("first", "last")
    )
    readings = [list(evaluation) for evaluation in (first, last)]
    assert [reading.row for reading in readings[1]] == [1000, 2000, 3000]
    assert readings[1][0].value > readings[0][0].value  # after 1,000 rows, it knew more when the labels came
    results = evaluate(stream, sg.NaiveBayes(), labelling=Delayed(500), score="last")
    assert results.feedback is not None
    assert results.feedback.n_scored.tolist() == [2499]  # without the first, before which nothing was learnt


def test_training_rows_are_learnt_first_with_all_their_labels():
    for size in BATCH_SIZES:
        log, _ = diary(numbered(6), size, scheme=Pretrained(3), labelling=First(0))
        assert log[:3] == [("learn", 0, 0), ("learn", 1, 1), ("learn", 2, 0)]
        assert log[3:] == [entry for row in (3, 4, 5) for entry in (("test", row), ("see", row))]
        log, results = diary(numbered(4), size, scheme=TrainThenTest(2))
        assert log == [("learn", 0, 0), ("learn", 1, 1), ("test", 2), ("test", 3)]
        assert results.feedback.n_scored.tolist() == [2]


@pytest.mark.parametrize("kind", [Pretrained, TrainThenTest])
def test_another_stream_is_learnt_before_the_first_row(kind):
    other = ArrayStream(np.array([[100.0], [101.0], [102.0]]), np.array([1, 1, 0]))
    for size in (1, 2, 100):
        log, results = diary(numbered(3), size, scheme=kind(other))
        assert log[:3] == [("learn", 100, 1), ("learn", 101, 1), ("learn", 102, 0)]
        assert [entry[:2] for entry in log[3:]] == (
            [("test", 0), ("test", 1), ("test", 2)]
            if kind is TrainThenTest
            else [(what, row) for row in range(3) for what in ("test", "learn")]
        )
        assert results.n_rows == 3
        assert results.feedback.n_scored.tolist() == [3]


def test_warm_up_rows_are_learnt_but_not_scored():
    log, results = diary(numbered(5), 2, scheme=WarmUp(3))
    assert [entry[1] for entry in log if entry[0] == "learn"] == list(range(5))
    assert [entry[1] for entry in log if entry[0] == "test"] == [3, 4]
    assert results.feedback.n_scored.tolist() == [2]


def test_a_static_holdout_tests_the_same_rows_at_regular_intervals_and_at_the_end():
    for size in BATCH_SIZES:
        log, results = diary(numbered(25), size, scheme=Holdout(every=10, size=3))
        assert [entry[1] for entry in log if entry[0] == "learn"] == list(range(3, 25))
        tests = [("test", row) for row in range(3)]
        assert [entry for entry in log if entry[0] == "test"] == 3 * tests
        assert log[log.index(("learn", 9, 1)) + 1 :][:3] == tests
        assert log[-3:] == tests
        assert results.rows.tolist() == [10, 20, 25]


def test_a_holdout_of_another_stream_may_have_new_rows_each_time():
    other = ArrayStream(np.arange(100.0, 120.0)[:, None], np.zeros(20, dtype=np.int32), schema=numbered(2).schema)
    for size in BATCH_SIZES:
        log, _ = diary(numbered(25), size, scheme=Holdout(10, 2, source=other, refreshed=True))
        assert [entry[1] for entry in log if entry[0] == "test"] == [100, 101, 102, 103, 104, 105]
        log, _ = diary(numbered(25), size, scheme=Holdout(10, 2, source=other))
        assert [entry[1] for entry in log if entry[0] == "test"] == 3 * [100, 101]
        log, _ = diary(numbered(20), size, scheme=Holdout(10, 2, refreshed=True))
        assert [entry[1] for entry in log if entry[0] == "test"] == [8, 9, 18, 19]
        assert [entry[1] for entry in log if entry[0] == "learn"] == [*range(8), *range(10, 18)]
    with pytest.raises(StreamgaugeError, match="too few rows"):
        diary(numbered(200), 50, scheme=Holdout(10, 2, source=other, refreshed=True))
    with pytest.raises(StreamgaugeError, match="other attributes"):
        diary(numbered(200), 50, scheme=Holdout(10, 2, source=sg.SEA()))


def test_a_holdout_reading_is_that_of_its_last_test():
    stream = sg.SEA(n_rows=10_000, noise=0.1)
    results = evaluate(stream, sg.NaiveBayes(), scheme=Holdout(2000, 500, source=sg.SEA(seed=9)))
    batch = next(sg.SEA(seed=9).batches(500))
    learner = sg.NaiveBayes().build(stream.schema, 1)
    rows = next(stream.batches(10_000))
    for stop, reading in zip(results.rows.tolist(), results.curve("NaiveBayes", "accuracy")[:, 0], strict=True):
        learner.learn(rows.x[stop - 2000 : stop], rows.y[stop - 2000 : stop], None)
        assert reading == (learner.predict(batch.x).argmax(axis=1) == batch.y).mean()
    assert results.forgettings == ("Window(width=500)",)


def test_folds_with_late_labels_learn_what_they_would_have_learnt_later():
    seen: list[dict[str, list[Any]]] = []
    for size in BATCH_SIZES:
        logs: dict[str, list[Any]] = {}

        @dataclass(frozen=True)
        class Folded(Diary):
            def build(self, _schema, _seed):
                return _Diary(logs.setdefault(str(len(logs)), []))  # noqa: B023

        evaluate(
            numbered(100),
            {"d": Folded([])},
            scheme=CrossValidation(3, test="held_out"),
            labelling=Delayed(5),
            batch_size=size,
            resources=False,
        )
        seen.append(logs)
    assert all(logs == seen[0] for logs in seen)
    for fold in range(3):
        log = seen[0][str(fold)]
        tested = {entry[1] for entry in log if entry[0] == "test"}
        learnt = {entry[1] for entry in log if entry[0] == "learn"}
        assert tested | learnt >= set(range(6, 95))  # rows before the first label are not scored
        assert not tested & learnt


def test_all_labels_need_no_waiting():
    log, results = diary(numbered(4), 3, labelling=AllLabels())
    assert log == [entry for row in range(4) for entry in (("test", row), ("learn", row, row % 2))]
    assert results.feedback.n_owed == 0


def test_what_is_done_later_is_done_at_the_time_of_the_row_that_came_last():
    plan = Scheduler(Prequential()).schedule(
        Batch(5, np.zeros((3, 1)), np.zeros(3, dtype=np.int32), time=np.array([1.0, 2.0, 4.0])),
        Arrivals(np.array([6, 7, 8])),
    )
    assert plan.batch.time is not None
    assert plan.batch.time.tolist() == [1.0, 2.0, 2.0, 4.0, 4.0]
    scheduler = Scheduler(Holdout(10, 2, source=numbered(2)))
    scheduler.schedule(Batch(0, np.zeros((3, 1)), np.zeros(3, dtype=np.int32), time=np.array([1.0, 2.0, 4.0])), None)
    last = scheduler.schedule_final_test(3)
    assert last is not None
    assert last.batch.time is not None
    assert last.batch.time.tolist() == [4.0, 4.0]


def test_what_waits_takes_no_more_room_than_it_needs():
    for labelling in (Delayed(100), DelayedAtRandom(100)):
        evaluation = Evaluation(
            sg.SEA(), sg.NoChange(), labelling=labelling, n_rows=100_000, batch_size=1000, every=10**6
        )
        for _ in evaluation.advance():
            pass
        assert evaluation._run is not None
        assert len(evaluation._run._planner._scheduler._waiting.row) < 1000


def test_a_holdout_within_another_scheme_is_read_at_its_tests():
    results = evaluate(sg.SEA(n_rows=500), sg.NaiveBayes(), scheme=WarmUp(150, scheme=Holdout(100, 20)))
    assert results.rows.tolist() == [100, 200, 300, 400, 500]
    assert results.forgettings == ("Window(width=20)",)
    assert results.feedback is not None
    assert results.feedback.n_scored.tolist() == [80]


@pytest.mark.parametrize("scheme", [Prequential(), Chunks(90)])
def test_a_labelled_row_is_scored_with_its_first_prediction_when_its_label_arrives(scheme):
    n, delay, every = 1000, 170, 100
    stream = sg.SEA(n_rows=n, noise=0.1)
    batch = next(stream.batches(n))
    learner, first, scored = sg.NaiveBayes().build(stream.schema, 1), {}, []
    waiting: list[int] = []
    curve = []
    for row in range(n):
        votes = learner.predict(batch.x[row : row + 1])
        if votes.max() > 0:
            first[row] = int(votes.argmax())
        waiting.append(row)
        if row >= delay and row - delay in first:  # rows before the first label are left out
            scored.append(first[row - delay] == batch.y[row - delay])
        for late in [late for late in waiting if late + delay <= row]:
            if scheme == Prequential() or (late // 90 + 1) * 90 - 1 <= row:
                waiting.remove(late)
                learner.learn(batch.x[late : late + 1], batch.y[late : late + 1], None)
        if (row + 1) % every == 0:
            curve.append(np.mean(scored) if scored else np.nan)
    options: dict[str, Any] = {"labelling": Delayed(delay), "score": "labelled", "every": every, "scheme": scheme}
    for size in (13, 1000):
        results = evaluate(stream, {"nb": sg.NaiveBayes(), "last": sg.NoChange()}, batch_size=size, **options)
        np.testing.assert_allclose(results.curve("nb", "accuracy")[:, 0], curve, rtol=0, atol=1e-12)
        assert results.feedback is not None
        assert results.feedback.n_scored.tolist() == [len(scored)]
        assert results.feedback.n_owed == delay
        assert [int(pair.n_rows) for pair in results.pairs] == [len(scored)]


def test_recorded_predictions_of_labelled_rows_are_those_of_their_rows():
    class Recorder:
        needs_votes = False

        def __init__(self):
            self.rows, self.right = [], []

        @contextmanager
        def open(self, *_):
            yield self.add

        def add(self, batch):
            scored = batch.step.scored
            rows = batch.step.rows if scored is None else batch.step.rows[scored]
            self.rows += rows.tolist()
            self.right += (batch.trace.y_true == labels[rows]).tolist()

    labels = np.arange(60) % 2
    recorder = Recorder()
    evaluate(numbered(60), sg.NaiveBayes(), labelling=Delayed(20), score="labelled", recorders=[recorder], batch_size=7)
    assert recorder.rows == list(range(21, 40))  # of the rows tested after the first label, those whose label arrived
    assert all(recorder.right)
