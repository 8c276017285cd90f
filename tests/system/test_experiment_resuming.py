"""Runs of an experiment that are killed, stopped or refused, and go on from their last checkpoint."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from streamgauge.cli.main import cli
from streamgauge.errors import StreamgaugeError
from streamgauge.experiments import Event, Experiment, SampleSource, Source, read, run
from streamgauge.serve.run_folders import RunFolders

MODELS = """
import pathlib
import threading
import time

HERE = pathlib.Path(__file__).parent


class Counting:
    '''Predicts by the rows it has learnt; stands still at a row as long as there is a file that says so.'''

    def __init__(self):
        self.n = 0

    def learn(self, x, y):  # noqa: ARG002
        self.n += 1
        with (HERE / "learnt").open("a") as file:
            file.write(f"{self.n}\\n")
        while self.n == 2_500 and (HERE / "wait").exists():
            time.sleep(0.01)

    def predict(self, x):
        return [self.n // 7 % 2] * len(x)


class Locked(Counting):
    '''Holds what cannot be pickled.'''

    def learn(self, x, y):  # noqa: ARG002
        super().learn(x, y)
        self.lock = threading.Lock()
"""

EXPERIMENT = """
rows = 4_000
every = 250
resources = false
checkpoint_every = 500
detectors = ["DDM"]
labellings = ["Delayed(100)"]
streams = ["SEA(noise=0.1)"]

[learners]
mine = { python = "counting_models:Counting" }
tree = "HoeffdingTree"
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delitem(sys.modules, "counting_models", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "counting_models.py").write_text(MODELS)
    path = tmp_path / "experiment.toml"
    path.write_text(EXPERIMENT)
    return path


def found_in(folder: Path) -> tuple[bytes, dict[str, object]]:
    """Return what a resumed run must share with one that was never stopped."""
    (found,) = folder.glob("runs/run=*/manifest.json")
    manifest = json.loads(found.read_text())
    manifest.pop("checksum")  # of the facts below, too
    manifest["description"].pop("seconds")
    manifest["description"].pop("call")  # it says that the run was resumed
    return found.with_name("readings.parquet").read_bytes(), manifest


def checkpoints(folder: Path) -> list[Path]:
    return sorted(folder.glob("runs/run=*/checkpoints/*.checkpoint"))


def first_row_learnt(folder: Path) -> int:
    return int((folder / "learnt").read_text().split()[0])


def interrupted(experiment: Experiment | Path, folder: Path) -> None:
    """Press Ctrl-C at the first reading."""

    def press(event: Event) -> None:
        if event.kind == "advanced":
            signal.raise_signal(signal.SIGINT)

    outcome = run(experiment, folder, n_jobs=1, on_event=press)
    assert outcome.interrupted
    assert checkpoints(folder)


def test_a_killed_run_continues_from_its_last_checkpoint_with_the_same_results(file: Path) -> None:
    here, found = file.parent, file.parent / "found"
    (here / "wait").touch()
    command = [sys.executable, "-c", "from streamgauge.cli.main import main; main()", "run", str(file), "--jobs", "1"]
    process = subprocess.Popen([*command, "--out", str(found), "--quiet"])
    deadline = time.monotonic() + 60
    while not any("2000" in path.name for path in checkpoints(found)):
        assert time.monotonic() < deadline, "no checkpoint within a minute"
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    assert process.wait(timeout=60) == -signal.SIGKILL
    (here / "wait").unlink()
    (here / "learnt").unlink()
    assert run(file, found, n_jobs=1).n_finished == 2
    assert first_row_learnt(here) == 2_000 - 100 + 1  # labels are 100 rows late
    assert not list(found.glob("runs/*/checkpoints"))
    assert run(file, here / "whole", n_jobs=1, checkpoint_every=0).complete
    assert found_in(found) == found_in(here / "whole")


def test_a_run_that_is_stopped_with_ctrl_c_keeps_what_it_has_done(file: Path) -> None:
    here = file.parent
    interrupted(file, here / "found")
    n_kept = int(checkpoints(here / "found")[-1].stem[5:])
    (here / "learnt").unlink()
    assert run(file, here / "found", n_jobs=1).complete
    assert first_row_learnt(here) == n_kept - 100 + 1
    assert run(file, here / "whole", n_jobs=1, checkpoint_every=0).complete
    assert found_in(here / "found") == found_in(here / "whole")


@pytest.mark.parametrize("why", ["from elsewhere", "damaged", "again"])
def test_a_checkpoint_that_cannot_be_used_is_no_hindrance(
    file: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    here = file.parent
    interrupted(file, here / "found")
    (here / "learnt").unlink()
    if why == "from elsewhere":  # with pickles that somebody else may have made
        monkeypatch.setenv("XDG_STATE_HOME", str(here / "theirs"))
    elif why == "damaged":
        for path in checkpoints(here / "found"):
            path.write_bytes(path.read_bytes()[:-100])
    noted: list[Event] = []
    outcome = run(file, here / "found", n_jobs=1, again=why == "again", on_event=noted.append)
    assert outcome.complete, outcome.failures
    assert first_row_learnt(here) == 1
    texts = [event.text for event in noted if event.kind == "noted"]
    reason = {"from elsewhere": "which may run any code", "damaged": "it is damaged"}.get(why)
    assert texts == [] if reason is None else reason in texts[0]


def test_what_cannot_be_saved_runs_without_checkpoints_and_says_so(file: Path) -> None:
    file.write_text(EXPERIMENT.replace(":Counting", ":Locked"))
    noted: list[Event] = []
    assert run(file, file.parent / "found", n_jobs=1, on_event=noted.append).complete
    (text,) = [event.text for event in noted if event.kind == "noted"]
    assert text.startswith("if it is killed, it starts from the first row: a checkpoint cannot save mine: TypeError")


def test_a_sample_continues_although_it_is_drawn_into_another_folder(tmp_path: Path) -> None:
    rows = "".join(f"{i % 13},{i * 7 % 11},{'yes' if i % 5 == 0 else 'no'}\n" for i in range(6_000))
    (tmp_path / "rare.csv").write_text("a,b,kind\n" + rows)
    sample = SampleSource("rare", str(tmp_path / "rare.csv"), training_positives=50, training_balance=1.0, labelled=0.5)
    experiment = Experiment("rare", learners={"bayes": "NaiveBayes"}, samples=(sample,), every=100, resources=False)
    experiment = replace(experiment, checkpoint_every=500)
    interrupted(experiment, tmp_path / "found")
    noted: list[Event] = []
    assert run(experiment, tmp_path / "found", n_jobs=1, on_event=noted.append).complete
    assert "noted" not in {event.kind for event in noted}
    assert run(experiment, tmp_path / "whole", n_jobs=1, checkpoint_every=0).complete
    assert found_in(tmp_path / "found")[0] == found_in(tmp_path / "whole")[0]


def test_a_short_run_writes_no_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[object] = []
    monkeypatch.setattr("streamgauge._engine.checkpoint.folder.Folder.write", lambda *_, **__: written.append(1))
    experiment = Experiment("short", {"sea": Source("SEA", rows=1_000)}, {"last": "NoChange"})
    assert run(experiment, tmp_path, n_jobs=1).complete
    assert written == []


def test_the_page_of_an_experiment_names_its_runs(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served: list[tuple[Path, list[dict[str, object]]]] = []

    def serve(folder: Path) -> tuple[None, str]:
        served.append((folder, []))
        return None, "http://here/"

    def end(_: object) -> None:
        served[0][1].extend(RunFolders(served[0][0]).list_summaries())

    monkeypatch.setattr("streamgauge.cli.watch._start_server", serve)
    monkeypatch.setattr("streamgauge.cli.watch._stop_server", end)
    found = file.parent / "found"
    status = cli.main(
        ["run", str(file), "--out", str(found), "--jobs", "1", "--watch", "--quiet"], standalone_mode=False
    )
    assert not status
    assert "watch it at http://here/" in capsys.readouterr().err
    ((folder, (summary,)),) = served
    assert folder == found
    assert (summary["title"], summary["experiment"]) == ("SEA(noise=0.1), Delayed(rows=100), seed 1", "experiment")


def test_how_often_is_checked(file: Path) -> None:
    with pytest.raises(StreamgaugeError, match="checkpoint_every = -1"):
        run(file, n_jobs=1, checkpoint_every=-1)
    file.write_text(EXPERIMENT.replace("checkpoint_every = 500", "checkpoint_every = -5"))
    with pytest.raises(StreamgaugeError, match=r"experiment.toml:5: checkpoint_every = -5"):
        read(file)
