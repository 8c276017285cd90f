"""A limit on the time of calls: a learner that takes too long fails by name, and no other is disturbed."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import streamgauge as sg
from streamgauge.backends import Threads
from streamgauge.errors import CallTimeoutError, FailureWarning
from streamgauge.learners import ScikitLearn
from streamgauge.learners.call_limit import CallWatch, begin_call
from streamgauge.protocols import LearnerSpec

ROWS = 300


def spin(until: Callable[[], bool] = lambda: False) -> int:
    """Compute in Python."""
    n = 0
    while not until():
        n += 1
    return n


class Stuck:
    """A learner that never returns from a call at its 50th row."""

    def __init__(self, call: str) -> None:
        self.call, self.n = call, 0

    def predict(self, x: np.ndarray) -> np.ndarray:
        if self.call == "predict" and self.n == 49:
            spin()
        return np.zeros(len(x))

    def learn(self, x: np.ndarray, y: np.ndarray) -> None:  # noqa: ARG002
        self.n += 1
        if self.n < 50:
            return
        if self.call == "learn":
            spin()
        while self.call == "swallow":
            with suppress(Exception):
                spin()
        if self.call == "return":  # as a native call that cannot be interrupted, but returns
            time.sleep(0.4)


@pytest.mark.parametrize("call", ["predict", "learn", "swallow", "return"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_learner_whose_call_takes_too_long_fails_and_the_others_continue(call: str, n_threads: int) -> None:
    learners = {"stuck": Stuck(call), "bayes": sg.NaiveBayes()}
    with pytest.warns(FailureWarning, match="learner 'stuck' failed in fold 0 at row 49: a call took longer than"):
        limited = sg.evaluate(
            sg.SEA(n_rows=ROWS), learners, call_limit=0.2, every=40, backend=Threads(n_threads), live_test=None
        )
    (failure,) = limited.failures
    assert (failure.learner, failure.row, failure.error) == (
        "stuck",
        49,
        "a call took longer than call_limit = 0.2 s",
    )
    alone = sg.evaluate(sg.SEA(n_rows=ROWS), {"bayes": sg.NaiveBayes()}, every=40)
    np.testing.assert_array_equal(limited.curve("bayes", "accuracy"), alone.curve("bayes", "accuracy"))
    first = sg.evaluate(sg.SEA(n_rows=40), {"still": Stuck("")}, every=40)
    assert limited.curve("stuck", "accuracy")[0] == first.curve("still", "accuracy")[0]  # before it failed


class StuckModel(GaussianNB):  # type: ignore[misc]
    """A model of scikit-learn that never returns from its third fit."""

    fits = 0

    def partial_fit(self, x: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        StuckModel.fits += 1
        if StuckModel.fits == 3:
            spin()
        return super().partial_fit(x, y, classes, sample_weight)


def test_a_chunk_that_takes_too_long_fails_at_its_last_row() -> None:
    learners = {"stuck": ScikitLearn(StuckModel(), chunk_size=100), "bayes": sg.NaiveBayes()}
    with pytest.warns(FailureWarning):
        results = sg.evaluate(sg.SEA(n_rows=500), learners, call_limit=0.2, every=100)
    (failure,) = results.failures
    assert failure.row == 299
    assert np.isfinite(results.curve("stuck", "accuracy")[:2]).all()


@pytest.mark.parametrize("spec", [sg.NaiveBayes(), sg.HoeffdingTree(), ScikitLearn(GaussianNB(), chunk_size=50)])
def test_a_limit_that_is_kept_changes_no_bit(spec: LearnerSpec) -> None:
    free, limited = (sg.evaluate(sg.SEA(n_rows=ROWS), spec, call_limit=limit) for limit in (None, 30.0))
    assert free.values.tobytes() == limited.values.tobytes()


def test_many_short_calls_may_take_longer_than_one() -> None:
    def call_often() -> int:
        for _ in range(20):
            begin_call()
            time.sleep(0.02)
        return 7

    assert CallWatch(0.2).run(call_often) == 7


def test_no_interruption_arrives_after_its_call() -> None:
    """A call that ends just when it is interrupted: what runs next in the thread must not be hit."""
    hits = []

    def call(seconds: float) -> None:
        end = time.perf_counter() + seconds
        try:
            CallWatch(0.02).run(lambda: spin(lambda: time.perf_counter() > end))
        except CallTimeoutError:
            hits.append(seconds)

    def run() -> None:
        for i in range(40):
            call(0.016 + i * 0.0004)
        end = time.perf_counter() + 0.1
        spin(lambda: time.perf_counter() > end)
        done.append(True)

    done: list[bool] = []
    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [True, True]
    assert hits
