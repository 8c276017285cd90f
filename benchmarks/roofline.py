"""The three hottest kernels compared with the limits of one core: ``python -m benchmarks roofline``.

Bytes and operations per row are counted from the code (see docs/performance/roofline.md). The limits of the machine are
measured in the same turns: bytes by summing an array larger than any cache, operations by multiplying matrices. CPU
time, one core, best of several turns.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks import detectors
from benchmarks.turns import run_in_turns
from streamgauge.drift.watch import DETECTORS
from streamgauge.learners import HoeffdingTree, NaiveBayes
from streamgauge.records import Step
from streamgauge.streams import RandomRBF, take

N_ROWS = 200_000
N_SUMMED = 20_000_000
SIDE = 1_000
TURNS = 7


@dataclass(frozen=True)
class Kernel:
    """The work of a kernel for a row of ten numbers and two classes, or for a value."""

    name: str
    n_bytes: int
    """Memory traffic that no cache can avoid."""
    n_operations: int
    work: Callable[[], object]
    n_rows: int


def build_kernels() -> list[Kernel]:
    """Return the kernels with their data."""
    stream = RandomRBF()
    batch = take(stream, N_ROWS)
    grown = HoeffdingTree(leaf_prediction="majority").build(stream.schema, 1)
    grown.interleave(Step(take(stream, 1_000_000)), with_votes=False)
    only_test = Step(batch, weight=np.zeros(N_ROWS))
    errors = detectors.make_errors()

    def learn_bayes() -> None:
        NaiveBayes().build(stream.schema, 1).interleave(Step(batch), with_votes=False)

    return [
        Kernel(
            name="naive Bayes, predict and learn",
            n_bytes=96,
            n_operations=300,
            work=learn_bayes,
            n_rows=N_ROWS,
        ),
        Kernel(
            name="tree, run down",
            n_bytes=96,
            n_operations=9,
            work=lambda: grown.interleave(only_test, with_votes=False),
            n_rows=N_ROWS,
        ),
        Kernel(
            name="ADWIN, one value",
            n_bytes=9,
            n_operations=22,
            work=lambda: detectors.run_ours(DETECTORS["Adwin"](), errors),
            n_rows=detectors.N_VALUES,
        ),
    ]


def main() -> None:
    """Print the table."""
    kernels = build_kernels()
    array, matrix = np.ones(N_SUMMED), np.ones((SIDE, SIDE))
    works: dict[str, Callable[[], object]] = {kernel.name: kernel.work for kernel in kernels}
    best = run_in_turns(works | {"bytes": array.sum, "operations": lambda: matrix @ matrix}, TURNS)
    bandwidth = 8 * N_SUMMED / best["bytes"].seconds
    operations = 2 * SIDE**3 / best["operations"].seconds
    print(f"one core sums {bandwidth / 1e9:.1f} GB/s and does {operations / 1e9:.0f} G operations/s")
    print(f"{'':38}{'bytes':>6}{'operations':>11}{'ns for bytes':>13}{'ns to compute':>14}{'ns':>7}{'share':>7}")
    for kernel in kernels:
        limits = 1e9 * kernel.n_bytes / bandwidth, 1e9 * kernel.n_operations / operations
        time = 1e9 * best[kernel.name].seconds / kernel.n_rows
        line = f"{kernel.name:<38}{kernel.n_bytes:>6}{kernel.n_operations:>11}{limits[0]:>13.1f}{limits[1]:>14.1f}"
        print(f"{line}{time:>7.1f}{max(limits) / time:>7.2f}")


if __name__ == "__main__":
    main()
