"""The one loop: same numbers however it is run, nothing lost, nothing leaked."""

import inspect
import os
import signal
import threading
from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from streamgauge._engine import loop
from streamgauge._engine.planner import Planner
from streamgauge.backends import Threads
from streamgauge.checks import Memoriser
from streamgauge.errors import StreamgaugeError, StreamWarning
from streamgauge.evaluation import Evaluation, evaluate
from streamgauge.records import Batch, Reading
from streamgauge.streams import ArrayStream, take

FORGETTINGS = (sg.Landmark(), sg.Window(500), sg.Fading(0.99), sg.AdwinWindow())

MEASURES = ("accuracy", "kappa", "kappa_m", "kappa_m_all", "kappa_temporal")
LEARNERS = (sg.HoeffdingTree(), sg.NaiveBayes(), sg.MajorityClass(), sg.NoChange())


def run(stream, *, learners=LEARNERS, **options):
    return evaluate(
        stream, list(learners), **{"forgetting": FORGETTINGS, "measures": MEASURES, "every": 700, **options}
    )


def assert_same_bits(one, other):
    np.testing.assert_array_equal(one.values.view(np.uint64), other.values.view(np.uint64))
    assert len(one.pairs) == len(other.pairs)
    for first, second in zip(one.pairs, other.pairs, strict=True):
        assert first.sum_squared_means == second.sum_squared_means
        np.testing.assert_array_equal(first.only_first, second.only_first)
        np.testing.assert_array_equal(first.only_second, second.only_second)


@pytest.mark.parametrize("test", ["all", "training", "held_out"])
@pytest.mark.parametrize("scheme", [sg.Bootstrap, sg.CrossValidation, sg.Split])
def test_the_batch_size_changes_no_bit(scheme, test):
    stream = sg.RandomRBF(speed=0.001, n_rows=1400, seed=5)
    expected = run(stream, scheme=scheme(3, test=test), batch_size=65_536)
    for size in (77, 1024):
        assert_same_bits(expected, run(stream, scheme=scheme(3, test=test), batch_size=size))
    # threads wait for each other after every batch, which takes most of the time of batches of one row
    assert_same_bits(expected, run(stream, scheme=scheme(3, test=test), batch_size=1, backend=Threads(1)))


@pytest.mark.parametrize("threads", [2, 4])
def test_the_number_of_threads_changes_no_bit(threads):
    stream = sg.Hyperplane(n_rows=20_000)
    one = run(stream, scheme=sg.Bootstrap(5), backend=Threads(1), every=5000)
    assert_same_bits(one, run(stream, scheme=sg.Bootstrap(5), backend=Threads(threads), every=5000))


@pytest.mark.parametrize(
    "stream", [sg.SEA(noise=0.1), sg.Hyperplane(), sg.RandomRBF(n_classes=5, speed=0.01)], ids=repr
)
@pytest.mark.parametrize("scheme", [sg.Prequential(), sg.Bootstrap(3), sg.Split(3, test="held_out")], ids=repr)
def test_a_baseline_is_no_better_than_itself(stream, scheme):
    results = run(stream, scheme=scheme, n_rows=5000)
    for name in results.forgettings:
        kappa_m = results.curve("MajorityClass", "kappa_m" if name == "Landmark()" else "kappa_m_all", name)
        assert kappa_m == pytest.approx(0.0, abs=1e-12)
        assert (results.curve("NoChange", "kappa_temporal", name) == 0).all()


def test_the_last_part_of_a_stream_has_a_reading():
    results = run(sg.SEA(n_rows=1000), every=300)
    assert results.rows.tolist() == [300, 600, 900, 1000]
    assert run(sg.SEA(n_rows=50), every=1000).rows.tolist() == [50]
    assert run(sg.SEA(n_rows=600), every=300).rows.tolist() == [300, 600]


def test_readings_can_be_watched_while_it_runs():
    seen: list[Reading] = []
    results = evaluate(sg.SEA(n_rows=1000), sg.NaiveBayes(), every=250, on_reading=seen.append, batch_size=100)
    assert seen == list(results.readings)
    watched = iter(Evaluation(sg.SEA(), sg.NaiveBayes(), every=250, batch_size=100))
    assert [next(watched).row for _ in range(3)] == [250, 500, 750]


def test_learners_with_the_same_seed_share_the_randomness_of_a_fold_and_others_do_not():
    seeds: dict[str, list[int]] = {}

    class Spy(Memoriser):
        def build(self, schema, seed):
            seeds.setdefault(repr(self), []).append(seed)
            return super().build(schema, seed)

    evaluate(sg.SEA(n_rows=10), {"a": Spy(seed=1), "b": Spy(seed=1), "c": Spy(seed=2)}, scheme=sg.Bootstrap(4))
    (shared, other) = seeds.values()
    assert shared[:4] == shared[4:]
    assert len({*shared, *other}) == 8


def test_ctrl_c_ends_a_run_cleanly_and_marks_it_as_cut_short():
    def press(reading):
        if reading.row == 2000:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    results = evaluate(sg.SEA(n_rows=100_000), sg.NaiveBayes(), every=1000, batch_size=1000, on_reading=press)
    assert not results.complete
    assert 2000 <= results.n_rows < 100_000
    assert results.rows[-1] == results.n_rows
    assert signal.getsignal(signal.SIGINT) is before


def test_a_run_outside_the_main_thread_works_too():
    found = []
    thread = threading.Thread(target=lambda: found.append(evaluate(sg.SEA(n_rows=100), sg.NoChange())))
    thread.start()
    thread.join()
    assert found[0].complete


