"""Many learners on many streams: their ranks, whether these could be chance, and which pairs really differ."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge._format.numbers import RATE
from streamgauge._format.text import count, join_words
from streamgauge.errors import StreamgaugeError, require_between, unknown_name
from streamgauge.records import RunData
from streamgauge.significance.compare import choose_forgetting
from streamgauge.significance.corrections import holm, shaffer
from streamgauge.significance.fold_tests import slack, wilcoxon
from streamgauge.significance.rank_tests import (
    Friedman,
    critical_difference,
    friedman,
    mean_rank_p_values,
    nemenyi_p_values,
    ranks_of,
)

__all__ = ["POST_HOCS", "RankedPair", "Ranking", "rank", "rank_table"]

POST_HOCS = {
    "wilcoxon_holm": "exact Wilcoxon over streams, adjusted as Holm does",
    "ranks_holm": "normal test of mean ranks, adjusted as Holm does",
    "ranks_shaffer": "normal test of mean ranks, adjusted as Shaffer does",
    "nemenyi": "Nemenyi's test of mean ranks",
}
"""The tests of pairs after Friedman's, and what they are."""


@dataclass(frozen=True)
class RankedPair:
    """Two learners over streams.

    Parameters
    ----------
    first, second
        Names of the learners.
    wins, ties, losses
        On how many streams the first is better, as good, and worse.
    difference
        The mean over streams of first minus second.
    p_value
        Of the test of this pair alone; NaN for Nemenyi's, which has none.
    adjusted
        The p-value that holds for all pairs at once.

    Examples
    --------
    >>> RankedPair("tree", "bayes", 8, 1, 1, 0.02, 0.01, 0.03).wins
    8
    """

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    difference: float
    p_value: float
    adjusted: float


