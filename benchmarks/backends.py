"""How much sooner a run ends on two cores: ten native folds in threads, ten River folds in processes, Ray on two nodes.

Wall time, best of several, all in one run; every pair of results is compared bit for bit. The machine must be quiet.
Run with ``python -m benchmarks backends``.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import streamgauge as sg
from streamgauge.backends import Processes, Ray, Threads
from streamgauge.groups import Backend
from streamgauge.learners import LeveragingBagging
from streamgauge.streams import in_memory

ROUNDS = 3
STARTS = 5
OFFLINE = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_USAGE_STATS_REPORT_URL": "http://127.0.0.1:9/",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_raylet_start_wait_time_s": "120",
}


def best(backends: dict[str, Backend], run: Callable[[Backend], sg.Results]) -> dict[str, float]:
    """Run by turns; give the least seconds that the rows took, without the start of processes."""
    seconds = dict.fromkeys(backends, float("inf"))
    first: bytes | None = None
    for _ in range(ROUNDS):
        for name, backend in backends.items():
            results = run(backend)
            taken = results.description["seconds"]
            seconds[name] = min(seconds[name], taken if isinstance(taken, float) else float("inf"))
            first = results.values.tobytes() if first is None else first
            if results.values.tobytes() != first:
                msg = f"{name} gives other results"
                raise AssertionError(msg)
    return seconds


def show(title: str, seconds: dict[str, float], wanted: str) -> None:
    """Print how long each took, and how much sooner than the first."""
    base = next(iter(seconds.values()))
    told = ", ".join(f"{name} {taken:.2f} s ({base / taken:.2f}x)" for name, taken in seconds.items())
    print(f"{title:44}{told}   wanted: {wanted}")


def river(backend: Backend) -> sg.Results:
    """Run ten folds of a tree of River's."""
    from river.tree import HoeffdingTreeClassifier  # noqa: PLC0415

    stream = in_memory(sg.RandomRBF(), 10_000)
    return sg.evaluate(
        stream, {"river": HoeffdingTreeClassifier()}, scheme=sg.Bootstrap(10), backend=backend, batch_size=500
    )


def native(n_rows: int, learner: object, batch_size: int = 32_768) -> Callable[[Backend], sg.Results]:
    """Run ten folds of a native learner."""
    stream = in_memory(sg.RandomRBF(), n_rows)
    return lambda backend: sg.evaluate(
        stream, {"one": learner}, scheme=sg.Bootstrap(10), backend=backend, batch_size=batch_size
    )


@contextmanager
def two_nodes(settings: dict[str, Any] | None = None) -> Iterator[Any]:
    """Start a Ray cluster of two nodes with a core each on this machine, and connect to it; gives the cluster."""
    with TemporaryDirectory() as home:
        (Path(home) / "ray_bootstrap_config.yaml").touch()
        os.environ.update(OFFLINE, HOME=home)
        ray: Any = import_module("ray")
        head = {"num_cpus": 1, "include_dashboard": False, "_system_config": settings or {}}
        for left in reversed(range(STARTS)):  # Ray gives up on a machine that is too busy
            cluster = import_module("ray.cluster_utils").Cluster()
            try:
                cluster.add_node(**head)
                cluster.add_node(num_cpus=1)
                ray.init(cluster.address, log_to_driver=False, logging_level=logging.ERROR)
                break
            except Exception:
                ray.shutdown()
                cluster.shutdown()
                if not left:
                    raise
        try:
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()


def main() -> None:
    """Print the table."""
    started = time.perf_counter()
    pair: dict[str, Backend] = {"one thread": Threads(1), "two threads": Threads(2)}
    show("ten folds of HoeffdingTree, 500,000 rows", best(pair, native(500_000, sg.HoeffdingTree())), "1.8x")
    apart: dict[str, Backend] = {"one process": Processes(1), "two processes": Processes(2), "one thread": Threads(1)}
    show("ten folds of River's tree, 10,000 rows", best(apart, river), "1.7x")
    if find_spec("ray") is None:
        print("Ray is not installed: pip install 'streamgauge[ray]'")
        return
    with two_nodes():
        across: dict[str, Backend] = {"two threads": Threads(2), "Ray on two nodes": Ray(n=2)}
        run = native(40_000, LeveragingBagging(), batch_size=4000)
        show("ten folds of LeveragingBagging, 40,000 rows", best(across, run), "0.85x")
    print(f"({time.perf_counter() - started:.0f} s in all)")


if __name__ == "__main__":
    main()
