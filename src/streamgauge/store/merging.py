"""Results of one condition that were found in several runs, as one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import Confusions, Differences, PairSums, Resources
from streamgauge.results import Results

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
        verdicts=tuple(verdict for verdict in results.verdicts if {verdict.first, verdict.second} <= set(learners)),
        confusions=_matrices_of(results.confusions, places),
        differences=_courses_of(results.differences, learners),
    )


def _matrices_of(confusions: Confusions | None, places: list[int]) -> Confusions | None:
    return None if confusions is None else replace(confusions, weights=confusions.weights[:, places])


def _courses_of(differences: Differences | None, learners: Sequence[str]) -> Differences | None:
    """Give the differences between some learners."""
    if differences is None:
        return None
    kept = [place for place, pair in enumerate(differences.pairs) if set(pair) <= set(learners)]
    pairs = tuple(differences.pairs[place] for place in kept)
    return replace(differences, pairs=pairs, values=differences.values[:, kept]) if kept else None


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
        resources=None,  # what learners cost, and how they differed along the way, is only compared within a run
        differences=None,
        confusions=_joined_matrices([part.confusions for part in parts], forgettings == first.forgettings),
        verdicts=tuple(verdict for part in parts for verdict in part.verdicts),
        failures=tuple(failure for part in parts for failure in part.failures),
        alarms=tuple(sorted(alarm for part in parts for alarm in part.alarms)),
    )


def _joined_matrices(parts: Sequence[Confusions | None], same_forgettings: bool) -> Confusions | None:  # noqa: FBT001
    """Put confusion matrices side by side, where all runs have them at the same rows."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not same_forgettings:
        return None
    if any(part.weights.shape[2:] != known[0].weights.shape[2:] for part in known):
        return None
    if any(not np.array_equal(part.rows, known[0].rows) for part in known):
        return None
    return replace(known[0], weights=np.concatenate([part.weights for part in known], axis=1))


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
