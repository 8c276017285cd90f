"""Every state of a run: saved at any moment, loaded into one built alike, it continues as if nothing had happened."""

from collections.abc import Callable
from time import thread_time_ns
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge import _native
from streamgauge._engine.cells import Cell, Fold
from streamgauge._engine.meter import Meter
from streamgauge._engine.schedule import Schedule, Scheduler
from streamgauge.checks.learners import MIXED, sample_batch
from streamgauge.drift import DDM, EDDM, Watch
from streamgauge.errors import LearnerError, StreamgaugeError
from streamgauge.forgetting import AdwinWindow, Fading, Window
from streamgauge.learners import HoeffdingTree, NaiveBayes, PythonLearner, River
from streamgauge.learners.adapters.saved_states import pickle_state, record_pickles, set_trust, unpickle_state
from streamgauge.learners.chunk_ensembles import SEAEnsemble
from streamgauge.records import NEVER, Arrivals, Batch, Step
from streamgauge.records.serialise import pack, unpack
from streamgauge.schemes import Chunks, Prequential
from streamgauge.tasks import find_task

N = 60


def all_damage(state: bytes) -> list[bytes]:
    """Bytes that are cut, prolonged, or changed in one place."""
    places = range(0, len(state), max(1, len(state) // 40))
    changed = [state[:i] + bytes([state[i] ^ 16]) + state[i + 1 :] for i in places]
    return [b"", state[:-1], state[: len(state) // 2], state + b"x", *changed]


def assert_refuses_damage(thing: Any) -> None:
    before = thing.save()
    for damaged in all_damage(before):
        with pytest.raises(StreamgaugeError):
            thing.load(damaged)
    assert thing.save() == before


def list_columns(schedule: Schedule) -> list[Any]:
    batch, moves = schedule.batch, schedule.moves
    columns = (batch.x, batch.y, batch.weight, batch.time, schedule.test, schedule.revealed)
    order = () if moves is None else (moves.row, moves.now)
    return [None if column is None else column.tolist() for column in (*columns, *order)]


def rows_of(start: int, stop: int, *, weighted: bool, timed: bool) -> Batch:
    rows = np.arange(start, stop, dtype=np.int64)
    values = rows.astype(np.float64)
    y = (rows * 7 % 3 - (rows % 11 == 5)).astype(np.int32)  # some have no label at all
    weight, time = values % 4 / 2.0, values // 2 * 1.5
    return Batch(start, values[:, None], y, weight if weighted else None, time if timed else None)


@settings(max_examples=60, deadline=None)
@given(
    cut=st.integers(0, N),
    size=st.integers(1, 17),
    delays=st.lists(st.integers(0, 25) | st.just(NEVER), min_size=N, max_size=N),
    chunked=st.booleans(),
    score=st.sampled_from(["first", "last", "labelled"]),
    columns=st.tuples(st.booleans(), st.booleans()),
)
def test_a_saved_scheduler_still_owes_the_same_labels(
    cut: int, size: int, delays: list[int], chunked: bool, score: Any, columns: tuple[bool, bool]
) -> None:
    weighted, timed = columns

    def fresh() -> Scheduler:
        return Scheduler(Chunks(8) if chunked else Prequential(), score)

    def plan(scheduler: Scheduler, start: int, stop: int) -> list[Any]:
        batch = rows_of(start, stop, weighted=weighted, timed=timed)
        late = np.array(delays[start:stop])
        if timed:
            assert batch.time is not None
            return list_columns(
                scheduler.schedule(batch, Arrivals(time=np.where(late >= NEVER, np.inf, batch.time + late)))
            )
        return list_columns(scheduler.schedule(batch, Arrivals(np.minimum(NEVER, np.arange(start, stop) + late))))

    first, second = fresh(), fresh()
    for start in range(0, cut, size):
        plan(first, start, min(cut, start + size))
    second.load(first.save())
    assert second.totals == first.totals
    for start in range(cut, N, size):
        assert plan(first, start, min(N, start + size)) == plan(second, start, min(N, start + size))
    assert second.totals == first.totals
    assert first.save() == second.save()


def test_a_damaged_scheduler_is_refused_and_changes_nothing() -> None:
    scheduler = Scheduler(Prequential())
    scheduler.schedule(rows_of(0, 20, weighted=True, timed=False), Arrivals(np.arange(20) + 7))
    assert_refuses_damage(scheduler)


def test_damaged_baselines_are_refused_and_change_nothing() -> None:
    baselines = _native.Baselines(3)
    y = np.array([0, 2, 2, 1], dtype=np.int32)
    baselines.update(y, y, None)
    before = baselines.save()
    for damaged in all_damage(before):
        with pytest.raises(ValueError, match="Baselines"):
            baselines.load(damaged)
    assert baselines.save() == before


def test_a_saved_watch_knows_whether_a_row_of_warnings_has_begun() -> None:
    errors = (np.random.default_rng(3).random(3000) < np.linspace(0.05, 0.6, 3000)).astype(np.float64)
    rows = np.arange(3000)
    for spec in (DDM(), EDDM()):
        whole = Watch(spec).update(rows, errors)
        assert whole[1]
        for cut in range(100, 3000, 37):
            first, second = Watch(spec), Watch(spec)
            before = first.update(rows[:cut], errors[:cut])
            second.load(first.save())
            after = second.update(rows[cut:], errors[cut:])
            assert (before[0] + after[0], before[1] + after[1]) == whole
    assert_refuses_damage(first)


def test_a_saved_meter_continues_counting() -> None:
    def meter() -> Meter:
        return Meter(NaiveBayes().build(MIXED, seed=1), find_task(MIXED), thread_time_ns)

    first, second = meter(), meter()
    step = Step(sample_batch(MIXED, 2000))
    first.interleave(step, with_votes=False, cuts=[1000, 2000])
    noted = first.take_notes()
    second.load(first.save())
    counts = [(t.n_predicted, t.n_learnt, t.n_timed, t.latency.tolist()) for t in (first.totals(), second.totals())]
    assert counts[0] == counts[1]
    second.interleave(step, with_votes=False, cuts=[2000])
    assert second.n_predicted == 4000
    assert second.take_notes()[0][0] > noted[-1][0]
    assert_refuses_damage(second)


class FailsAt:
    """A learner that fails at a row."""

    def __init__(self, row: int) -> None:
        self.row, self.seen = row, 0

    def predict(self, x: Any) -> Any:
        return np.tile([0.0, 0.0, 1.0], (len(x), 1))

    def learn(self, x: Any, y: Any, weight: Any) -> None:  # noqa: ARG002
        self.seen += len(x)
        if self.seen > self.row:
            msg = "too hot"
            raise ValueError(msg)


def cell_of(spec: Any, seed: int = 1, detectors: Any = None) -> Cell:
    forgettings = (Window(100), Fading(0.99), AdwinWindow())
    fold = Fold(0, MIXED, majorities=[forgetting.build_majority(MIXED.n_classes) for forgetting in forgettings])
    states = [forgetting.build(MIXED.n_classes) for forgetting in forgettings]
    return Cell("mine", spec.build(MIXED, seed), fold, states, None, {"DDM": DDM()} if detectors is None else detectors)


def advanced(cell: Cell, batch: Batch) -> Any:
    cell.fold.begin_step(Schedule(batch), Step(batch))
    stop = batch.start + len(batch)
    tallies = cell.advance([stop - 5, stop], with_votes=False, with_correct=True)
    return [
        [(tally.confusion.tolist(), tally.majority_hits, tally.no_change_hits) for tally in of_stops]
        for of_stops in tallies
    ], list(cell.alarms)


SPECS: dict[str, Callable[[], Any]] = {
    "native": HoeffdingTree,
    "chunks": lambda: SEAEnsemble(chunk_size=50),
    "pickled": lambda: PythonLearner(FailsAt(10_000)),
    "failing": lambda: PythonLearner(FailsAt(150)),
}


@pytest.mark.parametrize("kind", SPECS)
def test_a_saved_cell_continues_bit_for_bit(kind: str) -> None:
    whole = sample_batch(MIXED, 400)
    parts = [Batch(start, whole.x[start : start + 100], whole.y[start : start + 100]) for start in range(0, 400, 100)]
    for count_before in range(4):
        first, second = cell_of(SPECS[kind]()), cell_of(SPECS[kind]())
        for part in parts[:count_before]:
            advanced(first, part)
        second.fold.load(first.fold.save())
        second.load(first.save())
        for part in parts[count_before:]:
            assert advanced(first, part) == advanced(second, part)
        assert first.failure == second.failure
        assert (first.failure is not None) == (kind == "failing")
        assert first.fold.save() == second.fold.save()
        assert first.save() == second.save()
    assert_refuses_damage(second)
    assert_refuses_damage(second.fold)


def test_a_cell_takes_no_state_of_one_built_otherwise() -> None:
    saved = cell_of(NaiveBayes()).save()
    with pytest.raises(StreamgaugeError, match="with other options: it consists of learner, forgetting 0"):
        cell_of(NaiveBayes(), detectors={}).load(saved)
    with pytest.raises(StreamgaugeError, match="not a saved"):
        cell_of(HoeffdingTree()).load(saved)


def test_what_cannot_be_saved_is_named() -> None:
    class Plain:
        def build(self, n_classes: int) -> Any:  # noqa: ARG002
            return object()

    cell = Cell("mine", NaiveBayes().build(MIXED, 1), Fold(0, MIXED), [Plain().build(2)], None, {})
    with pytest.raises(StreamgaugeError, match=r"cannot save forgetting 0.*no methods save\(\) and load\(\)"):
        cell.save()


def test_a_pickle_is_loaded_only_from_a_trusted_place() -> None:
    cell = cell_of(PythonLearner(FailsAt(99)))
    saved = cell.save()
    assert unpack("cell", saved)[0]["pickled"] == ["PythonLearner"]
    with pytest.raises(StreamgaugeError, match="PythonLearner is a pickle, which may run any code"):
        cell.load(saved, trusted=False)
    cell.load(saved, trusted=True)
    native = cell_of(HoeffdingTree())
    native.load(native.save(), trusted=False)
    assert unpack("cell", native.save())[0]["pickled"] == []


def test_trust_reaches_a_learner_within_an_ensemble() -> None:
    from river.tree import HoeffdingTreeClassifier  # noqa: PLC0415

    from streamgauge.learners import OzaBag  # noqa: PLC0415

    cell = cell_of(OzaBag(River(HoeffdingTreeClassifier()), n_members=2))
    batch = sample_batch(MIXED, 50)
    advanced(cell, Batch(0, batch.x, batch.y))
    saved = cell.save()
    assert unpack("cell", saved)[0]["pickled"] == ["River"]
    with pytest.raises(StreamgaugeError, match="pickle"):
        cell.load(saved, trusted=False)


def test_no_code_runs_from_a_state_that_is_not_trusted() -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (pytest.fail, ("it ran",))

    with record_pickles() as noted:
        state = pickle_state("River", Bomb())
    assert noted == {"River"}
    with set_trust(False), pytest.raises(StreamgaugeError, match="may run any code"):
        unpickle_state("River", state)


def test_bytes_that_are_no_state_at_all_are_refused() -> None:
    from zlib import crc32  # noqa: PLC0415

    for head in (b"\0" * 8 + b"nonsense", (2).to_bytes(8, "little") + b"{}", (99).to_bytes(8, "little") + b"[1]"):
        with pytest.raises(StreamgaugeError, match="not a saved thing"):
            unpack("thing", head + crc32(head).to_bytes(4, "little"))
    with pytest.raises(StreamgaugeError, match="not a saved thing but a saved other"):
        unpack("thing", pack("other", {}))


def test_a_learner_error_is_still_reported_after_a_restart() -> None:
    first, second = cell_of(SPECS["failing"]()), cell_of(SPECS["failing"]())
    batch = sample_batch(MIXED, 300)
    advanced(first, Batch(0, batch.x, batch.y))
    assert first.failure is not None
    second.load(first.save())
    assert str(second.failure) == str(first.failure)
    assert issubclass(LearnerError, StreamgaugeError)
    assert second.finish([300]) == first.finish([300])
