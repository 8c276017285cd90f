"""How much of the time the cores of a cluster are at work: a simulation of 1 to 300 nodes.

All costs are measured first, in the same run, on this machine: those of a plan, of a call of a Ray actor, of merging a
result, of fetching a state, and of learning. The network and the differences between actors are assumed (`NETWORK`,
`EQUAL`, `VARIED`). Run with ``python -m benchmarks cluster``, which needs Ray.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import streamgauge as sg
from benchmarks.backends import start_two_nodes
from benchmarks.turns import time_best
from streamgauge._engine.batch_plan import BatchPlan, RowRange
from streamgauge._engine.cells import CellGroup
from streamgauge._engine.collector import Collector
from streamgauge._engine.planner import Planner
from streamgauge._engine.source import default_batch_size
from streamgauge.backends.messages import pack_plan, pack_result, unpack_result
from streamgauge.backends.ray import CALL_SECONDS, CALLS, DEPTH, MAX_DEPTH, MAX_FETCHING, Ray
from streamgauge.learners import AdaptiveRandomForest, LeveragingBagging
from streamgauge.protocols import LearnerSpec
from streamgauge.streams import take

__all__ = ["EQUAL", "LEARNERS", "VARIED", "Actors", "Costs", "Driver", "measure_driver", "measure_learner", "simulate"]

CORES = 16
"""Cores, and so actors, per node."""

NODES = (1, 10, 30, 100, 300)
SECONDS, MAX_PLANS = 600.0, 1500
"""How long a simulated run works, and the most plans that it has."""

STREAM = sg.RandomRBF()
N_FOLDS = 200
"""Folds in the measured merge; there are as many learners as give a cell to each of 1,600 actors."""
N_MERGED = 1600

LEARNERS: dict[str, LearnerSpec] = {
    "forest of 100 trees": AdaptiveRandomForest(n_members=100),
    "forest of 10 trees": AdaptiveRandomForest(),
    "bag of 10 trees": LeveragingBagging(),
    "tree": sg.HoeffdingTree(),
}
"""Learners whose cost is measured, from slow to fast."""

LINK, LATENCY = 1.25e9, 0.5e-3
"""Bytes per second of the driver's link, and seconds until a message arrives: assumed."""


@dataclass(frozen=True)
class Driver:
    """What the driver needs, in seconds of its thread.

    Parameters
    ----------
    call
        To submit a call to an actor and to receive its results.
    plan, plan_row
        To read and plan a batch: a constant, and for each row.
    merge, merge_row
        To unpack and count one result of one actor: a constant, and for each row.
    state, state_byte
        To fetch the state of an actor: a constant, and for each byte.
    result_bytes, result_row_bytes
        The bytes of a result: a constant, and for each row.
    row_bytes
        The bytes of a row that is sent.
    """

    call: float
    plan: float
    plan_row: float
    merge: float
    merge_row: float
    state: float
    state_byte: float
    result_bytes: float
    result_row_bytes: float
    row_bytes: float


@dataclass(frozen=True)
class Costs:
    """What an actor needs that has one cell.

    Parameters
    ----------
    row
        Seconds for a row, with making it.
    save
        Seconds to save its state.
    state_bytes
        The bytes of its state.
    """

    row: float
    save: float
    state_bytes: float

    @property
    def rows(self) -> int:
        """The rows of a plan: about a second of work, as in a run, and at most a batch."""
        return min(default_batch_size(STREAM.schema), max(1, int(1 / self.row)))


@dataclass(frozen=True)
class Actors:
    """How actors differ.

    Parameters
    ----------
    jitter
        The standard deviation of the logarithm of the time of a plan, from one plan to the next.
    slow_nodes, slowness
        The share of the nodes that are slower all the time, and by what share of the time of the others.
    disturbed, stretch
        The share of the actors that run at half speed at any moment, and for how many seconds each.
    """

    jitter: float = 0.0
    slow_nodes: float = 0.0
    slowness: float = 0.0
    disturbed: float = 0.0
    stretch: float = 10.0


EQUAL = Actors(jitter=0.05)
VARIED = Actors(jitter=0.05, slow_nodes=0.1, slowness=0.05, disturbed=0.01)
"""Plans vary by 5 percent, a tenth of the nodes is 5 percent slower all the time, and at any moment one actor in a
hundred runs at half speed, for 10 seconds."""


