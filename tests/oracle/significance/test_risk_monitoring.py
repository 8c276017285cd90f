"""Verdicts on one model beside `RiskMonitoring` of MAPIE 1.6.0, which tracks the same risk by another boundary.

The figures below were computed with it, from the same draws: lower bounds of an error of 8 % (`test_level=0.05`, so
0.025 for the bound), and the row at which it detects that the error is worse than in a reference period by more than
one percentage point.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge.learners import PythonLearner
from streamgauge.records import Attribute, Schema
from streamgauge.significance import LiveTest
from streamgauge.streams import ArrayStream

LOWER_BOUNDS = {
    500: 0.02073521174885891,
    1000: 0.036391155406693444,
    2000: 0.05076381921311119,
    5000: 0.06364312718718841,
    10000: 0.06868642648260045,
    20000: 0.0737035683780038,
}
"""By number of rows."""

N_REFERENCE = 10_240
THRESHOLD, DETECTED_AFTER = 0.07185841901083555, 807


class Echo:
    """A model that predicts the class in the first column and learns nothing."""

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.eye(2)[x[:, 0].astype(int)])

    def learn(self, x: object, y: object, weight: object) -> None:
        """Learn nothing."""


def draw(seed: int, n: int, error: float) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random(n) < error


def watch(wrong: NDArray[np.bool_], budget: str, every: int, alpha: float) -> sg.Evaluation:
    schema = Schema((Attribute("predicted"),), ("0", "1"))
    stream = ArrayStream(wrong.astype(float)[:, None], np.zeros(len(wrong), dtype=np.int32), schema=schema)
    return sg.Evaluation(
        stream, PythonLearner(Echo()), budgets=budget, every=every, batch_size=every, live_test=LiveTest(alpha=alpha)
    )


def test_the_lower_bound_of_an_error_is_near_that_of_mapie() -> None:
    wrong = draw(1, 20_000, 0.08)
    # All rows have half of alpha, and half of that is for the lower bound.
    for progress in watch(wrong, "error<0.05", 500, 0.1).advance():
        (verdict,) = progress.model_verdicts
        row = int(progress.rows[-1])
        if row in LOWER_BOUNDS and verdict.since == 0:
            mean = wrong[:row].mean()
            assert verdict.value == pytest.approx(mean)
            assert verdict.interval is not None
            theirs, ours = mean - LOWER_BOUNDS[row], mean - verdict.interval[0]
            assert 0.7 * theirs < ours < 1.02 * theirs


def test_a_reference_period_is_left_about_as_soon_as_with_mapie() -> None:
    wrong = np.concatenate([draw(2, N_REFERENCE, 0.05), draw(3, 10_000, 0.12)])
    evaluation = watch(wrong, f"error<reference({N_REFERENCE})+0.01", 40, 0.05)
    verdict = next(
        verdict
        for progress in evaluation.advance()
        for verdict in progress.model_verdicts
        if verdict.outcome == "broken"
    )
    assert verdict.limit == pytest.approx(wrong[:N_REFERENCE].mean() + 0.01)
    assert verdict.limit < THRESHOLD  # the end of its interval, by Hoeffding's bound
    assert verdict.row is not None
    assert N_REFERENCE < verdict.row < N_REFERENCE + 1.2 * DETECTED_AFTER


def test_mapie_itself() -> None:
    mapie = pytest.importorskip("mapie.exchangeability_testing", reason="MAPIE is not installed")

    def watch_risk(wrong: NDArray[np.bool_], **options: object) -> NDArray[np.float64]:
        monitor = mapie.RiskMonitoring("accuracy", test_level=0.05, warn=False, **options)
        bounds = monitor.update(np.zeros(len(wrong)), wrong.astype(int)).online_risk_lower_bound_sequence_history
        return np.asarray(bounds, dtype=np.float64)

    bounds = watch_risk(draw(1, 20_000, 0.08)[:2000], threshold=0.05)  # those of 20,000 rows take seconds
    for row in (500, 1000, 2000):
        assert bounds[row - 1] == pytest.approx(LOWER_BOUNDS[row], abs=1e-9)
    reference = (np.zeros(N_REFERENCE), draw(2, N_REFERENCE, 0.05).astype(int))
    monitor = mapie.RiskMonitoring("accuracy", test_level=0.05, tolerance=0.01, reference_data=reference, warn=False)
    assert monitor.threshold == pytest.approx(THRESHOLD, abs=1e-12)
    later = watch_risk(draw(3, 1000, 0.12), threshold=THRESHOLD)
    assert int(np.argmax(later > THRESHOLD)) + 1 == DETECTED_AFTER
