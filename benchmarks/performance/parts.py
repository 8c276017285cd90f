"""Detectors, measures, files and sampling, each on its own."""

import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import detectors as detecting
from benchmarks import files as reading
from benchmarks.performance.figures import OURS, Figure
from benchmarks.performance.memory import added_mb
from benchmarks.performance.peers_here import has
from benchmarks.performance.sizes import Sizes
from benchmarks.turns import run_in_turns
from peers import moa
from streamgauge.drift.watch import DETECTORS
from streamgauge.forgetting import Landmark, Window
from streamgauge.measures import MEASURES, build_state, measure_tallies
from streamgauge.records import Trace
from streamgauge.streams import Balance, sample

__all__ = ["SECTIONS"]

EVERY = 1_000
BATCH = 32_768
REPEATS = 3
ADDED = "peak MB above what the process held before"
WARM = "in a warm virtual machine"
Works = dict[str, tuple[int, Callable[[], object]]]
"""Of each system, how many rows it takes, and what it does with them."""


def detectors(sizes: Sizes, folder: Path) -> Iterator[Figure]:
    """Give each detector the same errors."""
    del folder
    values = detecting.sample()[: sizes.n_values]
    timed = moa.run_detectors(list(detecting.MOA.values()), values, REPEATS) if has("MOA") else []
    moas = dict(zip(detecting.MOA, (time for _, time in timed), strict=False))
    for name in [name for name in DETECTORS if name in detecting.MOA or name in detecting.RIVER]:
        for system, (n_values, time) in detecting.raced(name, values, sizes.turns + 2).items():
            yield Figure(name, system, n_values, time)
        if name in moas:
            yield Figure(name, "MOA", len(values), moas[name], note=WARM)


def measures(sizes: Sizes, folder: Path) -> Iterator[Figure]:
    """Count the same predictions and read a measure every 1,000 rows."""
    del folder
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, sizes.n_values, dtype=np.int32)
    guess = np.where(rng.random(len(truth)) < 0.15, 1 - truth, truth).astype(np.int32)
    evaluators = {
        "accuracy of all rows": "BasicClassificationPerformanceEvaluator",
        f"kappa of the last {EVERY:,} rows": f"WindowClassificationPerformanceEvaluator -w {EVERY}",
    }
    for subject, works in _measures(truth, guess).items():
        best = run_in_turns({name: work for name, (_, work) in works.items()}, sizes.turns)
        for name, (rows, _) in works.items():
            yield Figure(subject, name, rows, 1e9 * best[name].seconds / rows)
        if subject in evaluators and has("MOA"):
            time = moa.time_evaluator(evaluators[subject], truth, guess, every=EVERY, repeats=REPEATS)
            yield Figure(subject, "MOA", len(truth), time, note=f"its evaluator, accuracy and kappas, {WARM}")


def _measures(truth: NDArray[np.int32], guess: NDArray[np.int32]) -> dict[str, Works]:
    import river.metrics  # noqa: PLC0415
    import river.utils  # noqa: PLC0415
    from sklearn.metrics import cohen_kappa_score  # noqa: PLC0415
    from strlearn.metrics import geometric_mean_score_1  # noqa: PLC0415

    n, few = len(truth), min(len(truth), 100_000)
    metrics: Any = river.metrics
    rolling: Any = river.utils.Rolling
    return {
        "accuracy of all rows": {
            OURS: (n, lambda: _counted("accuracy", Landmark(), truth, guess)),
            "River": (few, lambda: _rivers(metrics.Accuracy(), truth[:few], guess[:few])),
        },
        f"kappa of the last {EVERY:,} rows": {
            OURS: (n, lambda: _counted("kappa", Window(EVERY), truth, guess)),
            "River": (few, lambda: _rivers(rolling(metrics.CohenKappa(), EVERY), truth[:few], guess[:few])),
            "scikit-learn": (n, lambda: _windows(cohen_kappa_score, truth, guess)),
        },
        f"geometric mean of the last {EVERY:,} rows": {
            OURS: (n, lambda: _counted("g_mean", Window(EVERY), truth, guess)),
            "River": (few, lambda: _rivers(rolling(metrics.GeometricMean(), EVERY), truth[:few], guess[:few])),
            "stream-learn": (n, lambda: _windows(geometric_mean_score_1, truth, guess)),
        },
    }


