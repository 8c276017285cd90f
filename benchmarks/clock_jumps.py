"""Clocks that are set while something runs: no result, state or order depends on them.

The clock jumps at random calls, back or ahead, by a tenth of a second to ten years, for files that are written, too:
while a run is stopped and resumed, and followed in its journal; while an experiment runs, and again. Each is compared
with the same without jumps. Live streams have no part in it: their waits are measured by a clock that cannot be set.

``python -m benchmarks clock_jumps [RUNS] [SEED]`` stores its lines in ``benchmarks/results/faults.md``.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from unittest.mock import patch

import streamgauge as sg
from benchmarks.fault_table import Campaign, serialise, show
from streamgauge._engine.journal import JournalReader
from streamgauge._engine.journal import writer as journal_writer
from streamgauge.experiments import Experiment, Source
from streamgauge.experiments import run as run_experiment
from streamgauge.serve.curve_sources import Cache
from streamgauge.serve.runs import Run
from streamgauge.store import Store
from streamgauge.store import store as store_module

N_RUNS = 100
CLOCK = time.time
LATEST = 4e9
"""The latest time that a clock is set to, in seconds since 1970."""


class Clock:
    """A clock that jumps once in five calls."""

    def __init__(self, random: Random) -> None:
        self.random, self.ahead, self.n_jumps = random, 0.0, 0

    def __call__(self) -> float:
        """Return the time, after a jump perhaps."""
        if self.random.random() < 0.2:
            self.ahead += self.random.choice((-1, 1)) * 10 ** self.random.uniform(-1, 8.5)
            self.ahead = min(max(self.ahead, 1e6 - CLOCK()), LATEST - CLOCK())
            self.n_jumps += 1
        return CLOCK() + self.ahead


@contextmanager
def jumping(random: Random, folder: Path) -> Iterator[Clock]:
    """Have the clock jump while the block runs; a file that is replaced gets the time of that clock."""
    clock, rename = Clock(random), Path.replace

    class Now(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]  # noqa: ARG003
            return datetime.fromtimestamp(clock(), UTC)

    def replace(path: Path, target: Path) -> Path:
        if path.is_file() and folder in path.parents:
            now = clock()
            os.utime(path, (now, now))
        return rename(path, target)

    with (
        patch.object(time, "time", clock),
        patch.object(store_module, "datetime", Now),
        patch.object(Path, "replace", replace),
    ):
        yield clock


def is_seconds(number: object) -> bool:
    """Return whether a number may be the seconds that a run took."""
    return isinstance(number, int | float) and 0.0 <= number < 600.0


def run_and_resume(folder: Path, random: Random) -> bytes:
    """Stop a run after some batches and resume it; return its results, and what the dashboard said meanwhile."""
    stream, learners = (
        sg.SEA(n_rows=3_000, noise=0.1),
        {"tree": sg.HoeffdingTree(grace_period=100), "bayes": sg.NaiveBayes()},
    )
    shared = {"every": 100, "batch_size": 250, "journal": folder, "checkpoint": folder / "checkpoints"}
    stop = random.randrange(500, 2_500)
    states = set()
    for progress in sg.Evaluation(stream, learners, checkpoint_every=500, **shared).advance():  # type: ignore[arg-type]
        states.add(JournalReader(folder).state)
        if progress.n_rows >= stop:
            break
    results = sg.evaluate(stream, learners, resume=True, **shared)  # type: ignore[arg-type]
    results.save(folder)
    run, status = Run(folder, "run", Cache()), JournalReader(folder).status()
    summary = run.summarise()
    seconds = is_seconds(summary["seconds"]) and is_seconds(status["seconds"])
    return serialise(results) + repr((states, run.is_saved, summary["state"], summary["n_rows"], seconds)).encode()


def run_experiment_again(folder: Path, _: Random) -> bytes:
    """Run an experiment twice, and once more with nothing to do; return its readings and the order of its runs."""
    sources = {"sea": Source("SEA", rows=400), "stagger": Source("STAGGER", rows=400)}
    experiment = Experiment("small", sources, {"bayes": "NaiveBayes", "last": "NoChange"}, seeds=(1, 2))
    store = folder / "store"
    outcomes = [run_experiment(experiment, store, n_jobs=1, again=again) for again in (False, True, False)]
    counts = [(outcome.n_finished, outcome.n_done, outcome.failures) for outcome in outcomes]
    times = [run["finished_at"] for run in Store(store).runs()]
    finals = [(row["stream"], row["learner"], row["seed"], row["mean"]) for row in Store(store).finals()]
    states = {Run(path, path.name, Cache()).summarise()["state"] for path in (store / "runs").iterdir()}
    return repr((counts, times == sorted(set(times)), sorted(finals), states)).encode()


KINDS: dict[str, Callable[[Path, Random], bytes]] = {
    "clock set, run stopped and resumed": run_and_resume,
    "clock set, experiment": run_experiment_again,
}


def run_campaign(kind: str, n_runs: int, seed: int) -> Campaign:
    """Run with a clock that jumps; store the campaign."""
    campaign = Campaign.start(kind)
    for number in range(n_runs):
        with tempfile.TemporaryDirectory() as base:
            undisturbed, disturbed = Path(base) / "undisturbed", Path(base) / "disturbed"
            undisturbed.mkdir()
            disturbed.mkdir()
            expected = KINDS[kind](undisturbed, Random(seed + number))
            with jumping(Random(f"{seed} {number}"), disturbed) as clock:
                found = KINDS[kind](disturbed, Random(seed + number))
        if found != expected:
            print(f"{kind}, seed {seed}, number {number}: {found[-200:]!r} where {expected[-200:]!r} was expected")
        campaign.add(n_faults=clock.n_jumps, resumed=kind.endswith("resumed"), identical=found == expected)
    campaign.store()
    return campaign


def main(n_runs: int = N_RUNS, seed: int = 1) -> None:
    """Run the campaigns and print the table."""
    with patch.object(journal_writer, "STATUS_SECONDS", 0.005):
        show(*(run_campaign(kind, n_runs, seed) for kind in KINDS))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
