"""Selecting learners of results, and merging the results of runs under one condition."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import BlockTallies, Confusions, Differences, PairSums, Resources, find_common_times
from streamgauge.records.blocks import VoteBins
from streamgauge.results import Results

__all__ = ["merge_runs", "select_learners"]


def select_learners(results: Results, learners: Sequence[str]) -> Results:
    """Return the results of some learners.

    Examples
    --------
    >>> import streamgauge as sg
    >>> both = sg.evaluate(sg.SEA(n_rows=100), [sg.NoChange(), sg.MajorityClass()])
    >>> select_learners(both, ["NoChange"]).learners
    ('NoChange',)
    """
    if list(learners) == list(results.learners):
        return results
    indices = [results.learners.index(name) for name in learners]
    specs = results.description.get("learners")
    selected = {name: specs[name] for name in learners if name in specs} if isinstance(specs, dict) else {}
    return replace(
        results,
        values=results.values[:, indices],
        learners=tuple(learners),
        pairs=tuple(pair for pair in results.pairs if {pair.first, pair.second} <= set(learners)),
        description={**results.description, "learners": selected},
        resources=_select_resources(results.resources, indices),
        failures=tuple(failure for failure in results.failures if failure.learner in learners),
        alarms=tuple(alarm for alarm in results.alarms if alarm.learner in learners),
        verdicts=tuple(verdict for verdict in results.verdicts if {verdict.first, verdict.second} <= set(learners)),
        model_verdicts=tuple(verdict for verdict in results.model_verdicts if verdict.learner in learners),
        label_estimates=tuple(estimate for estimate in results.label_estimates if estimate.learner in learners),
        confusions=_select_confusions(results.confusions, indices),
        blocks=None if results.blocks is None else results.blocks.select_learners(indices),
        differences=_select_differences(results.differences, learners),
    )


def _select_confusions(confusions: Confusions | None, indices: list[int]) -> Confusions | None:
    return None if confusions is None else replace(confusions, weights=confusions.weights[:, indices])


def _select_differences(differences: Differences | None, learners: Sequence[str]) -> Differences | None:
    if differences is None:
        return None
    indices = [index for index, pair in enumerate(differences.pairs) if set(pair) <= set(learners)]
    pairs = tuple(differences.pairs[index] for index in indices)
    measures = tuple(differences.columns[index][2] for index in indices)
    values = differences.values[:, indices]
    return replace(differences, pairs=pairs, values=values, measures=measures) if indices else None


def _select_resources(resources: Resources | None, indices: list[int]) -> Resources | None:
    if resources is None:
        return None
    return replace(
        resources,
        cpu_seconds=resources.cpu_seconds[:, indices],
        wall_seconds=resources.wall_seconds[:, indices],
        predict_share=resources.predict_share[:, indices],
        n_bytes=resources.n_bytes[:, indices],
        ram_hours=resources.ram_hours[:, indices],
        n_predicted=resources.n_predicted[indices],
        n_learnt=resources.n_learnt[indices],
        latency=resources.latency[indices],
        n_timed=resources.n_timed[indices],
        n_late=resources.n_late[indices],
    )


def merge_runs(runs: Sequence[Results]) -> Results:
    """Merge runs under one condition; of a learner in several of them, the newest, which is the last.

    Pairs are known for learners of one run. Measures and forgettings are those that all runs have.

    Examples
    --------
    >>> import streamgauge as sg
    >>> parts = [sg.evaluate(sg.SEA(n_rows=100), learner) for learner in (sg.NoChange(), sg.MajorityClass())]
    >>> merge_runs(parts).learners
    ('NoChange', 'MajorityClass')
    """
    newest = {name: run for run in runs for name in run.learners}
    parts = [select_learners(run, [name for name in run.learners if newest[name] is run]) for run in runs]
    parts = [part for part in parts if part.learners]
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    measures = tuple(name for name in first.measures if all(name in part.measures for part in parts))
    forgettings = tuple(name for name in first.forgettings if all(name in part.forgettings for part in parts))
    if not measures or not forgettings or any(not np.array_equal(part.rows, first.rows) for part in parts):
        msg = "these runs cannot be merged: they share no measure or no forgetting, or were read at different rows"
        raise StreamgaugeError(msg)
    return replace(
        first,
        values=np.concatenate([_select_values(part, forgettings, measures) for part in parts], axis=1),
        learners=tuple(name for part in parts for name in part.learners),
        measures=measures,
        forgettings=forgettings,
        pairs=_collect_pairs(runs),
        description=_merge_descriptions(parts),
        resources=None,  # costs, and differences along the stream, are only comparable within a run
        differences=None,
        confusions=_merge_confusions([part.confusions for part in parts], forgettings == first.forgettings),
        blocks=_merge_blocks(parts),
        verdicts=tuple(verdict for part in parts for verdict in part.verdicts),
        model_verdicts=tuple(verdict for part in parts for verdict in part.model_verdicts),
        label_estimates=tuple(estimate for part in parts for estimate in part.label_estimates),
        failures=tuple(failure for part in parts for failure in part.failures),
        alarms=tuple(sorted(alarm for part in parts for alarm in part.alarms)),
        times=find_common_times([part.times for part in parts]),
    )


def _merge_confusions(parts: Sequence[Confusions | None], same_forgettings: bool) -> Confusions | None:  # noqa: FBT001
    """Merge confusion matrices, if all runs have them at the same rows."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not same_forgettings:
        return None
    if any(part.weights.shape[2:] != known[0].weights.shape[2:] for part in known):
        return None
    if any(not np.array_equal(part.rows, known[0].rows) for part in known):
        return None
    return replace(known[0], weights=np.concatenate([part.weights for part in known], axis=1))


