"""Experiments that several processes share, or that are killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streamgauge.experiments import (
    find_missing,
    read,
    run,
)
from streamgauge.store import Store

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


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    text = SMALL.replace("rows = 1_000", "rows = 3_000_000").replace('"NoChange"', '"HoeffdingTree"')
    path = written(tmp_path, text)
    process = started(str(path), "--out", str(tmp_path / "found"), "--jobs", "1")
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
