"""The same learner on the same rows in every system, and ten folds."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path

import streamgauge as sg
from benchmarks.performance import contestants
from benchmarks.performance.contestants import WARM_MOA, Job, Taken
from benchmarks.performance.figures import OURS, Figure
from benchmarks.performance.peers_here import has
from benchmarks.performance.sizes import Sizes
from peers import arff, moa
from streamgauge import streams

__all__ = ["SECTIONS", "raced"]

STREAMS = {
    "RBF": "generators.RandomRBFGenerator",
    "hyperplane": "generators.HyperplaneGenerator -k 10 -t 0.001",
    "SEA": "generators.SEAGenerator",
    "moving RBF": "generators.RandomRBFGeneratorDrift -s 0.001 -k 50",
}
INSTEAD: dict[str, streams.Hyperplane | sg.RandomRBF | sg.SEA] = {
    "RBF": sg.RandomRBF(),
    "hyperplane": streams.Hyperplane(n_drifting=10, magnitude=0.001),
    "SEA": sg.SEA(),
    "moving RBF": sg.RandomRBF(speed=0.001),
}
"""The rows where MOA, whose generators are used else, cannot be had."""
FEW = {"NaiveBayes": 10_000, "HoeffdingTree": 20_000, "LeveragingBagging": 1_500, "AdaptiveRandomForest": 1_000}
"""How many rows a loop in Python takes at most."""
N_SLOW_ROWS = 1_000
N_FOLDS = 10
ONCE = ("CapyMOA", WARM_MOA)
"""Those which do not take part in every turn: the one takes long, the other repeats by itself."""
SWIFT = (OURS, "MOA")
TIMES_FOR_SWIFT = {"NaiveBayes": 3}
"""So many times as many turns take the swift where MOA's cost is a small difference of two times, lost in noise."""
NOTES = {
    "MOA": "its task thread, less MajorityClass on the same stream",
    WARM_MOA: "the same in a virtual machine that has run the task before",
    "CapyMOA": "its Java loop over a file, one turn; reading, and ROC AUC, which it cannot leave out, included",
    "River": "progressive_val_score",
    "scikit-learn": "predict and partial_fit row by row",
    "stream-learn": "TestThenTrain in chunks of 200 with scikit-learn's learner",
}


def raced(jobs: list[Job], turns: int, times_for_swift: int = 1) -> dict[tuple[str, str], Taken]:
    """Run jobs in turns; give of each system and learner the last run, with the best times of all."""
    found: dict[tuple[str, str], Taken] = {}
    for turn in range(turns * times_for_swift):
        for job in jobs:
            if (turn and job.system in ONCE) or (turn >= turns and job.system not in SWIFT):
                continue
            taken = contestants.run(job)
            before = found.get((job.system, job.learner), taken)
            best = replace(taken, cpu=min(taken.cpu, before.cpu), wall=min(taken.wall, before.wall))
            found[job.system, job.learner] = best
    return found


def _write_rows(stream: str, n_rows: int, folder: Path) -> Path:
    path = folder / f"{stream.replace(' ', '_')}.arff"
    if has("MOA"):
        arff.write(path, *moa.generate_rows(STREAMS[stream], n_rows))
    else:
        streams.write(replace(INSTEAD[stream], n_rows=n_rows), path)
    return path


def _jobs(learner: str, path: Path, stream: str, sizes: Sizes) -> Iterator[Job]:
    n_rows = sizes.n_rows[learner]
    job = Job(OURS, learner, n_rows, str(path), STREAMS[stream])
    few = min(n_rows, FEW[learner])
    yield job
    if has("MOA"):
        yield from (replace(job, system="MOA", learner=name) for name in (learner, "MajorityClass"))
        if sizes.turns > 1 and stream == "RBF" and learner in ("NaiveBayes", "HoeffdingTree"):
            yield from (replace(job, system=WARM_MOA, learner=name) for name in (learner, "MajorityClass"))
    if has("CapyMOA"):
        yield replace(job, system="CapyMOA", n_rows=sizes.n_capymoa_rows[learner])
    if has("River"):
        yield replace(job, system="River", n_rows=few)
    if learner == "NaiveBayes" and has("scikit-learn"):
        yield replace(job, system="scikit-learn", n_rows=N_SLOW_ROWS)
        if has("stream-learn"):
            yield replace(job, system="stream-learn", n_rows=few)