def _merge_blocks(parts: Sequence[Results]) -> BlockTallies | None:
    """Merge the tallies of blocks; those of a run without are missing values."""
    known = [part.blocks for part in parts if part.blocks is not None]
    if not known or any(
        blocks.layout != known[0].layout or not np.array_equal(blocks.rows, known[0].rows) for blocks in known
    ):
        return None
    numbers: list[NDArray[np.float64]] = []
    votes: dict[tuple[int, int, int], VoteBins] = {}
    start = 0
    for part in parts:
        missing = np.full((len(part.learners), *known[0].numbers.shape[1:]), np.nan)
        numbers.append(missing if part.blocks is None else part.blocks.numbers)
        if part.blocks is not None:
            votes |= {(start + learner, fold, code): b for (learner, fold, code), b in part.blocks.votes.items()}
        start += len(part.learners)
    return replace(known[0], numbers=np.concatenate(numbers), votes=votes)


def _select_values(part: Results, forgettings: Sequence[str], measures: Sequence[str]) -> NDArray[np.float64]:
    """Return the values [s, learners, folds, forgettings, measures] of some forgettings and measures."""
    values = part.values[:, :, :, [part.forgettings.index(name) for name in forgettings]]
    return values[..., [part.measures.index(name) for name in measures]]


def _collect_pairs(runs: Sequence[Results]) -> tuple[PairSums, ...]:
    """Return the pairs of all runs. It does not matter when a pair ran: one condition gives the same hits."""
    return tuple({frozenset((pair.first, pair.second)): pair for run in runs for pair in run.pairs}.values())


def _merge_descriptions(parts: Sequence[Results]) -> dict[str, object]:
    """Return the description of the merged runs; the seconds are those of all runs."""
    description: dict[str, Any] = {**parts[0].description, "learners": {}, "seconds": 0.0}
    for part in parts:
        learners, seconds = part.description.get("learners"), part.description.get("seconds")
        description["learners"] = {**description["learners"], **(learners if isinstance(learners, dict) else {})}
        description["seconds"] += seconds if isinstance(seconds, float) else 0.0
    return description
