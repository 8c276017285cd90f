"""How cost grows: with rows, attributes, classes, folds and learners; a Hoeffding tree on random RBF everywhere."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.performance.contestants import Job, Taken
from benchmarks.performance.figures import OURS, Figure
from benchmarks.performance.races import Sizes, raced
from peers import moa

__all__ = ["growth"]

NOTE = "generator's time taken away"


def growth(sizes: Sizes, folder: Path) -> list[Figure]:
    """Measure all axes; ours and MOA's from generators, so that rows take no memory."""
    del folder
    figures = []
    for subject, size, job in _cases(sizes):
        few = max(1, sizes.turns - 1) if job.n_rows <= 1_000_000 else 1
        jobs = _learners(subject, job)
        found = raced(jobs, few)
        figures += [_figure(subject, size, each, found[OURS, each.learner]) for each in jobs]
        figures += _moas(subject, size, job, few)
        print(figures[-1], flush=True)
    return figures


def _learners(subject: str, job: Job) -> list[Job]:
    return [job, replace(job, learner="NaiveBayes")] if subject == "attributes" else [job]


def _cases(sizes: Sizes) -> Iterator[tuple[str, int, Job]]:
    job = Job(OURS, "HoeffdingTree", sizes.n_growth_rows)
    yield from (("rows", 10**e, replace(job, n_rows=10**e)) for e in sizes.exponents)
    for n in sizes.attributes:
        yield "attributes", n, replace(job, n_attributes=n, n_rows=min(job.n_rows, job.n_rows * 50 // n))
    yield from (("classes", n, replace(job, n_classes=n)) for n in sizes.classes)
    yield from (("folds", n, replace(job, n_folds=n, n_rows=job.n_rows // 2)) for n in sizes.folds)
    yield from (("learners", n, replace(job, n_learners=n)) for n in sizes.learners)


def _figure(subject: str, size: int, job: Job, taken: Taken) -> Figure:
    return Figure(
        f"{subject}, {job.learner}",
        job.system,
        job.n_rows,
        1e9 * taken.cpu / job.n_rows,
        taken.accuracy,
        taken.peak_mb,
        size=size,
        note=NOTE,
    )


def _moas(subject: str, size: int, job: Job, turns: int) -> Iterator[Figure]:
    """Give MOA's, less its MajorityClass on the same stream; it takes one learner at a time."""
    if subject == "learners" or moa.why_not_compiled() is not None:
        return
    stream = f"generators.RandomRBFGenerator -a {job.n_attributes} -c {job.n_classes}"
    for ours in _learners(subject, job):
        theirs = replace(ours, system="MOA", generator=stream)
        base = replace(theirs, learner="MajorityClass", n_folds=0)
        found = raced([theirs, base], turns)
        taken = found["MOA", theirs.learner]
        yield _figure(subject, size, theirs, replace(taken, cpu=taken.cpu - found["MOA", "MajorityClass"].cpu))
