"""AdaptiveRandomForest(10) next to MOA's and River's: microseconds of CPU per row, memory, accuracy.

Ours: CPU time of an evaluation on rows in memory, one thread. MOA's: the CPU seconds that its task reports in a new
virtual machine, less those of its MajorityClass on the same stream. Both run in turns, and the best of each counts.
MOA's memory is the part of its heap that is freed with the forest. River runs on the first rows only, in a loop of
`predict_one` and `learn_one`, with as many attributes per leaf as ours on those rows.
"""

import time
from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from river.forest import ARFClassifier

import streamgauge as sg
from benchmarks.turns import run_in_turns
from peers import moa
from streamgauge.learners import AdaptiveRandomForest
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Batch, Schema, Step

N_ROWS = 100_000
N_RIVER_ROWS = 3_000
TURNS = 3
GOAL_MOA, GOAL_RIVER = 50.0, 300.0
THEIRS = "meta.AdaptiveRandomForest -s 10"
STREAMS = {
    "RBF, 10 attributes": "generators.RandomRBFGenerator",
    "moving RBF, 10 attributes": "generators.RandomRBFGeneratorDrift -s 0.001 -k 50",
    "hyperplane, 10 attributes": "generators.HyperplaneGenerator -k 10 -t 0.001",
    "SEA, 3 attributes": "generators.SEAGenerator",
    "LED, 24 attributes": "generators.LEDGenerator",
    "Waveform, 21 attributes": "generators.WaveformGenerator",
}


def measure_size(spec: LearnerSpec, stream: sg.ArrayStream) -> int:
    """Return the bytes of a learner after all rows of a stream."""
    learner = spec.build(stream.schema, 1)
    for batch in stream.batches(N_ROWS):
        learner.interleave(Step(batch), with_votes=False)
    return learner.n_bytes


def main() -> None:
    """Print a row for each stream, and a line on River."""
    reason = moa.explain_missing_jdk()
    if reason is not None:
        print(reason)
        return
    table = Table(title=f"AdaptiveRandomForest(10), {N_ROWS:,} rows, us of CPU per row, best of {TURNS} turns")
    for heading in ("stream", "ours", "MOA", "ratio", "accuracy", "of MOA", "MB", "of MOA"):
        table.add_column(heading, justify="left" if heading == "stream" else "right", no_wrap=True)
    lines = []
    for name, generator in STREAMS.items():
        schema, x, y = moa.generate_rows(generator, N_ROWS)
        table.add_row(name, *_compare_with_moa(sg.ArrayStream(x, y, schema=schema), generator))
        if name.startswith("RBF"):
            lines.append(_compare_with_river(schema, x[:N_RIVER_ROWS], y[:N_RIVER_ROWS]))
    Console(width=120).print(table)
    print(f"goal on 10 attributes: {GOAL_MOA:.0f} times as fast as MOA, with less memory")
    print("\n".join(lines))


def _compare_with_moa(stream: sg.ArrayStream, generator: str) -> list[str]:
    """Return the cells of a row."""
    ours, theirs, baseline = [], [], []
    for _ in range(TURNS):
        start = time.process_time()
        results = sg.evaluate(stream, AdaptiveRandomForest(), backend=sg.Threads(1))
        ours.append((time.process_time() - start) / N_ROWS)
        theirs.append(moa.measure_speed(THEIRS, generator, N_ROWS))
        baseline.append(moa.measure_speed("functions.MajorityClass", generator, N_ROWS).cpu)
    accuracy = float(results.curve(results.learners[0], "accuracy")[-1, 0])
    cpu = min(speed.cpu for speed in theirs) - min(baseline)
    return [
        f"{min(ours) * 1e6:.2f}",
        f"{cpu * 1e6:.1f}",
        f"{cpu / min(ours):.1f}",
        f"{accuracy:.4f}",
        f"{theirs[0].accuracy:.4f}",
        f"{measure_size(AdaptiveRandomForest(), stream) / 1e6:.1f}",
        f"{moa.measure_heap(THEIRS, generator, N_ROWS) / 1e6:.1f}",
    ]


def _compare_with_river(schema: Schema, x: NDArray[np.float64], y: NDArray[np.int32]) -> str:
    """Time both on the same rows; return one line."""
    spec = AdaptiveRandomForest()
    theirs = ARFClassifier(n_models=10, max_features=6, seed=1)
    rows: list[tuple[dict[Hashable, float], int]] = [
        (dict(enumerate(row)), label) for row, label in zip(x.tolist(), y.tolist(), strict=True)
    ]

    def run_ours() -> int:
        learner = spec.build(schema, seed=1)
        return int((learner.interleave(Step(Batch(0, x, y)), with_votes=False)[0] == y).sum())

    def run_theirs() -> int:
        hits = 0
        for row, label in rows:
            hits += theirs.predict_one(row) == label
            theirs.learn_one(row, label)
        return hits

    ours, river = run_in_turns({"": run_ours}, 10)[""], run_in_turns({"": run_theirs}, 1)[""]
    ratio = river.seconds / ours.seconds
    return (
        f"River's ARFClassifier(10) on the first {len(y):,} rows of RBF: {river.seconds / len(y) * 1e6:.0f} us per row "
        f"(accuracy {(river.result or 0) / len(y):.4f}), ours {ours.seconds / len(y) * 1e6:.2f} "
        f"({(ours.result or 0) / len(y):.4f}); ratio {ratio:.0f}, goal {GOAL_RIVER:.0f} "
        f"{'met' if ratio >= GOAL_RIVER else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
