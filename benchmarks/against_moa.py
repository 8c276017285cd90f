"""Nanoseconds per row next to MOA's, on rows of MOA's generators.

Ours: CPU time of an evaluation on rows in memory, one thread. MOA's: the CPU seconds that its task reports in a new
virtual machine, as users run it, less those of its MajorityClass on the same stream, so that its generator, compiler
and garbage collector are not counted. For comparison, without a goal, the same in a warm virtual machine. Ten folds are
compared in wall time, as users wait for them: ours in two threads, MOA's in its only thread, including its generator.
Each value is the best of several, taken in turns.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

import streamgauge as sg
from benchmarks.turns import Best
from peers import moa
from streamgauge.protocols import LearnerSpec, Scheme

N_ROWS = 1_000_000
TURNS = 3
REPEATS = 4
BASELINE = "functions.MajorityClass"
N_FOLDS = 10
MOVING_RBF = "generators.RandomRBFGeneratorDrift -s 0.001 -k 50"
STREAMS = {
    "RBF, 10 attributes": "generators.RandomRBFGenerator",
    "moving RBF, 10 attributes": MOVING_RBF,
    "hyperplane, 10 attributes": "generators.HyperplaneGenerator -k 10 -t 0.001",
    "SEA, 3 attributes": "generators.SEAGenerator",
}


@dataclass(frozen=True)
class Opponents:
    """One of our learners, its counterpart in MOA, and the speed-up to reach."""

    ours: LearnerSpec
    theirs: str
    goal_wide: float
    goal_sea: float | None


OPPONENTS = [
    Opponents(sg.HoeffdingTree(), "trees.HoeffdingTree", 30.0, 25.0),
    Opponents(sg.NaiveBayes(), "bayes.NaiveBayes", 12.0, None),
]


def main() -> None:
    """Print a table of all streams and learners, and a line on ten folds."""
    reason = moa.explain_missing_jdk()
    if reason is not None:
        print(reason)
        return
    headings = ("stream", "learner", "ours", "MOA", "ratio", "goal", "MOA warm", "ratio", "accuracy", "of MOA")
    table = Table(title=f"{N_ROWS:,} rows, ns of CPU per row, best of several in turns")
    for heading in headings:
        table.add_column(heading, justify="left" if heading in {"stream", "learner"} else "right", no_wrap=True)
    folds = ""
    for name, generator in STREAMS.items():
        schema, x, y = moa.generate_rows(generator, N_ROWS)
        stream = sg.ArrayStream(x, y, schema=schema)
        for cells in _compare(stream, generator):
            table.add_row(name, *cells)
        if generator == MOVING_RBF:
            folds = _compare_folds(stream, generator)
    Console(width=140).print(table)
    print(folds)


def _compare(stream: sg.ArrayStream, generator: str) -> Iterator[list[str]]:
    """Yield the cells of a table row for each learner."""
    ours: dict[str, Best[float]] = {opponents.theirs: Best() for opponents in OPPONENTS}
    theirs: dict[str, Best[float]] = {learner: Best() for learner in (BASELINE, *ours)}
    for _ in range(TURNS):
        for learner, best in theirs.items():
            speed = moa.measure_speed(learner, generator, N_ROWS)
            best.add(speed.cpu, speed.accuracy)
        for opponents in OPPONENTS:
            for _ in range(REPEATS):
                seconds, accuracy = _time(time.process_time, stream, opponents.ours, sg.Prequential(), n_threads=1)
                ours[opponents.theirs].add(seconds, accuracy)
    warm = {learner: moa.measure_warm_speed(learner, generator, N_ROWS, REPEATS).cpu for learner in theirs}
    for opponents in OPPONENTS:
        goal = opponents.goal_sea if "SEA" in generator else opponents.goal_wide
        mine, other = ours[opponents.theirs], theirs[opponents.theirs]
        net, net_warm = other.seconds - theirs[BASELINE].seconds, warm[opponents.theirs] - warm[BASELINE]
        yield [
            type(opponents.ours).__name__,
            f"{mine.seconds * 1e9:,.0f}",
            f"{net * 1e9:,.0f}",
            f"{net / mine.seconds:.1f}",
            _judge(net / mine.seconds, goal),
            f"{net_warm * 1e9:,.0f}",
            f"{net_warm / mine.seconds:.1f}",
            f"{mine.result:.4f}",
            f"{other.result:.4f}",
        ]


def _compare_folds(stream: sg.ArrayStream, generator: str) -> str:
    ours: Best[float] = Best()
    theirs: Best[float] = Best()
    cpu: Best[float] = Best()
    for _ in range(TURNS):
        for _ in range(REPEATS):
            ours.add(*_time(time.perf_counter, stream, sg.HoeffdingTree(), sg.Bootstrap(N_FOLDS), n_threads=2))
        speed = moa.time_folds("trees.HoeffdingTree", generator, N_ROWS, N_FOLDS)
        theirs.add(speed.wall, speed.accuracy)
        cpu.add(speed.cpu, speed.accuracy)
    ratio = theirs.seconds / ours.seconds
    return (
        f"{N_FOLDS} folds of bootstrap, HoeffdingTree, moving RBF, wall time per row: ours {ours.seconds * 1e6:.2f} us "
        f"in 2 threads (accuracy {ours.result:.4f}), MOA {theirs.seconds * 1e6:.2f} us, {cpu.seconds * 1e6:.2f} us "
        f"of CPU (accuracy {theirs.result:.4f}); ratio {ratio:.1f}, goal {_judge(ratio, 50.0)}"
    )


def _time(
    clock: Callable[[], float],
    stream: sg.ArrayStream,
    learner: LearnerSpec,
    scheme: Scheme,
    n_threads: int,
) -> tuple[float, float]:
    """Return seconds per row, and the accuracy over the whole stream and all folds."""
    start = clock()
    results = sg.evaluate(stream, learner, scheme=scheme, backend=sg.Threads(n_threads))
    seconds = clock() - start
    accuracy = results.curve(results.learners[0], "accuracy")[-1]
    return seconds / N_ROWS, float(np.mean(accuracy))


def _judge(ratio: float, goal: float | None) -> str:
    if goal is None:
        return "-"
    return f"{goal:.0f} {'met' if ratio >= goal else 'MISSED'}"


if __name__ == "__main__":
    main()
