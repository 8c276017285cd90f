"""Nanoseconds per row beside MOA's, on the rows that MOA's generators give.

Ours: CPU time of an evaluation on rows in memory, one thread. MOA's: the CPU seconds that its task reports, less those
of its MajorityClass on the same stream, so that its generator, compiler and garbage collector are not charged to it.
Ten folds are compared in wall time, as a person waits for them: ours in two threads, MOA's in the only one it has,
its generator included. Each figure is the best of several.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

import streamgauge as sg
from peers import moa
from streamgauge.protocols import LearnerSpec, Scheme

N_ROWS = 1_000_000
REPEATS = 3
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
    """A learner of ours, the same of MOA, and how many times faster ours is to be."""

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
    reason = moa.why_not_compiled()
    if reason is not None:
        print(reason)
        return
    table = Table(title=f"{N_ROWS:,} rows, ns of CPU per row, best of {REPEATS}")
    for heading in ("stream", "learner", "ours", "MOA", "ratio", "goal", "accuracy", "of MOA"):
        table.add_column(heading, justify="left" if heading in {"stream", "learner"} else "right", no_wrap=True)
    folds = ""
    for name, generator in STREAMS.items():
        schema, x, y = moa.generated_rows(generator, N_ROWS)
        stream = sg.ArrayStream(x, y, schema=schema)
        baseline = moa.speed("functions.MajorityClass", generator, N_ROWS, REPEATS).cpu
        for opponents in OPPONENTS:
            table.add_row(name, *_compared(stream, generator, opponents, baseline))
        if generator == MOVING_RBF:
            folds = _compared_folds(stream, generator)
    Console(width=120).print(table)
    print(folds)


def _compared(stream: sg.ArrayStream, generator: str, opponents: Opponents, baseline: float) -> list[str]:
    """Give the cells of a row."""
    goal = opponents.goal_sea if "SEA" in generator else opponents.goal_wide
    ours, accuracy = _best(time.process_time, stream, opponents.ours, sg.Prequential(), n_threads=1)
    theirs = moa.speed(opponents.theirs, generator, N_ROWS, REPEATS)
    net = theirs.cpu - baseline
    return [
        type(opponents.ours).__name__,
        f"{ours * 1e9:,.0f}",
        f"{net * 1e9:,.0f}",
        f"{net / ours:.1f}",
        _verdict(net / ours, goal),
        f"{accuracy:.4f}",
        f"{theirs.accuracy:.4f}",
    ]


def _compared_folds(stream: sg.ArrayStream, generator: str) -> str:
    ours, accuracy = _best(time.perf_counter, stream, sg.HoeffdingTree(), sg.Bootstrap(N_FOLDS), n_threads=2)
    theirs = moa.folds("trees.HoeffdingTree", generator, N_ROWS, N_FOLDS, REPEATS - 1)
    return (
        f"{N_FOLDS} folds of bootstrap, HoeffdingTree, moving RBF, wall time per row: ours {ours * 1e6:.2f} us "
        f"in 2 threads (accuracy {accuracy:.4f}), MOA {theirs.wall * 1e6:.2f} us, {theirs.cpu * 1e6:.2f} us of CPU "
        f"(accuracy {theirs.accuracy:.4f}); ratio {theirs.wall / ours:.1f}, goal {_verdict(theirs.wall / ours, 50.0)}"
    )


def _best(
    clock: Callable[[], float],
    stream: sg.ArrayStream,
    learner: LearnerSpec,
    scheme: Scheme,
    n_threads: int,
) -> tuple[float, float]:
    """Give seconds per row at best, and the accuracy over the whole stream and all folds."""
    seconds = []
    for _ in range(REPEATS):
        start = clock()
        results = sg.evaluate(stream, learner, scheme=scheme, backend=sg.Threads(n_threads))
        seconds.append(clock() - start)
    accuracy = results.curve(results.learners[0], "accuracy")[-1]
    return min(seconds) / N_ROWS, float(np.mean(accuracy))


def _verdict(ratio: float, goal: float | None) -> str:
    if goal is None:
        return "-"
    return f"{goal:.0f} {'met' if ratio >= goal else 'MISSED'}"


if __name__ == "__main__":
    main()
