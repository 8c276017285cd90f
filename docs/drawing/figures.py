"""Pictures of the figures that `streamgauge.plots` draws: panels, seeds, confusions, Q, and detectors at work."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

import streamgauge as sg
from docs.drawing.runs import evaluate_gradual_sea
from streamgauge import plots, streams
from streamgauge.drift import PageHinkley
from streamgauge.learners import LinearRegression, MeanTarget
from streamgauge.plots import Figure
from streamgauge.protocols import Stream
from streamgauge.results import Predictions, read_errors

__all__ = [
    "draw_confusion",
    "draw_curves",
    "draw_detector_statistic",
    "draw_difference",
    "draw_over_time",
    "draw_panels",
    "draw_q_statistic",
    "draw_regression",
    "draw_seeds",
]

LEARNERS = {"HoeffdingTree": sg.HoeffdingTree(), "NaiveBayes": sg.NaiveBayes(), "MajorityClass": sg.MajorityClass()}


def draw_panels() -> Figure:
    """Draw four measures of two learners as lines, while the majority class changes."""
    before, after = (streams.Imbalanced(sg.RandomRBF(seed=1), shares=(share, 1 - share)) for share in (0.8, 0.2))
    stream = streams.Gradual(before, after, position=10_000, width=2000)
    measures = ["accuracy", "kappa", "harmonic_mean", "kappa_m"]
    learners = {"HoeffdingTree": sg.HoeffdingTree(), "majority of 1,000 rows": sg.MajorityClass(window=1000)}
    results = sg.evaluate(stream, learners, n_rows=20_000, measures=measures, forgetting=sg.Window(1000), every=100)
    return plots.curves(results, measures, lines="measures")


def draw_seeds() -> Figure:
    """Draw the means over five seeds on four streams."""
    kinds: list[Stream] = [
        sg.SEA(drift_every=5000), sg.RandomRBF(speed=0.001), sg.Hyperplane(magnitude=0.001), streams.LED()
    ]  # fmt: skip
    runs = [
        sg.evaluate(replace(kind, seed=seed), LEARNERS, n_rows=20_000, forgetting=sg.Window(1000), seed=seed)  # type: ignore[type-var]
        for kind in kinds
        for seed in range(1, 6)
    ]
    return plots.curves(runs)


def draw_curves() -> Figure:
    """Draw accuracy and kappa M over a gradual drift, with alarms and hidden labels."""
    return plots.curves(evaluate_gradual_sea())


def draw_difference() -> Figure:
    """Draw the difference of two learners with its confidence sequence."""
    return plots.difference(evaluate_gradual_sea(), "HoeffdingTree", "NaiveBayes")


def draw_confusion() -> Figure:
    """Draw the confusion matrices of three learners after the last row."""
    results = sg.evaluate(streams.Waveform(), LEARNERS, n_rows=10_000)
    return plots.confusion(results, rows=10_000, values="both")


def draw_regression() -> Figure:
    """Draw the errors of three regressors over the last 1,000 rows; the roles of the attributes change twice."""
    first, second = (streams.FriedmanFunction(concept=concept) for concept in (1, 3))
    stream = streams.Recurring((first, second), every=5_000)
    results = sg.evaluate(
        stream,
        {"linear": LinearRegression(), "mean": MeanTarget(), "no change": sg.NoChange()},
        n_rows=15_000,
        forgetting=sg.Window(1000),
        measures="rmse",
    )
    return plots.curves(results)


def draw_over_time() -> Figure:
    """Draw two learners over the times of rows: few at first, then ever more, and none in April."""
    n = 20_000
    rows = streams.take(sg.SEA(drift_every=5000), n)
    days = 150 * np.sqrt(np.arange(n) / n)
    days[days > 90] += 30
    times = np.datetime64("2024-01-01", "s").astype(np.int64) + 86_400 * days
    stream = streams.ArrayStream(rows.x, rows.y, time=times)
    learners = {name: LEARNERS[name] for name in ("HoeffdingTree", "NaiveBayes")}
    return plots.curves(sg.evaluate(stream, learners, forgetting=sg.Window(1000), detectors="DDM"))


def draw_q_statistic() -> Figure:
    """Draw the Q statistic of two learners over all rows, a window and with fading."""
    results = sg.evaluate(
        sg.SEA(drift_every=5000),
        {name: LEARNERS[name] for name in ("HoeffdingTree", "NaiveBayes")},
        n_rows=20_000,
        forgetting=[sg.Landmark(), sg.Window(1000), sg.Fading(0.999)],
        every=100,
    )
    return plots.q_statistic(results, forgettings=list(results.forgettings))


def draw_detector_statistic() -> Figure:
    """Draw Page-Hinkley's statistic of the errors of naive Bayes, with and without fading."""
    stream = sg.SEA(thresholds=(8.0, 9.5), drift_every=15_000, n_rows=30_000)
    detectors = [PageHinkley(delta=0.02, threshold=30.0, factor=factor, direction="up") for factor in (1.0, 0.9999)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.parquet"
        results = sg.evaluate(stream, sg.NaiveBayes(), recorders=[Predictions(path)])
        errors = read_errors(path)
    return plots.detector_statistic(errors.errors, detectors, drifts=results.drifts, label="error of NaiveBayes")
