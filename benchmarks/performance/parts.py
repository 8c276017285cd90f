"""Detectors, measures, files and sampling, measured separately."""

import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import streamgauge as sg
from benchmarks import detectors, files
from benchmarks.performance.availability import is_available
from benchmarks.performance.figures import OURS, Figure
from benchmarks.performance.memory import measure_added
from benchmarks.performance.sizes import Sizes
from benchmarks.turns import Best, run_in_turns
from peers import moa
from peers.arff import write as write_arff
from streamgauge import streams
from streamgauge.drift.watch import DETECTORS
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import Landmark, Window
from streamgauge.measures import MEASURES, build_state, measure_tallies
from streamgauge.records import Trace
from streamgauge.streams import Balance, sample
from streamgauge.tasks import Classification

__all__ = ["SECTIONS"]

EVERY = 1_000
BATCH = 32_768
REPEATS = 3
N_TASK_ROWS = 100_000
ADDED = "peak MB above the memory held before"
WARM = "in a warm virtual machine"
Works = dict[str, tuple[int, Callable[[], object]]]
"""The number of rows and the work of each system."""


def measure_detectors(sizes: Sizes, folder: Path) -> Iterator[Figure]:
    """Run each detector on the same errors."""
    del folder
    errors = detectors.make_errors()[: sizes.n_values]
    runs = moa.run_detectors(list(detectors.MOA.values()), errors, REPEATS) if is_available("MOA") else []
    moa_times = dict(zip(detectors.MOA, (time for _, time in runs), strict=False))
    for name in [name for name in DETECTORS if name in detectors.MOA or name in detectors.RIVER]:
        for system, (n_values, time) in detectors.race(name, errors, sizes.turns + 2).items():
            yield Figure(name, system, n_values, time)
        if name in moa_times:
            yield Figure(name, "MOA", len(errors), moa_times[name], note=WARM)


def measure_measures(sizes: Sizes, folder: Path) -> Iterator[Figure]:
    """Count the same predictions and read a measure every 1,000 rows."""
    del folder
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, sizes.n_values, dtype=np.int32)
    guess = np.where(rng.random(len(truth)) < 0.15, 1 - truth, truth).astype(np.int32)
    evaluators = {
        "accuracy of all rows": "BasicClassificationPerformanceEvaluator",
        f"kappa of the last {EVERY:,} rows": f"WindowClassificationPerformanceEvaluator -w {EVERY}",
    }
    for subject, works in _build_measure_works(truth, guess).items():
        best = run_in_turns({name: work for name, (_, work) in works.items()}, sizes.turns)
        for name, (rows, _) in works.items():
            yield Figure(subject, name, rows, 1e9 * best[name].seconds / rows)
        if subject in evaluators and is_available("MOA"):
            time = moa.time_evaluator(evaluators[subject], truth, guess, every=EVERY, repeats=REPEATS)
            yield Figure(subject, "MOA", len(truth), time, note=f"its evaluator, accuracy and kappas, {WARM}")


def _build_measure_works(truth: NDArray[np.int32], guess: NDArray[np.int32]) -> dict[str, Works]:
    import river.metrics  # noqa: PLC0415
    import river.utils  # noqa: PLC0415
    from sklearn.metrics import cohen_kappa_score  # noqa: PLC0415
    from strlearn.metrics import geometric_mean_score_1  # noqa: PLC0415

    n, few = len(truth), min(len(truth), 100_000)
    metrics: Any = river.metrics
    rolling: Any = river.utils.Rolling
    return {
        "accuracy of all rows": {
            OURS: (n, lambda: _run_ours("accuracy", Landmark(), truth, guess)),
            "River": (few, lambda: _run_river(metrics.Accuracy(), truth[:few], guess[:few])),
        },
        f"kappa of the last {EVERY:,} rows": {
            OURS: (n, lambda: _run_ours("kappa", Window(EVERY), truth, guess)),
            "River": (few, lambda: _run_river(rolling(metrics.CohenKappa(), EVERY), truth[:few], guess[:few])),
            "scikit-learn": (n, lambda: _run_windows(cohen_kappa_score, truth, guess)),
        },
        f"geometric mean of the last {EVERY:,} rows": {
            OURS: (n, lambda: _run_ours("g_mean", Window(EVERY), truth, guess)),
            "River": (few, lambda: _run_river(rolling(metrics.GeometricMean(), EVERY), truth[:few], guess[:few])),
            "stream-learn": (n, lambda: _run_windows(geometric_mean_score_1, truth, guess)),
        },
    }


