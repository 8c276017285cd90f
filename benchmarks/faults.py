"""A fault campaign: runs that are killed at random moments and resumed must end with the same bytes.

``python -m benchmarks.faults [RUNS] [SEED] [more]`` runs it and stores its line in ``benchmarks/results/faults.md``. A
process is killed with SIGKILL, up to three times per run, at moments drawn uniformly over the time of a whole run.
"""

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamgauge as sg
from benchmarks.fault_table import Campaign, serialise, show
from streamgauge.drift import DDM
from streamgauge.labelling import Delayed, Fraction
from streamgauge.schemes import CrossValidation

N_RUNS = 120
N_ROWS = 10_000


def choose_options(number: int) -> dict[str, Any]:
    """Return the options of a run, which differ between runs."""
    schemes = [sg.Prequential(), sg.Bootstrap(3), CrossValidation(3)]
    labellings = [Delayed(700), Fraction(0.4), Delayed(20)]
    return {
        "scheme": schemes[number % 3],
        "labelling": labellings[number // 3 % 3],
        "forgetting": [sg.AdwinWindow(), sg.Fading(0.99), sg.Window(500)],
        "measures": ["accuracy", "kappa_m", "kappa_temporal"],
        "detectors": [DDM()],
        "every": 250,
        "seed": number,
        "batch_size": 128,
    }


def start_run(number: int, folder: Path | None, output: Path, prepare: Callable[[], object] = lambda: None) -> int:
    """Start a run in a new process, which writes its results, or its error, to a file; return the process id."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            prepare()
            checkpoints: dict[str, Any] = (
                {} if folder is None else {"checkpoint": folder, "checkpoint_every": 500, "resume": True}
            )
            learners = {"tree": sg.HoeffdingTree(grace_period=100), "bayes": sg.NaiveBayes()}
            results = sg.evaluate(sg.SEA(n_rows=N_ROWS, noise=0.1), learners, **choose_options(number), **checkpoints)
            output.with_suffix(".tmp").write_bytes(serialise(results))
            output.with_suffix(".tmp").rename(output)
            status = 0
        except sg.StreamgaugeError as error:
            output.with_suffix(".error").write_text(str(error), encoding="utf-8")
        finally:
            os._exit(status)
    return process


def count_saved_rows(folder: Path) -> int:
    """Return the number of rows of the newest checkpoint."""
    return max((int(path.stem[5:]) for path in folder.glob("*.checkpoint")), default=0)


def kill_processes(n_runs: int, seed: int, *, more: bool) -> Campaign:
    """Kill processes at random moments; store the campaign after each run."""
    campaign, draw = Campaign.start("process (SIGKILL)", more=more), random.Random(seed)
    base = Path(tempfile.mkdtemp())
    for number in range(n_runs):
        folder, expected, output = base / str(number), base / f"{number}.expected", base / f"{number}.results"
        started = time.perf_counter()
        os.waitpid(start_run(number, None, expected), 0)
        seconds = time.perf_counter() - started
        n_kills = 0
        while n_kills < 3 and not output.exists():
            process = start_run(number, folder, output)
            time.sleep(draw.random() * seconds)
            os.kill(process, signal.SIGKILL)
            _, status = os.waitpid(process, 0)
            n_kills += os.WIFSIGNALED(status)
        resumed = n_kills > 0 and count_saved_rows(folder) > 0
        if not output.exists():
            os.waitpid(start_run(number, folder, output), 0)
        identical = output.exists() and output.read_bytes() == expected.read_bytes()
        campaign.add(n_faults=n_kills, resumed=resumed, identical=identical)
        campaign.store()
        shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(base)
    return campaign


def main(n_runs: int = N_RUNS, seed: int = 1, more: str = "") -> None:
    """Run the campaign, or continue it, and print the table."""
    show(kill_processes(n_runs, seed, more=bool(more)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])  # type: ignore[arg-type]
