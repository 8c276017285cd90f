"""Cells on a Ray cluster: the same bits as here, also when a node dies."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.backends import Ray, Threads
from streamgauge.backends.ray import _RemoteGroup
from streamgauge.labelling import Delayed
from streamgauge.results import ConfusionMatrices
from tests.support.run_facts import assert_same_blocks
from tests.support.timed_examples import make_timed_stream, make_times

ray = pytest.importorskip("ray", reason="Ray is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Ray, about itself

QUICK_TO_NOTICE = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 1000,
    "health_check_timeout_ms": 3000,
    "health_check_failure_threshold": 3,
}


class Mine:
    """A learner that is written in Python, and known to this file alone."""

    def __init__(self) -> None:
        self.n = 0
        self.own: list[int] = []

    def predict(self, x):
        return np.full(len(x), self.n % 2)

    def learn(self, x, y):  # noqa: ARG002
        self.n += int(y[0])
        self.own.append(os.getpid())


def _started():
    """Start a cluster of two nodes and connect to it; Ray gives up on a machine that is too busy."""
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    head: dict[str, Any] = {
        "num_cpus": 1,
        "object_store_memory": 2**27,
        "_system_config": QUICK_TO_NOTICE,
        "include_dashboard": False,
    }
    for _ in range(3):
        made = Cluster()
        try:
            made.add_node(**head)
            made.add_node(num_cpus=1, object_store_memory=2**27)
            ray.init(made.address, log_to_driver=False, logging_level="error")
        except Exception as error:
            reason = error
            ray.shutdown()
            made.shutdown()
        else:
            return made
    pytest.skip(f"no Ray cluster could be started: {reason}")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    (home / "ray_bootstrap_config.yaml").touch()  # so that Ray looks for no cloud
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_USAGE_STATS_REPORT_URL", "http://127.0.0.1:9/")
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        made = _started()
        yield made
        ray.shutdown()
        made.shutdown()


def run(backend, *, n_rows=6000, **options):
    learners = {"tree": sg.HoeffdingTree(grace_period=50), "mine": Mine(), "bayes": sg.NaiveBayes()}
    options = {
        "every": 500,
        "batch_size": 250,
        "scheme": sg.Bootstrap(2),
        "measures": ["accuracy", "log_loss", "pr_auc[1]"],
        **options,
    }
    return sg.evaluate(sg.RandomRBF(n_rows=n_rows, speed=0.01), learners, backend=backend, **options)


def assert_same(one, other):
    assert one.values.tobytes() == other.values.tobytes()
    assert one.alarms == other.alarms
    for first, second in zip(one.pairs, other.pairs, strict=True):
        assert first.sum_squared_means == second.sum_squared_means
        np.testing.assert_array_equal(first.only_first, second.only_first)
    assert_same_blocks(one, other)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("rows", ["sent", "made"])
def test_a_cluster_changes_no_bit(tmp_path, rows):
    results = {}
    for name, backend in (("here", Threads(1)), ("there", Ray(save_every=0.1, rows=rows))):
        recorders = [ConfusionMatrices(tmp_path / f"{name}.csv")]
        options = {"labelling": Delayed(300), "detectors": ["DDM"], "recorders": recorders, "resources": True}
        results[name] = run(backend, **options)
    assert_same(results["here"], results["there"])
    assert (tmp_path / "here.csv").read_text() == (tmp_path / "there.csv").read_text()


@pytest.mark.usefixtures("cluster")
def test_readings_of_a_cluster_have_the_times_of_their_rows():
    learners = {"mine": Mine(), "bayes": sg.NaiveBayes()}
    results = sg.evaluate(make_timed_stream(), learners, every=130, batch_size=70, backend=Ray())
    np.testing.assert_array_equal(results.times, make_times()[results.rows - 1])


@pytest.mark.usefixtures("cluster")
def test_an_actor_that_is_killed_continues_from_its_last_state():
    victims: list[int] = []

    def kill(reading):
        if reading.row in {2000, 4000} and reading.row not in victims:
            pids = _actor_pids()
            victims.append(reading.row)
            os.kill(pids[len(victims) % len(pids)], signal.SIGKILL)

    there = run(Ray(save_every=0.05), on_reading=kill)
    assert victims == [2000, 4000]
    assert_same(run(Threads(1)), there)


@pytest.mark.usefixtures("cluster")
def test_a_stopped_run_is_one_of_as_many_rows():
    seen: list[Any] = []
    evaluation = sg.Evaluation(
        sg.RandomRBF(n_rows=100_000),
        {"tree": sg.HoeffdingTree(), "mine": Mine()},
        every=500,
        batch_size=250,
        backend=Ray(),
    )
    for part in evaluation.advance(lambda: seen[-1].n_rows >= 3000):
        seen.append(part)  # noqa: PERF402  (it is asked while the run advances)
    there = evaluation.results(seen)
    assert 3000 <= there.n_rows < 100_000
    here = sg.evaluate(
        sg.RandomRBF(n_rows=there.n_rows), {"tree": sg.HoeffdingTree(), "mine": Mine()}, every=500, backend=Threads(1)
    )
    assert_same(here, there)


@pytest.mark.usefixtures("cluster")
def test_an_actor_that_is_killed_while_it_starts_is_placed_again():
    victims: list[int] = []

    def kill_the_first():
        deadline = time.monotonic() + 60
        while not victims and time.monotonic() < deadline:
            victims.extend(_actor_pids()[:1])
        os.kill(victims[0], signal.SIGKILL)

    killing = threading.Thread(target=kill_the_first)
    killing.start()
    there = run(Ray())
    killing.join()
    assert victims
    assert_same(run(Threads(1)), there)


ACTOR = f"ray::{_RemoteGroup.__name__}".encode()


def _actor_pids():
    """Find the processes of actors by their titles."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                title = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if title.startswith(ACTOR):
                found.append(int(folder.name))
    return sorted(found)


@pytest.mark.usefixtures("cluster")
def test_a_learner_that_always_kills_its_actor_is_named():
    class Deadly(Mine):
        def learn(self, x, y):  # noqa: ARG002
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(sg.StreamgaugeError, match="died 4 times in a row while it ran deadly"):
        sg.evaluate(sg.SEA(n_rows=100), {"deadly": Deadly()}, backend=Ray(n=1))


def test_a_node_that_dies_loses_nothing(cluster):
    killed: list[object] = []

    def kill(reading):
        if reading.row == 3000 and not killed:
            killed.append(cluster.worker_nodes.copy().pop())
            cluster.remove_node(killed[0], allow_graceful=False)

    there = run(Ray(save_every=0.05), on_reading=kill)
    assert killed
    assert_same(run(Threads(1)), there)


def test_an_address_without_a_cluster_is_reported(monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)

    def refuse(*_arguments, **_options):
        msg = "Could not find any running Ray instance"
        raise ConnectionError(msg)

    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(sg.StreamgaugeError, match=r"no Ray cluster at 127.0.0.1:9: Could not find"):
        run(Ray("127.0.0.1:9"))
