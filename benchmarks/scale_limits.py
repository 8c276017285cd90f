"""Memory and time of runs with very many classes, learners, folds, attributes or readings.

Run with ``python -m benchmarks scale_limits``. Each run has a process of its own, of which the peak memory is
printed, the libraries included, and the seconds of evaluating and of saving its results.
"""

import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable

import numpy as np

import streamgauge as sg
from streamgauge.results import Results

GOAL_MB = 1_000


def run_classes() -> Results:
    """Evaluate 1,000 classes x 3,000 rows x 200 readings."""
    draw = np.random.default_rng(1)
    y = np.concatenate([np.arange(1_000), draw.integers(0, 1_000, 2_000)])
    names = np.array([f"c{code}" for code in y])
    return sg.evaluate((draw.random((3_000, 5)), names), [sg.NaiveBayes(), sg.MajorityClass()])


def run_learners() -> Results:
    """Evaluate 1,000 learners x 10,000 rows."""
    return sg.evaluate(sg.SEA(n_rows=10_000), {f"bayes {i}": sg.NaiveBayes(seed=i) for i in range(1, 1_001)})


def run_folds() -> Results:
    """Evaluate 100 folds x 100,000 rows."""
    return sg.evaluate(sg.SEA(n_rows=100_000), [sg.NaiveBayes(), sg.HoeffdingTree()], scheme=sg.Bootstrap(100))


def run_attributes() -> Results:
    """Evaluate 10,000 attributes x 3,000 rows."""
    draw = np.random.default_rng(1)
    rows = draw.random((3_000, 10_000)), draw.integers(0, 2, 3_000)
    return sg.evaluate(rows, [sg.NaiveBayes(), sg.HoeffdingTree()])


def run_readings() -> Results:
    """Evaluate 1,000,000 readings of 1,000,000 rows."""
    return sg.evaluate(sg.SEA(n_rows=1_000_000), [sg.NaiveBayes(), sg.MajorityClass()], every=1)


CASES: dict[str, Callable[[], Results]] = {
    "classes": run_classes,
    "learners": run_learners,
    "folds": run_folds,
    "attributes": run_attributes,
    "readings": run_readings,
}


def measure(case: str) -> None:
    """Run a case in this process and print its peak memory and times."""
    warnings.simplefilter("ignore")  # that only some of the learners are compared
    started = time.perf_counter()
    results = CASES[case]()
    evaluated = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        sg.save(results, folder)
    saved = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    what = (CASES[case].__doc__ or "").removeprefix("Evaluate ").rstrip(".")
    verdict = "met" if peak < GOAL_MB else "MISSED"
    print(
        f"{what:45} {peak:6.0f} MB at most (goal: under {GOAL_MB:,} MB, {verdict}); "
        f"{evaluated - started:.1f} s, saved in {saved - evaluated:.1f} s",
        flush=True,
    )


def main() -> None:
    """Measure all cases, each in a process of its own."""
    for case in CASES:
        code = f"from benchmarks.scale_limits import measure; measure({case!r})"
        subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    main()
