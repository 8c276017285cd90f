"""Actors that make the rows run ahead of the results: without a barrier, and with the same bits."""

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from streamgauge._engine.batch_plan import RowRange
from streamgauge.backends import Ray, Threads
from streamgauge.backends import ray as backend_module
from streamgauge.labelling import Delayed
from streamgauge.results import ConfusionMatrices
from tests.support.ray_in_threads import RayInThreads
from tests.support.run_facts import assert_same_blocks

N, BATCH = 6000, 100
SECONDS = 60.0
"""How long a test waits for what must happen."""


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> RayInThreads:
    made = RayInThreads()
    monkeypatch.setattr(backend_module, "library", lambda *_: made)
    return made


def make_evaluation(backend: Any, *, n_rows: int = N, **options: Any) -> sg.Evaluation:
    learners = {"tree": sg.HoeffdingTree(grace_period=50), "bayes": sg.NaiveBayes(), "last": sg.NoChange()}
    options = {
        "every": 500,
        "batch_size": BATCH,
        "scheme": sg.Bootstrap(2),
        "measures": ["accuracy", "log_loss", "pr_auc[1]"],
        **options,
    }
    return sg.Evaluation(sg.RandomRBF(n_rows=n_rows, speed=0.01), learners, backend=backend, **options)


def run(backend: Any, **options: Any) -> sg.Results:
    return make_evaluation(backend, **options).run()


def assert_same(one: sg.Results, other: sg.Results) -> None:
    assert one.rows.tolist() == other.rows.tolist()
    assert one.values.tobytes() == other.values.tobytes()
    assert one.alarms == other.alarms
    assert one.verdicts == other.verdicts
    assert one.failures == other.failures
    assert one.feedback is not None
    assert other.feedback is not None
    assert one.feedback.n_scored.tolist() == other.feedback.n_scored.tolist()
    for first, second in zip(one.pairs, other.pairs, strict=True):
        np.testing.assert_array_equal(first.only_first, second.only_first)
    assert_same_blocks(one, other)


def list_calls(cluster: RayInThreads) -> list[int]:
    """Return how many plans whose rows are made each call of an actor has."""
    calls = [arguments[2] for actor in cluster.actors for name, arguments in actor.calls if name == "run"]
    return [len(message) for message in calls if isinstance(message, list)]


@pytest.mark.parametrize(
    ("window", "n", "batch_size"), [(0.0, 2, 250), (12.0, 1, 100), (12.0, 3, 77), (1e9, 6, 250), (1e9, 2, 1000)]
)
def test_no_window_cluster_or_batch_changes_a_bit(
    cluster: RayInThreads, tmp_path: Path, window: float, n: int, batch_size: int
) -> None:
    results = {}
    for name, backend in (("here", Threads(1)), ("there", Ray(n=n, window=window, save_every=0.001))):
        options = {"labelling": Delayed(300), "detectors": ["DDM"], "batch_size": batch_size}
        results[name] = run(backend, recorders=[ConfusionMatrices(tmp_path / f"{name}.csv")], **options)
    assert_same(results["here"], results["there"])
    assert (tmp_path / "here.csv").read_text() == (tmp_path / "there.csv").read_text()
    assert len(cluster.actors) == n


def test_a_call_has_many_plans_and_none_with_a_window_of_nothing(cluster: RayInThreads) -> None:
    run(Ray(n=2, window=1e9))
    assert max(list_calls(cluster)) == backend_module.MAX_DEPTH // backend_module.CALLS
    cluster.actors.clear()
    run(Ray(n=2, window=0.0))
    assert list_calls(cluster) == [1] * (2 * N // BATCH)


def test_an_actor_that_is_slow_holds_up_no_other_one(cluster: RayInThreads) -> None:
    others = threading.Event()

    def hold(actor: Any, name: str, arguments: tuple[Any, ...]) -> None:
        if name != "run" or not isinstance(arguments[2], list):
            return
        if actor.index == 0 and arguments[1] >= 4:
            assert others.wait(SECONDS), "the others wait for the first actor"
        if actor.index == 1 and arguments[1] >= 30:
            others.set()

    cluster.before = hold
    there = run(Ray(n=2, window=1e9))
    assert others.is_set()
    assert_same(run(Threads(1)), there)


def test_no_actor_is_farther_ahead_than_the_window(cluster: RayInThreads) -> None:
    """While the first actor is held before its plan 8, nothing from there on can be collected."""
    sent: list[int] = []

    def find_last_sent() -> int:
        calls = [arguments for name, arguments in cluster.actors[1].calls if name == "run"]
        return max(int(first) + len(message) for _, first, message in calls)

    def hold(actor: Any, name: str, arguments: tuple[Any, ...]) -> None:
        if actor.index == 0 and name == "run" and arguments[1] >= 8 and not sent:
            end = arguments[1] + backend_module.MAX_DEPTH
            deadline = time.monotonic() + SECONDS
            while find_last_sent() < end - 20 and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.3)
            sent.extend((find_last_sent(), end))

    cluster.before = hold
    run(Ray(n=2, window=1e9), n_rows=200 * BATCH)
    last, end = sent
    assert end - 20 <= last <= end


