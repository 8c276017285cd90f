"""The faults of a cluster: actors and nodes that are killed at random moments must change no byte of the results.

``python -m benchmarks.ray_faults [RUNS]`` runs it on a Ray cluster of two nodes on this machine and stores its table in
``benchmarks/results/ray_faults.md``; half of the runs lose an actor once or twice, the others a node.
"""

import os
import random
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import streamgauge as sg
from benchmarks.backends import OFFLINE
from streamgauge.backends import Ray, Threads
from streamgauge.groups import Backend
from streamgauge.labelling import Delayed

N_RUNS = 40
N_ROWS = 20_000
STORED = Path(__file__).parent / "results" / "ray_faults.md"
QUICK_TO_NOTICE = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 2000,
    "health_check_failure_threshold": 3,
}


def run(backend: Backend, seed: int, on_row: Callable[[int], object] = lambda _: None) -> bytes:
    """Run an evaluation; give all that must be the same."""
    results = sg.evaluate(
        sg.RandomRBF(n_rows=N_ROWS, speed=0.01),
        {"tree": sg.HoeffdingTree(grace_period=50), "bayes": sg.NaiveBayes()},
        scheme=sg.Bootstrap(3),
        labelling=Delayed(300),
        forgetting=[sg.Adwin(), sg.Fading(0.99)],
        detectors=["DDM"],
        every=500,
        batch_size=250,
        seed=seed,
        backend=backend,
        on_reading=lambda reading: on_row(reading.row),
    )
    pairs = [[np.asarray(value).tolist() for value in vars(pair).values()] for pair in results.pairs]
    return repr((results.values.tobytes(), results.alarms, pairs, results.n_rows, results.complete)).encode()


def actor_pids() -> list[int]:
    """Find the processes of actors by their titles."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and (folder / "cmdline").read_bytes().startswith(b"ray::_Cells"):
                found.append(int(folder.name))
    return sorted(found)


class Killer:
    """Kills something, each time a row of a list is reached."""

    def __init__(self, rows: list[int], kill: Callable[[], None]) -> None:
        self._rows, self._kill, self.n_kills = sorted(rows), kill, 0

    def __call__(self, row: int) -> None:
        """Look whether it is time."""
        while self.n_kills < len(self._rows) and row >= self._rows[self.n_kills]:
            self.n_kills += 1
            self._kill()


def main() -> None:
    """Run the campaign, print its table and store it."""
    if find_spec("ray") is None:
        print("Ray is not installed: pip install 'streamgauge[ray]'")
        return
    n_runs = next((int(word) for word in sys.argv[1:] if word.isdigit()), N_RUNS)
    draw = random.Random(1)
    table = {kind: [0, 0, 0] for kind in ("Ray actor", "Ray node")}
    with TemporaryDirectory() as home:
        (Path(home) / "ray_bootstrap_config.yaml").touch()
        os.environ.update(OFFLINE, HOME=home, RAY_raylet_start_wait_time_s="120")
        ray: Any = import_module("ray")
        head = {"num_cpus": 1, "include_dashboard": False, "_system_config": QUICK_TO_NOTICE}
        cluster = import_module("ray.cluster_utils").Cluster(initialize_head=True, head_node_args=head)
        ray.init(cluster.address, log_to_driver=False)

        def kill_an_actor() -> None:
            os.kill(draw.choice(actor_pids()), signal.SIGKILL)

        def kill_the_node() -> None:
            cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)

        kills = {"Ray actor": (kill_an_actor, 2), "Ray node": (kill_the_node, 1)}
        for number in range(n_runs):
            kind = "Ray actor" if number % 2 else "Ray node"
            if not cluster.worker_nodes:
                cluster.add_node(num_cpus=1)
                cluster.wait_for_nodes()
            kill, most = kills[kind]
            rows = [draw.randrange(500, N_ROWS - 500) for _ in range(draw.randint(1, most))]
            killer = Killer(rows, kill)
            same = run(Ray(n=2, save_every=0.2), number, killer) == run(Threads(1), number)
            table[kind] = [a + b for a, b in zip(table[kind], (1, killer.n_kills, int(same)), strict=True)]
            print(f"{number + 1}/{n_runs}: {kind} killed after rows {rows}: {'identical' if same else 'DIFFERENT'}")
        ray.shutdown()
        cluster.shutdown()
    store(table)


def store(table: dict[str, list[int]]) -> None:
    """Print the table and store it."""
    lines = [f"| {kind} | " + " | ".join(map(str, counts)) + " |" for kind, counts in table.items()]
    text = "\n".join(("| killed | runs | kills | identical |", "|---|---:|---:|---:|", *lines))
    print(text)
    STORED.parent.mkdir(exist_ok=True)
    about = f"`python -m benchmarks ray_faults`: runs of {N_ROWS:,} rows, two learners, three folds, late labels."
    STORED.write_text(f"# Actors and nodes that were killed\n\n{about}\n\n{text}\n", encoding="utf-8")
    if any(identical < runs for runs, _, identical in table.values()):
        print("MISSED: some runs ended otherwise")


if __name__ == "__main__":
    main()
