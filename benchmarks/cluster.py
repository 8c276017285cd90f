"""What limits a run on 10, 100 and 1,000 nodes: a simulation of orders, answers and the wait for the slowest.

The costs of one order and one answer are measured here first, on this machine; the network is assumed. Run with
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
from benchmarks.backends import two_nodes
from streamgauge._engine.cells import CellGroup
from streamgauge.backends.messages import packed, packed_answer, unpacked, unpacked_answer

CALL_SECONDS = 200e-6
"""What a call of an actor and its answer cost the driver, as `call_seconds` has measured it on a busy machine of two
cores: the least of twelve rounds, whose median was 270 us."""

CORES = 16
"""Cores, and so actors, of a node."""


@dataclass(frozen=True)
class Costs:
    """What an order costs.

    Parameters
    ----------
    rows
        Rows of a batch.
    row_bytes
        Bytes of a row on a link.
    answer_bytes
        Bytes of an answer per row and actor.
    order_seconds, answer_seconds
        What the driver does for one order and one actor: give it, and take its answer.
    cell_seconds
        What a learner takes for a row.
    spread
        By how much the times of actors differ: the standard deviation of their logarithm.
    link
        Bytes per second of the driver's link.
    latency
        Seconds until a message is there.
    depth
        How many orders are open at a time.
    """

    rows: int
    row_bytes: float
    answer_bytes: float
    order_seconds: float
    answer_seconds: float
    cell_seconds: float = 20e-6
    spread: float = 0.05
    link: float = 1.25e9
    latency: float = 0.5e-3
    depth: int = 3


def measured(rows: int, n_learners: int = 2) -> Costs:
    """Measure orders and answers of an actor that hosts a cell or two; the call that carries them is not among it."""
    learners = {str(place): sg.MajorityClass() for place in range(n_learners)}
    evaluation = sg.Evaluation(sg.RandomRBF(), learners, n_rows=rows, batch_size=rows, every=rows)
    order = next(iter(evaluation._orders.of_rows(rows, rows, rows)))
    group = CellGroup(evaluation.run_spec)
    brought = group.run_plan(order)
    description, columns = packed(order)
    answer = packed_answer(brought, unpacked(description, columns))
    row_bytes = (len(description) + sum(column.nbytes for column in columns)) / rows
    taken = min(_seconds(lambda: unpacked_answer(answer, order)) for _ in range(20))
    return Costs(rows, row_bytes, len(answer) / rows, CALL_SECONDS, taken)


def call_seconds(n_bytes: int, n_orders: int = 100, rounds: int = 10) -> float:
    """Measure what a call of an actor's method and its answer of so many bytes cost the driver, on a Ray of two nodes.

    It is the CPU of the thread that gives orders and takes answers, with as many orders open at a time as in a run; the
    least of several rounds. Ray's own threads take about as much again, on other cores.
    """
    if find_spec("ray") is None:
        return CALL_SECONDS
    with two_nodes():
        ray = import_module("ray")
        actors = [ray.remote(_Answering).options(num_cpus=1).remote(n_bytes) for _ in range(2)]
        parcel = ray.put(bytes(1_000_000))
        return min(_call_seconds(ray, actors, parcel, n_orders) for _ in range(rounds))


def _call_seconds(ray: Any, actors: list[Any], parcel: object, n_orders: int) -> float:  # noqa: ANN401
    given: deque[list[object]] = deque()
    started = time.thread_time()
    for order in range(n_orders):
        given.append([actor.run_plan.remote(order, parcel) for actor in actors])
        if len(given) == Costs.depth or order == n_orders - 1:
            ray.get(given.popleft())
    return (time.thread_time() - started) / (n_orders * len(actors))


class _Answering:
    """An actor that does nothing but answer."""

    def __init__(self, n_bytes: int) -> None:
        self._answer = bytes(n_bytes)

    def run_plan(self, _number: int, _parcel: bytes) -> bytes:
        return self._answer


def _seconds(work: object) -> float:
    started = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - started


def simulated(costs: Costs, n_nodes: int, n_orders: int = 60) -> float:
    """Simulate a run with a cell on every core; give the share of the time that a core is at work."""
    random = np.random.default_rng(1)
    n = n_nodes * CORES
    compute = costs.rows * costs.cell_seconds
    free: NDArray[np.float64] = np.zeros(n)  # when each actor is done with what it has
    taken = np.zeros(n_orders)
    driver = link = 0.0
    for k in range(n_orders):
        start = max(driver, taken[k - costs.depth] if k >= costs.depth else 0.0)
        driver = start + n * costs.order_seconds
        link = max(link, start) + n_nodes * costs.rows * costs.row_bytes / costs.link
        arrival = np.maximum(start + costs.order_seconds * np.arange(1, n + 1), link) + costs.latency
        free = np.maximum(free, arrival) + compute * np.exp(costs.spread * random.standard_normal(n))
        back = n * costs.rows * costs.answer_bytes / costs.link
        driver = max(driver, free.max() + costs.latency + back) + n * costs.answer_seconds
        taken[k] = driver
    return float(n_orders * compute / taken[-1])


def limits(costs: Costs, n_nodes: int) -> dict[str, float]:
    """Say on paper how many seconds of an order each part takes."""
    n = n_nodes * CORES
    return {
        "learning": costs.rows * costs.cell_seconds,
        "rows over the driver's link": n_nodes * costs.rows * costs.row_bytes / costs.link,
        "answers over the driver's link": n * costs.rows * costs.answer_bytes / costs.link,
        "driver": n * (costs.order_seconds + costs.answer_seconds),
        "wait for the slowest": costs.rows * costs.cell_seconds * (np.exp(costs.spread * np.sqrt(2 * np.log(n))) - 1),
    }


def main() -> None:
    """Print the tables."""
    sent = measured(65_536)
    sent = replace(sent, order_seconds=call_seconds(round(sent.rows * sent.answer_bytes)))
    kinds = {"rows sent": sent, "rows made where they are used": replace(sent, row_bytes=0.01)}
    print(f"a row sent: {sent.row_bytes:.0f} bytes; an answer: {sent.answer_bytes:.2f} bytes per row and actor")
    print(f"taking an answer: {1e6 * sent.answer_seconds:.0f} us; giving an order: {1e6 * sent.order_seconds:.0f} us")
    for title, costs in kinds.items():
        print(f"\n{title}; seconds of an order of {costs.rows:,} rows, learners of 20 us a row, 16 cores a node")
        print(f"{'nodes':>6}{'rows/s':>12}{'at work':>9}   parts on paper")
        for n_nodes in (10, 100, 1000):
            share = simulated(costs, n_nodes)
            parts = ", ".join(f"{name} {seconds:.2f}" for name, seconds in limits(costs, n_nodes).items())
            print(f"{n_nodes:6,}{share / costs.cell_seconds:12,.0f}{share:9.2f}   {parts}")


if __name__ == "__main__":
    main()
