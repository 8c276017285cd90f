"""The cost of a gauge: one row, columns, River's metrics on the same work, and a table of many keys.

Run with ``python -m benchmarks gauge``.
"""

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from river import metrics, utils

import streamgauge as sg
from benchmarks.turns import run_in_turns

MEASURES = (
    "accuracy",
    "balanced_accuracy",
    "kappa",
    "mcc",
    "g_mean",
    "precision_macro",
    "recall_macro",
    "f1_macro",
    "f1_micro",
    "f1_weighted",
)
RIVER = (
    metrics.Accuracy,
    metrics.BalancedAccuracy,
    metrics.CohenKappa,
    metrics.MCC,
    metrics.GeometricMean,
    metrics.MacroPrecision,
    metrics.MacroRecall,
    metrics.MacroF1,
    metrics.MicroF1,
    metrics.WeightedF1,
)
"""The same measures in River."""

FORGETTINGS = (sg.Landmark(), sg.Window(1000), sg.Fading(0.999))
N_ROWS, N_RIVER, LENGTH, TURNS = 200_000, 5_000, 10_000, 5
N_KEYS, N_KEYED = 100_000, 1_000_000


def main() -> None:
    """Print the tables."""
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 1_000_000)
    predicted = np.where(random.random(len(y)) < 0.8, y, 1 - y)
    _compare_rows(y, predicted)
    _measure_columns(y, predicted)
    _measure_keys(random)


def _compare_rows(y: np.ndarray, predicted: np.ndarray) -> None:
    pairs = list(zip(y[:N_ROWS].tolist(), predicted[:N_ROWS].tolist(), strict=True))

    def run_gauge() -> object:
        gauge = _build()
        update = gauge.update
        for label, one in pairs:
            update(label, one)
        return gauge.reading()

    def run_river(*, shared: bool) -> object:
        windows = [1000] if shared else [None, 1000]
        every = [_roll(kind, width) for kind in RIVER for width in windows]
        for label, one in pairs[:N_RIVER]:
            for each in every:
                each.update(label, one)
        return [each.get() for each in every]

    works: dict[str, Callable[[], object]] = {
        "Gauge: 10 measures, Landmark, Window and Fading": run_gauge,
        "River: 10 metrics, over all rows and rolling": lambda: run_river(shared=False),
        "River: 10 metrics, rolling": lambda: run_river(shared=True),
    }
    best = run_in_turns(works, TURNS, time.thread_time)
    times = {name: timing.seconds / (N_ROWS if name.startswith("Gauge") else N_RIVER) for name, timing in best.items()}
    gauge = min(times.values())
    print(f"{'one row at a time':52}{'us per row':>12}{'ratio':>8}")
    for name, seconds in times.items():
        print(f"{name:52}{1e6 * seconds:12.3f}{seconds / gauge:8.1f}")


def _roll(kind: type, width: int | None) -> Any:  # noqa: ANN401
    return kind() if width is None else utils.Rolling(kind(), window_size=width)


def _build() -> sg.Gauge:
    return sg.Gauge(MEASURES, forgetting=FORGETTINGS)


def _measure_columns(y: np.ndarray, predicted: np.ndarray) -> None:
    starts = range(0, len(y), LENGTH)

    def run(*, names: bool) -> float:
        gauge = _build()
        labels = np.array(["down", "up"]) if names else np.array([0, 1])
        columns = [(labels[y[start : start + LENGTH]], labels[predicted[start : start + LENGTH]]) for start in starts]
        gauge.update(*columns[0])
        gauge.reading()
        started = time.thread_time()
        for label, one in columns:
            gauge.update(label, one)
        gauge.reading()
        return (time.thread_time() - started) / len(y)

    print(f"\n{f'columns of {LENGTH:,} rows':52}{'ns per row':>12}")
    for title, names in (("classes that are numbers", False), ("classes that are texts", True)):
        print(f"{title:52}{1e9 * min(run(names=names) for _ in range(TURNS)):12.1f}")


def _measure_keys(random: np.random.Generator) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    gauge = sg.gauge.KeyedGauge(["accuracy", "pr_auc[1]"], classes=[0, 1], score_of=1, budgets="error<0.3")
    keys = random.integers(0, N_KEYS, N_KEYED).tolist()
    y = random.integers(0, 2, N_KEYED).tolist()
    scores = random.random(N_KEYED).tolist()
    started = time.thread_time()
    for key, label, score in zip(keys, y, scores, strict=True):
        gauge.update(key, label, score)
    gauge.flush()
    single = time.thread_time() - started
    started = time.thread_time()
    n_verdicts = len(gauge.verdicts())
    judged = time.thread_time() - started
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"\n{N_KEYED:,} rows of {len(gauge):,} keys with accuracy, PR AUC and a budget")
    print(f"{'rows a second, one at a time':52}{N_KEYED / single:12,.0f}")
    print(f"{f'seconds for {n_verdicts:,} verdicts':52}{judged:12.2f}")
    print(f"{'MB of tables':52}{gauge.n_bytes / 2**20:12.0f}")
    print(f"{'MB of the process more at its peak, with the rows':52}{peak:12.0f}")


if __name__ == "__main__":
    main()
