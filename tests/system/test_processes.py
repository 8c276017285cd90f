"""Cells in other processes: the same bits, failures reported plainly, nothing left behind."""

import errno
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet
from river import linear_model
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import roc_auc_score

import streamgauge as sg
from streamgauge.backends import Auto, Processes, Threads, processes
from streamgauge.errors import FailureWarning, StreamgaugeError
from streamgauge.labelling import Delayed
from streamgauge.learners import Encoded, Perceptron
from streamgauge.results import Misclassified, Predictions
from streamgauge.schemes import Holdout
from tests.support.run_facts import assert_same_blocks
from tests.support.timed_examples import make_timed_stream, make_times


class Mean:
    """Votes for the class whose rows have been nearest on average; keeps the very rows that it was given."""

    def __init__(self) -> None:
        self.rows: dict[int, list[np.ndarray]] = {}

    def predict(self, x):
        votes = np.zeros((len(x), 2))
        for code, rows in self.rows.items():
            votes[0, code] = 1 / (1e-9 + abs(x - rows[-1]).sum())
        return votes

    def learn(self, x, y):
        self.rows.setdefault(int(y[0]), []).append(x[0])


LEARNERS = {"mine": Mean(), "native": sg.HoeffdingTree()}


class Fragile:
    """Fails at a row, or takes its whole process with it."""

    def __init__(self, at: int = 50, *, kill: bool = False) -> None:
        self.at, self.kill, self.n = at, kill, 0

    def predict(self, x):
        return np.zeros(len(x), dtype=np.int64)

    def learn(self, x, y):  # noqa: ARG002
        self.n += 1
        if self.n == self.at and self.kill:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.n == self.at:
            msg = "too hot"
            raise ValueError(msg)


def run(backend, **options):
    options = {"every": 150, "batch_size": 100, "scheme": sg.Bootstrap(3), **options}
    learners = options.pop("learners", LEARNERS)
    return sg.evaluate(sg.RandomRBF(n_rows=400, speed=0.01), learners, backend=backend, **options)


def assert_same(one: sg.Results, other: sg.Results) -> None:
    assert one.values.tobytes() == other.values.tobytes()
    assert one.alarms == other.alarms
    assert one.failures == other.failures
    assert repr(one.feedback) == repr(other.feedback)
    assert one.verdicts == other.verdicts
    for first, second in zip(one.pairs, other.pairs, strict=True):
        assert first.sum_squared_means == second.sum_squared_means
        np.testing.assert_array_equal(first.only_first, second.only_first)
        np.testing.assert_array_equal(first.block_sums, second.block_sums)
    assert_same_blocks(one, other)


@pytest.mark.parametrize(
    "options",
    [
        {
            "detectors": ["DDM"],
            "measures": ["accuracy", "kappa_m", "log_loss", "roc_auc[1]"],
            "forgetting": [sg.AdwinWindow(), sg.Fading(0.9)],
        },
        {"labelling": Delayed(120), "scheme": sg.CrossValidation(3, test="held_out"), "resources": True},
        {"labelling": Delayed(120), "score": "labelled", "detectors": ["DDM"], "measures": ["accuracy", "kappa_m"]},
        {"scheme": Holdout(100, 30)},
        {"measures": [roc_auc_score, "accuracy"], "forgetting": [sg.Window(100), sg.Landmark()]},
        {"learners": {"river": linear_model.Perceptron(), "sklearn": SGDClassifier()}, "scheme": sg.Split(2)},
    ],
    ids=["detectors and votes", "late labels", "scored late", "holdout", "rows", "of other libraries"],
)
def test_processes_change_no_bit(options):
    assert_same(run(Threads(1), **options), run(Processes(2), **options))


@pytest.mark.parametrize("batch_size", [70, 400])
def test_readings_of_processes_have_the_times_of_their_rows(batch_size):
    options = {"scheme": sg.Bootstrap(2), "every": 130, "batch_size": batch_size, "backend": Processes(2)}
    results = sg.evaluate(make_timed_stream(), LEARNERS, **options)
    np.testing.assert_array_equal(results.times, make_times()[results.rows - 1])


class Writer(Mean):
    """Changes the rows that it is given."""

    def learn(self, x, y):  # noqa: ARG002
        x[:] = 0.0


@pytest.mark.parametrize("backend", [Threads(1), Threads(2), Processes(1), Processes(2)], ids=repr)
def test_a_learner_that_writes_into_rows_changes_no_other_learner(backend):
    alone = run(Threads(1), learners={"native": sg.NaiveBayes()})
    with pytest.warns(FailureWarning, match="writer.*none may write into them"):
        both = run(backend, learners={"writer": Writer(), "native": sg.NaiveBayes()})
    np.testing.assert_array_equal(both.curve("native", "accuracy"), alone.curve("native", "accuracy"))
    assert {failure.learner for failure in both.failures} == {"writer"}


