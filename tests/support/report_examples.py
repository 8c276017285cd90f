"""Results that look like those of a real run, made without running one."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from streamgauge.records import Reading
from streamgauge.results import Results
from streamgauge.significance import THIS_STREAM, Comparison

WARNING = "Neither learner uses randomness: folds differ by their weights alone."


def example_comparison(first: str, second: str, **changes: Any) -> Comparison:
    """Make a comparison without testing anything."""
    comparison = Comparison(
        test="two_way_t",
        statistic=5.0,
        p_value=1e-8,
        direction=1,
        difference=0.1,
        interval=None,
        alpha=0.05,
        null=THIS_STREAM,
        basis="10 folds",
        first=first,
        second=second,
        measure="accuracy",
        unit="rate",
    )
    return replace(comparison, **changes)


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


def example_verdicts(results: Results) -> list[Comparison]:
    """Make two tests for every pair of learners; the last pair has no clear difference."""
    learners = results.learners
    pairs = [(a, b) for i, a in enumerate(learners) for b in learners[i + 1 :]]
    verdicts = []
    for index, (first, second) in enumerate(pairs):
        clear = index < len(pairs) - 1
        difference = 0.1124 / (index + 1) if clear else -0.0021
        two_way = example_comparison(
            first,
            second,
            p_value=1e-8 if clear else 0.6123,
            difference=difference,
            interval=(difference - 0.0093, difference + 0.0093),
        )
        wilcoxon = example_comparison(
            first, second, test="wilcoxon", p_value=2 / 1024 if clear else math.nan, difference=difference
        )
        verdicts += [two_way, wilcoxon if clear else replace(wilcoxon, warnings=(WARNING,))]
    return verdicts
