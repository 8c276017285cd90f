"""Detectors, measures, files and sampling, each on its own."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import detectors as detecting
from benchmarks import files as reading
from benchmarks.performance.figures import OURS, Figure
from benchmarks.performance.races import Sizes
from benchmarks.turns import in_turns
from peers import moa
from streamgauge.drift.watch import DETECTORS
from streamgauge.forgetting import Landmark, Window
from streamgauge.measures import MEASURES, build_state, measured
from streamgauge.records import Trace
from streamgauge.streams import Balance, sample

__all__ = ["detectors", "files", "measures", "sampling"]

N_SLOW = 1_000
EVERY = 1_000
BATCH = 32_768


def detectors(sizes: Sizes, folder: Path) -> list[Figure]:
    """Give each detector the same errors."""
    del folder
    values = detecting.sample()[: sizes.n_values]
    timed = [] if moa.why_not_compiled() else moa.detector_signals(list(detecting.MOA.values()), values, repeats=3)
    moas = dict(zip(detecting.MOA, (time for _, time in timed), strict=False))
    figures = []
    for name in [name for name in DETECTORS if name in detecting.MOA or name in detecting.RIVER]:
        few = N_SLOW if name == "KSWIN" else min(detecting.N_RIVER, sizes.n_values)
        figures.append(Figure(name, OURS, len(values), detecting.ours(DETECTORS[name](), values)))
        if name in moas:
            figures.append(Figure(name, "MOA", len(values), moas[name], note="in a warm virtual machine"))
        if name in detecting.RIVER:
            figures.append(Figure(name, "River", few, detecting.rivers(detecting.RIVER[name], values, few)))
    return figures


def measures(sizes: Sizes, folder: Path) -> list[Figure]:
    """Count the same predictions and read a measure every 1,000 rows."""
    del folder
    import river.metrics  # noqa: PLC0415
    import river.utils  # noqa: PLC0415
    from sklearn.metrics import cohen_kappa_score  # noqa: PLC0415
    from strlearn.metrics import geometric_mean_score_1  # noqa: PLC0415

    n = sizes.n_values
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, n, dtype=np.int32)
    guess = np.where(rng.random(n) < 0.15, 1 - truth, truth).astype(np.int32)
    few = min(n, 20_000)
    metrics: Any = river.metrics
    rolling: Any = river.utils.Rolling
    cases: dict[str, dict[str, tuple[int, Callable[[], object]]]] = {
        "accuracy of all rows": {
            OURS: (n, lambda: _counted("accuracy", Landmark(), truth, guess)),
            "River": (few, lambda: _rivers(metrics.Accuracy(), truth[:few], guess[:few])),
        },
        "kappa of the last 1,000 rows": {
            OURS: (n, lambda: _counted("kappa", Window(EVERY), truth, guess)),
            "River": (few, lambda: _rivers(rolling(metrics.CohenKappa(), EVERY), truth[:few], guess[:few])),
            "scikit-learn": (n, lambda: _windows(cohen_kappa_score, truth, guess)),
        },
        "geometric mean of the last 1,000 rows": {
            OURS: (n, lambda: _counted("g_mean", Window(EVERY), truth, guess)),
            "River": (few, lambda: _rivers(rolling(metrics.GeometricMean(), EVERY), truth[:few], guess[:few])),
            "stream-learn": (n, lambda: _windows(geometric_mean_score_1, truth, guess)),
        },
    }
    figures = []
    for subject, systems in cases.items():
        best = in_turns({name: work for name, (_, work) in systems.items()}, sizes.turns)
        for name, (rows, _) in systems.items():
            figures.append(Figure(subject, name, rows, 1e9 * best[name].seconds / rows))
    return figures


def _counted(measure: str, forgetting: Landmark | Window, y: NDArray[np.int32], guess: NDArray[np.int32]) -> None:
    state = build_state(forgetting, 2, [MEASURES[measure]])
    none = np.zeros(len(y), dtype=bool)
    for start in range(0, len(y), BATCH):
        stop = min(start + BATCH, len(y))
        part = slice(start, stop)
        trace = Trace(np.arange(start, stop), y[part], guess[part], none[part], none[part])
        stops = range((start // EVERY + 1) * EVERY, stop + 1, EVERY)
        measured([MEASURES[measure]], [state.update(trace, stops)])


def _rivers(metric: Any, y: NDArray[np.int32], guess: NDArray[np.int32]) -> None:  # noqa: ANN401
    for row, (label, told) in enumerate(zip(y.tolist(), guess.tolist(), strict=True), start=1):
        metric.update(label, told)
        if row % EVERY == 0:
            metric.get()


def _windows(measure: Callable[..., float], y: NDArray[np.int32], guess: NDArray[np.int32]) -> None:
    for start in range(0, len(y) - EVERY + 1, EVERY):
        measure(y[start : start + EVERY], guess[start : start + EVERY])


def files(sizes: Sizes, folder: Path) -> list[Figure]:
    """Read the same rows of ten numbers and a class from CSV and ARFF."""
    figures = []
    csv, arff = reading.write_rows(folder, None, sizes.n_file_rows)
    named = {
        "CSV": ("CSV, schema known", "pyarrow CSV", "pandas CSV", "River iter_csv"),
        "ARFF": ("ARFF", "River iter_arff"),
    }
    rates = reading.rates_of(reading.readers_of(csv, arff), sizes.turns)
    for kind, names in named.items():
        for name in names:
            system = OURS if name == names[0] else name.split(" ")[0]
            few = min(reading.N_RIVER, sizes.n_file_rows) if system == "River" else sizes.n_file_rows
            figures.append(Figure(f"{kind}, 10 numbers of all digits", system, few, 1e3 / rates[name]))
    return figures


def sampling(sizes: Sizes, folder: Path) -> list[Figure]:
    """Sample training and test rows of a file; pandas reads, draws and writes, without labels hidden or an index."""
    csv, arff = reading.write_rows(folder, "%.6f", sizes.n_file_rows, n_classes=2)
    n_train = min(1_000, sizes.n_file_rows // 20)

    def pandas() -> None:
        table = pd.read_csv(csv)
        train = table.sample(n_train, random_state=1)
        train.to_csv(folder / "train.csv", index=False)
        table.drop(train.index).to_csv(folder / "test.csv", index=False)

    def ours() -> None:
        sample(arff, Path(tempfile.mkdtemp(dir=folder), "sample"), Balance(n_train, 1.0, 0.5), labelled=0.1)

    works: dict[str, Callable[[], None]] = {OURS: ours, "pandas": pandas}
    best = in_turns(works, sizes.turns)
    notes = {OURS: "ARFF, exact counts per class, labels hidden", "pandas": "CSV, read, drawn and written as a table"}
    subject = "training and test rows drawn from a file"
    return [
        Figure(subject, name, sizes.n_file_rows, 1e9 * found.seconds / sizes.n_file_rows, note=notes[name])
        for name, found in best.items()
    ]