def test_rows_without_a_label_are_neither_learnt_nor_scored():
    batch = take(sg.SEA(seed=3), 2000)
    y = batch.y.copy()
    y[::2] = -1
    labelled = ArrayStream.from_batch(Batch(0, batch.x[1::2].copy(), batch.y[1::2].copy()), sg.SEA().schema)
    partly = ArrayStream.from_batch(Batch(0, batch.x, y), sg.SEA().schema)
    one, other = (evaluate(stream, sg.HoeffdingTree(), every=10**6) for stream in (labelled, partly))
    np.testing.assert_array_equal(one.values, other.values)


def test_a_failing_learner_names_itself_and_where():
    class Broken(Memoriser):
        def build(self, schema, seed):
            learner = super().build(schema, seed)
            learner.interleave = None  # type: ignore[assignment, method-assign]
            return learner

    with pytest.raises(StreamgaugeError, match=r"learner 'mine' failed in fold 0 at row 0: TypeError"):
        evaluate(sg.SEA(n_rows=10), {"mine": Broken()})


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        ({"every": 0}, "every = 0"),
        ({"n_rows": -1}, "n_rows = -1"),
        ({"batch_size": 0}, "batch_size = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"measures": "accurate"}, "did you mean accuracy"),
        ({"n_rows": None}, "never ends"),
    ],
)
def test_a_bad_option_is_named(options, culprit):
    with pytest.raises(StreamgaugeError, match=culprit):
        evaluate(sg.SEA(), sg.NaiveBayes(), **{"n_rows": 100, **options})


def test_learners_that_cannot_be_distinguished_are_refused():
    with pytest.raises(StreamgaugeError, match="two learners are the same"):
        evaluate(sg.SEA(n_rows=10), [sg.NaiveBayes(), sg.NaiveBayes()])
    assert len(evaluate(sg.SEA(n_rows=10), [sg.NaiveBayes(), sg.NaiveBayes(seed=2)]).learners) == 2


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("scheme", None), ("scheme", 3), ("scheme", [])),
        *(("labelling", 3), ("forgetting", []), ("forgetting", [None]), ("measures", []), ("measures", [None])),
        *(("seed", None), ("seed", -1), ("seed", 1.5), ("seed", 2**64)),
        *(("n_rows", 2**63), ("every", 2**63), ("batch_size", 2**63)),
        *(("recorders", None), ("recorders", [3]), ("backend", None), ("detectors", None), ("live_test", 3)),
        *(("journal", 3), ("checkpoint", 3), ("log", 3), ("on_reading", 3), ("on_verdict", 3)),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_by_the_name_of_its_option(option, value):
    with pytest.raises(StreamgaugeError) as found:
        sg.evaluate(sg.SEA(n_rows=100), sg.NaiveBayes(), **{option: value})
    assert option.rstrip("s") in str(found.value)
    assert len(str(found.value)) < 200


@pytest.mark.parametrize("wrong", [42, sg.NaiveBayes, "NaiveBays", []])
def test_what_is_no_learner_is_refused(wrong):
    with pytest.raises(StreamgaugeError, match="learner"):
        evaluate(sg.SEA(n_rows=10), wrong)


def test_evaluate_and_evaluation_take_the_same_options() -> None:
    function, constructor = (inspect.signature(called).parameters for called in (evaluate, Evaluation))
    own = {"progress", "on_reading", "on_verdict", "log"}
    assert {name: function[name] for name in function if name not in own} == dict(constructor)
    assert all(parameter.kind is parameter.KEYWORD_ONLY for name, parameter in function.items() if name in own)


def test_of_very_many_learners_the_pairs_of_the_first_are_compared_and_a_note_says_so():
    learners = {f"l{i}": sg.NoChange() for i in range(102)} | {"bayes": sg.NaiveBayes()}
    with pytest.warns(StreamWarning, match="103 learners: only pairs of the first 100 are compared"):
        results = sg.evaluate(sg.SEA(n_rows=300), learners, every=100)
    assert len(results.pairs) == 100 * 99 // 2
    assert {name for pair in results.pairs for name in (pair.first, pair.second)} == {f"l{i}" for i in range(100)}
    alone = sg.evaluate(sg.SEA(n_rows=300), {"bayes": sg.NaiveBayes()}, every=100)
    np.testing.assert_array_equal(results.curve("bayes", "accuracy"), alone.curve("bayes", "accuracy"))


def test_batches_of_many_classes_are_short_and_change_no_bit(monkeypatch):
    rng = np.random.default_rng(3)
    rows = rng.random((600, 3)), np.array([f"c{i}" for i in rng.integers(0, 40, 600)])
    options: dict[str, Any] = {"every": 10, "forgetting": [sg.Landmark(), sg.Window(50)]}
    whole = sg.evaluate(rows, [sg.NaiveBayes(), sg.MajorityClass()], **options)
    monkeypatch.setattr(loop, "TALLY_BYTES", 200_000)
    sizes, plan = [], Planner.plan

    def note_size(self, batch, arrivals):
        sizes.append(len(batch))
        return plan(self, batch, arrivals)

    monkeypatch.setattr(Planner, "plan", note_size)
    short = sg.evaluate(rows, [sg.NaiveBayes(), sg.MajorityClass()], **options)
    assert max(sizes) == 30
    assert short.values.tobytes() == whole.values.tobytes()
    assert repr(short.verdicts) == repr(whole.verdicts)
