"""Checkpoints: a run that is stopped or killed at any moment continues as if nothing had happened."""

import errno
import os
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamgauge as sg
from streamgauge._engine import source
from streamgauge._engine.checkpoint import BestEffort, CheckpointPolicy
from streamgauge._engine.checkpoint.container import FORMAT, Checkpoint, decode, encode
from streamgauge._engine.checkpoint.folder import Folder
from streamgauge._engine.journal import JournalReader
from streamgauge._engine.source import RowSource
from streamgauge.drift import DDM
from streamgauge.errors import CheckpointWarning, FailureWarning, StreamgaugeError
from streamgauge.evaluation import Evaluation, evaluate
from streamgauge.forgetting import Tumbling
from streamgauge.labelling import AllLabels, Delayed, DelayedAtRandom, Fraction
from streamgauge.learners import HoeffdingTree, MajorityClass, NaiveBayes, PythonLearner
from streamgauge.records import Batch
from streamgauge.records.manifest import RunManifest
from streamgauge.results import ConfusionMatrices, Misclassified, Predictions, Results
from streamgauge.schemes import Bootstrap, Chunks, CrossValidation, Holdout, Prequential
from streamgauge.streams import SEA, ArrayStream, File, write
from streamgauge.streams.output_files import replace_atomically

N = 1200


def cut_short(folder: Path, after: int, stream: Any, learners: Any, **options: Any) -> None:
    """Run a number of batches, then drop everything, as a kill would."""
    run = Evaluation(stream, learners, checkpoint=folder, **options)
    batches = run.advance()
    for _ in range(after):
        if next(batches, None) is None:
            break
    batches.close()  # type: ignore[attr-defined]


def facts(results: Results) -> list[Any]:
    pairs = [[np.asarray(value).tolist() for value in vars(pair).values()] for pair in results.pairs]
    fed = (
        None if results.feedback is None else [np.asarray(value).tolist() for value in vars(results.feedback).values()]
    )
    description = {name: fact for name, fact in results.description.items() if name not in ("seconds", "call")}
    values = results.values.tobytes()
    return [results.rows.tolist(), values, pairs, fed, results.alarms, results.failures, results.complete, description]


def describe_run(stream: str) -> RunManifest:
    return RunManifest.here(("tree",), (), (), {"stream": {"name": stream}})


class Nervous:
    """A learner that remembers the class it saw last, and fails at a row."""

    def __init__(self, row: int) -> None:
        self.row, self.seen, self.last = row, 0, 0

    def predict(self, x: Any) -> Any:
        return np.tile(np.eye(2)[self.last], (len(x), 1))

    def learn(self, x: Any, y: Any, weight: Any) -> None:  # noqa: ARG002
        self.seen, self.last = self.seen + len(x), int(y[-1])
        if self.seen > self.row:
            msg = "too much"
            raise ValueError(msg)


LABELLINGS: list[Callable[[], Any]] = [
    AllLabels,
    lambda: Delayed(70),
    lambda: DelayedAtRandom(40),
    lambda: Fraction(0.3),
]
SCHEMES: list[Callable[[], Any]] = [
    Prequential,
    lambda: Bootstrap(3),
    lambda: CrossValidation(3),
    lambda: Chunks(90),
    lambda: Holdout(every=200, size=50),
]


