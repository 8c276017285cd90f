"""The same learner on the same rows in every system, and ten folds."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.performance import contestants
from benchmarks.performance.contestants import Job, Taken
from benchmarks.performance.figures import OURS, Figure
from peers import arff, moa

__all__ = ["Sizes", "folds", "prequential", "raced"]

CAPYMOA = "capymoa==0.15.1"
CACHE = Path(__file__).resolve().parents[2] / ".cache"
STREAMS = {
    "RBF": "generators.RandomRBFGenerator",
    "hyperplane": "generators.HyperplaneGenerator -k 10 -t 0.001",
    "SEA": "generators.SEAGenerator",
}
MANY = {"NaiveBayes": 1.0, "HoeffdingTree": 1.0, "LeveragingBagging": 0.2, "AdaptiveRandomForest": 0.1}
"""Learners, and for what part of the rows each is run."""
FEW = {"NaiveBayes": 10_000, "HoeffdingTree": 20_000, "LeveragingBagging": 1_500, "AdaptiveRandomForest": 1_000}
"""How many rows a loop in Python takes at most."""
N_SLOW_ROWS = 1_000
N_FOLDS = 10


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    n_rows: int
    turns: int
    streams: tuple[str, ...]
    exponents: tuple[int, ...]
    attributes: tuple[int, ...]
    classes: tuple[int, ...]
    folds: tuple[int, ...]
    learners: tuple[int, ...]
    n_growth_rows: int
    n_values: int
    n_file_rows: int


def capymoa_folder() -> Path | None:
    """Give where CapyMOA is, installed without what it depends on, which its part used here does not need."""
    folder = CACHE / "capymoa"
    if not (folder / "capymoa").exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), CAPYMOA]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            print("CapyMOA cannot be installed here; it is left out")
            return None
    os.environ["STREAMGAUGE_CAPYMOA"] = str(folder)
    return folder


def raced(jobs: list[Job], turns: int) -> dict[tuple[str, str], Taken]:
    """Run jobs in turns; give of each system and learner the last run, with the best times of all."""
    found: dict[tuple[str, str], Taken] = {}
    for _ in range(turns):
        for job in jobs:
            taken = contestants.run(job)
            before = found.get((job.system, job.learner), taken)
            best = replace(taken, cpu=min(taken.cpu, before.cpu), wall=min(taken.wall, before.wall))
            found[job.system, job.learner] = best
    return found


def _jobs(learner: str, path: Path, generator: str, n_rows: int) -> Iterator[Job]:
    job = Job(OURS, learner, n_rows, str(path), generator)
    few = min(n_rows, FEW[learner])
    yield job
    if moa.why_not_compiled() is None:
        yield from (replace(job, system="MOA", learner=name) for name in (learner, "MajorityClass"))
        if capymoa_folder() is not None:
            yield from (replace(job, system="CapyMOA", learner=name) for name in (learner, "MajorityClass"))
    yield replace(job, system="River", n_rows=few)
    if learner == "NaiveBayes":
        yield replace(job, system="scikit-learn", n_rows=N_SLOW_ROWS)
        yield replace(job, system="stream-learn", n_rows=few)


NOTES = {
    "MOA": "its task thread, less MajorityClass on the same stream",
    "CapyMOA": "its Java loop over a file, less MajorityClass; ROC AUC, which it cannot leave out, included",
    "River": "progressive_val_score on the first rows",
    "scikit-learn": "predict and partial_fit row by row on the first rows",
    "stream-learn": "TestThenTrain in chunks of 200 with scikit-learn's learner, on the first rows",
}


def prequential(sizes: Sizes, folder: Path) -> list[Figure]:
    """Test then train the same learner on the same rows everywhere."""
    figures = []
    for stream in sizes.streams:
        generator = STREAMS[stream]
        path = folder / f"{stream}.arff"
        arff.write(path, *moa.generated_rows(generator, sizes.n_rows))
        for learner, part in MANY.items():
            n_rows = int(sizes.n_rows * part)
            jobs = list(_jobs(learner, path, generator, n_rows))
            found = raced(jobs, sizes.turns)
            for job in jobs:
                if job.learner == learner:
                    figures.append(_figure(job, stream, found))
                    print(figures[-1], flush=True)
    return figures


def _figure(job: Job, stream: str, found: dict[tuple[str, str], Taken]) -> Figure:
    taken = found[job.system, job.learner]
    base = found.get((job.system, "MajorityClass"))
    seconds = taken.cpu - (base.cpu if base else 0.0)
    held = (
        moa.heap_bytes(contestants.MOA[job.learner], job.generator, job.n_rows) / 1e6 if job.system == "MOA" else None
    )
    return Figure(
        f"{job.learner}, {stream}",
        job.system,
        job.n_rows,
        1e9 * seconds / job.n_rows,
        taken.accuracy,
        taken.peak_mb,
        taken.model_mb if held is None else held,
        note=NOTES.get(job.system, ""),
    )


def folds(sizes: Sizes, folder: Path) -> list[Figure]:
    """Validate a Hoeffding tree with ten folds of bootstrap; wall time, as a person waits for it."""
    generator, path = STREAMS["RBF"], folder / "folds.arff"
    arff.write(path, *moa.generated_rows(generator, sizes.n_rows))
    job = Job(OURS, "HoeffdingTree", sizes.n_rows, str(path), generator, n_folds=N_FOLDS, n_threads=2)
    jobs = [job, replace(job, system="MOA"), replace(job, system="River", n_rows=N_SLOW_ROWS)]
    notes = {OURS: "two threads", "MOA": "one thread, generator included", "River": "a loop of ten models"}
    found = raced(jobs, sizes.turns)
    return [
        Figure(
            "10-fold bootstrap, HoeffdingTree, RBF",
            each.system,
            each.n_rows,
            1e9 * taken.wall / each.n_rows,
            taken.accuracy,
            taken.peak_mb,
            note=f"wall time, {notes[each.system]}",
        )
        for each in jobs
        for taken in [found[each.system, each.learner]]
    ]
