"""Experiments that several processes share, or that are killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.experiments import Experiment, Source, find_missing, read, run
from streamgauge.labelling import Fraction
from streamgauge.store import Filter, Store

SMALL = """
name = "small"
rows = 1_000
seeds = [1, 2]
schemes = ["Bootstrap(2)"]
measures = ["accuracy", "kappa"]
learners = ["NaiveBayes", "NoChange"]

[streams]
sea = "SEA(seed={seed})"
boxes = "STAGGER"
"""


def written(folder: Path, text: str, name: str = "experiment.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def started(*arguments: str) -> "subprocess.Popen[str]":
    command = [str(Path(sys.executable).parent / "streamgauge"), "run", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_at_once_on_one_folder_share_the_work(tmp_path):
    text = SMALL.replace("seeds = [1, 2]", "seeds = [1, 2, 3, 4]").replace("rows = 1_000", "rows = 20_000")
    path = written(tmp_path, text)
    both = [started(str(path), "--out", str(tmp_path / "found"), "--jobs", "1") for _ in range(2)]
    said = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    n_finished = [error.count("finished:") for _, error in said]
    assert sum(n_finished) == 8  # runs, none of them twice
    assert find_missing(read(path), tmp_path / "found") == []


@pytest.mark.parametrize("n_jobs", ["1", "2"])
def test_an_interrupted_run_continues_where_it_stopped(tmp_path, n_jobs):
    text = SMALL.replace("rows = 1_000", "rows = 3_000_000").replace('"NoChange"', '"HoeffdingTree"')
    path = written(tmp_path, text)
    process = started(str(path), "--out", str(tmp_path / "found"), "--jobs", n_jobs)
    store = None
    for _ in range(600):
        time.sleep(0.1)
        if store is None and (tmp_path / "found" / "catalogue.sqlite").exists():
            store = Store(tmp_path / "found")
        if store is not None and store.running():
            break
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=120)
    assert process.returncode == 130, error
    assert "run the same command to continue" in error
    assert store is not None
    assert store.running() == []
    written(tmp_path, text.replace("3_000_000", "1_000"))
    assert run(read(path), tmp_path / "found", n_jobs=1).complete


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="there is no /proc to look processes up in")
def test_what_a_killed_process_had_claimed_is_taken_over(tmp_path):
    text = SMALL.replace("rows = 1_000", "rows = 30_000_000")
    path = written(tmp_path, text)
    process = started(str(path), "--out", str(tmp_path / "found"), "--jobs", "1")
    catalogue = tmp_path / "found" / "catalogue.sqlite"
    for _ in range(600):
        time.sleep(0.1)
        if catalogue.exists() and Store(tmp_path / "found").running():
            break
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert Store(tmp_path / "found").running() == []


def test_results_are_those_of_an_evaluation_to_the_last_bit(tmp_path):
    assert run(written(tmp_path, SMALL), tmp_path / "found", n_jobs=2).complete
    (found,) = Store(tmp_path / "found").results(Filter(stream=("sea",), seed=("2",)))
    learners = {"NaiveBayes": sg.NaiveBayes(), "NoChange": sg.NoChange()}
    scheme, measures = sg.Bootstrap(2), ["accuracy", "kappa"]
    expected = sg.evaluate(sg.SEA(seed=2), learners, scheme=scheme, measures=measures, n_rows=1000, seed=2)
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.pairs[0].only_first, expected.pairs[0].only_first)


DYING = """
import os
import pathlib

import streamgauge as sg

HERE = pathlib.Path(__file__).parent


class Dying:
    def learn(self, x, y):  # noqa: ARG002
        left = HERE / "lives"
        lives = int(left.read_text())
        if lives:
            left.write_text(str(lives - 1))
            os.kill(os.getpid(), 9)

    def predict(self, x):
        return [0] * len(x)
"""


@pytest.mark.parametrize(("lives", "n_finished"), [(1, 2), (5, 1)])
def test_a_run_whose_process_is_killed_is_tried_once_more(tmp_path, lives, n_finished):
    written(tmp_path, DYING, "dying_models.py")
    (tmp_path / "lives").write_text(str(lives))
    text = '[learners]\ndying = { python = "dying_models:Dying" }\n'
    text += '[streams]\nsea = "SEA(n_rows=50)"\nother = "SEA(n_rows=50, seed=2)"'
    experiment = read(written(tmp_path, text))
    n_jobs = 2
    outcome = run(experiment, tmp_path / "found", n_jobs=n_jobs)
    if lives == 1:
        assert outcome.n_finished == n_finished, outcome.failures
    else:
        assert outcome.n_failed >= 1
        assert "SIGKILL" in outcome.failures[0]
    assert Store(tmp_path / "found").running() == []


def test_objects_may_be_given_as_they_are(tmp_path):
    experiment = Experiment(
        "objects",
        {"sea": Source(sg.SEA(n_rows=400)), "pair": Source((np.eye(3), [0, 1, 0]))},
        {"bayes": sg.NaiveBayes()},
        schemes=(sg.Bootstrap(2),),
        labellings=(Fraction(0.5),),
        forgettings=(sg.Window(100),),
    )
    assert run(experiment, tmp_path, n_jobs=2).complete
    (row,) = Store(tmp_path).finals(Filter(stream=("sea",)))
    assert (row["labelling"], row["forgetting"]) == ("Fraction(share=0.5)", "Window(width=100)")


IN_A_SCRIPT = """
import sys

import numpy as np
import streamgauge as sg
from streamgauge.experiments import Experiment, Source, run


class Last:
    label = -1

    def predict(self, x):
        return np.full(len(x), self.label)

    def learn(self, x, y):
        self.label = y[-1]


print("begun")
learners = {"last": Last(), "ours": sg.NoChange()}
experiment = Experiment("small", {"sea": Source("SEA", rows=300)}, learners, seeds=(1, 2))
print(run(experiment, sys.argv[1], n_jobs=2).n_finished)
"""


def test_classes_of_a_script_run_in_processes_without_a_guard_for_its_main_part(tmp_path):
    script = written(tmp_path, IN_A_SCRIPT, "script.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "found")], capture_output=True, text=True, timeout=110, check=False
    )
    assert done.stdout.split() == ["begun", "4"], done.stderr
    finals = {(row["learner"], row["seed"]): row["mean"] for row in Store(tmp_path / "found").finals()}
    assert {finals["last", seed] == finals["ours", seed] for seed in (1, 2)} == {True}


def test_learners_that_cannot_be_sent_to_another_process_are_refused_in_one_line(tmp_path):
    class Locked:
        def __init__(self):
            self.lock = threading.Lock()

        def __deepcopy__(self, memory):
            return Locked()

        def predict(self, x):
            return [0] * len(x)

        def learn(self, x, y):
            """Learn nothing."""

    experiment = Experiment("locked", {"sea": Source("SEA", rows=100)}, {"locked": Locked()}, seeds=(1, 2))
    with pytest.raises(StreamgaugeError, match=r"the experiment 'locked' cannot be sent to another process.*n_jobs=1"):
        run(experiment, tmp_path, n_jobs=2)
    assert Store(tmp_path).running() == []
