"""Growth of cost with rows, attributes, classes, folds and learners, for a Hoeffding tree on random RBF.

Our rows and MOA's come from generators, whose time is subtracted, so that rows take no memory; River's rows are
those of our generator.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.performance.availability import is_available
from benchmarks.performance.contestants import Costs, Job
from benchmarks.performance.figures import OURS, Figure
from benchmarks.performance.races import race
from benchmarks.performance.sizes import Sizes

__all__ = ["SECTIONS"]

TREE, BAYES = "HoeffdingTree", "NaiveBayes"
MAX_RIVER_ROWS = 100_000
PLAIN = 0
"""Number of folds for plain prequential evaluation, which stands for one fold."""
NOTE = "minus the generator's time"


def _list_cases(axis: str, sizes: Sizes) -> Iterator[tuple[int, Job]]:
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


def measure_growth(axis: str, sizes: Sizes, folder: Path) -> Iterator[Figure]:
    """Measure along one axis."""
    del folder
    for size, job in _list_cases(axis, sizes):
        turns = max(1, sizes.turns - 1) if job.n_rows <= 1_000_000 else 1
        for learner in (TREE, BAYES) if axis == "attributes" else (TREE,):
            yield from _measure_case(axis, size, replace(job, learner=learner), turns)


def _measure_case(axis: str, size: int, ours: Job, turns: int) -> Iterator[Figure]:
    theirs = [job for job in (_build_moa_job(axis, ours), _build_river_job(axis, size, ours)) if job is not None]
    baselines = [replace(job, learner="MajorityClass", n_folds=0) for job in theirs if job.system == "MOA"]
    results = race([ours, *theirs, *baselines], turns)
    for job in [ours, *theirs]:
        costs = results[job.system, job.learner]
        base = results.get((job.system, "MajorityClass"), Costs(0.0, 0.0, 0.0))
        yield Figure(
            subject=f"{axis}, {job.learner}",
            system=job.system,
            n_rows=job.n_rows,
            ns_per_row=1e9 * (costs.cpu - base.cpu) / job.n_rows,
            accuracy=costs.accuracy,
            peak_mb=costs.peak_mb,
            size=size,
            note="rows in memory" if job.system == "River" else NOTE,
        )


def _build_moa_job(axis: str, job: Job) -> Job | None:
    """Return MOA's job; it evaluates one learner at a time."""
    if axis == "learners" or not is_available("MOA"):
        return None
    stream = f"generators.RandomRBFGenerator -a {job.n_attributes} -c {job.n_classes}"
    return replace(job, system="MOA", generator=stream)


def _build_river_job(axis: str, size: int, job: Job) -> Job | None:
    """Return River's job, on the first rows."""
    if axis == "learners" or not is_available("River"):
        return None
    if axis == "rows":
        return replace(job, system="River") if size <= MAX_RIVER_ROWS else None
    return replace(job, system="River", n_rows=min(5_000, max(200, 40_000 // size)))


SECTIONS = {
    f"growth_{axis}": partial(measure_growth, axis) for axis in ("rows", "attributes", "classes", "folds", "learners")
}