@settings(max_examples=12, deadline=None)
@given(
    scheme=st.sampled_from(SCHEMES),
    labelling=st.sampled_from(LABELLINGS),
    sizes=st.tuples(st.integers(20, 400), st.integers(20, 400), st.integers(40, 500), st.sampled_from([33, 4096])),
    cuts=st.lists(st.integers(0, 20), min_size=1, max_size=3),
    score=st.sampled_from(["first", "last", "labelled"]),
)
def test_a_run_that_is_cut_at_any_moments_has_the_results_of_one_that_is_not(
    tmp_path_factory: Any,
    scheme: Any,
    labelling: Any,
    sizes: tuple[int, int, int, int],
    cuts: list[int],
    score: Any,
) -> None:
    folder = tmp_path_factory.mktemp("run")
    learners = {"tree": HoeffdingTree(grace_period=50), "bayes": NaiveBayes(), "nervous": PythonLearner(Nervous(700))}
    options: dict[str, Any] = {
        "scheme": scheme(),
        "labelling": labelling(),
        "score": score,
        "forgetting": [sg.Landmark(), sg.Window(100), sg.Fading(0.99), sg.AdwinWindow(), Tumbling(150)],
        "measures": ["accuracy", "kappa_m", "kappa_temporal", "roc_auc_ovr_macro", "log_loss"],
        "detectors": [DDM()],
        "every": 130,
    }
    stream = SEA(n_rows=N, noise=0.2)
    slices = patch.object(source, "FIRST_SLICE", sizes[3])
    with warnings.catch_warnings(), patch.object(RowSource, "adapt_slice_rows"), slices:
        warnings.simplefilter("ignore", FailureWarning)
        whole = evaluate(stream, learners, **options)
        every = sizes[2]
        for after in cuts:
            kept = {**options, "batch_size": sizes[0], "checkpoint_every": every, "resume": True}
            cut_short(folder, after, stream, learners, **kept)
        last = {"batch_size": sizes[1], "checkpoint": folder, "checkpoint_every": every, "resume": True}
        resumed = evaluate(stream, learners, **options, **last)
    assert facts(resumed) == facts(whole)
    assert len(list(folder.glob("*.checkpoint"))) <= 2


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    cut_short(tmp_path / "run", 10, SEA(n_rows=N), NaiveBayes(), checkpoint_every=100, every=100)
    return tmp_path / "run"


def resumed(folder: Path, **options: Any) -> Results:
    asked: dict[str, Any] = {"every": 100, "checkpoint": folder, "resume": True, **options}
    return evaluate(asked.pop("stream", SEA(n_rows=N)), NaiveBayes(), **asked)


def whole_run() -> Results:
    return evaluate(SEA(n_rows=N), NaiveBayes(), every=100)


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.checkpoint"), reverse=True)


def test_the_last_two_checkpoints_are_kept(stopped: Path) -> None:
    assert [path.name[-16:] for path in files_of(stopped)] == ["01000.checkpoint", "00900.checkpoint"]
    assert facts(resumed(stopped)) == facts(whole_run())


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"measures": ["kappa", "accuracy"]}, "order of measures is ['accuracy', 'kappa'] there"),
        ({"learners": {"b": NaiveBayes(), "a": MajorityClass()}}, "order of learners is ['a', 'b'] there"),
        ({"detectors": {"DDM": DDM(drift=2.5)}}, "detectors DDM is "),
    ],
)
def test_a_run_whose_parts_come_in_another_order_does_not_resume(
    tmp_path: Path, changed: dict[str, Any], reason: str
) -> None:
    options: dict[str, Any] = {"learners": {"a": MajorityClass(), "b": NaiveBayes()}, "live_test": None}
    options |= {"measures": ["accuracy", "kappa"], "detectors": {"DDM": DDM()}, "every": 200}
    evaluate(SEA(n_rows=N), checkpoint=tmp_path, checkpoint_every=200, n_rows=600, **options)
    with pytest.raises(StreamgaugeError, match=re.escape(reason)):
        evaluate(SEA(n_rows=N), checkpoint=tmp_path, resume=True, **options | changed)


def test_the_journal_of_a_resumed_run_is_whole_whatever_the_kill_left_of_it(tmp_path: Path) -> None:
    run, checkpoints = tmp_path / "run", tmp_path / "checkpoints"
    options: dict[str, Any] = {"every": 100, "batch_size": 100, "journal": run}
    cut_short(checkpoints, 5, SEA(n_rows=N), NaiveBayes(), checkpoint_every=200, **options)
    readings = run / "journal" / "readings.f64"
    readings.write_bytes(readings.read_bytes()[:40] + b"!")
    results = evaluate(SEA(n_rows=N), NaiveBayes(), checkpoint=checkpoints, resume=True, **options)
    view = JournalReader(run)
    assert view.layout.rows(view.records()[1]).tolist() == results.rows.tolist() == [*range(100, N + 1, 100)]


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "foreign"])
def test_a_damaged_checkpoint_is_reported_and_the_one_before_it_used(stopped: Path, damage: str) -> None:
    newest = files_of(stopped)[0]
    data = newest.read_bytes()
    place = len(data) // 2
    newest.write_bytes(
        {
            "flipped": data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :],
            "cut": data[:-100],
            "empty": b"",
            "foreign": encode(Checkpoint(1000, describe_run("another"), {}, {})),
        }[damage]
    )
    reason = {"empty": "not a checkpoint of streamgauge", "foreign": "of another run: stream name is another there"}
    found = f"{reason.get(damage, 'it is damaged')}.*using the previous checkpoint, of row 900"
    with pytest.warns(CheckpointWarning, match=found):
        results = resumed(stopped)
    assert facts(results) == facts(whole_run())


