"""Cost of live verdicts in any measure: ns of CPU per row and pair, and the peak memory of short and long runs.

The cost is the CPU time of a run with live verdicts minus that of the same run without, the best of several in turns,
divided by the rows and the pairs: two learners in ten folds, a million rows, 200 readings. Each memory is the peak of a
fresh process, above what it held before the run.
"""

import subprocess
import sys
from collections.abc import Sequence
from functools import partial

import streamgauge as sg
from benchmarks.performance.memory import measure_added
from benchmarks.turns import run_in_turns
from streamgauge.significance import LiveTest
from streamgauge.streams import in_memory

N_ROWS = 1_000_000
LONG = 4_000_000
N_READINGS = 200
N_FOLDS = 10
COUNTS, AREAS = ("kappa", "f1[1]", "mcc"), ("roc_auc[1]", "pr_auc[1]")
GOALS = {COUNTS: 15.0, AREAS[:1]: 150.0, AREAS[1:]: 150.0, AREAS: 150.0}
"""The most ns per row and pair, by measures."""
TURNS = {15.0: 25, 150.0: 5}
"""How often each run is timed, by its goal: the smaller the cost, the more the noise matters."""


def run(stream: object, measures: Sequence[str], n_rows: int, *, live: bool) -> sg.Results:
    """Run two learners in ten folds, with live verdicts in some measures or without."""
    return sg.evaluate(
        stream,
        {"first": sg.NaiveBayes(), "second": sg.NaiveBayes()},
        measures=list(measures),
        scheme=sg.Bootstrap(N_FOLDS),
        every=n_rows // N_READINGS,
        n_rows=n_rows,
        live_test=LiveTest(measure=tuple(measures)) if live else None,
        backend=sg.Threads(1),
        seed=1,
    )


def measure_cost(stream: object, measures: Sequence[str], turns: int) -> tuple[float, float]:
    """Return the ns of CPU per row of a run without live verdicts, and what those add."""
    works = {kind: partial(run, stream, measures, N_ROWS, live=kind == "live") for kind in ("plain", "live")}
    best = run_in_turns(works, turns)
    plain, live = (best[kind].seconds / N_ROWS * 1e9 for kind in works)
    return plain, live - plain


def measure_memory(measures: Sequence[str], n_rows: int) -> float | None:
    """Return the peak MB that a run with live verdicts adds, in a process of its own."""
    code = "from benchmarks import live_cost; live_cost.print_memory()"
    command = [sys.executable, "-c", code, ",".join(measures), str(n_rows)]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    return None if shown == "None" else float(shown)


def print_memory() -> None:
    """Print the peak MB that a run adds; its measures and rows are arguments of the process."""
    measures, n_rows = sys.argv[1].split(","), int(sys.argv[2])
    run(sg.SEA(noise=0.1), measures, 10_000, live=True)
    print(measure_added(lambda: run(sg.SEA(noise=0.1), measures, n_rows, live=True)))


def main() -> None:
    """Print the costs and the memory."""
    stream = in_memory(sg.SEA(noise=0.1), N_ROWS)
    print(f"{N_ROWS:,} rows, {N_READINGS} readings, {N_FOLDS} folds, one pair; ns of CPU per row and pair")
    print(f"{'measures':<24} {'the run':>8} {'live verdicts':>14} {'goal':>6}")
    for measures, goal in GOALS.items():
        plain, added = measure_cost(stream, measures, TURNS[goal])
        print(f"{', '.join(measures):<24} {plain:>8.0f} {added:>14.1f} {goal:>6.0f}")
    print(f"\n{'measures':<24} {'MB at 1e6 rows':>15} {'at 4e6 rows':>12}")
    for measures in (COUNTS, AREAS):
        short, long = (measure_memory(measures, n_rows) for n_rows in (N_ROWS, LONG))
        print(f"{', '.join(measures):<24} {short or float('nan'):>15.1f} {long or float('nan'):>12.1f}")


if __name__ == "__main__":
    main()
