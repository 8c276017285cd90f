"""How cost grows: with rows, attributes, classes, folds and learners; a Hoeffding tree on random RBF everywhere.

Ours and MOA's rows come from their generators, whose time is taken away, so that rows take no memory; River's are those
of our generator.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.performance.contestants import Job, Taken
from benchmarks.performance.figures import OURS, Figure
from benchmarks.performance.peers_here import has
from benchmarks.performance.races import raced
from benchmarks.performance.sizes import Sizes

__all__ = ["SECTIONS"]

TREE, BAYES = "HoeffdingTree", "NaiveBayes"
MOST_RIVER_ROWS = 100_000
PLAIN = 0
"""Folds of one that tests and learns every row, which is what one fold is."""
NOTE = "generator's time taken away"


def _cases(axis: str, sizes: Sizes) -> Iterator[tuple[int, Job]]:
    job = Job(OURS, TREE, sizes.n_growth_rows)
    match axis:
        case "rows":
            yield from ((10**e, replace(job, n_rows=10**e)) for e in sizes.exponents)
        case "attributes":
            for n in sizes.attributes:
                yield n, replace(job, n_attributes=n, n_rows=min(job.n_rows, job.n_rows * 50 // n))
        case "classes":
            yield from ((n, replace(job, n_classes=n)) for n in sizes.classes)
        case "folds":
            for n in sizes.folds:
                yield n, replace(job, n_folds=n if n > 1 else PLAIN, n_rows=job.n_rows // 4)
        case _:
            yield from ((n, replace(job, n_learners=n)) for n in sizes.learners)


def growth(axis: str, sizes: Sizes, folder: Path) -> Iterator[Figure]:
    """Measure along one axis."""
    del folder
    for size, job in _cases(axis, sizes):
        turns = max(1, sizes.turns - 1) if job.n_rows <= 1_000_000 else 1
        for learner in (TREE, BAYES) if axis == "attributes" else (TREE,):
            yield from _measured(axis, size, replace(job, learner=learner), turns)


def _measured(axis: str, size: int, job: Job, turns: int) -> Iterator[Figure]:
    theirs = [each for each in (_moas(axis, job), _rivers(axis, size, job)) if each is not None]
    baselines = [replace(each, learner="MajorityClass", n_folds=0) for each in theirs if each.system == "MOA"]
    found = raced([job, *theirs, *baselines], turns)
    for each in [job, *theirs]:
        taken = found[each.system, each.learner]
        base = found.get((each.system, "MajorityClass"), Taken(0.0, 0.0, 0.0))
        yield Figure(
            f"{axis}, {each.learner}",
            each.system,
            each.n_rows,
            1e9 * (taken.cpu - base.cpu) / each.n_rows,
            taken.accuracy,
            peak_mb=taken.peak_mb,
            size=size,
            note="rows in memory" if each.system == "River" else NOTE,
        )


def _moas(axis: str, job: Job) -> Job | None:
    """Give MOA's job; it takes one learner at a time."""
    if axis == "learners" or not has("MOA"):
        return None
    stream = f"generators.RandomRBFGenerator -a {job.n_attributes} -c {job.n_classes}"
    return replace(job, system="MOA", generator=stream)


def _rivers(axis: str, size: int, job: Job) -> Job | None:
    """Give River's job, on the first rows."""
    if axis == "learners" or not has("River"):
        return None
    if axis == "rows":
        return replace(job, system="River") if size <= MOST_RIVER_ROWS else None
    return replace(job, system="River", n_rows=min(5_000, max(200, 40_000 // size)))


SECTIONS = {f"growth_{axis}": partial(growth, axis) for axis in ("rows", "attributes", "classes", "folds", "learners")}