def test_every_damaged_byte_of_a_checkpoint_is_noticed(stopped: Path) -> None:
    data = files_of(stopped)[0].read_bytes()
    end = len(data) - 32  # the mark behind says whose it is, not whether it is whole
    for place in range(0, end, max(1, end // 300)):
        with pytest.raises(StreamgaugeError):
            decode(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])


def test_where_no_checkpoint_is_left_that_is_an_error_and_nothing_is_touched(stopped: Path) -> None:
    for path in files_of(stopped):
        path.write_bytes(path.read_bytes()[:-1])
    before = {path: path.read_bytes() for path in stopped.iterdir()}
    with pytest.raises(StreamgaugeError, match=r"no checkpoint is usable: .*1000.checkpoint: it is damaged\. To start"):
        resumed(stopped)
    assert {path: path.read_bytes() for path in stopped.iterdir()} == before


def test_damaged_readings_are_noticed(stopped: Path) -> None:
    log = stopped / "progress.log"
    data = log.read_bytes()
    log.write_bytes(data[:-3] + bytes([data[-3] ^ 1]) + data[-2:])
    with pytest.warns(CheckpointWarning, match=r"the file progress.log beside it is damaged"):
        results = resumed(stopped)
    assert facts(results) == facts(whole_run())
    log.unlink()
    with pytest.raises(StreamgaugeError, match=r"no checkpoint is usable.*cannot read .*progress.log"):
        resumed(stopped)


def test_a_damaged_recorder_log_is_noticed_before_the_first_row(tmp_path: Path) -> None:
    def run(folder: str, **more: Any) -> bytes:
        recorder = Predictions(tmp_path / folder / "predictions.csv")
        options: dict[str, Any] = {
            "checkpoint": tmp_path / folder,
            "checkpoint_every": 100,
            "every": 100,
            "recorders": [recorder],
        }
        evaluate(SEA(n_rows=N), NaiveBayes(), **options, **more)
        return (tmp_path / folder / "predictions.csv").read_bytes()

    whole = run("whole")
    log = tmp_path / "whole" / "recorder.log"
    data = log.read_bytes()
    log.write_bytes(data[:-3] + bytes([data[-3] ^ 1]) + data[-2:])
    with pytest.warns(CheckpointWarning, match=r"recorder.log beside it is damaged; using the previous"):
        assert run("whole", resume=True) == whole
    log.write_bytes(b"!" + log.read_bytes()[1:])
    with pytest.raises(StreamgaugeError, match=r"no checkpoint is usable.*recorder.log beside it is damaged"):
        run("whole", resume=True)


def test_another_version_is_reported(stopped: Path) -> None:
    for path in files_of(stopped):
        data = path.read_bytes()
        path.write_bytes(data.replace(f"checkpoint {FORMAT}\n".encode(), b"checkpoint 99\n", 1))
    with pytest.raises(StreamgaugeError, match="it has format 99, and this version of streamgauge reads format 3"):
        resumed(stopped)


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"seed": 2}, "seed is 1 there and 2 here"),
        ({"every": 50}, "every is 100 there and 50 here"),
        ({"scheme": Bootstrap(2)}, "scheme name is Prequential"),
        ({"stream": SEA(n_rows=N, noise=0.3)}, "stream name is SEA"),
        ({"measures": "kappa"}, "measures accuracy is"),
        ({"detectors": "DDM"}, r"detectors DDM\(warning=2.0\) is nothing there"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused_and_the_difference_reported(
    stopped: Path, options: Any, difference: str
) -> None:
    with pytest.raises(StreamgaugeError, match=f"of another run: {difference}"):
        resumed(stopped, **options)
    assert facts(resumed(stopped)) == facts(whole_run())


def test_a_run_does_not_overwrite_the_checkpoints_of_another(stopped: Path) -> None:
    with pytest.raises(StreamgaugeError, match="holds checkpoints of an earlier run: resume it, or use another folder"):
        resumed(stopped, resume=False)
    assert len(files_of(stopped)) == 2


def test_a_run_that_has_ended_is_not_run_again_and_can_be_prolonged(tmp_path: Path) -> None:
    first = evaluate(SEA(), NaiveBayes(), every=100, n_rows=950, checkpoint=tmp_path, checkpoint_every=400)
    assert first.rows[-1] == 950

    class Unread(SEA):
        def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
            assert start == 950
            return super().batches(size, start)

    again: dict[str, Any] = {"every": 100, "checkpoint": tmp_path, "resume": True}
    assert facts(evaluate(SEA(), NaiveBayes(), n_rows=950, **again)) == facts(first)
    longer = evaluate(SEA(), NaiveBayes(), n_rows=2000, **again)
    assert facts(longer) == facts(evaluate(SEA(), NaiveBayes(), every=100, n_rows=2000))
    assert 950 not in longer.rows


def test_resuming_from_an_empty_folder_starts_at_the_first_row(tmp_path: Path) -> None:
    assert facts(resumed(tmp_path / "new")) == facts(whole_run())


def test_options_that_need_a_folder_say_so() -> None:
    with pytest.raises(StreamgaugeError, match="resume needs checkpoint"):
        evaluate(SEA(n_rows=10), NaiveBayes(), resume=True)
    with pytest.raises(StreamgaugeError, match="checkpoint_every needs checkpoint"):
        evaluate(SEA(n_rows=10), NaiveBayes(), checkpoint_every=5)
    with pytest.raises(StreamgaugeError, match="checkpoint_every = 0"):
        evaluate(SEA(n_rows=10), NaiveBayes(), checkpoint="unused", checkpoint_every=0)


def test_two_runs_do_not_write_into_one_folder(tmp_path: Path) -> None:
    with Folder(tmp_path).lock(), pytest.raises(StreamgaugeError, match="another run is writing its checkpoints"):
        resumed(tmp_path)
    assert facts(resumed(tmp_path)) == facts(whole_run())


def test_pickled_learners_are_loaded_only_from_ones_own_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "mine"))
    learner = PythonLearner(Nervous(10_000))
    options: dict[str, Any] = {"every": 100, "checkpoint_every": 200}
    whole = evaluate(SEA(n_rows=N), learner, every=100)
    for name in ("own", "elsewhere", "trusted"):
        cut_short(tmp_path / name, 5, SEA(n_rows=N), learner, **options)
    key = tmp_path / "mine" / "streamgauge" / "key"
    assert (key.stat().st_mode & 0o777) == 0o600

    def resume(name: str, **more: Any) -> Results:
        return evaluate(SEA(n_rows=N), learner, checkpoint=tmp_path / name, resume=True, **options, **more)

    assert facts(resume("own")) == facts(whole)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "theirs"))
    with pytest.raises(StreamgaugeError, match="the state of PythonLearner is a pickle, which may run any code"):
        resume("elsewhere")
    assert facts(resume("trusted", trust_checkpoint=True)) == facts(whole)