# Measuring


def _make_plan(evaluation: sg.Evaluation, rows: int) -> BatchPlan:
    return Planner(evaluation._source, "first", every=rows).plan(take(STREAM, rows), None)


def _fit(measure: Callable[[int], float], small: int, large: int) -> tuple[float, float]:
    """Return the constant and the slope of a cost, from two sizes."""
    low, high = measure(small), measure(large)
    slope = max(high - low, 0.0) / (large - small)
    return max(low - slope * small, 0.0), slope


def measure_plan(rows: int) -> float:
    """Measure the reading and planning of a batch."""
    evaluation = sg.Evaluation(STREAM, sg.MajorityClass(), n_rows=rows, batch_size=rows, every=rows)
    return time_best(lambda: _make_plan(evaluation, rows), 10, time.thread_time)


def _make_results(rows: int) -> tuple[Collector, BatchPlan, list[bytes]]:
    learners = {str(number): sg.MajorityClass() for number in range(N_MERGED // N_FOLDS)}
    options: Any = {"n_rows": rows, "batch_size": rows, "every": rows, "scheme": sg.Bootstrap(N_FOLDS)}
    evaluation = sg.Evaluation(STREAM, learners, **options)
    plan, spec = _make_plan(evaluation, rows), evaluation.run_spec
    result = CellGroup(spec.select([0])).run(plan)
    cells = [replace(result, cells=(cell,), folds=(cell % N_FOLDS,)) for cell in range(N_MERGED)]
    return Collector(spec), plan, [pack_result(cell, plan) for cell in cells]


def measure_merge(rows: int) -> float:
    """Measure the unpacking and counting of one result of each of `N_MERGED` actors, for one of them."""
    collector, plan, packed = _make_results(rows)

    def merge() -> None:
        collector.add(plan, [unpack_result(result, plan) for result in packed])

    return time_best(merge, 4, time.thread_time) / N_MERGED


class _EchoActor:
    """An actor that only answers."""

    def run(self, _number: int, _message: list[RowRange], n_bytes: int) -> bytes:
        return bytes(n_bytes)


@contextmanager
def _start_actors() -> Iterator[tuple[Any, list[Any]]]:
    with start_two_nodes():
        ray = import_module("ray")
        yield ray, [ray.remote(concurrency_groups={"control": 1})(_EchoActor).remote() for _ in range(2)]


def _time_calls(ray: Any, actors: list[Any], n_bytes: int, n_calls: int, *, keeps: bool) -> float:  # noqa: ANN401
    """Time a call of an actor and its result; with `keeps`, put the result into the object store as states are."""
    pending: deque[list[object]] = deque()
    message = [RowRange(0, 1000, [1000], 1000)]
    started = time.thread_time()
    for number in range(n_calls):
        pending.append([actor.run.remote(number, message, n_bytes) for actor in actors])
        if len(pending) == DEPTH or number == n_calls - 1:
            for future in pending.popleft():
                result = ray.get(future)
                if keeps:
                    ray.put(result)
    return (time.thread_time() - started) / (n_calls * len(actors))


def measure_driver() -> Driver:
    """Measure what the driver needs, with a Ray cluster of two nodes on this machine; the best of several rounds."""
    plan, plan_row = _fit(measure_plan, 4096, 65_536)
    merge, merge_row = _fit(measure_merge, 4096, 65_536)
    packed = {rows: len(_make_results(rows)[2][0]) for rows in (4096, 65_536)}
    result_bytes, result_row_bytes = _fit(lambda rows: float(packed[rows]), 4096, 65_536)
    description, columns = pack_plan(_make_plan(sg.Evaluation(STREAM, sg.MajorityClass()), 65_536))
    with _start_actors() as (ray, actors):

        def time_call(n_bytes: int, *, n_calls: int = 100, keeps: bool = False) -> float:
            return min(_time_calls(ray, actors, n_bytes, n_calls, keeps=keeps) for _ in range(8))

        call = time_call(packed[65_536])
        state, state_byte = _fit(lambda n_bytes: time_call(n_bytes, n_calls=10, keeps=True), 100_000, 4_000_000)
    return Driver(
        call=call,
        plan=plan,
        plan_row=plan_row,
        merge=merge,
        merge_row=merge_row,
        state=state,
        state_byte=state_byte,
        result_bytes=result_bytes,
        result_row_bytes=result_row_bytes,
        row_bytes=(len(description) + sum(column.nbytes for column in columns)) / 65_536,
    )


def measure_learner(learner: LearnerSpec, n_rows: int = 100_000, parts: int = 5) -> Costs:
    """Measure an actor with one cell: as it runs, it makes the rows, learns them and packs the result."""
    rows = n_rows // parts
    evaluation = sg.Evaluation(STREAM, learner, n_rows=n_rows, batch_size=rows, every=rows)
    spec = replace(evaluation.run_spec, clock="process")
    if spec.rows is None:
        raise AssertionError
    group, maker = CellGroup(spec), spec.rows.open()
    started = time.process_time()
    for start in range(0, n_rows, rows):
        plan = maker.plan(RowRange(start, rows, [start + rows], start + rows))
        pack_result(group.run(plan), plan)
    seconds = time.process_time() - started
    save = time_best(group.save, 3)
    return Costs(seconds / n_rows, save, float(sum(map(len, group.save().cells.values()))))


# Simulating


def simulate(
    driver: Driver, costs: Costs, n_nodes: int, actors: Actors, *, window: float = Ray.window, sent: bool = False
) -> float:
    """Simulate a run with a cell on every core; return the share of the time that a core is at work.

    Parameters
    ----------
    driver, costs
        What was measured.
    n_nodes
        The number of nodes.
    actors
        How actors differ.
    window
        As for `Ray`; 0 for at most three plans and one in a call.
    sent
        Whether the driver sends the rows; then there is no window.
    """
    run = _Run(driver, costs, n_nodes, actors, window=0.0 if sent else window, sent=sent)
    return run.simulate(min(MAX_PLANS, int(SECONDS / (costs.rows * costs.row))))


class _Run:
    """The state of a simulated run; times are in seconds since its start."""

    def __init__(
        self, driver: Driver, costs: Costs, n_nodes: int, actors: Actors, *, window: float, sent: bool
    ) -> None:
        self._driver, self._costs, self._n_nodes, self._variation, self._sent = driver, costs, n_nodes, actors, sent
        self._random = np.random.default_rng(1)
        self._n = n_nodes * CORES
        plan = costs.rows * costs.row
        self._plan = plan
        self._depth = max(DEPTH, min(math.ceil(window / plan), MAX_DEPTH))
        self._per_call = max(1, min(math.ceil(min(window / CALLS, CALL_SECONDS) / plan), MAX_DEPTH // CALLS))
        slow = self._random.permutation(np.arange(n_nodes) < round(actors.slow_nodes * n_nodes))
        self._speed = np.repeat(1.0 + actors.slowness * slow, CORES)
        self._free: NDArray[np.float64] = np.zeros(self._n)  # when each actor has run its calls
        self._disturbed_until: NDArray[np.float64] = np.zeros(self._n)
        self._clock = self._link = self._busy = self._saved_at = 0.0

    def simulate(self, n_plans: int) -> float:
        n_sent = n_planned = 0
        calls: deque[tuple[int, float]] = deque()  # the plan after the last, and when all results are there
        for n_collected in range(n_plans):
            while n_planned < min(n_plans, n_collected + self._depth):
                self._clock += self._driver.plan + self._costs.rows * self._driver.plan_row
                n_planned += 1
                if n_planned - n_sent == self._per_call or n_planned == n_plans:
                    calls.append((n_planned, self._send(n_planned - n_sent)))
                    n_sent = n_planned
            if n_collected == n_sent:  # the depth is no multiple of a call
                calls.append((n_planned, self._send(n_planned - n_sent)))
                n_sent = n_planned
            end, arrived = calls[0]
            self._clock = max(self._clock, arrived)
            if n_collected == end - 1:
                calls.popleft()
                self._clock += self._n * self._driver.call / 2
                self._fetch_states()
            self._clock += self._n * (self._driver.merge + self._costs.rows * self._driver.merge_row)
        return self._busy / (self._n * self._clock)

    def _send(self, n_plans: int) -> float:
        """Send a call to each actor; return when the driver has all results of it."""
        start, per_call = self._clock, self._driver.call / 2
        self._clock += self._n * per_call
        arrival = start + per_call * np.arange(1, self._n + 1)
        if self._sent:
            self._link = max(self._link, start) + self._n_nodes * self._costs.rows * self._driver.row_bytes / LINK
            arrival = np.maximum(arrival, self._link)
        self._free = np.maximum(self._free, arrival + LATENCY)
        for _ in range(n_plans):
            seconds = self._draw_plan()
            self._busy += float(seconds.sum())
            self._free = self._free + seconds
        result = self._driver.result_bytes + self._costs.rows * self._driver.result_row_bytes
        return float(self._free.max()) + LATENCY + self._n * n_plans * result / LINK

    def _draw_plan(self) -> NDArray[np.float64]:
        """Draw how long each actor takes for its next plan."""
        variation, random = self._variation, self._random
        seconds: NDArray[np.float64] = (
            self._plan * self._speed * np.exp(variation.jitter * random.standard_normal(self._n))
        )
        if variation.disturbed:
            pause = variation.stretch * (1 - variation.disturbed) / variation.disturbed  # between two stretches
            begins = (self._free >= self._disturbed_until) & (random.random(self._n) < seconds / pause)
            self._disturbed_until[begins] = self._free[begins] + variation.stretch
            slowed = np.clip(self._disturbed_until - self._free, 0.0, 2 * seconds)
            seconds = seconds + slowed / 2
        return seconds

    def _fetch_states(self) -> None:
        """Save the states of some actors and fetch them, as often as the driver may."""
        passed, self._saved_at = self._clock - self._saved_at, self._clock
        of_one = self._driver.state + self._costs.state_bytes * max(self._driver.state_byte, 1 / LINK)
        n_states = min(self._n * passed / Ray.save_every, MAX_FETCHING * passed / of_one)
        self._clock += n_states * of_one
        saving = self._random.random(self._n) < n_states / self._n
        self._free = self._free + saving * self._costs.save


# Printing


def show_driver(driver: Driver) -> None:
    """Print what the driver needs."""
    print(f"a call of an actor and its result: {1e6 * driver.call:.0f} us of the driver's thread")
    print(f"reading and planning: {1e6 * driver.plan:.0f} us a plan and {1e9 * driver.plan_row:.0f} ns a row")
    print(f"merging: {1e6 * driver.merge:.0f} us a result and {1e9 * driver.merge_row:.2f} ns a row of it")
    print(f"fetching a state: {1e6 * driver.state:.0f} us and {1e3 * 1e6 * driver.state_byte:.1f} ms a megabyte")
    print(f"a result: {driver.result_bytes:.0f} bytes and {driver.result_row_bytes:.2f} a row; a row sent:"
          f" {driver.row_bytes:.0f} bytes")  # fmt: skip


def main() -> None:
    """Measure, and print the tables."""
    driver = measure_driver()
    show_driver(driver)
    measured = {name: measure_learner(learner) for name, learner in LEARNERS.items()}
    kinds: dict[str, dict[str, Any]] = {
        "rows made": {},
        "rows made, at most three plans ahead": {"window": 0.0},
        "rows sent": {"sent": True},
    }
    print(f"\n{'share of the time at work':58}" + "".join(f"{n:>7,}" for n in NODES) + "  nodes of 16 cores")
    for (name, costs), (kind, options) in product(measured.items(), kinds.items()):
        head = f"{name} ({1e6 * costs.row:.1f} us a row, state {costs.state_bytes / 1e6:.1f} MB), {kind}"
        for title, actors in (("equal", EQUAL), ("varied", VARIED)):
            shares = [simulate(driver, costs, n, actors, **options) for n in NODES]
            print(f"{f'{head}, {title}':90}" + "".join(f"{share:7.2f}" for share in shares), flush=True)
    costs = measured["forest of 10 trees"]
    print("\n100 nodes, forest of 10 trees, rows made, of the nodes a tenth slower all the time:")
    for slowness in (0.0, 0.05, 0.1, 0.2, 0.5):
        share = simulate(driver, costs, 100, replace(VARIED, slowness=slowness))
        print(f"  by {slowness:4.0%}: {share:.2f}")


if __name__ == "__main__":
    main()
