"""Errors of numeric targets against scikit-learn and River, under every forgetting, with weights, on any sequence."""

from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from streamgauge.forgetting import EWMA, AdwinWindow, Fading, Landmark, TimeWindow, Tumbling, Window
from streamgauge.measures import Huber, Pinball, build_state, measure, measure_tallies
from streamgauge.records import NumericTarget, Trace
from streamgauge.tasks import Regression

N = 3_000
READINGS = [1, 7, 250, 1_000, 2_345, N]
FORGETTINGS = [Landmark(), Window(1), Window(300), Tumbling(400), Fading(0.99), Fading(0.9, chunk=50), EWMA(0.02)]
MEASURES = [measure(name) for name in ("mae", "mse", "rmse", "r2", "mape", "bias")]
MEASURES += [Pinball(0.1), Pinball(0.9), Huber(0.7), measure("rae"), measure("rrse"), measure("rae_no_change")]
MEASURES += [measure("rrse_no_change"), measure("prediction_share"), measure("AdjustedR2(4)")]


def make_trace(offset: float, scale: float, weights: str, *, seed: int = 3) -> Trace:
    rng = np.random.default_rng(seed)
    y = offset + scale * np.cumsum(rng.normal(size=N)) * 0.05 + scale * rng.normal(size=N)
    prediction = y + scale * rng.standard_t(3, size=N)
    prediction[rng.random(N) < 0.05] = np.nan
    mean, last = offset + scale * rng.normal(size=(2, N))
    weight = {"none": None, "whole": rng.integers(0, 4, size=N).astype(float), "any": 3 * rng.random(N)}[weights]
    return Trace(np.arange(N), y, prediction, mean, last, weight=weight, time=np.arange(N) / 10.0)


def measure_with_sklearn(y: Any, p: Any, mean: Any, last: Any, silent: Any, weight: Any) -> list[float]:
    """Return the values of all measures of some rows by other code."""

    def mean_of(amounts: Any) -> float:
        return float(np.average(amounts, weights=weight))

    total, absolute = weight.sum(), np.abs(p - y)
    r2 = metrics.r2_score(y, p, sample_weight=weight) if len(np.unique(y[weight > 0])) > 1 else np.nan
    huber = np.where(absolute <= 0.7, absolute**2 / 2, 0.7 * (absolute - 0.35))
    return [
        metrics.mean_absolute_error(y, p, sample_weight=weight),
        metrics.mean_squared_error(y, p, sample_weight=weight),
        metrics.root_mean_squared_error(y, p, sample_weight=weight),
        r2,
        metrics.mean_absolute_percentage_error(y, p, sample_weight=weight),
        mean_of(p - y),
        metrics.mean_pinball_loss(y, p, sample_weight=weight, alpha=0.1),
        metrics.mean_pinball_loss(y, p, sample_weight=weight, alpha=0.9),
        mean_of(huber),
        mean_of(absolute) / mean_of(np.abs(mean - y)),
        np.sqrt(mean_of(absolute**2) / mean_of((mean - y) ** 2)),
        mean_of(absolute) / mean_of(np.abs(last - y)),
        np.sqrt(mean_of(absolute**2) / mean_of((last - y) ** 2)),
        mean_of(~silent),
        1 - (1 - r2) * (total - 1) / (total - 5) if total > 5 else np.nan,
    ]


@pytest.mark.parametrize("forgetting", FORGETTINGS, ids=repr)
@pytest.mark.parametrize("weights", ["none", "whole", "any"])
@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1e9, 100.0), (-3.0, 1e-6)])
def test_errors_are_those_of_scikit_learn(forgetting: Any, weights: str, offset: float, scale: float) -> None:
    trace = make_trace(offset, scale, weights)
    task = Regression(NumericTarget("y", origin=offset))
    state = build_state(forgetting, task, MEASURES)
    parts = []
    for start, stop in ((0, 1), (1, 1_200), (1_200, 1_203), (1_203, N)):
        rows = [row for row in READINGS if start < row <= stop]
        parts += list(state.update(trace.part(start, stop), rows))
    found = measure_tallies(MEASURES, [parts])[0]
    silent = np.isnan(trace.y_pred)
    filled = np.where(silent, trace.majority_hit, trace.y_pred)
    columns: tuple[Any, ...] = (trace.y_true, filled, trace.majority_hit, trace.no_change_hit, silent)
    for row, values in zip(READINGS, found, strict=True):
        weight = forgetting.weights_by_age(row)[::-1] * (1.0 if trace.weight is None else trace.weight[:row])
        if weight.sum() == 0.0:
            assert np.isnan(values).all()
            continue
        expected = measure_with_sklearn(*[*(column[:row] for column in columns), weight])
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("forgetting", [TimeWindow(30.0), AdwinWindow(delta=0.1)], ids=repr)
def test_windows_of_any_width_have_the_errors_of_their_rows(forgetting: Any) -> None:
    trace = make_trace(5.0, 1.0, "any")
    jump = np.where(np.arange(N) < N // 2, 0.0, 30.0)
    trace = Trace(
        trace.row,
        trace.y_true,
        trace.y_pred + jump,
        trace.majority_hit,
        trace.no_change_hit,
        weight=trace.weight,
        time=trace.time,
    )
    tallies = build_state(forgetting, Regression(NumericTarget()), MEASURES).update(trace, READINGS)
    silent = np.isnan(trace.y_pred)
    filled = np.where(silent, trace.majority_hit, trace.y_pred)
    columns: tuple[Any, ...] = (trace.y_true, filled, trace.majority_hit, trace.no_change_hit, silent, trace.weight)
    assert tallies[-1].width < N // 2 + 100
    for row, tally in zip(READINGS, tallies, strict=True):
        expected = measure_with_sklearn(*(column[row - tally.width : row] for column in columns))
        np.testing.assert_allclose([each(tally) for each in MEASURES], expected, rtol=1e-9, atol=1e-9)


def test_errors_are_those_of_river() -> None:
    river_metrics, utils = pytest.importorskip("river.metrics"), pytest.importorskip("river.utils")
    trace = make_trace(20.0, 1.0, "none")
    known = ~np.isnan(trace.y_pred)
    y, p = trace.y_true[known], trace.y_pred[known]
    rows = Trace(np.arange(len(y)), y, p, y, y)
    names = ("mae", "mse", "rmse", "r2", "mape")
    theirs = [river_metrics.MAE(), river_metrics.MSE(), river_metrics.RMSE(), river_metrics.R2(), river_metrics.MAPE()]
    rolling = [utils.Rolling(kind, window_size=200) for kind in (river_metrics.MAE, river_metrics.MSE)]
    for target, prediction in zip(y.tolist(), p.tolist(), strict=True):
        for metric in (*theirs, *rolling):
            metric.update(target, prediction)
    measures = [measure(name) for name in names]
    task = Regression(NumericTarget("y", origin=20.0))
    tally = build_state(Landmark(), task, measures).update(rows, [len(y)])[0]
    ours = dict(zip(names, (each(tally) for each in measures), strict=True))
    expected = dict(zip(names, (metric.get() for metric in theirs), strict=True))
    expected["mape"] /= 100.0  # in percent
    for name in names:
        assert ours[name] == pytest.approx(expected[name], rel=1e-9)
    windowed = build_state(Window(200), task, measures).update(rows, [len(y)])[0]
    for each, metric in zip(measures, rolling, strict=False):
        assert each(windowed) == pytest.approx(metric.get(), rel=1e-9)
