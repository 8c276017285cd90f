"""A fault campaign: runs that are killed at random moments and resumed must end with the same bytes.

``python -m benchmarks faults`` runs it and stores its table in ``benchmarks/results/faults.md``. A process is killed
with SIGKILL, up to three times in a run, at moments drawn evenly over the time that a whole run takes.
"""

import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import streamgauge as sg
from streamgauge.drift import DDM
from streamgauge.labelling import Delayed, Fraction
from streamgauge.records import Results
from streamgauge.schemes import CrossValidation

N_RUNS = 120
N_ROWS = 10_000
STORED = Path(__file__).parent / "results" / "faults.md"


@dataclass
class Campaign:
    """What became of the runs of one kind of fault."""

    kind: str
    n_runs: int = 0
    n_killed: int = 0
    n_kills: int = 0
    n_resumed: int = 0
    n_identical: int = 0

    @property
    def line(self) -> str:
        """It as a line of the table."""
        figures = (self.n_runs, self.n_killed, self.n_kills, self.n_resumed, self.n_identical)
        return f"| {self.kind} | " + " | ".join(f"{figure:,}" for figure in figures) + " |"


def options_of(number: int) -> dict[str, Any]:
    """Give the options of a run, of which each has its own."""
    schemes = [sg.Prequential(), sg.Bootstrap(3), CrossValidation(3)]
    labellings = [Delayed(700), Fraction(0.4), Delayed(20)]
    return {
        "scheme": schemes[number % 3],
        "labelling": labellings[number // 3 % 3],
        "forgetting": [sg.Adwin(), sg.Fading(0.99), sg.Window(500)],
        "measures": ["accuracy", "kappa_m", "kappa_temporal"],
        "detectors": [DDM()],
        "every": 250,
        "seed": number,
        "batch_size": 128,
    }


def bytes_of(results: Results) -> bytes:
    """Give all that must be the same."""
    description = {name: fact for name, fact in results.description.items() if name != "seconds"}
    parts = (results.rows.tobytes(), results.values.tobytes(), results.alarms, results.failures, description)
    pairs = [[np.asarray(value).tolist() for value in vars(pair).values()] for pair in results.pairs]
    return repr((parts, pairs, results.n_rows, results.complete)).encode()


def in_a_process(number: int, folder: Path | None, told: Path) -> int:
    """Start a run in a process of its own, which writes its results to a file; gives its number."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            kept: dict[str, Any] = (
                {} if folder is None else {"checkpoint": folder, "checkpoint_every": 500, "resume": True}
            )
            learners = {"tree": sg.HoeffdingTree(grace_period=100), "bayes": sg.NaiveBayes()}
            results = sg.evaluate(sg.SEA(n_rows=N_ROWS, noise=0.1), learners, **options_of(number), **kept)
            told.with_suffix(".tmp").write_bytes(bytes_of(results))
            told.with_suffix(".tmp").rename(told)
            status = 0
        finally:
            os._exit(status)
    return process


def rows_kept(folder: Path) -> int:
    """Give how many rows the newest checkpoint has."""
    return max((int(path.stem[5:]) for path in folder.glob("*.checkpoint")), default=0)


def process_kills(n_runs: int, seed: int = 1) -> Iterator[Campaign]:
    """Kill processes at random moments; tells how it stands after each run."""
    campaign, draw = Campaign("process (SIGKILL)"), random.Random(seed)
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
        campaign.n_resumed += rows_kept(folder) > 0
        if not told.exists():
            os.waitpid(in_a_process(number, folder, told), 0)
        campaign.n_runs += 1
        campaign.n_killed += n_kills > 0
        campaign.n_kills += n_kills
        campaign.n_identical += told.exists() and told.read_bytes() == whole.read_bytes()
        shutil.rmtree(folder, ignore_errors=True)
        yield campaign
    shutil.rmtree(base)


def stored(campaigns: list[Campaign]) -> str:
    """Store the table of all campaigns; gives it."""
    head = "| fault | runs | killed | kills | with a checkpoint | identical |\n|---|---:|---:|---:|---:|---:|\n"
    table = head + "\n".join(campaign.line for campaign in campaigns) + "\n"
    about = (
        "# Runs that were killed and resumed\n\n"
        "`python -m benchmarks faults`: runs of 10,000 rows, two learners and up to three folds, with late or missing\n"
        "labels, three ways of forgetting and a detector, a checkpoint every 500 rows; killed up to three times each,\n"
        "at random moments. Identical: readings, alarms, sums of pairs and description have the same bytes as of\n"
        "a run that was not killed.\n\n"
    )
    STORED.parent.mkdir(exist_ok=True)
    STORED.write_text(about + table, encoding="utf-8")
    return table


def main() -> None:
    """Run the campaign, store its table as it goes on, and print it."""
    campaigns: list[Campaign] = []
    for campaign in process_kills(N_RUNS):
        campaigns = [campaign]
        stored(campaigns)
    print(stored(campaigns))
    if any(campaign.n_identical < campaign.n_runs for campaign in campaigns):
        print("MISSED: some runs ended otherwise")


if __name__ == "__main__":
    main()
