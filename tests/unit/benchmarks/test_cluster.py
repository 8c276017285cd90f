"""The simulation of a cluster agrees with what can be worked out by hand."""

from dataclasses import replace

import pytest

from benchmarks.cluster import CORES, EQUAL, LATENCY, VARIED, Actors, Costs, Driver, simulate

IDLE = Driver(
    call=0.0,
    plan=0.0,
    plan_row=0.0,
    merge=0.0,
    merge_row=0.0,
    state=1e-9,
    state_byte=0.0,
    result_bytes=0.0,
    result_row_bytes=0.0,
    row_bytes=0.0,
)
"""A driver that needs next to no time."""
COSTS = Costs(row=20e-6, save=0.0, state_bytes=0.0)


def test_equal_actors_of_an_idle_driver_are_always_at_work() -> None:
    assert simulate(IDLE, COSTS, 4, Actors()) == pytest.approx(1.0, abs=2 * LATENCY)


def test_a_busy_driver_is_the_limit() -> None:
    """It needs ten times as long to merge the results of a plan as actors need for the plan."""
    plan = COSTS.rows * COSTS.row
    driver = replace(IDLE, merge=10 * plan / (4 * CORES))
    assert simulate(driver, COSTS, 4, Actors()) == pytest.approx(0.1, rel=0.02)


def test_rows_that_are_sent_go_over_one_link() -> None:
    driver = replace(IDLE, row_bytes=1.25e9 * COSTS.row)  # a node's rows take as long as a plan
    assert simulate(driver, COSTS, 4, Actors(), sent=True) == pytest.approx(0.25, rel=0.02)
    assert simulate(driver, COSTS, 4, Actors()) == pytest.approx(1.0, abs=0.01)


def test_a_node_that_is_slower_all_the_time_slows_down_all() -> None:
    """Of ten nodes one is slower by a fifth: the others work 1 of 1.2 seconds, but for the window at the end."""
    actors = Actors(slow_nodes=0.1, slowness=0.2)
    assert simulate(IDLE, COSTS, 10, actors, window=0.0) == pytest.approx((0.9 / 1.2) + 0.1, abs=0.01)


def test_a_window_evens_out_delays_that_come_and_go() -> None:
    delayed = replace(VARIED, slow_nodes=0.0)
    barrier, window = (simulate(IDLE, COSTS, 30, delayed, window=seconds) for seconds in (0.0, 30.0))
    assert barrier < 0.8
    assert window > 0.95
    assert simulate(IDLE, COSTS, 30, EQUAL) > 0.98


def test_fetching_states_takes_a_twentieth_of_the_driver_at_most() -> None:
    plan = COSTS.rows * COSTS.row
    busy = replace(IDLE, merge=2 * plan / CORES)  # the driver is the limit
    with_states = simulate(replace(busy, state=60.0), COSTS, 1, Actors())
    assert with_states == pytest.approx(simulate(busy, COSTS, 1, Actors()) / 1.05, rel=0.02)