def stop_after(n_rows: int, backend: Any, **options: Any) -> tuple[sg.Results, int]:
    """Stop a run once a number of rows is collected; return its results, and how many rows it has."""
    evaluation = make_evaluation(backend, **options)
    parts: list[Any] = []
    for part in evaluation.advance(lambda: parts[-1].n_rows >= n_rows):
        parts.append(part)  # noqa: PERF402  (it is asked while the run advances)
    return evaluation.results(parts), parts[-1].n_rows


def test_a_stop_withdraws_the_plans_that_no_actor_has_begun(cluster: RayInThreads) -> None:
    stopped = threading.Event()

    def hold(_: Any, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "run" and isinstance(arguments[2], list) and arguments[1] >= 10:
            assert stopped.wait(SECONDS)
        if name == "resume":
            stopped.set()

    cluster.before = hold
    there, n_rows = stop_after(1000, Ray(n=2, window=1e9))
    assert 1000 <= n_rows < 3000
    assert not there.complete
    assert sum(list_calls(cluster)) / 2 > n_rows / BATCH  # more was sent
    assert_same(run(Threads(1), n_rows=n_rows), there)


def test_a_stopped_run_with_checkpoints_ends_soon_and_is_resumed(cluster: RayInThreads, tmp_path: Path) -> None:
    options = {"labelling": Delayed(300), "checkpoint": tmp_path / "points"}
    first, n_rows = stop_after(1000, Ray(n=2, window=1e9), checkpoint_every=N, **options)
    assert 1000 <= n_rows < N
    assert not first.complete
    before = len(cluster.actors)
    rest = run(Ray(n=3, window=1e9), resume=True, checkpoint_every=N, **options)
    assert_same(run(Threads(1), labelling=Delayed(300)), rest)
    resumed = [arguments[2] for actor in cluster.actors[before:] for name, arguments in actor.calls if name == "run"]
    assert max(len(message) for message in resumed if isinstance(message, list)) > 1


def test_a_learner_that_fails_ends_where_it_would_here(cluster: RayInThreads) -> None:
    there, here = (run_failing(backend) for backend in (Ray(n=2, window=1e9), Threads(1)))
    assert [(failure.learner, failure.row) for failure in there.failures] == [("brittle", 2345)]
    assert_same(here, there)
    assert max(list_calls(cluster)) > 1


class Brittle:
    """A learner that fails at a row."""

    def __init__(self) -> None:
        self.n = 0

    def predict(self, x: Any) -> Any:
        return np.zeros(len(x), dtype=np.int32)

    def learn(self, x: Any, y: Any) -> None:  # noqa: ARG002
        self.n += len(x)
        if self.n > 2345:
            msg = "brittle"
            raise ValueError(msg)


def run_failing(backend: Any) -> sg.Results:
    learners = {"brittle": Brittle(), "bayes": sg.NaiveBayes()}
    with pytest.warns(sg.errors.FailureWarning):
        return sg.evaluate(sg.SEA(n_rows=N), learners, every=500, batch_size=BATCH, backend=backend)


def append_rows(seen: list[int], evaluation: sg.Evaluation) -> None:
    for progress in evaluation.advance():
        seen.append(progress.n_rows)  # noqa: PERF401  (it may raise)


def test_an_error_in_an_actor_comes_after_the_results_before_it(cluster: RayInThreads) -> None:
    """A node whose stream is shorter than the driver's: all rows before the end are counted, then it is an error."""

    def shorten(_: Any, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "run" and isinstance(arguments[2], list):
            for index, row_range in enumerate(arguments[2]):
                if row_range.start == 2000:
                    arguments[2][index] = RowRange(N - 50, 100, [], 2100)

    cluster.before = shorten
    seen: list[int] = []
    with pytest.raises(sg.StreamgaugeError, match="a node must see the same rows as the driver"):
        append_rows(seen, make_evaluation(Ray(n=1, window=1e9)))
    assert seen == list(range(BATCH, 2001, BATCH))
    assert any(len(arguments[2]) > 1 for name, arguments in cluster.actors[0].calls if name == "run")


@pytest.mark.parametrize("save_every", [0.001, 1e9])
def test_an_actor_that_dies_ahead_of_the_others_is_replaced(cluster: RayInThreads, save_every: float) -> None:
    died: list[int] = []

    def kill(actor: Any, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "run" and actor.index == 1 and arguments[1] >= 30 and not died:
            died.append(arguments[1])
            actor.dead = True

    cluster.before = kill
    there = run(Ray(n=2, window=1e9, save_every=save_every))
    assert died
    assert len(cluster.actors) == 3
    assert_same(run(Threads(1)), there)
