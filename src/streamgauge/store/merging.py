"""Results of one condition that were found in several runs, as one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import PairSums, Resources, Results

__all__ = ["merged", "only"]


def only(results: Results, learners: Sequence[str]) -> Results:
    """Give the part of results that is about some learners.

    Examples
    --------
    >>> import streamgauge as sg
    >>> both = sg.evaluate(sg.SEA(n_rows=100), [sg.NoChange(), sg.MajorityClass()])
    >>> only(both, ["NoChange"]).learners
    ('NoChange',)
    """
    if list(learners) == list(results.learners):
        return results
    places = [results.learners.index(name) for name in learners]
    told = results.description.get("learners")
    described = {name: told[name] for name in learners if name in told} if isinstance(told, dict) else {}
    return replace(
        results,
        values=results.values[:, places],
        learners=tuple(learners),
        pairs=tuple(pair for pair in results.pairs if {pair.first, pair.second} <= set(learners)),
        description={**results.description, "learners": described},
        resources=_cost_of(results.resources, places),
        failures=tuple(failure for failure in results.failures if failure.learner in learners),
        alarms=tuple(alarm for alarm in results.alarms if alarm.learner in learners),
    )


def _cost_of(cost: Resources | None, places: list[int]) -> Resources | None:
    if cost is None:
        return None
    curves = ("cpu_seconds", "wall_seconds", "predict_share", "n_bytes", "ram_hours")
    totals = ("n_predicted", "n_learnt", "latency", "n_timed", "n_late")
    parts = {name: getattr(cost, name)[:, places] for name in curves}
    return replace(cost, **parts, **{name: getattr(cost, name)[places] for name in totals})


def merged(runs: Sequence[Results]) -> Results:
    """Put runs of one condition together; of a learner in several of them, the newest, which is the last.

    Pairs are known of learners that ran together. Measures and forgettings are those that all runs have.

    Examples
    --------
    >>> import streamgauge as sg
    >>> parts = [sg.evaluate(sg.SEA(n_rows=100), learner) for learner in (sg.NoChange(), sg.MajorityClass())]
    >>> merged(parts).learners
    ('NoChange', 'MajorityClass')
    """
    owner = {name: run for run in runs for name in run.learners}
    parts = [only(run, [name for name in run.learners if owner[name] is run]) for run in runs]
    parts = [part for part in parts if part.learners]
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    measures, forgettings = (
        tuple(name for name in getattr(first, axis) if all(name in getattr(part, axis) for part in parts))
        for axis in ("measures", "forgettings")
    )
    if not measures or not forgettings or any(not np.array_equal(part.rows, first.rows) for part in parts):
        msg = "these runs cannot be put together: they have no measure, no forgetting or not the same rows in common"
        raise StreamgaugeError(msg)
    return replace(
        first,
        values=np.concatenate([_chosen(part, forgettings, measures) for part in parts], axis=1),
        learners=tuple(name for part in parts for name in part.learners),
        measures=measures,
        forgettings=forgettings,
        pairs=_pairs(runs),
        description=_told(parts),
        resources=None,  # what learners cost is only compared within a run
        failures=tuple(failure for part in parts for failure in part.failures),
        alarms=tuple(sorted(alarm for part in parts for alarm in part.alarms)),
    )


def _chosen(part: Results, forgettings: Sequence[str], measures: Sequence[str]) -> NDArray[np.float64]:
    """Give the values [s, learners, folds, forgettings, measures] of the forgettings and measures named."""
    of_forgettings = part.values[:, :, :, [part.forgettings.index(name) for name in forgettings]]
    return of_forgettings[..., [part.measures.index(name) for name in measures]]


def _pairs(runs: Sequence[Results]) -> tuple[PairSums, ...]:
    """Give the pairs of all runs: the same learners under the same condition make the same hits, whenever they ran."""
    found = {frozenset((pair.first, pair.second)): pair for run in runs for pair in run.pairs}
    return tuple(found.values())


def _told(parts: Sequence[Results]) -> dict[str, object]:
    """Describe what was run; the seconds are those of all runs."""
    description: dict[str, Any] = {**parts[0].description, "learners": {}, "seconds": 0.0}
    for part in parts:
        learners, seconds = part.description.get("learners"), part.description.get("seconds")
        description["learners"] = {**description["learners"], **(learners if isinstance(learners, dict) else {})}
        description["seconds"] += seconds if isinstance(seconds, float) else 0.0
    return description
