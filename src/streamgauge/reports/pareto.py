"""How good each learner is for what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import RunData

__all__ = ["COSTS", "Standing", "standings"]

COSTS = {"ram_hours": "RAM-hours", "cpu_seconds": "CPU seconds", "n_bytes": "bytes of the model"}
"""The costs that learners are compared by, and what they are called."""


@dataclass(frozen=True)
class Standing:
    """How good a learner is after the last row, and what it cost; means over folds and runs.

    Examples
    --------
    >>> Standing("tree", 0.25, 0.9, on_front=True).learner
    'tree'
    """

    learner: str
    cost: float
    value: float
    on_front: bool


def standings(
    runs: Sequence[RunData],
    measure: str | None = None,
    forgetting: str | None = None,
    *,
    cost: str = "ram_hours",
) -> list[Standing]:
    """Say of each learner of some runs how good it is for what it costs; on the front nobody beats it in both.

    The memory of a model is the most that it had, other costs are totals. Learners that have no value are left out.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=2000), [NaiveBayes(), MajorityClass()], resources=True)
    >>> [(standing.learner, standing.on_front) for standing in standings([results], cost="n_bytes")]
    [('NaiveBayes', True), ('MajorityClass', True)]
    """
    if cost not in COSTS:
        raise unknown_name(kind="cost", name=cost, known=COSTS)
    if any(run.resources is None for run in runs):
        msg = "the costs of the learners were not measured in this run: evaluate with resources=True"
        raise StreamgaugeError(msg)
    learners = list(dict.fromkeys(name for run in runs for name in run.learners))
    measure = runs[0].measures[0] if measure is None else measure
    sign = 1.0 if runs[0].greater_is_better(measure) else -1.0
    found: list[tuple[str, float, float]] = []
    for name in learners:
        of_learner = [run for run in runs if name in run.learners]
        value = float(np.mean([run.final(name, measure, forgetting).mean for run in of_learner]))
        if np.isfinite(value):
            found.append((name, float(np.mean([_cost(run, name, cost) for run in of_learner])), value))
    if not found:
        msg = f"{measure} is not defined for any learner after the last row"
        raise StreamgaugeError(msg)
    return [
        Standing(name, price, value, on_front=not any(_beats(other, (price, value), sign) for _, *other in found))
        for name, price, value in found
    ]


def _cost(run: RunData, learner: str, cost: str) -> float:
    values = getattr(run.resources, cost)[:, run.learners.index(learner)].mean(axis=1)
    return float(values.max() if cost == "n_bytes" else values[-1])


def _beats(other: Sequence[float], own: tuple[float, float], sign: float) -> bool:
    """Say whether another is at least as good in both, and better in one."""
    (price, value), (own_price, own_value) = other, own
    as_good = price <= own_price and sign * value >= sign * own_value
    return as_good and (price < own_price or value != own_value)