@pytest.mark.parametrize("n_processes", [1, 2, 3])
def test_a_native_forest_beside_processes_that_need_all_threads_does_not_wait_for_one(n_processes):
    stream, scheme, forest = sg.SEA(n_rows=2_000), sg.Bootstrap(2), sg.learners.AdaptiveRandomForest(n_members=10)
    backend = Auto(threads=2, processes=n_processes)
    alone = sg.evaluate(stream, {"forest": forest}, scheme=scheme, backend=Threads(1))
    beside = sg.evaluate(stream, {"mine": Mean(), "forest": forest}, scheme=scheme, backend=backend)
    assert beside["forest"].values.tobytes() == alone.values.tobytes()


def test_native_cells_in_threads_beside_others_in_processes_change_no_bit():
    assert_same(run(Threads(1)), run(Auto(threads=2, processes=2)))


def test_records_of_cells_in_other_processes_are_the_same(tmp_path):
    for name, backend in (("here", Threads(1)), ("there", Processes(2))):
        recorders = [Predictions(tmp_path / name / "predictions.parquet", votes=True), Misclassified(tmp_path / name)]
        run(backend, recorders=recorders)
    here, there = (sorted((tmp_path / name).iterdir()) for name in ("here", "there"))
    assert [path.name for path in here] == [path.name for path in there]
    assert all(one.read_bytes() == other.read_bytes() for one, other in zip(here[:-1], there[:-1], strict=True))
    one, other = (parquet.read_table(path[-1]).to_pandas().astype({"learner": str}) for path in (here, there))
    keys = ["learner", "fold", "row"]
    assert one.sort_values(keys, ignore_index=True).equals(other.sort_values(keys, ignore_index=True))


def test_a_learner_of_this_file_goes_into_a_process_and_its_failure_is_reported():
    learners = {"fragile": Fragile(50), "native": sg.NoChange()}
    with pytest.warns(FailureWarning, match="'fragile' failed in fold 0 at row 49: ValueError: too hot"):
        there = sg.evaluate(sg.SEA(n_rows=100), learners, backend=Processes(2), every=20)
    with pytest.warns(FailureWarning):
        here = sg.evaluate(sg.SEA(n_rows=100), learners, backend=Threads(1), every=20)
    assert there.failures == here.failures
    np.testing.assert_array_equal(there.values, here.values)


class Waiting:
    """A learner that waits at its 50th row."""

    def __init__(self) -> None:
        self.n = 0

    def predict(self, x):
        return np.zeros(len(x))

    def learn(self, x, y):  # noqa: ARG002
        self.n += 1
        if self.n == 50:
            time.sleep(60.0)


def test_a_call_that_waits_is_interrupted_in_a_process_and_the_others_continue():
    started = time.monotonic()
    with pytest.warns(FailureWarning):
        results = sg.evaluate(
            sg.SEA(n_rows=300), {"waiting": Waiting(), "bayes": sg.NaiveBayes()}, backend=Processes(2), call_limit=0.5
        )
    assert time.monotonic() - started < 30.0
    (failure,) = results.failures
    assert (failure.learner, failure.row) == ("waiting", 49)
    assert failure.error == "a call took longer than call_limit = 0.5 s"
    alone = sg.evaluate(sg.SEA(n_rows=300), {"bayes": sg.NaiveBayes()})
    np.testing.assert_array_equal(results.curve("bayes", "accuracy"), alone.curve("bayes", "accuracy"))


class Greedy(Waiting):
    """A learner that takes memory at its 50th row until there is none left."""

    def __init__(self, *, to_death: bool) -> None:
        super().__init__()
        self.to_death = to_death

    def learn(self, x, y):  # noqa: ARG002
        self.n += 1
        if self.n < 50:
            return
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        kept = []
        try:
            while True:
                kept.append(bytearray(1 << 20))
        except MemoryError:
            if self.to_death:
                os.abort()  # as a kernel does that cannot allocate
            raise


@pytest.mark.skipif(sys.platform == "win32", reason="limits on memory are those of POSIX")
def test_a_learner_that_eats_memory_is_reported_by_name():
    learners = {"bayes": sg.NaiveBayes(), "greedy": Greedy(to_death=True), "majority": sg.MajorityClass()}
    with pytest.raises(sg.StreamgaugeError, match=r"worker process was killed by SIGABRT while it ran greedy;"):
        sg.evaluate(sg.SEA(n_rows=300), learners, backend=Processes(1))
    with pytest.warns(FailureWarning, match="learner 'greedy' failed in fold 0 at row 49: MemoryError"):
        sg.evaluate(sg.SEA(n_rows=300), {**learners, "greedy": Greedy(to_death=False)}, backend=Processes(1))


