"""One ensemble in several threads: the same bits for any number of them, within one budget."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge import _native
from streamgauge._format.text import to_text
from streamgauge.errors import FailureWarning
from streamgauge.learners import (
    OOB,
    UOB,
    AdaptiveRandomForest,
    HoeffdingTree,
    LeveragingBagging,
    NaiveBayes,
    OzaBag,
    StreamingRandomPatches,
    as_spec,
)
from streamgauge.learners.native import NativeLearner
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Attribute, Batch, Schema, Step

N = 6_000
CHESSBOARD = Schema((Attribute("x"), Attribute("y"), Attribute("noise")), ("white", "black"))

SPECS: list[LearnerSpec] = [
    OzaBag(NaiveBayes(), 5),
    OzaBag(HoeffdingTree(grace_period=30), 11),
    OOB(NaiveBayes(), 4),
    UOB(NaiveBayes(), 4),
    LeveragingBagging(HoeffdingTree(grace_period=30), 6, delta=0.1),
    LeveragingBagging(NaiveBayes(), 5, delta=0.5),
    AdaptiveRandomForest(7, warning_delta=0.2, drift_delta=0.05),
    StreamingRandomPatches(6, NaiveBayes(), subspace=2, warning_delta=0.2, drift_delta=0.05),
    StreamingRandomPatches(5, warning_delta=None, drift_delta=0.1),
    OzaBag(AdaptiveRandomForest(4, drift_delta=0.05, warning_delta=0.2), 3),
    LeveragingBagging(OzaBag(NaiveBayes(), 3), 4, delta=0.3),
]


def make_chessboard(n_rows: int = N, seed: int = 3) -> sg.ArrayStream:
    """Return rows of a chessboard of which only two neighbouring squares are seen at a time, so that errors rise."""
    rng = np.random.default_rng(seed)
    phase = np.arange(n_rows) // 400
    corner = rng.integers(0, 7, (phase[-1] + 1, 2))[phase]
    x = np.column_stack([corner + rng.random((n_rows, 2)) * (2, 1), rng.random(n_rows)])
    return sg.ArrayStream(x, (x[:, :2].astype(np.int64).sum(axis=1) % 2).astype(np.int32), schema=CHESSBOARD)


def run_in_thread(n_threads: int | None, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a thread of its own with a budget of threads; None for none."""
    outcome = []

    def run() -> None:
        if n_threads is not None:
            budget = _native.ThreadBudget(n_threads, timed=True)
            budget.begin_tasks(1)
            budget.enter()
        outcome.append(function(*arguments))

    thread = Thread(target=run)
    thread.start()
    thread.join()
    return outcome[0]


def find_bits(spec: LearnerSpec, schema: Schema, step: Step, size: int) -> tuple[Any, ...]:
    """Return predictions, votes and state of a learner after a step in batches, and whether others helped."""
    learner = spec.build(schema, seed=3)
    parts = [step.part(start, min(start + size, len(step.batch))) for start in range(0, len(step.batch), size)]
    results = [learner.interleave(part, with_votes=True) for part in parts]
    votes = np.concatenate([votes for _, votes in results if votes is not None])
    predictions = np.concatenate([predictions for predictions, _ in results])
    return predictions.tobytes(), votes.tobytes(), learner.save(), _native.helped_nanoseconds() > 0


@pytest.mark.parametrize("spec", SPECS, ids=to_text)
def test_any_number_of_threads_gives_the_same_bits(spec: LearnerSpec) -> None:
    stream = make_chessboard()
    whole = next(stream.batches(N))
    mask, weight = np.arange(N) % 5 > 0, (np.arange(N) % 4).astype(np.float64)
    for step in (Step(whole), Step(whole, test=mask, weight=weight)):
        *expected, helped = run_in_thread(None, find_bits, spec, CHESSBOARD, step, N)
        assert not helped
        for n_threads, size in ((1, N), (2, N), (3, N), (8, N), (2, 2_100)):
            *found, helped = run_in_thread(n_threads, find_bits, spec, CHESSBOARD, step, size)
            assert found == expected, (n_threads, size)
            assert helped == (n_threads > 1)
        if step.weight is None:
            first = step.part(0, 300)
            *found, helped = run_in_thread(2, find_bits, spec, CHESSBOARD, first, 1)
            *expected, _ = run_in_thread(None, find_bits, spec, CHESSBOARD, first, 300)
            assert found == expected
            assert not helped


@pytest.mark.parametrize(
    ("n_classes", "labels", "weight"),
    [(1, np.zeros, None), (3, lambda n: np.arange(n) % 3, 0.0), (7, lambda n: np.full(n, -1), None)],
    ids=["one class", "all weights 0", "no labels"],
)
def test_odd_streams_give_the_same_bits(
    n_classes: int, labels: Callable[[int], NDArray[np.float64]], weight: float | None
) -> None:
    schema = Schema((Attribute("x"), Attribute("n", ("a", "b"))), tuple(map(str, range(n_classes))))
    x = np.random.default_rng(1).random((N, 2)).round()
    step = Step(Batch(0, x, labels(N).astype(np.int32)), weight=None if weight is None else np.full(N, weight))
    for spec in SPECS:
        alone, two = (run_in_thread(n, find_bits, spec, schema, step, N)[:-1] for n in (None, 2))
        assert alone == two, spec