def _counted(measure: str, forgetting: Landmark | Window, y: NDArray[np.int32], guess: NDArray[np.int32]) -> None:
    state = build_state(forgetting, 2, [MEASURES[measure]])
    none = np.zeros(len(y), dtype=bool)
    for start in range(0, len(y), BATCH):
        stop = min(start + BATCH, len(y))
        part = slice(start, stop)
        trace = Trace(np.arange(start, stop), y[part], guess[part], none[part], none[part])
        reading_rows = range((start // EVERY + 1) * EVERY, stop + 1, EVERY)
        measure_tallies([MEASURES[measure]], [state.update(trace, reading_rows)])


def _rivers(metric: Any, y: NDArray[np.int32], guess: NDArray[np.int32]) -> None:  # noqa: ANN401
    for row, (label, told) in enumerate(zip(y.tolist(), guess.tolist(), strict=True), start=1):
        metric.update(label, told)
        if row % EVERY == 0:
            metric.get()


def _windows(measure: Callable[..., float], y: NDArray[np.int32], guess: NDArray[np.int32]) -> None:
    for start in range(0, len(y) - EVERY + 1, EVERY):
        measure(y[start : start + EVERY], guess[start : start + EVERY])


def files(sizes: Sizes, folder: Path) -> Iterator[Figure]:
    """Read the same rows of ten numbers and a class from CSV and ARFF."""
    csv, arff = reading.write_rows(folder, None, sizes.n_file_rows)
    named = {
        "CSV": ("CSV, schema known", "pyarrow CSV", "pandas CSV", "River iter_csv"),
        "ARFF": ("ARFF", "River iter_arff"),
    }
    readers = reading.readers_of(csv, arff)
    rates = reading.rates_of(readers, 3 * sizes.turns)
    for kind, names in named.items():
        subject = f"{kind}, 10 numbers of all digits"
        for name in names:
            system = OURS if name == names[0] else name.split(" ")[0]
            few = min(reading.N_RIVER, sizes.n_file_rows) if system == "River" else sizes.n_file_rows
            yield Figure(subject, system, few, 1e3 / rates[name], peak_mb=added_mb(readers[name]), note=ADDED)
        if kind == "ARFF" and has("MOA"):
            yield Figure(subject, "MOA", sizes.n_file_rows, moa.time_reading(arff, REPEATS), note=WARM)


def sampling(sizes: Sizes, folder: Path) -> Iterator[Figure]:
    """Draw training and test rows from a file: exact counts of each class for training, the others for testing."""
    csv, arff = reading.write_rows(folder, "%.6f", sizes.n_file_rows, n_classes=2)
    n_train = min(1_000, sizes.n_file_rows // 20)

    def ours() -> None:
        sample(arff, Path(tempfile.mkdtemp(dir=folder), "sample"), Balance(n_train, 1.0, 0.5), labelled=0.1)

    works: dict[str, Callable[[], None]] = {
        OURS: ours,
        "Python loop": lambda: _sampled_by_lines(csv, folder, n_train),
        "pandas": lambda: _sampled_by_pandas(csv, folder, n_train),
    }
    notes = {
        OURS: "ARFF, balanced, labels hidden, an index written",
        "Python loop": "CSV, two passes over lines, balanced, no labels hidden",
        "pandas": "CSV, a table read, drawn from and written; not balanced, no labels hidden",
    }
    best = run_in_turns(works, sizes.turns)
    for name, found in best.items():
        time = 1e9 * found.seconds / sizes.n_file_rows
        note = f"{notes[name]}; {ADDED}"
        subject = "training and test rows drawn from a file"
        yield Figure(subject, name, sizes.n_file_rows, time, peak_mb=added_mb(works[name]), note=note)


def _sampled_by_pandas(csv: Path, folder: Path, n_train: int) -> None:
    table = pd.read_csv(csv)
    train = table.sample(n_train, random_state=1)
    train.to_csv(folder / "train.csv", index=False)
    table.drop(train.index).to_csv(folder / "test.csv", index=False)


def _sampled_by_lines(csv: Path, folder: Path, n_train: int) -> None:
    """Copy lines as a careful person would in Python: count classes, draw row numbers of each, then copy."""
    rows_of: dict[str, list[int]] = {}
    with csv.open(encoding="utf-8") as lines:
        next(lines)
        for row, line in enumerate(lines):
            rows_of.setdefault(line.rsplit(",", 1)[1], []).append(row)
    draws = random.Random(1)
    drawn = {row for rows in rows_of.values() for row in draws.sample(rows, n_train // len(rows_of))}
    with (
        csv.open(encoding="utf-8") as lines,
        (folder / "train.csv").open("w", encoding="utf-8") as train,
        (folder / "test.csv").open("w", encoding="utf-8") as test,
    ):
        header = next(lines)
        train.write(header)
        test.write(header)
        for row, line in enumerate(lines):
            (train if row in drawn else test).write(line)


SECTIONS = {"detectors": detectors, "measures": measures, "files": files, "sampling": sampling}
