"""The same learner on the same rows in every system, and ten folds."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path

import streamgauge as sg
from benchmarks.performance import contestants
from benchmarks.performance.availability import is_available
from benchmarks.performance.contestants import WARM_MOA, Costs, Job
from benchmarks.performance.figures import OURS, Figure
from benchmarks.performance.sizes import Sizes
from peers import arff, moa
from streamgauge import streams

__all__ = ["SECTIONS", "race"]

STREAMS = {
    "RBF": "generators.RandomRBFGenerator",
    "hyperplane": "generators.HyperplaneGenerator -k 10 -t 0.001",
    "SEA": "generators.SEAGenerator",
    "moving RBF": "generators.RandomRBFGeneratorDrift -s 0.001 -k 50",
}
SUBSTITUTES: dict[str, streams.Hyperplane | sg.RandomRBF | sg.SEA] = {
    "RBF": sg.RandomRBF(),
    "hyperplane": streams.Hyperplane(n_drifting=10, magnitude=0.001),
    "SEA": sg.SEA(),
    "moving RBF": sg.RandomRBF(speed=0.001),
}
"""Our generators, used if MOA's are not available."""
FEW = {"NaiveBayes": 10_000, "HoeffdingTree": 20_000, "LeveragingBagging": 1_500, "AdaptiveRandomForest": 1_000}
"""Maximum number of rows of a loop in Python."""
N_SLOW_ROWS = 1_000
N_FOLDS = 10
ONCE = ("CapyMOA", WARM_MOA)
"""Systems that take part in the first turn only: one is slow, the other repeats by itself."""
FAST = (OURS, "MOA")
FAST_TURNS = {"NaiveBayes": 3}
"""Factor of turns for fast systems if MOA's time is a small, noisy difference of two times."""
NOTES = {
    "MOA": "its task thread, minus MajorityClass on the same stream",
    WARM_MOA: "the same in a warm virtual machine",
    "CapyMOA": "its Java loop over a file, one turn; includes reading, and ROC AUC, which it always computes",
    "River": "progressive_val_score",
    "scikit-learn": "predict and partial_fit row by row",
    "stream-learn": "TestThenTrain in chunks of 200 with scikit-learn's learner",
}


def race(jobs: list[Job], turns: int, fast_turns: int = 1) -> dict[tuple[str, str], Costs]:
    """Run jobs in turns; return the last run of each system and learner, with the best times of all its runs."""
    results: dict[tuple[str, str], Costs] = {}
    for turn in range(turns * fast_turns):
        for job in jobs:
            if (turn and job.system in ONCE) or (turn >= turns and job.system not in FAST):
                continue
            costs = contestants.run(job)
            best = results.get((job.system, job.learner), costs)
            best = replace(costs, cpu=min(costs.cpu, best.cpu), wall=min(costs.wall, best.wall))
            results[job.system, job.learner] = best
    return results


def _write_rows(stream: str, n_rows: int, folder: Path) -> Path:
    path = folder / f"{stream.replace(' ', '_')}.arff"
    if is_available("MOA"):
        arff.write(path, *moa.generate_rows(STREAMS[stream], n_rows))
    else:
        streams.write(replace(SUBSTITUTES[stream], n_rows=n_rows), path)
    return path


def _list_jobs(learner: str, path: Path, stream: str, sizes: Sizes) -> Iterator[Job]:
    n_rows = sizes.n_rows[learner]
    job = Job(system=OURS, learner=learner, n_rows=n_rows, arff=str(path), generator=STREAMS[stream])
    few = min(n_rows, FEW[learner])
    yield job
    if is_available("MOA"):
        yield from (replace(job, system="MOA", learner=name) for name in (learner, "MajorityClass"))
        if sizes.turns > 1 and stream == "RBF" and learner in ("NaiveBayes", "HoeffdingTree"):
            yield from (replace(job, system=WARM_MOA, learner=name) for name in (learner, "MajorityClass"))
    if is_available("CapyMOA"):
        yield replace(job, system="CapyMOA", n_rows=sizes.n_capymoa_rows[learner])
    if is_available("River"):
        yield replace(job, system="River", n_rows=few)
    if learner == "NaiveBayes" and is_available("scikit-learn"):
        yield replace(job, system="scikit-learn", n_rows=N_SLOW_ROWS)
        if is_available("stream-learn"):
            yield replace(job, system="stream-learn", n_rows=few)


