"""A fault campaign: runs that are killed at random moments and resumed must end with the same bytes.

``python -m benchmarks.faults [RUNS] [SEED] [more]`` runs it and stores its line in ``benchmarks/results/faults.md``. A
process is killed with SIGKILL, up to three times in a run, at moments drawn evenly over the time of a whole run.
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
from benchmarks.fault_table import Campaign, bytes_of, show
from streamgauge.drift import DDM
from streamgauge.labelling import Delayed, Fraction
from streamgauge.schemes import CrossValidation

N_RUNS = 120
N_ROWS = 10_000


def options_of(number: int) -> dict[str, Any]:
    """Give the options of a run, of which each has its own."""
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


def in_a_process(number: int, folder: Path | None, told: Path, prepare: Callable[[], object] = lambda: None) -> int:
    """Start a run in a process of its own, which writes its results, or its error, to a file; gives its number."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            prepare()
            kept: dict[str, Any] = (
                {} if folder is None else {"checkpoint": folder, "checkpoint_every": 500, "resume": True}
            )
            learners = {"tree": sg.HoeffdingTree(grace_period=100), "bayes": sg.NaiveBayes()}
            results = sg.evaluate(sg.SEA(n_rows=N_ROWS, noise=0.1), learners, **options_of(number), **kept)
            told.with_suffix(".tmp").write_bytes(bytes_of(results))
            told.with_suffix(".tmp").rename(told)
            status = 0
        except sg.StreamgaugeError as error:
            told.with_suffix(".error").write_text(str(error), encoding="utf-8")
        finally:
            os._exit(status)
    return process


def rows_kept(folder: Path) -> int:
    """Give how many rows the newest checkpoint has."""
    return max((int(path.stem[5:]) for path in folder.glob("*.checkpoint")), default=0)


def process_kills(n_runs: int, seed: int, *, more: bool) -> Campaign:
    """Kill processes at random moments; stores how it stands after each run."""
    kind = "process (SIGKILL)"
    campaign, draw = Campaign.stored(kind) if more else Campaign(kind), random.Random(seed)
    base = Path(tempfile.mkdtemp())
    for number in range(n_runs):
        folder, whole, told = base / str(number), base / f"{number}.whole", base / f"{number}.told"
        started = time.perf_counter()
        os.waitpid(in_a_process(number, None, whole), 0)
        seconds = time.perf_counter() - started
        n_kills = 0
        while n_kills < 3 and not told.exists():
            process = in_a_process(number, folder, told)
            time.sleep(draw.random() * seconds)
            os.kill(process, signal.SIGKILL)
            _, status = os.waitpid(process, 0)
            n_kills += os.WIFSIGNALED(status)
        resumed = n_kills > 0 and rows_kept(folder) > 0
        if not told.exists():
            os.waitpid(in_a_process(number, folder, told), 0)
        same = told.exists() and told.read_bytes() == whole.read_bytes()
        campaign.add(n_faults=n_kills, resumed=resumed, identical=same)
        campaign.store()
        shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(base)
    return campaign


def main(n_runs: int = N_RUNS, seed: int = 1, more: str = "") -> None:
    """Run the campaign, or more of it, and print the table."""
    show(process_kills(n_runs, seed, more=bool(more)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])  # type: ignore[arg-type]