def test_native_learners_need_no_secret_and_no_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    cut_short(tmp_path / "run", 5, SEA(n_rows=N), NaiveBayes(), checkpoint_every=100, every=100)
    assert not (tmp_path / "state").exists()
    assert facts(resumed(tmp_path / "run")) == facts(whole_run())


def test_recorders_receive_every_batch_once(tmp_path: Path) -> None:
    def recorders(folder: Path) -> list[Any]:
        confusion = [ConfusionMatrices(folder / f"confusion.{kind}") for kind in ("csv", "mat")]
        return [Predictions(folder / "predictions.parquet", votes=True), Misclassified(folder / "wrong"), *confusion]

    learners = {"bayes": NaiveBayes(), "majority": MajorityClass()}
    options: dict[str, Any] = {"every": 150, "scheme": Bootstrap(2), "labelling": Delayed(30), "batch_size": 100}
    options["forgetting"] = [sg.Landmark(), sg.AdwinWindow()]
    stream = SEA(n_rows=N)
    once, again = tmp_path / "once", tmp_path / "again"
    evaluate(stream, learners, recorders=recorders(once), **options)
    kept = {**options, "recorders": recorders(again), "checkpoint_every": 100, "resume": True}
    for after in (4, 3, 1):
        cut_short(tmp_path / "run", after, stream, learners, **kept)
        assert not again.exists()
    evaluate(stream, learners, checkpoint=tmp_path / "run", **kept)
    names = sorted(path.relative_to(once) for path in once.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
    for name in names:
        if name.suffix == ".mat":  # which begins with the time of day
            assert (once / name).read_bytes()[128:] == (again / name).read_bytes()[128:]
        else:
            assert (once / name).read_bytes() == (again / name).read_bytes()


def test_costs_go_on_adding_up(tmp_path: Path) -> None:
    options: dict[str, Any] = {"every": 200, "resources": True, "checkpoint_every": 100, "resume": True}
    cut_short(tmp_path, 8, SEA(n_rows=N), NaiveBayes(), **options)
    cost = evaluate(SEA(n_rows=N), NaiveBayes(), checkpoint=tmp_path, **options).resources
    assert cost is not None
    assert cost.n_predicted.tolist() == [[N]]
    assert cost.rows.tolist() == list(range(200, N + 1, 200))
    assert (np.diff(cost.cpu_seconds[:, 0, 0]) > 0).all()


class Queue:
    """A live stream: rows are handed out once, and forgotten when a checkpoint that is behind them is safe."""

    def __init__(self, folder: Path | None = None) -> None:
        self.inner = SEA(n_rows=N)
        self.folder, self.next_row, self.kept_from, self.handed_out = folder, 0, 0, 0

    def __repr__(self) -> str:
        return "Queue()"

    schema = property(lambda self: self.inner.schema)
    n_rows = None
    fingerprint = "queue"

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        assert start == self.next_row >= self.kept_from
        for batch in self.inner.batches(min(size, 64), start):
            self.next_row = batch.start + len(batch)
            self.handed_out += len(batch)
            yield batch

    def state(self) -> bytes:
        return str(self.next_row).encode()

    def restore(self, state: bytes) -> None:
        self.next_row = int(state)

    def committed(self, state: bytes) -> None:
        row = int(state)
        assert self.folder is not None
        assert (self.folder / f"rows-{row:020d}.checkpoint").exists()
        self.kept_from = row


def test_a_live_stream_neither_loses_nor_repeats_a_row(tmp_path: Path) -> None:
    options: dict[str, Any] = {"every": 100, "n_rows": N, "checkpoint_every": 150, "resume": True}
    whole = evaluate(Queue(), NaiveBayes(), every=100, n_rows=N)
    first = Queue(tmp_path)
    cut_short(tmp_path, 12, first, NaiveBayes(), **options)
    assert 0 < first.kept_from <= first.next_row
    second = Queue(tmp_path)
    second.kept_from = first.kept_from
    assert facts(evaluate(second, NaiveBayes(), checkpoint=tmp_path, **options)) == facts(whole)
    assert second.handed_out == N - first.kept_from
    assert second.kept_from == N


def test_a_full_disk_is_reported_and_the_last_good_checkpoint_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = iter(range(1000))
    whole, fsync = whole_run(), os.fsync

    def full(file: int) -> None:
        if next(calls) >= 11:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(file)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StreamgaugeError, match=r"cannot write a checkpoint into .*: No space left on device; the last"):
        resumed(tmp_path, checkpoint_every=100)
    monkeypatch.undo()
    assert not list(tmp_path.glob(".*.tmp"))
    assert len(files_of(tmp_path)) >= 2
    assert facts(resumed(tmp_path)) == facts(whole)