@dataclass(frozen=True)
class Ranking:
    """How learners rank over independent streams.

    Parameters
    ----------
    learners, streams
        Their names.
    values
        What was ranked, float64 [streams, learners].
    ranks
        The rank of each learner on each stream, 1 for the best, float64 [streams, learners].
    friedman
        Whether ranks so far apart could be chance.
    critical_difference
        The difference of mean ranks that Nemenyi's test asks for.
    pairs
        Every pair of learners.
    post_hoc
        The test of the pairs, one of `POST_HOCS`.
    alpha, measure, greater_is_better
        The level, what was compared, and whether a greater value is better.
    warnings
        What to know before believing it.
    unit
        In what the measure is told.

    Examples
    --------
    >>> ranking = rank_table([[0.9, 0.7], [0.8, 0.6], [0.9, 0.8]], ["tree", "bayes"])
    >>> ranking.mean_ranks.tolist(), ranking.order
    ([1.0, 2.0], ('tree', 'bayes'))
    >>> ranking.wins.tolist()
    [[0, 3], [0, 0]]
    >>> print(ranking)
    Mean ranks by accuracy on 3 streams: tree 1.00, bayes 2.00. At a level of 0.05 no two can be told apart.
    """

    learners: tuple[str, ...]
    streams: tuple[str, ...]
    values: NDArray[np.float64]
    ranks: NDArray[np.float64]
    friedman: Friedman
    critical_difference: float
    pairs: tuple[RankedPair, ...]
    post_hoc: str
    alpha: float
    measure: str
    greater_is_better: bool
    warnings: tuple[str, ...] = ()
    unit: str = RATE

    @property
    def mean_ranks(self) -> NDArray[np.float64]:
        """The mean rank of each learner, float64 [learners]."""
        means: NDArray[np.float64] = self.ranks.mean(axis=0)
        return means

    @property
    def order(self) -> tuple[str, ...]:
        """The learners from the best mean rank on."""
        return tuple(self.learners[i] for i in np.argsort(self.mean_ranks, kind="stable"))

    @property
    def wins(self) -> NDArray[np.int64]:
        """On how many streams the learner of the row beats that of the column, int64 [learners, learners]."""
        return self._counts("wins", "losses")

    @property
    def ties(self) -> NDArray[np.int64]:
        """On how many streams two learners are equally good, int64 [learners, learners]."""
        return self._counts("ties", "ties")

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The largest sets of learners no two of which can be told apart; the best first, single ones left out."""
        place = {name: i for i, name in enumerate(self.order)}
        alike: dict[str, set[str]] = {name: set() for name in self.order}
        for pair in self.pairs:
            if pair.adjusted > self.alpha:
                alike[pair.first].add(pair.second)
                alike[pair.second].add(pair.first)
        found = [sorted(group, key=place.__getitem__) for group in _largest_groups(alike) if len(group) > 1]
        return tuple(tuple(group) for group in sorted(found, key=lambda group: [place[name] for name in group]))

    def better(self, pair: RankedPair) -> str | None:
        """Give the name of the learner of a pair that is better; None where no difference can be claimed."""
        if pair.adjusted > self.alpha:
            return None
        if self.post_hoc == "wilcoxon_holm":
            i, j = self.learners.index(pair.first), self.learners.index(pair.second)
            direction = wilcoxon(self.values[:, i] - self.values[:, j]).direction
            ahead = direction > 0 if self.greater_is_better else direction < 0
        else:
            means = dict(zip(self.learners, self.mean_ranks.tolist(), strict=True))
            ahead = means[pair.first] < means[pair.second]
        return pair.first if ahead else pair.second

    @property
    def sentence(self) -> str:
        """What was found."""
        means = dict(zip(self.learners, self.mean_ranks.tolist(), strict=True))
        ranked = ", ".join(f"{name} {means[name]:.2f}" for name in self.order)
        told = [
            f"{better} is better than {pair.second if better == pair.first else pair.first}"
            for pair in self.pairs
            if (better := self.better(pair)) is not None
        ]
        found = join_words(told) if told else "no two can be told apart"
        where = count(len(self.streams), "stream")
        return f"Mean ranks by {self.measure} on {where}: {ranked}. At a level of {self.alpha:g} {found}."

    def __repr__(self) -> str:
        return self.sentence

    def _counts(self, forward: str, backward: str) -> NDArray[np.int64]:
        table = np.zeros((len(self.learners), len(self.learners)), dtype=np.int64)
        for (i, j), pair in zip(combinations(range(len(self.learners)), 2), self.pairs, strict=True):
            table[i, j], table[j, i] = getattr(pair, forward), getattr(pair, backward)
        return table


def rank(
    results: Iterable[RunData],
    *,
    measure: str = "accuracy",
    forgetting: str | None = None,
    post_hoc: str = "wilcoxon_holm",
    alpha: float = 0.05,
) -> Ranking:
    """Rank the learners of several runs over their streams.

    A learner has one number a stream: the mean over the folds of the last reading, and over runs of the same stream.
    Folds are never taken for streams. Runs of one stream may hold different learners.

    Parameters
    ----------
    results
        What evaluations found, of the same learners on different streams.
    measure
        What to compare.
    forgetting
        Of which forgetting to take the readings, as they name it. By default ``Landmark()``, or the only one.
    post_hoc
        The test of the pairs: one of `POST_HOCS`. What a test of mean ranks says of two learners depends on which
        others are ranked with them; ``wilcoxon_holm`` looks at the two alone.
    alpha
        The level.

    Examples
    --------
    >>> import streamgauge as sg
    >>> learners = {"tree": sg.HoeffdingTree(), "majority": sg.MajorityClass()}
    >>> runs = [sg.evaluate(sg.SEA(n_rows=2000, seed=seed), learners) for seed in range(3)]
    >>> rank(runs).order
    ('tree', 'majority')
    """
    runs = list(results) if isinstance(results, Iterable) else []
    if not runs:
        msg = "a ranking is over the results of several evaluations: give them all, as in rank([first, second])"
        raise StreamgaugeError(msg)
    cells: dict[str, dict[str, list[float]]] = {}
    greater_is_better, unit = True, RATE
    for run in runs:
        if not isinstance(run, RunData):
            msg = f"{run!r} is no results; give those of several evaluations, as in rank([first, second])"
            raise StreamgaugeError(msg)
        if measure not in run.measures:
            raise unknown_name(kind="measure", name=measure, known=run.measures)
        greater_is_better, unit = run.greater_is_better(measure), run.unit(measure)
        chosen = choose_forgetting(run.forgettings, forgetting)
        row = cells.setdefault(_stream_name(run), {})
        for learner in run.learners:
            row.setdefault(learner, []).append(_last(run, learner, measure, chosen))
    learners = list(dict.fromkeys(learner for row in cells.values() for learner in row))
    for stream, row in cells.items():
        missing = [learner for learner in learners if learner not in row]
        if missing:
            msg = f"{missing[0]} was not evaluated on {stream}, as others were: evaluate it there, or leave one out"
            raise StreamgaugeError(msg)
    values = [[float(np.mean(row[learner])) for learner in learners] for row in cells.values()]
    return rank_table(
        np.array(values).reshape(len(cells), len(learners)),
        learners,
        list(cells),
        measure=measure,
        greater_is_better=greater_is_better,
        unit=unit,
        post_hoc=post_hoc,
        alpha=alpha,
    )


def rank_table(
    values: ArrayLike,
    learners: Sequence[str],
    streams: Sequence[str] | None = None,
    *,
    measure: str = "accuracy",
    greater_is_better: bool = True,
    unit: str = RATE,
    post_hoc: str = "wilcoxon_holm",
    alpha: float = 0.05,
) -> Ranking:
    """Rank learners by a table of values, one per stream and learner; see `rank`.

    Examples
    --------
    >>> ranking = rank_table([[0.1, 0.3], [0.2, 0.4]], ["a", "b"], measure="error", greater_is_better=False)
    >>> ranking.order, ranking.pairs[0].wins
    (('a', 'b'), 2)
    """
    require_between("alpha", alpha, 0.0, 1.0, open_high=True)
    if post_hoc not in POST_HOCS:
        raise unknown_name(kind="post-hoc test", name=post_hoc, known=POST_HOCS)
    if np.ndim(values) != 2:
        msg = f"a ranking is of a table of streams by learners, not of an array of shape {np.shape(values)}"
        raise StreamgaugeError(msg)
    outcome = friedman(values)
    table = np.asarray(values, dtype=np.float64)
    names = tuple(streams) if streams is not None else tuple(f"stream {i + 1}" for i in range(len(table)))
    if table.shape != (len(names), len(learners)) or len(set(learners)) < len(learners):
        msg = f"a table of shape {table.shape} needs as many names: {len(names)} streams, {len(set(learners))} learners"
        raise StreamgaugeError(msg)
    ranks = ranks_of(table, greater_is_better=greater_is_better)
    pairs = _pairs(table if greater_is_better else -table, ranks.mean(axis=0), learners, post_hoc, alpha)
    if not greater_is_better:
        pairs = tuple(RankedPair(*_facts(pair), -pair.difference, pair.p_value, pair.adjusted) for pair in pairs)
    return Ranking(
        learners=tuple(learners),
        streams=names,
        values=table,
        ranks=ranks,
        friedman=outcome,
        critical_difference=critical_difference(len(learners), len(table), alpha=alpha),
        pairs=pairs,
        post_hoc=post_hoc,
        alpha=alpha,
        measure=measure,
        greater_is_better=greater_is_better,
        warnings=tuple(_warnings(len(table), len(learners), post_hoc, alpha)),
        unit=unit,
    )


def _facts(pair: RankedPair) -> tuple[str, str, int, int, int]:
    return pair.first, pair.second, pair.wins, pair.ties, pair.losses


def _pairs(
    table: NDArray[np.float64], mean_ranks: NDArray[np.float64], learners: Sequence[str], post_hoc: str, alpha: float
) -> tuple[RankedPair, ...]:
    """Test every pair, where greater is better."""
    places = list(combinations(range(len(learners)), 2))
    upper = np.triu_indices(len(learners), 1)
    differences = [table[:, i] - table[:, j] for i, j in places]
    if post_hoc == "nemenyi":
        single = np.full(len(places), np.nan)
        adjusted = nemenyi_p_values(mean_ranks, len(table))[upper]
    elif post_hoc == "wilcoxon_holm":
        single = np.array([wilcoxon(values, alpha=alpha).p_value for values in differences])
        adjusted = holm(single)
    else:
        adjust: Callable[[ArrayLike], NDArray[np.float64]] = shaffer if post_hoc == "ranks_shaffer" else holm
        single = mean_rank_p_values(mean_ranks, len(table))[upper]
        adjusted = adjust(single)
    found = []
    for (i, j), values, p_value, for_all in zip(places, differences, single, adjusted, strict=True):
        tied = np.abs(values) <= slack(table)
        wins, ties = int(((values > 0) & ~tied).sum()), int(tied.sum())
        counts = (wins, ties, len(values) - wins - ties)
        found.append(
            RankedPair(learners[i], learners[j], *counts, float(values.mean()), float(p_value), float(for_all))
        )
    return tuple(found)


def _warnings(n_streams: int, n_learners: int, post_hoc: str, alpha: float) -> list[str]:
    n_pairs = n_learners * (n_learners - 1) // 2
    least = n_pairs * 2.0 ** (1 - n_streams)
    if post_hoc == "wilcoxon_holm" and least > alpha:
        return [
            f"with {n_streams} streams and {count(n_pairs, 'pair')} no adjusted p-value can be below"
            f" {min(least, 1.0):.2g} at first, so alpha = {alpha:g} is out of reach: evaluate on more streams"
        ]
    if post_hoc != "wilcoxon_holm" and n_streams < 10:
        return [f"tests of mean ranks are approximations that {n_streams} streams are few for"]
    return []


def _stream_name(run: RunData) -> str:
    stream = run.description.get("stream")
    name = stream.get("name") if isinstance(stream, Mapping) else stream
    if not isinstance(name, str):
        msg = "the results do not name their stream, so they cannot be ranked: use rank_table with names of your own"
        raise StreamgaugeError(msg)
    return name


def _last(run: RunData, learner: str, measure: str, forgetting: str) -> float:
    curve = run.curve(learner, measure, forgetting)[-1:]
    if not len(curve) or np.isnan(curve).any():
        msg = f"{measure} of {learner} on {_stream_name(run)} is undefined in some fold after the last row"
        raise StreamgaugeError(msg)
    return float(curve.mean())


def _largest_groups(alike: Mapping[str, set[str]]) -> list[set[str]]:
    """Find the largest sets of names that are all alike (Bron and Kerbosch)."""
    found: list[set[str]] = []

    def grow(group: set[str], open_to: set[str], done: set[str]) -> None:
        if not open_to and not done:
            found.append(group)
            return
        pivot = max(open_to | done, key=lambda name: len(alike[name] & open_to))
        for name in sorted(open_to - alike[pivot]):
            grow(group | {name}, open_to & alike[name], done & alike[name])
            open_to = open_to - {name}
            done = done | {name}

    grow(set(), set(alike), set())
    return found
