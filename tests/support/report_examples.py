"""Results that look like those of a real run, made without running one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from streamgauge.records import Reading
from streamgauge.results import Results

WARNING = "Neither learner uses randomness: folds differ by their weights alone."


@dataclass(frozen=True)
class Verdict:
    """A comparison as reports want it."""

    first: str
    second: str
    test: str
    p_value: float
    difference: float
    interval: tuple[float, float] | None
    sentence: str
    measure: str = "accuracy"
    warnings: tuple[str, ...] = ()
    unit: str = "rate"


def example_results(
    learners: Sequence[str] = ("HoeffdingTree", "NaiveBayes", "MajorityClass"),
    *,
    n_folds: int = 10,
    n_points: int = 200,
    measures: Sequence[str] = ("accuracy", "kappa_m"),
    forgettings: Sequence[str] = ("AdwinWindow(delta=0.002)", "Window(width=1000)"),
    complete: bool = True,
) -> Results:
    """Make learners of falling skill that a drift at two fifths of the stream sets back."""
    random = np.random.default_rng(7)
    n_rows = 5_000 * n_points
    rows = [5_000 * (i + 1) for i in range(n_points)]
    time = np.arange(1, n_points + 1) / n_points
    readings = []
    for forgetting in forgettings:
        noise = 0.012 if "Window" in forgetting else 0.003
        for at, learner in enumerate(learners):
            skill = 0.93 - 0.11 * at - 0.25 * np.exp(-8 * time) - 0.12 * (time > 0.4) * np.exp(-14 * (time - 0.4))
            for fold in range(n_folds):
                accuracy = skill + 0.006 * random.standard_normal() + noise * random.standard_normal(n_points)
                for measure in measures:
                    values = accuracy if measure == "accuracy" else 1 - (1 - accuracy) / 0.42
                    readings += [
                        Reading(row, learner, fold, measure, forgetting, value)
                        for row, value in zip(rows, values.tolist(), strict=True)
                    ]
    readings.sort(key=lambda reading: reading.row)
    description = example_description(learners, n_folds, forgettings, measures)
    return Results.from_readings(readings, n_rows=n_rows, complete=complete, description=description)


def example_description(
    learners: Sequence[str], n_folds: int, forgettings: Sequence[str], measures: Sequence[str]
) -> dict[str, object]:
    return {
        "stream": {
            "name": "RandomRBF(n_classes=2, n_attributes=10, n_centroids=50, speed=0.0001, seed=1)",
            "fingerprint": "9f2c61d07a3be815",
            "n_rows": 1_000_000,
        },
        "learners": {name: {"spec": f"{name}(seed=1)", "seedless": name != "HoeffdingTree"} for name in learners},
        "scheme": {"name": f"Bootstrap(n_folds={n_folds}, test='all')", "n_folds": n_folds, "test": "all"},
        "forgettings": list(forgettings),
        "measures": list(measures),
        "seed": 1,
        "seconds": 14.2317,
        "versions": {"streamgauge": "0.1.0", "python": "3.11.2", "numpy": "2.3.4", "system": "Linux x86_64"},
    }


def example_verdicts(results: Results) -> list[Verdict]:
    """Make two tests for every pair of learners; the last pair has no clear difference."""
    learners = results.learners
    pairs = [(a, b) for i, a in enumerate(learners) for b in learners[i + 1 :]]
    verdicts = []
    for at, (first, second) in enumerate(pairs):
        clear = at < len(pairs) - 1
        difference = 0.1124 / (at + 1) if clear else -0.0021
        half = 0.0093
        says = (
            f"{first} is better than {second} by {100 * difference:.2f} percentage points of accuracy "
            f"(95 % interval {100 * (difference - half):.2f} to {100 * (difference + half):.2f}, p < 0.0001)."
            if clear
            else f"No difference between {first} and {second} could be shown (p = 0.6123)."
        )
        interval = (difference - half, difference + half)
        p_value = 1e-8 if clear else 0.6123
        verdicts.append(Verdict(first, second, "two-way t", p_value, difference, interval, says))
        given = f"Given this stream, {first} beats {second} in {10 if clear else 4} of 10 folds."
        wilcoxon = Verdict(first, second, "Wilcoxon", 2 / 1024 if clear else math.nan, difference, None, given)
        verdicts.append(wilcoxon if clear else replace(wilcoxon, warnings=(WARNING,)))
    return verdicts
