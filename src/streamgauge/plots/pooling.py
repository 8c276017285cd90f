"""Several runs in one figure: runs of one stream with other seeds are pooled, and other streams kept apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.text import count, join_words, make_printable, shorten_stream_names, strip_seeds
from streamgauge.errors import StreamgaugeError
from streamgauge.names import to_forgetting_name
from streamgauge.records import RunData, find_common_times

__all__ = ["PooledRuns", "list_forgettings", "pool_runs"]


@dataclass(frozen=True)
class PooledRuns:
    """The runs of a figure, one for each stream.

    Parameters
    ----------
    runs
        One run a stream, by the title of the stream; its folds are those of all runs that were pooled.
    n_seeds
        The number of runs that were pooled for a learner, at most.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> runs = [evaluate(SEA(n_rows=100, seed=seed), NoChange()) for seed in (1, 2, 3)]
    >>> pooled = pool_runs(runs)
    >>> pooled.n_seeds, pooled.learners, {title: run.n_folds for title, run in pooled.runs.items()}
    (3, ('NoChange',), {'SEA(n_rows=100)': 3})
    """

    runs: Mapping[str, RunData]
    n_seeds: int

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners of any of the runs, in the order in which they occur."""
        return tuple(dict.fromkeys(name for run in self.runs.values() for name in run.learners))

    @property
    def spread_over(self) -> str:
        """What the values of a learner differ in: ``3 seeds``, ``10 folds``, both, or nothing."""
        n_folds = max(run.n_folds for run in self.runs.values()) // self.n_seeds
        parts = [count(n, what) for n, what in ((self.n_seeds, "seed"), (n_folds, "fold")) if n > 1]
        return " of ".join(parts)


def pool_runs(results: RunData | Sequence[RunData]) -> PooledRuns:
    """Pool runs of one stream that differ in their seeds or learners; keep other streams, schemes and labellings apart.

    Two streams that differ only in their ``seed`` or ``sample`` count as one. A learner has the folds of all pooled
    runs, at the rows, measures and forgettings that they have in common.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NoChange, evaluate
    >>> runs = [evaluate(SEA(n_rows=100), learner) for learner in (NoChange(), MajorityClass())]
    >>> pool_runs(runs).learners
    ('NoChange', 'MajorityClass')
    """
    runs = [results] if isinstance(results, RunData) else list(results)
    if not runs:
        msg = "there are no results to draw"
        raise StreamgaugeError(msg)
    groups: dict[tuple[str, str, str], list[RunData]] = {}
    for run in runs:
        groups.setdefault(_describe_condition(run), []).append(run)
    pooled = dict(zip(_name_groups(list(groups)), map(_pool, groups.values()), strict=True))
    return PooledRuns(pooled, max(map(_count_seeds, groups.values())))


def list_forgettings(forgettings: object) -> list[str]:
    """Return one or several forgettings, objects or text, as results spell them; none for None.

    Examples
    --------
    >>> from streamgauge import Landmark
    >>> list_forgettings([Landmark(), "Window(100)"]), list_forgettings("Landmark"), list_forgettings(None)
    (['Landmark()', 'Window(width=100)'], ['Landmark()'], [])
    """
    several = forgettings if isinstance(forgettings, list | tuple) else [forgettings]
    return [to_forgetting_name(forgetting) for forgetting in several if forgetting is not None]


def _describe_condition(run: RunData) -> tuple[str, str, str]:
    """Return the stream without its seeds, the scheme and the labelling."""
    stream, scheme, labelling = (_get_name(run, part) for part in ("stream", "scheme", "labelling"))
    return strip_seeds(stream), scheme, labelling


def _get_name(run: RunData, part: str) -> str:
    fact = run.description.get(part, "")
    return str(fact.get("name", "") if isinstance(fact, Mapping) else fact)


def _name_groups(conditions: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return a title for each condition: its stream, and what else distinguishes it."""
    known = list(dict.fromkeys(stream for stream, *_ in conditions))
    streams = dict(zip(known, shorten_stream_names(known), strict=True))
    differs = [len({condition[part] for condition in conditions}) > 1 for part in (1, 2)]
    names = []
    for stream, *rest in conditions:
        parts = [streams[stream], *(text for text, shown in zip(rest, differs, strict=True) if shown)]
        names.append(make_printable(", ".join(parts)))
    return names


def _count_seeds(runs: Sequence[RunData]) -> int:
    return max((sum(name in run.learners for run in runs) for run in runs for name in run.learners), default=1)


def _pool(runs: Sequence[RunData]) -> RunData:
    """Return one run with the learners of all runs, and for each of them the folds of all runs that have it."""
    if len(runs) == 1:
        return runs[0]
    first = runs[0]
    learners = tuple(dict.fromkeys(name for run in runs for name in run.learners))
    measures = tuple(name for name in first.measures if all(name in run.measures for run in runs))
    forgettings = tuple(name for name in first.forgettings if all(name in run.forgettings for run in runs))
    rows = _find_common_rows(runs)
    stream = _get_name(first, "stream")
    if not measures or not forgettings or not len(rows):
        what = join_words([
            what for what, known in (("measure", measures), ("forgetting", forgettings), ("reading row", rows))
            if not len(known)
        ])  # fmt: skip
        msg = f"{len(runs)} runs of {stream} have no {what} in common, so they have no mean: draw them one by one"
        raise StreamgaugeError(msg)
    parts: dict[str, list[NDArray[np.float64]]] = {name: [] for name in learners}
    seeds: set[tuple[str, str, object]] = set()
    for run in runs:
        at = np.searchsorted(run.rows, rows)
        values = run.values[at][:, :, :, [run.forgettings.index(name) for name in forgettings]]
        values = values[..., [run.measures.index(name) for name in measures]]
        for index, name in enumerate(run.learners):
            seed = (name, _get_name(run, "stream"), run.description.get("seed"))
            if seed in seeds:
                msg = f"{name} occurs twice on {stream} with seed {seed[-1]}: name each run once"
                raise StreamgaugeError(msg)
            seeds.add(seed)
            parts[name].append(values[:, index])
    n_folds = max(sum(part.shape[1] for part in folds) for folds in parts.values())
    pooled = np.full((len(rows), len(learners), n_folds, len(forgettings), len(measures)), np.nan)
    for index, folds in enumerate(parts.values()):
        joined = np.concatenate(folds, axis=1)
        pooled[:, index, : joined.shape[1]] = joined
    same_drifts = all(run.drifts == first.drifts for run in runs)
    return RunData(
        rows=rows,
        values=pooled,
        learners=learners,
        forgettings=forgettings,
        measures=measures,
        pairs=(),
        n_rows=max(run.n_rows for run in runs),
        complete=all(run.complete for run in runs),
        description=first.description if same_drifts else {**first.description, "drifts": []},
        alarms=tuple(alarm for run in runs for alarm in run.alarms),
        labels=first.labels,
        times=find_common_times(
            [None if run.times is None else run.times[np.searchsorted(run.rows, rows)] for run in runs]
        ),
    )


def _find_common_rows(runs: Sequence[RunData]) -> NDArray[np.int64]:
    rows = runs[0].rows
    for run in runs[1:]:
        rows = np.intersect1d(rows, run.rows, assume_unique=True)
    return rows
