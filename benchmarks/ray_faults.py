"""The faults of a cluster: actors and nodes that are killed at random moments must change no byte of the results.

``python -m benchmarks.ray_faults [RUNS] [SEED] [more]`` runs it on a Ray cluster of two nodes on this machine and
stores what came of it in ``benchmarks/results/faults.md`` after every run. Half of the runs lose an actor, once or
twice, the others a node. Moments are drawn evenly over the time that the rows of a run take; one in four runs that lose
an actor loses it while it starts.
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
from benchmarks.backends import two_nodes
from benchmarks.fault_table import Campaign, bytes_of, show
from streamgauge.backends import Backend, Ray, Threads
from streamgauge.backends import ray as of_ray
from streamgauge.labelling import Delayed

N_RUNS = 70
N_ROWS = 40_000
QUICK_TO_NOTICE = {
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


def processes(wanted: Callable[[Path], bool]) -> list[int]:
    """Find processes of which something holds, by their folders in /proc."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and wanted(folder):
                found.append(int(folder.name))
    return sorted(found)


def is_actor(folder: Path) -> bool:
    """Say whether a process is one of our actors, by its title."""
    return (folder / "cmdline").read_bytes().startswith(b"ray::_Cells")


def kill_all(victims: list[int]) -> None:
    """Kill processes at once."""
    for victim in victims:
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)


class Striker:
    """Strikes when so many seconds have passed since rows began to come, or as soon as there is something to strike.

    Parameters
    ----------
    moments
        The seconds.
    strike
        Does it; says whether there was anything to strike.
    """

    def __init__(self, moments: list[float], strike: Callable[[], bool]) -> None:
        self._moments, self._strike, self.n_struck, self.seconds = sorted(moments), strike, 0, 0.0
        self._begun, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._wait_and_strike, daemon=True)
        self._thread.start()

    def begin(self) -> None:
        """Let the seconds count from now on."""
        self._begun.set()

    def end(self) -> None:
        """Strike no more: the run is over."""
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
            self.n_struck += not self._over.is_set()
        self._over.wait()
        self.seconds = time.monotonic() - started


class TakeOvers:
    """Counts the actors that took over a state that was fetched before the fault."""

    def __init__(self) -> None:
        self.n = 0
        start_again = of_ray._Actor._start_again

        def counted(actor: Any, error: Exception) -> None:  # noqa: ANN401
            self.n += actor._saved is not None
            start_again(actor, error)

        of_ray._Actor._start_again = counted  # type: ignore[method-assign,assignment]


def faults_of(cluster: Any, draw: random.Random) -> dict[str, Callable[[], bool]]:  # noqa: ANN401
    """Give what can be killed."""

    def an_actor() -> bool:
        there = processes(is_actor)
        kill_all([draw.choice(there)] if there else [])
        return bool(there)

    def the_node() -> bool:
        node = next(iter(cluster.worker_nodes))
        raylet = node.all_processes["raylet"][0].process.pid
        ours = processes(lambda folder: (folder / "stat").read_text().rpartition(")")[2].split()[1] == str(raylet))
        kill_all([raylet, *ours])
        cluster.remove_node(node, allow_graceful=False)
        return True

    return {"Ray actor (SIGKILL)": an_actor, "Ray node (SIGKILL)": the_node}


def restore_nodes(cluster: Any) -> None:  # noqa: ANN401
    """See to it that there are two nodes, also where one could not be started on a busy machine."""
    while len(cluster.worker_nodes) != 1 or next(iter(cluster.worker_nodes)).dead_processes():
        with suppress(Exception):
            for node in list(cluster.worker_nodes):
                cluster.remove_node(node, allow_graceful=False)
            cluster.add_node(num_cpus=1)
            cluster.wait_for_nodes()


def campaign(cluster: Any, n_runs: int, seed: int, *, more: bool) -> list[Campaign]:  # noqa: ANN401
    """Run with faults; stores how it stands after each run."""
    draw, take_overs = random.Random(seed), TakeOvers()
    faults = faults_of(cluster, draw)
    campaigns = [Campaign.stored(kind) if more else Campaign(kind) for kind in faults]
    trial = Striker([], lambda: True)
    run(Ray(n=2, save_every=0.1), seed, trial.begin)
    trial.end()
    seconds = trial.seconds  # that rows take
    for number in range(n_runs):
        restore_nodes(cluster)
        of_kind = campaigns[number % 2]
        n_faults = draw.randint(1, 2) if number % 2 == 0 else 1
        striker = Striker([0.9 * draw.random() * seconds for _ in range(n_faults)], faults[of_kind.kind])
        if number % 8 == 0:
            striker.begin()
        before, started = take_overs.n, time.monotonic()
        there = run(Ray(n=2, save_every=0.1, rows="sent" if number % 4 < 2 else "made"), seed + number, striker.begin)
        striker.end()
        here = run(Threads(1), seed + number)
        same = bytes_of(there) == bytes_of(here)
        of_kind.add(n_faults=striker.n_struck, resumed=take_overs.n > before, identical=same)
        of_kind.store()
        if not striker.n_struck:
            seconds = striker.seconds
        told = f"{striker.n_struck} killed, {'identical' if same else 'DIFFERENT'}, {time.monotonic() - started:.0f} s"
        told += f" (rows take {seconds:.1f} s)"
        print(f"{number + 1}/{n_runs}: {of_kind.kind}: {told}", flush=True)
    return campaigns


def main(n_runs: int = N_RUNS, seed: int = 1, more: str = "") -> None:
    """Run the campaign, or more of one that was cut short, and print its table."""
    if find_spec("ray") is None:
        print("Ray is not installed: pip install 'streamgauge[ray]'")
        return
    with two_nodes(QUICK_TO_NOTICE) as cluster:
        show(*campaign(cluster, n_runs, seed, more=bool(more)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])  # type: ignore[arg-type]