def test_a_folder_that_cannot_be_written_is_reported_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StreamgaugeError, match="cannot write the checkpoints into"):
        resumed(tmp_path / "file" / "run")
    if os.geteuid() != 0:  # who may write anywhere
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(StreamgaugeError, match="Permission denied"):
            resumed(tmp_path / "closed")


def test_a_run_that_is_asked_to_stop_writes_a_last_checkpoint(tmp_path: Path) -> None:
    asked = threading.Event()
    run = Evaluation(SEA(n_rows=N), NaiveBayes(), every=100, batch_size=100, checkpoint=tmp_path, checkpoint_every=700)
    parts = []
    for progress in run.advance(asked.is_set):
        parts.append(progress)
        asked.set()
    short = run.results(parts)
    assert not short.complete
    assert [path.name for path in files_of(tmp_path)] == [f"rows-{short.n_rows:020d}.checkpoint"]
    assert facts(resumed(tmp_path)) == facts(whole_run())


def test_after_a_checkpoint_that_could_not_be_written_aside_none_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, write = [], Folder.write

    def failing(self: Folder, checkpoint: Checkpoint, **options: Any) -> None:
        written.append(checkpoint.n_rows)
        if len(written) == 2:
            raise self.make_error(OSError(errno.ENOSPC, "No space left on device"))
        write(self, checkpoint, **options)

    def rows_until(stop: int) -> list[int]:
        kept = CheckpointPolicy(tmp_path, 100, resume=True, best_effort=BestEffort(warned.append))
        run = Evaluation(SEA(n_rows=N), NaiveBayes(), every=50, checkpoint=kept)
        rows = []
        stopping = threading.Event()
        for progress in run.advance(stopping.is_set):
            rows += progress.rows.tolist()
            if rows[-1] >= stop:
                stopping.set()
        return rows

    warned: list[str] = []
    monkeypatch.setattr(Folder, "write", failing)
    assert rows_until(700)[-1] >= 700
    assert len(warned) == 1
    assert written == [100, 200]
    # What the end of the first run would have saved lacks the readings since then.
    assert rows_until(N) == list(range(50, N + 1, 50))


