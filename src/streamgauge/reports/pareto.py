"""The Pareto front of learners: a measure against a cost."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import Resources, RunData

__all__ = ["COSTS", "ParetoPoint", "find_pareto_points", "require_resources", "select_cost"]

COSTS = {"ram_hours": "RAM-hours", "cpu_seconds": "CPU seconds", "n_bytes": "model size in bytes"}
"""The costs that learners are compared by, and their titles."""


@dataclass(frozen=True)
class ParetoPoint:
    """The final value of a learner and its cost; means over folds and runs.

    Examples
    --------
    >>> ParetoPoint("tree", 0.25, 0.9, on_front=True).learner
    'tree'
    """

    learner: str
    cost: float
    value: float
    on_front: bool


def find_pareto_points(
    runs: Sequence[RunData],
    measure: str | None = None,
    forgetting: str | None = None,
    *,
    cost: str = "ram_hours",
) -> list[ParetoPoint]:
    """Return the value and cost of each learner; on the front are those that no other beats in both.

    The size of a model is its maximum over the run, other costs are totals. Learners without a value are omitted.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=2000), [NaiveBayes(), MajorityClass()], resources=True)
    >>> [(point.learner, point.on_front) for point in find_pareto_points([results], cost="n_bytes")]
    [('NaiveBayes', True), ('MajorityClass', True)]
    """
    if cost not in COSTS:
        raise unknown_name(kind="cost", name=cost, known=COSTS)
    learners = list(dict.fromkeys(name for run in runs for name in run.learners))
    measure = runs[0].measures[0] if measure is None else measure
    sign = 1.0 if runs[0].greater_is_better(measure) else -1.0
    points: list[tuple[str, float, float]] = []
    for name in learners:
        own_runs = [run for run in runs if name in run.learners]
        price = float(np.mean([_compute_cost(run, name, cost) for run in own_runs]))
        value = float(np.mean([run.final(name, measure, forgetting).mean for run in own_runs]))
        if np.isfinite(value):
            points.append((name, price, value))
    if not points:
        msg = f"{measure} is undefined for every learner after the last row"
        raise StreamgaugeError(msg)
    return [
        ParetoPoint(
            learner=name,
            cost=price,
            value=value,
            on_front=not any(_dominates(other, (price, value), sign) for _, *other in points),
        )
        for name, price, value in points
    ]


def require_resources(results: RunData) -> Resources:
    """Return the measured resources of a run; raise if there are none.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> require_resources(evaluate(SEA(n_rows=10), NoChange(), resources=True, every=5)).rows.tolist()
    [5, 10]
    """
    if results.resources is None:
        msg = "this run did not measure the cost of the learners: evaluate with resources=True"
        raise StreamgaugeError(msg)
    return results.resources


def select_cost(resources: Resources, cost: str) -> NDArray[np.float64]:
    """Return one of `COSTS` along the run, [readings, learners, folds].

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> results = evaluate(SEA(n_rows=10), NoChange(), resources=True, every=5)
    >>> select_cost(results.resources, "n_bytes").shape
    (2, 1, 1)
    """
    columns = {
        "ram_hours": resources.ram_hours,
        "cpu_seconds": resources.cpu_seconds,
        "n_bytes": resources.n_bytes.astype(np.float64),
    }
    return columns[cost]


def _compute_cost(run: RunData, learner: str, cost: str) -> float:
    values = select_cost(require_resources(run), cost)[:, run.learners.index(learner)].mean(axis=1)
    return float(values.max() if cost == "n_bytes" else values[-1])


def _dominates(other: Sequence[float], own: tuple[float, float], sign: float) -> bool:
    """Return whether another point is at least as good in both coordinates and better in one."""
    (price, value), (own_price, own_value) = other, own
    as_good = price <= own_price and sign * value >= sign * own_value
    return as_good and (price < own_price or value != own_value)