def test_a_worker_that_is_killed_is_reported_with_its_learner():
    learners = {"deadly": Fragile(50, kill=True), "native": sg.NoChange()}
    with pytest.raises(sg.StreamgaugeError, match=r"worker process was killed by SIGKILL.* while it ran deadly"):
        sg.evaluate(sg.SEA(n_rows=100), learners, backend=Processes(2))


def test_what_cannot_be_pickled_is_named():
    class Locked(Fragile):
        lock = threading.Lock()

        def __init__(self):
            super().__init__()
            self.own = threading.Lock()

        def fresh(self, schema, seed):  # noqa: ARG002
            return Fragile(10**6)

    with pytest.raises(sg.StreamgaugeError, match="learner 'locked' cannot be sent to another process"):
        sg.evaluate(sg.SEA(n_rows=100), {"locked": Locked(), "other": sg.NoChange()}, backend=Processes(2))
    assert sg.evaluate(sg.SEA(n_rows=30_000), {"locked": Locked()}, scheme=sg.Split(2)).complete  # it stays here


def test_an_error_of_a_measure_is_raised_with_where_it_was():
    def broken(tally):  # noqa: ARG001
        msg = "no such thing"
        raise KeyError(msg)

    with pytest.raises(StreamgaugeError, match="the measure broken failed after row 1: KeyError: 'no such") as raised:
        sg.evaluate(sg.SEA(n_rows=100), sg.NoChange(), measures=[broken], backend=Processes(1))
    assert "in a worker process" in raised.value.__notes__[0]


def test_a_script_without_a_guard_runs_its_own_learner_in_processes_and_ctrl_c_ends_it_cleanly(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        """
import numpy as np, streamgauge as sg
print("started", flush=True)
class Mine:
    def predict(self, x): return np.zeros(len(x), dtype=int)
    def learn(self, x, y): sum(range(2000))
results = sg.evaluate(sg.SEA(n_rows=10**7), {"mine": Mine()}, scheme=sg.Split(2), every=500, batch_size=500,
                      on_reading=lambda reading: print("row", reading.row, flush=True))
print(results.complete, results.description["ended_by"])
"""
    )
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    assert process.stdout.readline().startswith("row")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers = [int(pid) for pid in children.read_text().split()] if children.exists() else []
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert output.splitlines()[-1] == "False interrupt"
    assert "started" not in output
    deadline = time.monotonic() + 5
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_processes_leave_no_shared_memory_behind(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, "SHARED_MEMORY", tmp_path)
    sg.evaluate(sg.SEA(n_rows=300), {"mine": Fragile(10**6)}, scheme=sg.Split(2), backend=Processes(2), batch_size=100)
    assert not list(tmp_path.iterdir())


def test_where_shared_memory_is_full_another_folder_serves_or_it_is_reported(monkeypatch, tmp_path):
    full, other = tmp_path / "full", tmp_path / "other"
    full.mkdir()
    other.mkdir()
    monkeypatch.setattr(processes, "SHARED_MEMORY", full)
    monkeypatch.setattr(tempfile, "tempdir", str(other))
    reserve, refused = os.posix_fallocate, {full}

    def is_there_room(file: int, start: int, size: int) -> None:
        if any(Path(f"/proc/self/fd/{file}").readlink().is_relative_to(folder) for folder in refused):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        reserve(file, start, size)

    monkeypatch.setattr(os, "posix_fallocate", is_there_room)
    with processes._open_slot() as slot:
        path, _ = slot.write([memoryview(b"abc")])
        assert Path(path).is_relative_to(other)
        assert Path(path).read_bytes()[:3] == b"abc"
        refused.add(other)
        with pytest.raises(StreamgaugeError, match=r"full: No space left on device; .*other: No space"):
            slot.write([memoryview(bytes(100))])
    assert not [*full.iterdir(), *other.iterdir()]


def test_an_encoder_gives_the_same_bits_in_processes():
    learners = {"native": Encoded(Perceptron()), "scikit-learn": Encoded(SGDClassifier())}
    assert_same(run(Processes(2), learners=learners), run(Threads(1), learners=learners))


def test_the_next_run_frees_the_shared_memory_of_a_killed_one(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, "SHARED_MEMORY", tmp_path)
    script = f"""
import os, pathlib, signal
from streamgauge.backends import processes
processes.SHARED_MEMORY = pathlib.Path({str(tmp_path)!r})
with processes._open_slot() as slot:
    slot.write([memoryview(bytes(10_000))])
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script], check=False)
    assert [path for path in tmp_path.rglob("rows-*") if path.stat().st_size >= 10_000]
    sg.evaluate(sg.SEA(n_rows=300), sg.NaiveBayes(), scheme=sg.Split(2), backend=Processes(2), batch_size=100)
    assert not list(tmp_path.iterdir())