def measure_prequential(learner: str, sizes: Sizes, folder: Path) -> Iterator[Figure]:
    """Test then train the same learner on the same rows in every system."""
    for stream in sizes.streams:
        path = _write_rows(stream, sizes.n_rows[learner], folder)
        jobs = list(_list_jobs(learner, path, stream, sizes))
        turns = sizes.turns if stream == "RBF" else max(1, sizes.turns - 1)
        results = race(jobs, turns, FAST_TURNS.get(learner, 1))
        ours = {jobs[0].n_rows: results[OURS, learner].accuracy}
        for job in jobs:
            if job.learner == learner:
                if job.n_rows not in ours:
                    ours[job.n_rows] = contestants.run(replace(jobs[0], n_rows=job.n_rows)).accuracy
                yield _build_figure(job, stream, results, ours[job.n_rows])


def _build_figure(job: Job, stream: str, results: dict[tuple[str, str], Costs], our_accuracy: float) -> Figure:
    costs = results[job.system, job.learner]
    base = results.get((job.system, "MajorityClass"))
    model_mb = costs.model_mb
    if job.system == "MOA" and stream == "RBF":
        model_mb = moa.measure_heap(contestants.MOA[job.learner], job.generator, job.n_rows) / 1e6
    return Figure(
        subject=f"{job.learner}, {stream}",
        system=job.system,
        n_rows=job.n_rows,
        ns_per_row=1e9 * (costs.cpu - (base.cpu if base else 0.0)) / job.n_rows,
        accuracy=costs.accuracy,
        our_accuracy=our_accuracy,
        peak_mb=costs.peak_mb,
        model_mb=model_mb,
        note=NOTES.get(job.system, ""),
    )


def measure_folds(sizes: Sizes, folder: Path) -> Iterator[Figure]:
    """Validate a Hoeffding tree with ten folds of bootstrap: wall time, as users wait for it, and CPU time."""
    learner = "HoeffdingTree"
    n_rows = sizes.n_rows[learner]
    for stream in sizes.fold_streams:
        path = _write_rows(stream, n_rows, folder)
        job = Job(
            system=OURS,
            learner=learner,
            n_rows=n_rows,
            arff=str(path),
            generator=STREAMS[stream],
            n_folds=N_FOLDS,
            n_threads=2,
        )
        jobs = [job]
        jobs += [replace(job, system="MOA")] if is_available("MOA") else []
        jobs += [replace(job, system="River", n_rows=N_SLOW_ROWS)] if is_available("River") else []
        yield from _race_folds(jobs, stream, max(1, sizes.turns - 1))


def _race_folds(jobs: list[Job], stream: str, turns: int) -> Iterator[Figure]:
    notes = {OURS: "two threads", "MOA": "its only thread, including the generator", "River": "a loop over ten models"}
    results = race(jobs, turns)
    for what, get_seconds in (("wall time", attrgetter("wall")), ("CPU time", attrgetter("cpu"))):
        for job in jobs:
            costs = results[job.system, job.learner]
            yield Figure(
                subject=f"10-fold bootstrap, {job.learner}, {stream}, {what}",
                system=job.system,
                n_rows=job.n_rows,
                ns_per_row=1e9 * get_seconds(costs) / job.n_rows,
                accuracy=costs.accuracy,
                peak_mb=costs.peak_mb,
                note=notes[job.system],
            )


SECTIONS = {
    "naive_bayes": partial(measure_prequential, "NaiveBayes"),
    "hoeffding_tree": partial(measure_prequential, "HoeffdingTree"),
    "leveraging_bagging": partial(measure_prequential, "LeveragingBagging"),
    "adaptive_random_forest": partial(measure_prequential, "AdaptiveRandomForest"),
    "folds": measure_folds,
}