def prequential(learner: str, sizes: Sizes, folder: Path) -> Iterator[Figure]:
    """Test then train the same learner on the same rows everywhere."""
    for stream in sizes.streams:
        path = _write_rows(stream, sizes.n_rows[learner], folder)
        jobs = list(_jobs(learner, path, stream, sizes))
        turns = sizes.turns if stream == "RBF" else max(1, sizes.turns - 1)
        found = raced(jobs, turns, TIMES_FOR_SWIFT.get(learner, 1))
        ours = {jobs[0].n_rows: found[OURS, learner].accuracy}
        for job in jobs:
            if job.learner == learner:
                if job.n_rows not in ours:
                    ours[job.n_rows] = contestants.run(replace(jobs[0], n_rows=job.n_rows)).accuracy
                yield _figure(job, stream, found, ours[job.n_rows])


def _figure(job: Job, stream: str, found: dict[tuple[str, str], Taken], our_accuracy: float) -> Figure:
    taken = found[job.system, job.learner]
    base = found.get((job.system, "MajorityClass"))
    held = taken.model_mb
    if job.system == "MOA" and stream == "RBF":
        held = moa.measure_heap(contestants.MOA[job.learner], job.generator, job.n_rows) / 1e6
    return Figure(
        f"{job.learner}, {stream}",
        job.system,
        job.n_rows,
        1e9 * (taken.cpu - (base.cpu if base else 0.0)) / job.n_rows,
        taken.accuracy,
        our_accuracy,
        taken.peak_mb,
        held,
        note=NOTES.get(job.system, ""),
    )


def folds(sizes: Sizes, folder: Path) -> Iterator[Figure]:
    """Validate a Hoeffding tree with ten folds of bootstrap: wall time, as a person waits for it, and CPU time."""
    learner = "HoeffdingTree"
    n_rows = sizes.n_rows[learner]
    for stream in sizes.fold_streams:
        path = _write_rows(stream, n_rows, folder)
        job = Job(OURS, learner, n_rows, str(path), STREAMS[stream], n_folds=N_FOLDS, n_threads=2)
        jobs = [job]
        jobs += [replace(job, system="MOA")] if has("MOA") else []
        jobs += [replace(job, system="River", n_rows=N_SLOW_ROWS)] if has("River") else []
        yield from _of_folds(jobs, stream, max(1, sizes.turns - 1))


def _of_folds(jobs: list[Job], stream: str, turns: int) -> Iterator[Figure]:
    notes = {OURS: "two threads", "MOA": "its one thread, generator included", "River": "a loop over ten models"}
    found = raced(jobs, turns)
    for what, seconds in (("wall time", attrgetter("wall")), ("CPU time", attrgetter("cpu"))):
        for job in jobs:
            taken = found[job.system, job.learner]
            yield Figure(
                f"10-fold bootstrap, {job.learner}, {stream}, {what}",
                job.system,
                job.n_rows,
                1e9 * seconds(taken) / job.n_rows,
                taken.accuracy,
                peak_mb=taken.peak_mb,
                note=notes[job.system],
            )


SECTIONS = {
    "naive_bayes": partial(prequential, "NaiveBayes"),
    "hoeffding_tree": partial(prequential, "HoeffdingTree"),
    "leveraging_bagging": partial(prequential, "LeveragingBagging"),
    "adaptive_random_forest": partial(prequential, "AdaptiveRandomForest"),
    "folds": folds,
}
