"""Ensembles of ten Hoeffding trees next to MOA's: CPU time per row, accuracy and memory, on rows of MOA's generators.

Ours: CPU time of an evaluation on rows in memory, one thread. MOA's: the CPU seconds that its task reports in a new
virtual machine, less those of its MajorityClass on the same stream. Both run in turns, so that other load affects them
alike; the best of each counts. Memory: the size that our learner reports, and the growth of MOA's heap.
"""

import time
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

import streamgauge as sg
from peers import moa
from streamgauge.learners import LeveragingBagging, OzaBag, OzaBoost
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Step

N_ROWS = 200_000
REPEATS = 3
STREAMS = {
    "RBF, 10 attributes": "generators.RandomRBFGenerator",
    "hyperplane, 10 attributes": "generators.HyperplaneGenerator -k 10 -t 0.001",
    "SEA, 3 attributes": "generators.SEAGenerator",
}


@dataclass(frozen=True)
class Opponents:
    """One of our ensembles, its counterpart in MOA, and the speed-up to reach."""

    ours: LearnerSpec
    theirs: str
    goal: float | None


OPPONENTS = (
    Opponents(OzaBag(), "meta.OzaBag", 30.0),
    Opponents(LeveragingBagging(), "meta.LeveragingBag", 30.0),
    Opponents(OzaBoost(), "meta.OzaBoost", None),
)


def main() -> None:
    """Print a table of all streams and ensembles."""
    reason = moa.explain_missing_jdk()
    if reason is not None:
        print(reason)
        return
    table = Table(title=f"{N_ROWS:,} rows, ns of CPU per row, best of {REPEATS}")
    headings = ("stream", "ensemble", "ours", "MOA", "ratio", "goal", "accuracy", "of MOA", "MB", "of MOA")
    for heading in headings:
        table.add_column(heading, justify="left" if heading in {"stream", "ensemble"} else "right", no_wrap=True)
    for name, generator in STREAMS.items():
        schema, x, y = moa.generate_rows(generator, N_ROWS)
        stream = sg.ArrayStream(x, y, schema=schema)
        baseline = min(moa.measure_speed("functions.MajorityClass", generator, N_ROWS).cpu for _ in range(REPEATS))
        for opponents in OPPONENTS:
            cells = _compare(stream, generator, opponents, baseline)
            print(name, *cells, flush=True)
            table.add_row(name, *cells)
    Console(width=140).print(table)


def _compare(stream: sg.ArrayStream, generator: str, opponents: Opponents, baseline: float) -> list[str]:
    """Return the cells of a row of the table."""
    ours, theirs = [], []
    for _ in range(REPEATS):
        started = time.process_time()
        results = sg.evaluate(stream, opponents.ours, backend=sg.Threads(1))
        ours.append((time.process_time() - started) / N_ROWS)
        theirs.append(moa.measure_speed(opponents.theirs, generator, N_ROWS))
    mine, net = min(ours), min(speed.cpu for speed in theirs) - baseline
    accuracy = float(results.curve(results.learners[0], "accuracy")[-1, 0])
    heap = moa.measure_heap(opponents.theirs, generator, N_ROWS)
    goal = "-"
    if opponents.goal is not None:
        goal = f"{opponents.goal:.0f} {'met' if net / mine >= opponents.goal else 'MISSED'}"
    return [
        type(opponents.ours).__name__,
        f"{mine * 1e9:,.0f}",
        f"{net * 1e9:,.0f}",
        f"{net / mine:.1f}",
        goal,
        f"{accuracy:.4f}",
        f"{theirs[-1].accuracy:.4f}",
        f"{measure_size(opponents.ours, stream) / 1e6:.1f}",
        f"{heap / 1e6:.1f}",
    ]


def measure_size(spec: LearnerSpec, stream: sg.ArrayStream) -> int:
    """Return the bytes of a learner after all rows of a stream."""
    learner = spec.build(stream.schema, 1)
    for batch in stream.batches(N_ROWS):
        learner.interleave(Step(batch), with_votes=False)
    return learner.n_bytes


if __name__ == "__main__":
    main()