def test_a_run_gives_the_same_readings_in_any_number_of_threads() -> None:
    learners = {"forest": AdaptiveRandomForest(6, drift_delta=0.05), "tree": HoeffdingTree(), "bag": SPECS[5]}
    options: dict[str, Any] = {"scheme": sg.Bootstrap(2), "measures": ("accuracy", "kappa"), "every": 500}
    values = {
        sg.evaluate(make_chessboard(), learners, backend=sg.Threads(n), **options).values.tobytes()
        for n in (1, 2, 3, 8)
    }
    assert len(values) == 1


def test_a_checkpoint_is_resumed_with_another_number_of_threads(tmp_path: Path) -> None:
    learners = {"forest": AdaptiveRandomForest(6, drift_delta=0.05), "bag": SPECS[5]}
    states: dict[int, bytes] = {}
    for n_threads, other in ((1, 3), (2, 1), (3, 2)):
        folder = tmp_path / str(n_threads)
        options: dict[str, Any] = {"batch_size": 1_500, "every": 500, "checkpoint": folder, "checkpoint_every": 3_000}
        run = sg.Evaluation(make_chessboard(), learners, backend=sg.Threads(n_threads), **options)
        batches = run.advance()
        for _ in range(3):
            next(batches)
        batches.close()  # type: ignore[attr-defined]
        results = sg.evaluate(make_chessboard(), learners, backend=sg.Threads(other), resume=True, **options)
        states[n_threads] = results.values.tobytes()
    assert len({*states.values(), sg.evaluate(make_chessboard(), learners, every=500).values.tobytes()}) == 1


@dataclass(frozen=True)
class FailsToBuild:
    """Native members, of which only a given number can be built."""

    n_built: list[int] = field(default_factory=list)
    most: int = 6
    seed: int = 1
    seedless: ClassVar[bool] = True

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        self.n_built.append(seed)
        if len(self.n_built) > self.most:
            msg = "no more members"
            raise RuntimeError(msg)
        return NaiveBayes().build(schema, seed)


class FailsAtRow:
    """A learner in Python that fails at a row."""

    def __init__(self) -> None:
        self.n_rows = 0

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.tile([1.0, 0.0], (len(x), 1))

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:  # noqa: ARG002
        self.n_rows += len(x)
        if self.n_rows > 2_000:
            msg = "enough rows"
            raise RuntimeError(msg)


@pytest.mark.parametrize(
    "make", [lambda: LeveragingBagging(FailsToBuild(), 6, delta=0.5), lambda: OzaBag(as_spec(FailsAtRow()), 6)]
)
def test_a_failing_member_ends_only_its_ensemble(make: Callable[[], LearnerSpec]) -> None:
    outcomes = []
    for n_threads in (1, 2, 3):
        with pytest.warns(FailureWarning):
            results = sg.evaluate(
                make_chessboard(), {"failing": make(), "bayes": NaiveBayes()}, backend=sg.Threads(n_threads), every=500
            )
        (failure,) = results.failures
        assert failure.learner == "failing"
        outcomes.append((results.values.tobytes(), failure))
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_members_in_python_stay_in_one_thread() -> None:
    step = Step(next(make_chessboard().batches(N))).part(0, 2_000)
    member = as_spec(FailsAtRow())
    for spec in (OzaBag(member, 3), StreamingRandomPatches(3, member), OzaBag(OzaBag(member, 2), 3)):
        assert not run_in_thread(2, find_bits, spec, CHESSBOARD, step, 2_000)[-1]


def test_cells_take_threads_before_members_do() -> None:
    step = Step(next(make_chessboard().batches(N)))

    def run(n_tasks: int) -> bool:
        def work() -> bool:
            budget.begin_tasks(n_tasks)
            budget.enter()
            return bool(find_bits(SPECS[0], CHESSBOARD, step, N)[-1])

        budget = _native.ThreadBudget(2, timed=True)
        return bool(run_in_thread(None, work))

    assert run(1)
    assert not run(2)


def test_the_cost_of_a_forest_counts_all_threads() -> None:
    stream = make_chessboard(40_000)
    seconds = []
    for n_threads in (1, 2):
        costs = sg.evaluate(stream, AdaptiveRandomForest(20), backend=sg.Threads(n_threads), resources=True).resources
        assert costs is not None
        seconds.append(float(costs.cpu_seconds[-1].sum()))
    assert seconds[1] > 0.75 * seconds[0]


def test_a_budget_is_no_part_of_a_learner() -> None:
    assert "thread" not in to_text(AdaptiveRandomForest())