def _run_ours(measure: str, forgetting: Landmark | Window, y: NDArray[np.int32], guess: NDArray[np.int32]) -> None:
    state = build_state(forgetting, Classification(("0", "1")), [MEASURES[measure]])
    none = np.zeros(len(y), dtype=bool)
    for start in range(0, len(y), BATCH):
        stop = min(start + BATCH, len(y))
        part = slice(start, stop)
        trace = Trace(np.arange(start, stop), y[part], guess[part], none[part], none[part])
        reading_rows = range((start // EVERY + 1) * EVERY, stop + 1, EVERY)
        measure_tallies([MEASURES[measure]], [state.update(trace, reading_rows)])


def _run_river(metric: Any, y: NDArray[np.int32], guess: NDArray[np.int32]) -> None:  # noqa: ANN401
    for row, (label, predicted) in enumerate(zip(y.tolist(), guess.tolist(), strict=True), start=1):
        metric.update(label, predicted)
        if row % EVERY == 0:
            metric.get()


def _run_windows(measure: Callable[..., float], y: NDArray[np.int32], guess: NDArray[np.int32]) -> None:
    for start in range(0, len(y) - EVERY + 1, EVERY):
        measure(y[start : start + EVERY], guess[start : start + EVERY])


def measure_files(sizes: Sizes, folder: Path) -> Iterator[Figure]:
    """Read the same rows of each kind from CSV and ARFF, and evaluate a tree on real rows from ARFF."""
    n_rows, few = sizes.n_file_rows, min(files.N_RIVER, sizes.n_file_rows)
    for kind in files.KINDS:
        csv, arff = files.write_kind(folder, kind, n_rows)
        readers = {"ARFF": "ARFF", "CSV": "CSV, schema known", "CSV, schema inferred": "CSV, schema inferred"}
        works = files.build_readers(csv, arff)
        is_river = kind == next(iter(files.KINDS))
        works |= files.build_river_readers(csv, arff) if is_river else {}
        times = files.measure_times(works, 3 * sizes.turns)
        memory = {name: measure_added(work) for name, work in works.items()}
        for what, ours in readers.items():
            subject = f"{what}, {kind}"
            yield Figure(subject, OURS, n_rows, times[ours], peak_mb=memory[ours], note=ADDED)
            for name in ("pyarrow", "polars", "pandas") if what != "ARFF" else ():
                yield Figure(subject, name, n_rows, times[name], peak_mb=memory[name], note=ADDED)
            river = f"River iter_{what.lower()}"
            if river in works:
                yield Figure(subject, "River", few, times[river], peak_mb=memory[river], note=ADDED)
            if what == "ARFF" and is_available("MOA"):
                yield Figure(subject, "MOA", n_rows, moa.time_reading(arff, REPEATS), note=WARM)
    yield from _measure_tasks(sizes, folder)


def _measure_tasks(sizes: Sizes, folder: Path) -> Iterator[Figure]:
    """Evaluate a Hoeffding tree on real rows from an ARFF file, reading included."""
    for name in ("electricity", "covertype"):
        path = folder / f"{name}.arff"
        try:
            source = streams.load(name, offline=True)
        except StreamgaugeError as error:
            print(f"without {name}: {error}", flush=True)
            continue
        rows = streams.take(source, min(N_TASK_ROWS, sizes.n_matrix_rows, source.n_rows))
        write_arff(path, source.schema, rows.x, rows.y)
        best, theirs = Best[float](), Best[float]()
        for _ in range(sizes.turns):
            for _ in range(REPEATS):
                started = process_time()
                results = sg.evaluate(sg.File(path), sg.HoeffdingTree(), backend=sg.Threads(1), every=len(rows))
                seconds = process_time() - started
                best.add(seconds / len(rows), float(results.curve(results.learners[0], "accuracy")[-1].mean()))
            if is_available("MOA"):
                task = moa.measure_speed("trees.HoeffdingTree", f"ArffFileStream -f {path} -c -1", len(rows))
                theirs.add(task.cpu, task.accuracy)
        subject = f"HoeffdingTree, {name} from ARFF, reading included"
        yield Figure(subject, OURS, len(rows), 1e9 * best.seconds, accuracy=best.result)
        if is_available("MOA"):
            note = "its whole task thread, in a new virtual machine"
            yield Figure(subject, "MOA", len(rows), 1e9 * theirs.seconds, accuracy=theirs.result, note=note)


def measure_sampling(sizes: Sizes, folder: Path) -> Iterator[Figure]:
    """Draw training and test rows from a file: exact counts of each class for training, the others for testing."""
    csv, arff = files.write_rows(folder, "%.6f", sizes.n_file_rows, n_classes=2)
    n_train = min(1_000, sizes.n_file_rows // 20)

    def sample_with_ours() -> None:
        sample(arff, Path(tempfile.mkdtemp(dir=folder), "sample"), Balance(n_train, 1.0, 0.5), labelled=0.1)

    works: dict[str, Callable[[], None]] = {
        OURS: sample_with_ours,
        "Python loop": lambda: _sample_with_loop(csv, folder, n_train),
        "pandas": lambda: _sample_with_pandas(csv, folder, n_train),
    }
    notes = {
        OURS: "ARFF, balanced, labels hidden, index written",
        "Python loop": "CSV, two passes over lines, balanced, no labels hidden",
        "pandas": "CSV, read into a table, sampled and written; not balanced, no labels hidden",
    }
    best = run_in_turns(works, sizes.turns)
    for name, timing in best.items():
        time = 1e9 * timing.seconds / sizes.n_file_rows
        note = f"{notes[name]}; {ADDED}"
        subject = "training and test rows drawn from a file"
        yield Figure(subject, name, sizes.n_file_rows, time, peak_mb=measure_added(works[name]), note=note)


def _sample_with_pandas(csv: Path, folder: Path, n_train: int) -> None:
    table = pd.read_csv(csv)
    train = table.sample(n_train, random_state=1)
    train.to_csv(folder / "train.csv", index=False)
    table.drop(train.index).to_csv(folder / "test.csv", index=False)


def _sample_with_loop(csv: Path, folder: Path, n_train: int) -> None:
    """Copy lines in a careful Python loop: count classes, draw row numbers of each, then copy."""
    rows_by_class: dict[str, list[int]] = {}
    with csv.open(encoding="utf-8") as lines:
        next(lines)
        for row, line in enumerate(lines):
            rows_by_class.setdefault(line.rsplit(",", 1)[1], []).append(row)
    draws = random.Random(1)
    drawn = {row for rows in rows_by_class.values() for row in draws.sample(rows, n_train // len(rows_by_class))}
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


SECTIONS = {
    "detectors": measure_detectors,
    "measures": measure_measures,
    "files": measure_files,
    "sampling": measure_sampling,
}
