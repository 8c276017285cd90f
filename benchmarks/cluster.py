"""Limits of a run on 10, 100 and 1,000 nodes: a simulation of plans, results and the wait for the slowest actor.

The costs of one plan and one result are measured first, on this machine; the network is assumed. Run with
``python -m benchmarks cluster``.
"""

import time
from collections import deque
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

import streamgauge as sg
from benchmarks.backends import start_two_nodes
from benchmarks.turns import time_best
from streamgauge._engine.cells import CellGroup
from streamgauge._engine.planner import Planner
from streamgauge.backends.messages import pack_plan, pack_result, unpack_plan, unpack_result
from streamgauge.streams import take

CALL_SECONDS = 200e-6
"""Cost to the driver of a call of an actor and its result, as measured by `measure_call` on a busy machine with two
cores: the fewest seconds of twelve rounds, whose median was 270 us."""

CORES = 16
"""Cores, and so actors, per node."""


@dataclass(frozen=True)
class Costs:
    """Costs of a plan.

    Parameters
    ----------
    rows
        Rows of a batch.
    row_bytes
        Bytes of a row on a link.
    result_bytes
        Bytes of a result per row and actor.
    submit_seconds, collect_seconds
        Seconds of the driver for one plan and one actor: to submit it and to collect its result.
    cell_seconds
        Seconds of a learner for a row.
    spread
        Spread of the times of actors: the standard deviation of their logarithm.
    link
        Bytes per second of the driver's link.
    latency
        Seconds until a message arrives.
    depth
        Number of pending plans at a time.
    """

    rows: int
    row_bytes: float
    result_bytes: float
    submit_seconds: float
    collect_seconds: float
    cell_seconds: float = 20e-6
    spread: float = 0.05
    link: float = 1.25e9
    latency: float = 0.5e-3
    depth: int = 3


def measure_costs(rows: int, n_learners: int = 2) -> Costs:
    """Measure plans and results of an actor that hosts a cell or two, without the call that carries them."""
    learners = {str(number): sg.MajorityClass() for number in range(n_learners)}
    evaluation = sg.Evaluation(sg.RandomRBF(), learners, n_rows=rows, batch_size=rows, every=rows)
    plan = Planner(evaluation._source, "first", every=rows).plan(take(sg.RandomRBF(), rows), None)
    description, columns = pack_plan(plan)
    result = pack_result(CellGroup(evaluation.run_spec).run(plan), unpack_plan(description, columns))
    return Costs(
        rows=rows,
        row_bytes=(len(description) + sum(column.nbytes for column in columns)) / rows,
        result_bytes=len(result) / rows,
        submit_seconds=CALL_SECONDS,
        collect_seconds=time_best(lambda: unpack_result(result, plan), 20, time.perf_counter),
    )


def measure_call(n_bytes: int, n_plans: int = 100, rounds: int = 10) -> float:
    """Measure what a call of an actor and its result of `n_bytes` cost the driver, on a Ray cluster of two nodes.

    It is the CPU time of the thread that submits plans and collects results, with as many pending plans as in a run;
    the fewest seconds of several rounds. Ray's own threads take about as much again, on other cores.
    """
    if find_spec("ray") is None:
        return CALL_SECONDS
    with start_two_nodes():
        ray = import_module("ray")
        actors = [ray.remote(_EchoActor).options(num_cpus=1).remote(n_bytes) for _ in range(2)]
        message = ray.put(bytes(1_000_000))
        return min(_time_calls(ray, actors, message, n_plans) for _ in range(rounds))


def _time_calls(ray: Any, actors: list[Any], message: object, n_plans: int) -> float:  # noqa: ANN401
    pending: deque[list[object]] = deque()
    started = time.thread_time()
    for number in range(n_plans):
        pending.append([actor.run.remote(number, message) for actor in actors])
        if len(pending) == Costs.depth or number == n_plans - 1:
            ray.get(pending.popleft())
    return (time.thread_time() - started) / (n_plans * len(actors))


class _EchoActor:
    """An actor that only answers."""

    def __init__(self, n_bytes: int) -> None:
        self._result = bytes(n_bytes)

    def run(self, _number: int, _message: bytes) -> bytes:
        return self._result


def simulate(costs: Costs, n_nodes: int, n_plans: int = 60) -> float:
    """Simulate a run with a cell on every core; return the share of the time that a core is busy."""
    random = np.random.default_rng(1)
    n = n_nodes * CORES
    compute = costs.rows * costs.cell_seconds
    free: NDArray[np.float64] = np.zeros(n)  # when each actor has run all of its plans
    collected = np.zeros(n_plans)
    driver = link = 0.0
    for k in range(n_plans):
        start = max(driver, collected[k - costs.depth] if k >= costs.depth else 0.0)
        driver = start + n * costs.submit_seconds
        link = max(link, start) + n_nodes * costs.rows * costs.row_bytes / costs.link
        arrival = np.maximum(start + costs.submit_seconds * np.arange(1, n + 1), link) + costs.latency
        free = np.maximum(free, arrival) + compute * np.exp(costs.spread * random.standard_normal(n))
        back = n * costs.rows * costs.result_bytes / costs.link
        driver = max(driver, free.max() + costs.latency + back) + n * costs.collect_seconds
        collected[k] = driver
    return float(n_plans * compute / collected[-1])


def compute_limits(costs: Costs, n_nodes: int) -> dict[str, float]:
    """Compute how many seconds of a plan each part takes."""
    n = n_nodes * CORES
    return {
        "learning": costs.rows * costs.cell_seconds,
        "rows over the driver's link": n_nodes * costs.rows * costs.row_bytes / costs.link,
        "results over the driver's link": n * costs.rows * costs.result_bytes / costs.link,
        "driver": n * (costs.submit_seconds + costs.collect_seconds),
        "wait for the slowest": costs.rows * costs.cell_seconds * (np.exp(costs.spread * np.sqrt(2 * np.log(n))) - 1),
    }


def main() -> None:
    """Print the tables."""
    sent = measure_costs(65_536)
    sent = replace(sent, submit_seconds=measure_call(round(sent.rows * sent.result_bytes)))
    kinds = {"rows sent": sent, "rows generated by the actors": replace(sent, row_bytes=0.01)}
    print(f"a row sent: {sent.row_bytes:.0f} bytes; a result: {sent.result_bytes:.2f} bytes per row and actor")
    collect, submit = 1e6 * sent.collect_seconds, 1e6 * sent.submit_seconds
    print(f"collecting a result: {collect:.0f} us; submitting a plan: {submit:.0f} us")
    for title, costs in kinds.items():
        print(f"\n{title}; seconds of a plan of {costs.rows:,} rows, learners of 20 us per row, 16 cores per node")
        print(f"{'nodes':>6}{'rows/s':>12}{'busy':>9}   computed parts")
        for n_nodes in (10, 100, 1000):
            share = simulate(costs, n_nodes)
            parts = ", ".join(f"{name} {seconds:.2f}" for name, seconds in compute_limits(costs, n_nodes).items())
            print(f"{n_nodes:6,}{share / costs.cell_seconds:12,.0f}{share:9.2f}   {parts}")


if __name__ == "__main__":
    main()
