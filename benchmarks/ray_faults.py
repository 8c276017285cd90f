"""Faults of a cluster: killing actors and nodes at random moments must change no byte of the results.

``python -m benchmarks.ray_faults [RUNS] [SEED] [more]`` runs it on a local Ray cluster of two nodes and stores the
counts in ``benchmarks/results/faults.md`` after every run. Half of the runs lose an actor, once or twice, the others a
node. Moments are drawn uniformly over the time of the rows of a run; one in four runs that lose an actor loses it while
it starts.
"""

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import streamgauge as sg
from benchmarks.backends import start_two_nodes
from benchmarks.fault_table import Campaign, serialise, show
from streamgauge.backends import Backend, Ray, Threads
from streamgauge.backends import ray as ray_backend
from streamgauge.labelling import Delayed

N_RUNS = 70
N_ROWS = 40_000
FAST_HEALTH_CHECKS = {
    "health_check_initial_delay_ms": 5000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 4000,
    "health_check_failure_threshold": 3,
}


def run(backend: Backend, seed: int, on_row: Callable[[], object] = lambda: None) -> sg.Results:
    """Run an evaluation."""
    return sg.evaluate(
        sg.RandomRBF(n_rows=N_ROWS, speed=0.01),
        {"tree": sg.HoeffdingTree(grace_period=50), "bayes": sg.NaiveBayes()},
        scheme=sg.Bootstrap(3),
        labelling=Delayed(300),
        forgetting=[sg.AdwinWindow(), sg.Fading(0.99)],
        detectors=["DDM"],
        every=500,
        batch_size=250,
        seed=seed,
        backend=backend,
        on_reading=lambda _: on_row(),
    )


def find_processes(is_wanted: Callable[[Path], bool]) -> list[int]:
    """Return the ids of processes that satisfy a condition on their folder in /proc."""
    ids = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and is_wanted(folder):
                ids.append(int(folder.name))
    return sorted(ids)


def is_actor(folder: Path) -> bool:
    """Return whether a process is one of our actors, by its title."""
    return (folder / "cmdline").read_text().startswith(f"ray::{ray_backend._RemoteGroup.__name__}")


def kill_all(victims: list[int]) -> None:
    """Kill processes."""
    for victim in victims:
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)


class Striker:
    """A thread that strikes at given moments after the first reading, or as soon after as there is a target.

    Parameters
    ----------
    moments
        Seconds after the first reading.
    strike
        Strikes; returns whether there was a target.
    """

    def __init__(self, moments: list[float], strike: Callable[[], bool]) -> None:
        self._moments, self._strike, self.n_hits, self.seconds = sorted(moments), strike, 0, 0.0
        self._begun, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._wait_and_strike, daemon=True)
        self._thread.start()

    def begin(self) -> None:
        """Count the seconds from now on."""
        self._begun.set()

    def end(self) -> None:
        """Stop striking: the run is over."""
        self._over.set()
        self._begun.set()
        self._thread.join()

    def _wait_and_strike(self) -> None:
        self._begun.wait()
        started = time.monotonic()
        for moment in self._moments:
            self._over.wait(max(0.0, started + moment - time.monotonic()))
            while not self._over.is_set() and not self._strike():
                time.sleep(0.005)
            self.n_hits += not self._over.is_set()
        self._over.wait()
        self.seconds = time.monotonic() - started


class ResumeCounter:
    """Counts the actors that were replaced from a state fetched before the fault."""

    def __init__(self) -> None:
        self.n = 0
        replace = ray_backend._Actor._replace

        def count_and_replace(actor: Any, error: Exception) -> None:  # noqa: ANN401
            self.n += actor._saved is not None
            replace(actor, error)

        ray_backend._Actor._replace = count_and_replace  # type: ignore[method-assign,assignment]


def build_faults(cluster: Any, draw: random.Random) -> dict[str, Callable[[], bool]]:  # noqa: ANN401
    """Return the strikes by kind."""

    def kill_actor() -> bool:
        actors = find_processes(is_actor)
        kill_all([draw.choice(actors)] if actors else [])
        return bool(actors)

    def kill_node() -> bool:
        node = next(iter(cluster.worker_nodes))
        raylet = node.all_processes["raylet"][0].process.pid
        children = find_processes(
            lambda folder: (folder / "stat").read_text().rpartition(")")[2].split()[1] == str(raylet)
        )
        kill_all([raylet, *children])
        cluster.remove_node(node, allow_graceful=False)
        return True

    return {"Ray actor (SIGKILL)": kill_actor, "Ray node (SIGKILL)": kill_node}


def restore_nodes(cluster: Any) -> None:  # noqa: ANN401
    """Restore the second node; retry if it could not be started on a busy machine."""
    while len(cluster.worker_nodes) != 1 or next(iter(cluster.worker_nodes)).dead_processes():
        with suppress(Exception):
            for node in list(cluster.worker_nodes):
                cluster.remove_node(node, allow_graceful=False)
            cluster.add_node(num_cpus=1)
            cluster.wait_for_nodes()


def run_campaigns(cluster: Any, n_runs: int, seed: int, *, more: bool) -> list[Campaign]:  # noqa: ANN401
    """Run with faults; store the campaign after each run."""
    draw, counter = random.Random(seed), ResumeCounter()
    faults = build_faults(cluster, draw)
    campaigns = [Campaign.start(kind, more=more) for kind in faults]
    trial = Striker([], lambda: True)
    run(Ray(n=2, save_every=0.1), seed, trial.begin)
    trial.end()
    seconds = trial.seconds  # of the rows of a run
    for number in range(n_runs):
        restore_nodes(cluster)
        campaign = campaigns[number % 2]
        n_faults = draw.randint(1, 2) if number % 2 == 0 else 1
        striker = Striker([0.9 * draw.random() * seconds for _ in range(n_faults)], faults[campaign.kind])
        if number % 8 == 0:
            striker.begin()
        before, started = counter.n, time.monotonic()
        backend = Ray(n=2, save_every=0.1, rows="sent" if number % 4 < 2 else "made")
        results = run(backend, seed + number, striker.begin)
        striker.end()
        identical = serialise(results) == serialise(run(Threads(1), seed + number))
        campaign.add(n_faults=striker.n_hits, resumed=counter.n > before, identical=identical)
        campaign.store()
        if not striker.n_hits:
            seconds = striker.seconds
        outcome = f"{striker.n_hits} killed, {'identical' if identical else 'DIFFERENT'}"
        times = f"{time.monotonic() - started:.0f} s (rows take {seconds:.1f} s)"
        print(f"{number + 1}/{n_runs}: {campaign.kind}: {outcome}, {times}", flush=True)
    return campaigns


def main(n_runs: int = N_RUNS, seed: int = 1, more: str = "") -> None:
    """Run the campaign, or continue it, and print its table."""
    if find_spec("ray") is None:
        print("Ray is not installed: pip install 'streamgauge[ray]'")
        return
    with start_two_nodes(FAST_HEALTH_CHECKS) as cluster:
        show(*run_campaigns(cluster, n_runs, seed, more=bool(more)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])  # type: ignore[arg-type]
