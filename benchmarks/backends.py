"""Speed-up on two cores: ensembles and ten native folds in threads, ten River folds in processes, Ray on two nodes.

Wall time, best of several, all in one run; every pair of results is compared bit for bit. The machine must be idle.
Time counts from the return of the first batch, so that it excludes the start of processes, which is printed separately.
Run with ``python -m benchmarks.backends [ROUNDS]``.
"""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import streamgauge as sg
from streamgauge.backends import Backend, Processes, Ray, Threads
from streamgauge.learners import AdaptiveRandomForest, LeveragingBagging, OzaBag, StreamingRandomPatches
from streamgauge.protocols import LearnerSpec, SchemeBase, Stream
from streamgauge.streams import LED, Hyperplane, in_memory

ROUNDS = 3
STARTS = 5
ENSEMBLES: dict[Callable[..., LearnerSpec], str] = {
    AdaptiveRandomForest: "1.8x",
    StreamingRandomPatches: "1.8x",
    OzaBag: "1.8x",
    LeveragingBagging: "1.6x",
}
OFFLINE = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_USAGE_STATS_REPORT_URL": "http://127.0.0.1:9/",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_raylet_start_wait_time_s": "120",
}


Run = Callable[..., sg.Results]
"""Evaluates on a backend, with a callback for each reading."""


@dataclass(frozen=True)
class Duration:
    """Seconds of a run until its first batch was back, and from there to its end."""

    start: float = float("inf")
    rest: float = float("inf")


def time_run(run: Run, backend: Backend) -> tuple[Duration, bytes]:
    """Run once; return its duration and its values."""
    moments: list[float] = []
    started = time.perf_counter()
    results = run(backend, lambda _: moments.append(time.perf_counter()))
    return Duration(moments[0] - started, time.perf_counter() - moments[0]), results.values.tobytes()


def time_in_turns(backends: dict[str, Backend], run: Run, rounds: int) -> dict[str, Duration]:
    """Run the backends in turns; return the duration of the fastest run of each."""
    best = dict.fromkeys(backends, Duration())
    first: bytes | None = None
    for _ in range(rounds):
        for name, backend in backends.items():
            duration, values = time_run(run, backend)
            best[name] = min(best[name], duration, key=lambda duration: duration.rest)
            first = values if first is None else first
            if values != first:
                msg = f"{name} gives different results"
                raise AssertionError(msg)
    return best


def show(title: str, durations: dict[str, Duration], goal: str) -> None:
    """Print the durations, and their speed-up over the first."""
    base = next(iter(durations.values())).rest
    parts = (
        f"{name} {duration.rest:.2f} s ({base / duration.rest:.2f}x; start {duration.start:.1f} s)"
        for name, duration in durations.items()
    )
    print(f"{title:44}{', '.join(parts)}   goal: {goal}", flush=True)


def build_run(
    stream: Stream,
    learner: object,
    every: int,
    batch_size: int | None = None,
    scheme: SchemeBase = sg.Bootstrap(10),  # noqa: B008
) -> Run:
    """Return a run of a learner, by default of ten folds, with a reading every `every` rows."""
    return lambda backend, on_reading: sg.evaluate(
        stream,
        {"one": learner},
        scheme=scheme,
        backend=backend,
        every=every,
        batch_size=batch_size,
        on_reading=on_reading,
    )


def time_ensembles(pair: dict[str, Backend], rounds: int) -> None:
    """Print the speed-up of single ensembles, large and small, on streams with and without drift."""
    streams = {"RBF": sg.RandomRBF(), "hyperplane": Hyperplane(magnitude=0.01), "LED": LED()}
    for n_members, n_rows in ((100, 50_000), (10, 500_000)):
        for name, stream in streams.items():
            for ensemble, goal in ENSEMBLES.items():
                learner = ensemble(n_members=n_members)
                run = build_run(in_memory(stream, n_rows), learner, n_rows // 5, n_rows // 5, sg.Prequential())
                title = f"{ensemble.__name__}({n_members}), {name}, {n_rows:,} rows"
                show(title, time_in_turns(pair, run, rounds), goal)


@contextmanager
def start_two_nodes(settings: dict[str, Any] | None = None) -> Iterator[Any]:
    """Start a local Ray cluster of two nodes with one core each and connect to it; yield the cluster."""
    with TemporaryDirectory() as home:
        (Path(home) / "ray_bootstrap_config.yaml").touch()
        os.environ.update(OFFLINE, HOME=home)
        ray: Any = import_module("ray")
        head = {"num_cpus": 1, "include_dashboard": False, "_system_config": settings or {}}
        for left in reversed(range(STARTS)):  # Ray fails to start on a machine that is too busy
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


def main(rounds: int = ROUNDS) -> None:
    """Print the table."""
    from river.tree import HoeffdingTreeClassifier  # noqa: PLC0415

    started = time.perf_counter()
    pair: dict[str, Backend] = {"one thread": Threads(1), "two threads": Threads(2)}
    time_ensembles(pair, rounds)
    run = build_run(in_memory(sg.RandomRBF(), 2_000_000), sg.HoeffdingTree(), 10_000)
    show("ten folds of HoeffdingTree, 2,000,000 rows", time_in_turns(pair, run, rounds), "1.8x")
    apart: dict[str, Backend] = {"one process": Processes(1), "two processes": Processes(2), "one thread": Threads(1)}
    run = build_run(in_memory(sg.RandomRBF(), 10_000), HoeffdingTreeClassifier(), 250, 250)
    show("ten folds of River's tree, 10,000 rows", time_in_turns(apart, run, rounds), "1.7x")
    if find_spec("ray") is None:
        print("Ray is not installed: pip install 'streamgauge[ray]'")
        return
    with start_two_nodes():
        across: dict[str, Backend] = {"two threads": Threads(2), "Ray on two nodes": Ray(n=2)}
        run = build_run(in_memory(sg.RandomRBF(), 200_000), LeveragingBagging(), 20_000, 20_000)
        show("ten folds of LeveragingBagging, 200,000 rows", time_in_turns(across, run, rounds), "0.85x")
    print(f"({time.perf_counter() - started:.0f} s in all)")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