def test_a_time_limit_counts_from_each_start(tmp_path: Path) -> None:
    short = resumed(tmp_path, time_limit=1e-9, batch_size=100)
    assert not short.complete
    longer = resumed(tmp_path, time_limit=1e-9, batch_size=100)
    assert short.n_rows < longer.n_rows < N
    whole = facts(whole_run())
    done = facts(resumed(tmp_path))
    assert done[:-1] == whole[:-1]


def test_streams_of_arrays_are_known_by_their_rows(tmp_path: Path) -> None:
    rows = next(SEA(n_rows=N).batches(N))
    stream = ArrayStream(rows.x, rows.y)
    cut_short(tmp_path, 3, stream, NaiveBayes(), checkpoint_every=100, every=100)
    other = ArrayStream(rows.x + 1, rows.y)
    with pytest.raises(StreamgaugeError, match="of another run: stream fingerprint"):
        evaluate(other, NaiveBayes(), every=100, checkpoint=tmp_path, resume=True)
    whole = evaluate(stream, NaiveBayes(), every=100)
    assert facts(evaluate(stream, NaiveBayes(), every=100, checkpoint=tmp_path, resume=True)) == facts(whole)


def test_what_a_checkpoint_costs_does_not_grow_with_the_run(tmp_path: Path) -> None:
    options: dict[str, Any] = {"every": 10, "n_rows": 30_000, "checkpoint": tmp_path, "checkpoint_every": 1000}
    run = Evaluation(SEA(), NaiveBayes(), forgetting=sg.Window(100), **options)
    sizes = [files_of(tmp_path)[0].stat().st_size for _ in run.advance()]
    assert max(sizes[5:]) - min(sizes[5:]) < 100


def test_a_run_over_a_whole_file_ends_with_a_checkpoint(tmp_path: Path) -> None:
    write(SEA(n_rows=500), tmp_path / "rows.csv")
    evaluate(File(tmp_path / "rows.csv"), NaiveBayes(), checkpoint=tmp_path / "run", checkpoint_every=400)
    assert files_of(tmp_path / "run")[0].name == f"rows-{500:020d}.checkpoint"


def test_differences_without_a_value_have_the_same_bytes_after_a_resume(tmp_path: Path) -> None:
    """Before the first late label there is none; the sign of NaN is not to be relied on."""
    options: dict[str, Any] = {"labelling": Delayed(700), "scheme": Bootstrap(3), "n_rows": N, "every": 100}
    learners = [NaiveBayes(), MajorityClass()]
    whole = evaluate(SEA(), learners, **options)
    cut_short(tmp_path, 3, SEA(), learners, checkpoint_every=200, **options)
    resumed = evaluate(SEA(), learners, checkpoint=tmp_path, resume=True, **options)
    assert whole.differences is not None
    assert resumed.differences is not None
    assert np.isnan(whole.differences.values).any()
    assert resumed.differences.values.tobytes() == whole.differences.values.tobytes()


def test_a_folder_that_becomes_read_only_within_a_checkpoint_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    folder = Folder(tmp_path)
    folder.write(Checkpoint(100, describe_run("SEA()"), {}, {}))
    monkeypatch.setattr(Path, "replace", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(StreamgaugeError, match=r"cannot write a checkpoint into .*: Permission denied; the last good"):
        folder.write(Checkpoint(200, describe_run("SEA()"), {}, {}))
    with (
        pytest.raises(StreamgaugeError, match=r"cannot write .*rows\.csv: Permission denied"),
        replace_atomically(tmp_path / "rows.csv") as temporary,
    ):
        temporary.write_text("1,2")
