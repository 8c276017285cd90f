"""Rankings of many learners over many streams, with the tests of their ranks and pairs."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge._format.numbers import RATE
from streamgauge._format.text import count, join_words, strip_seeds
from streamgauge.errors import StreamgaugeError, require_between, unknown_name
from streamgauge.records import RunData
from streamgauge.significance.compare import LANDMARK, choose_forgetting
from streamgauge.significance.corrections import bergmann_hommel, holm, shaffer
from streamgauge.significance.fold_tests import equality_tolerance, wilcoxon
from streamgauge.significance.rank_tests import (
    Friedman,
    critical_difference,
    friedman,
    mean_rank_p_values,
    nemenyi_p_values,
    ranks_of,
)
from streamgauge.significance.setups import name_stream, require_same_setup

__all__ = [
    "POST_HOCS",
    "VALUES",
    "RankedPair",
    "Ranking",
    "check_value",
    "choose_value",
    "count_needed_streams",
    "diagram_text",
    "rank",
    "rank_table",
    "read_fold_values",
]

POST_HOCS = {
    "wilcoxon_holm": "exact Wilcoxon over streams, Holm-adjusted",
    "ranks_holm": "normal test of mean ranks, Holm-adjusted",
    "ranks_shaffer": "normal test of mean ranks, Shaffer-adjusted",
    "ranks_bergmann_hommel": "normal test of mean ranks, Bergmann-Hommel-adjusted (at most 9 learners)",
    "nemenyi": "Nemenyi's test of mean ranks",
}
"""The post-hoc tests of pairs, and their descriptions."""

VALUES = {"last": "after the last row", "mean": "as the mean of its readings over the stream"}
"""Which value of a learner on a stream is ranked, in words."""

_CORRECTIONS: dict[str, Callable[[ArrayLike], NDArray[np.float64]]] = {
    "wilcoxon_holm": holm,
    "ranks_holm": holm,
    "ranks_shaffer": shaffer,
    "ranks_bergmann_hommel": bergmann_hommel,
}


@dataclass(frozen=True)
class RankedPair:
    """A pair of learners compared over streams.

    Parameters
    ----------
    first, second
        Names of the learners.
    wins, ties, losses
        On how many streams the first is better, equally good, and worse.
    difference
        The mean over streams of first minus second.
    p_value
        The p-value of the test of this pair alone; NaN for Nemenyi's test, which has none.
    adjusted
        The p-value adjusted for all pairs that were tested; NaN if this one was not.

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
    """The ranks of learners over independent streams.

    Parameters
    ----------
    learners, streams
        Their names.
    values
        The values that were ranked, float64 [streams, learners].
    ranks
        The rank of each learner on each stream, 1 for the best, float64 [streams, learners].
    friedman
        The test that all learners have the same mean rank.
    critical_difference
        The critical difference of mean ranks of Nemenyi's test.
    pairs
        Every pair of learners.
    post_hoc
        The test of the pairs, one of `POST_HOCS`.
    alpha, measure, greater_is_better
        The level, what was compared, and whether a greater value is better.
    warnings
        Caveats for the interpretation.
    unit
        The unit of the measure.
    value
        Which value on a stream was ranked, one of `VALUES`; empty for a table of values.
    control
        The learner that alone was compared with the others; empty if all pairs were.

    Examples
    --------
    >>> ranking = rank_table([[0.9, 0.7], [0.8, 0.6], [0.9, 0.8]], ["tree", "bayes"])
    >>> ranking.mean_ranks.tolist(), ranking.order
    ([1.0, 2.0], ('tree', 'bayes'))
    >>> ranking.wins.tolist()
    [[0, 3], [0, 0]]
    >>> print(ranking)
    Mean ranks by accuracy on 3 streams: tree 1.00, bayes 2.00. No two differ at level 0.05.
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
    value: str = ""
    control: str = ""

    @property
    def subject(self) -> str:
        """What was ranked: the measure, and which value of it."""
        return f"{self.measure} {VALUES[self.value]}" if self.value else self.measure

    @property
    def mean_ranks(self) -> NDArray[np.float64]:
        """The mean rank of each learner, float64 [learners]."""
        means: NDArray[np.float64] = self.ranks.mean(axis=0)
        return means

    @property
    def order(self) -> tuple[str, ...]:
        """The learners, best mean rank first."""
        return tuple(self.learners[i] for i in np.argsort(self.mean_ranks, kind="stable"))

    @property
    def best(self) -> tuple[str, ...]:
        """The learners with the best mean rank: several if they share it."""
        means = self.mean_ranks
        return tuple(name for name in self.order if np.isclose(means[self.learners.index(name)], means.min()))

    @property
    def wins(self) -> NDArray[np.int64]:
        """On how many streams the learner of the row beats that of the column, int64 [learners, learners]."""
        return self._tabulate(lambda pair: (pair.wins, pair.losses))

    @property
    def ties(self) -> NDArray[np.int64]:
        """On how many streams two learners are equally good, int64 [learners, learners]."""
        return self._tabulate(lambda pair: (pair.ties, pair.ties))

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The maximal sets of two or more learners without a significant difference; the best first.

        With a control, that of the control and what does not differ from it.
        """
        position = {name: i for i, name in enumerate(self.order)}
        neighbours: dict[str, set[str]] = {name: set() for name in self.order}
        for pair in self.pairs:
            if pair.adjusted > self.alpha:
                neighbours[pair.first].add(pair.second)
                neighbours[pair.second].add(pair.first)
        if self.control:
            members = sorted({self.control, *neighbours[self.control]}, key=position.__getitem__)
            return (tuple(members),) if len(members) > 1 else ()
        groups = [sorted(group, key=position.__getitem__) for group in _find_cliques(neighbours) if len(group) > 1]
        return tuple(tuple(group) for group in sorted(groups, key=lambda group: [position[name] for name in group]))

    def better(self, pair: RankedPair) -> str | None:
        """Return the name of the better learner of a pair; None if no difference can be claimed."""
        if not pair.adjusted <= self.alpha:  # NaN if it was not tested
            return None
        if self.post_hoc == "wilcoxon_holm":
            i, j = self.learners.index(pair.first), self.learners.index(pair.second)
            direction = wilcoxon(self.values[:, i] - self.values[:, j]).direction
            ahead = direction > 0 if self.greater_is_better else direction < 0
        else:
            means = _map_mean_ranks(self)
            ahead = means[pair.first] < means[pair.second]
        return pair.first if ahead else pair.second

    @property
    def sentence(self) -> str:
        """The outcome as English sentences."""
        means = _map_mean_ranks(self)
        ranked = ", ".join(f"{name} {means[name]:.2f}" for name in self.order)
        claims = [
            f"{better} is better than {pair.second if better == pair.first else pair.first}"
            for pair in self.pairs
            if (better := self.better(pair)) is not None
        ]
        none = f"None differs from {self.control}" if self.control else "No two differ"
        outcome = f"At level {self.alpha:g} {join_words(claims)}" if claims else f"{none} at level {self.alpha:g}"
        return f"Mean ranks by {self.subject} on {count(len(self.streams), 'stream')}: {ranked}. {outcome}."

    def __repr__(self) -> str:
        return self.sentence

    def _tabulate(self, count_streams: Callable[[RankedPair], tuple[int, int]]) -> NDArray[np.int64]:
        table = np.zeros((len(self.learners), len(self.learners)), dtype=np.int64)
        for (i, j), pair in zip(combinations(range(len(self.learners)), 2), self.pairs, strict=True):
            table[i, j], table[j, i] = count_streams(pair)
        return table


def rank(
    results: Iterable[RunData],
    *,
    measure: str = "accuracy",
    forgetting: str | None = None,
    post_hoc: str = "wilcoxon_holm",
    alpha: float = 0.05,
    value: str | None = None,
    control: str | None = None,
) -> Ranking:
    """Rank the learners of several runs over their streams.

    A learner has one number per stream: its last reading, or the mean of all its readings, averaged over the folds and
    over runs of the same stream. Folds never count as streams. Runs of one stream may have different learners.

    Parameters
    ----------
    results
        The results of evaluations of the same learners on different streams.
    measure
        What to compare.
    forgetting
        The name of the forgetting whose readings to use. By default ``Landmark()``, or the only one.
    post_hoc
        The test of the pairs: one of `POST_HOCS`. The outcome of a test of mean ranks depends on which other learners
        are ranked too; ``wilcoxon_holm`` compares the two alone.
    alpha
        The level.
    value
        ``last`` for the value after the last row, ``mean`` for the mean of the readings over the stream, where readings
        that are undefined for a learner of the run are left out. None for the value over the stream: the last one over
        all rows (`Landmark`), the mean under any other forgetting, whose last value covers the last rows only.
    control
        A learner, such as a new one, that alone is compared with the others: k - 1 tests in place of k (k - 1) / 2,
        so that fewer streams are needed.

    Examples
    --------
    >>> import streamgauge as sg
    >>> learners = {"tree": sg.HoeffdingTree(), "majority": sg.MajorityClass()}
    >>> runs = [sg.evaluate(sg.SEA(n_rows=2000, seed=seed), learners) for seed in range(3)]
    >>> rank(runs).order
    ('tree', 'majority')
    >>> print(rank(runs, value="mean").sentence[:71])
    Mean ranks by accuracy as the mean of its readings over the stream on 3
    """
    runs = list(results) if isinstance(results, Iterable) else []
    if not runs:
        msg = "a ranking needs the results of several evaluations, as in rank([first, second])"
        raise StreamgaugeError(msg)
    check_value(value)
    ranked = value
    if all(isinstance(run, RunData) for run in runs):
        require_same_setup(runs, forgetting=forgetting)
    cells: dict[str, dict[str, list[float]]] = {}
    greater_is_better, unit = True, RATE
    for run in runs:
        if not isinstance(run, RunData):
            msg = f"{run!r} is not Results; pass those of several evaluations, as in rank([first, second])"
            raise StreamgaugeError(msg)
        if measure not in run.measures:
            raise unknown_name(kind="measure", name=measure, known=run.measures)
        greater_is_better, unit = run.greater_is_better(measure), run.unit(measure)
        chosen = choose_forgetting(run.forgettings, forgetting)
        row = cells.setdefault(name_stream(run), {})
        ranked = choose_value(chosen, value)
        for learner, values_of_folds in read_fold_values(run, measure, chosen, ranked).items():
            row.setdefault(learner, []).append(float(values_of_folds.mean()))
    learners = list(dict.fromkeys(learner for row in cells.values() for learner in row))
    _check_complete(cells, learners)
    values = [[float(np.mean(row[learner])) for learner in learners] for row in cells.values()]
    ranking = rank_table(
        np.array(values).reshape(len(cells), len(learners)),
        learners,
        list(cells),
        measure=measure,
        greater_is_better=greater_is_better,
        unit=unit,
        post_hoc=post_hoc,
        alpha=alpha,
        control=control,
    )
    return replace(ranking, value=ranked or "", warnings=(*ranking.warnings, *_warn_of_seeds(cells)))


def choose_value(forgetting: str, value: str | None) -> str:
    """Return which value is ranked: the one that was asked for, else the one over the stream.

    Examples
    --------
    >>> choose_value("Landmark()", None), choose_value("Window(width=50)", None)
    ('last', 'mean')
    """
    return value or ("last" if forgetting == LANDMARK else "mean")


def check_value(value: str | None) -> None:
    """Raise if a name is none of `VALUES`; None stands for the usual one.

    Examples
    --------
    >>> check_value("mean")
    """
    if value is not None and value not in VALUES:
        raise unknown_name(kind="value to rank", name=value, known=VALUES)


def rank_table(  # noqa: PLR0913
    values: ArrayLike,
    learners: Sequence[str],
    streams: Sequence[str] | None = None,
    *,
    measure: str = "accuracy",
    greater_is_better: bool = True,
    unit: str = RATE,
    post_hoc: str = "wilcoxon_holm",
    alpha: float = 0.05,
    control: str | None = None,
) -> Ranking:
    """Rank learners by a table of values [streams, learners]; see `rank`.

    Examples
    --------
    >>> ranking = rank_table([[0.1, 0.3], [0.2, 0.4]], ["a", "b"], measure="error", greater_is_better=False)
    >>> ranking.order, ranking.pairs[0].wins
    (('a', 'b'), 2)
    """
    require_between("alpha", alpha, 0.0, 1.0, open_high=True)
    if post_hoc not in POST_HOCS:
        raise unknown_name(kind="post-hoc test", name=post_hoc, known=POST_HOCS)
    if control is not None:
        _check_control(control, learners, post_hoc)
    if np.ndim(values) != 2:
        msg = f"a ranking needs a table [streams, learners], not an array of shape {np.shape(values)}"
        raise StreamgaugeError(msg)
    outcome = friedman(values)
    table = np.asarray(values, dtype=np.float64)
    names = tuple(streams) if streams is not None else tuple(f"stream {i + 1}" for i in range(len(table)))
    if table.shape != (len(names), len(learners)) or len(set(learners)) < len(learners):
        msg = (
            f"a table of shape {table.shape} does not match the names of {len(names)} streams"
            f" and {len(set(learners))} distinct learners"
        )
        raise StreamgaugeError(msg)
    ranks = ranks_of(table, greater_is_better=greater_is_better)
    pairs = _compare_pairs(
        table if greater_is_better else -table, ranks.mean(axis=0), learners, post_hoc, alpha, control
    )
    if not greater_is_better:
        pairs = tuple(replace(pair, difference=-pair.difference) for pair in pairs)
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
        warnings=tuple(_list_warnings(len(table), len(learners), post_hoc, alpha, control)),
        unit=unit,
        control=control or "",
    )


def _check_control(control: str, learners: Sequence[str], post_hoc: str) -> None:
    if control not in learners:
        raise unknown_name(kind="learner", name=control, known=learners)
    if not post_hoc.endswith("_holm"):
        msg = f"{post_hoc} compares all pairs: with a control use wilcoxon_holm or ranks_holm"
        raise StreamgaugeError(msg)


def _compare_pairs(
    table: NDArray[np.float64],
    mean_ranks: NDArray[np.float64],
    learners: Sequence[str],
    post_hoc: str,
    alpha: float,
    control: str | None,
) -> tuple[RankedPair, ...]:
    """Test every pair, or those with the control; greater values are better."""
    indices = list(combinations(range(len(learners)), 2))
    upper = np.triu_indices(len(learners), 1)
    differences = [table[:, i] - table[:, j] for i, j in indices]
    if post_hoc == "nemenyi":
        single = np.full(len(indices), np.nan)
        adjusted = nemenyi_p_values(mean_ranks, len(table))[upper]
    elif post_hoc == "wilcoxon_holm":
        single = np.array([wilcoxon(values, alpha=alpha).p_value for values in differences])
    else:
        single = mean_rank_p_values(mean_ranks, len(table))[upper]
    if post_hoc != "nemenyi":
        tested = np.array([control is None or control in (learners[i], learners[j]) for i, j in indices])
        single = np.where(tested, single, np.nan)
        adjusted = single.copy()
        adjusted[tested] = _CORRECTIONS[post_hoc](single[tested])
    pairs = []
    for (i, j), values, p_value, adjusted_p in zip(indices, differences, single, adjusted, strict=True):
        tied = np.abs(values) <= equality_tolerance(table)
        wins, ties = int(((values > 0) & ~tied).sum()), int(tied.sum())
        pair = RankedPair(
            first=learners[i],
            second=learners[j],
            wins=wins,
            ties=ties,
            losses=len(values) - wins - ties,
            difference=float(values.mean()),
            p_value=float(p_value),
            adjusted=float(adjusted_p),
        )
        pairs.append(pair)
    return tuple(pairs)


def count_needed_streams(n_pairs: int, alpha: float = 0.05) -> int:
    """Return the least number of streams on which exact Wilcoxon tests of some pairs can be significant at all.

    The least p-value on N streams is ``2 ** (1 - N)``, which Holm's procedure multiplies by the number of pairs.

    Examples
    --------
    >>> count_needed_streams(10), count_needed_streams(4), 10 * 2 ** (1 - 9) <= 0.05 < 10 * 2 ** (1 - 8)
    (9, 8, True)
    """
    return next(n for n in range(1, 2000) if n_pairs * 2.0 ** (1 - n) <= alpha)


def _list_warnings(n_streams: int, n_learners: int, post_hoc: str, alpha: float, control: str | None) -> list[str]:
    n_pairs = n_learners - 1 if control else n_learners * (n_learners - 1) // 2
    least, needed = n_pairs * 2.0 ** (1 - n_streams), count_needed_streams(n_pairs, alpha)
    if post_hoc == "wilcoxon_holm" and n_streams < needed:
        fewer = count_needed_streams(n_learners - 1, alpha)
        against = f", or {max(fewer, 2)} to compare one learner (control) with the others" if fewer < needed else ""
        return [
            f"with {n_streams} streams and {count(n_pairs, 'pair')} the smallest possible adjusted p-value is"
            f" {min(least, 1.0):.2g}, above alpha = {alpha:g}: at least {needed} streams are needed{against}"
        ]
    if post_hoc != "wilcoxon_holm" and n_streams < 10:
        return [f"tests of mean ranks are approximate, and poor for only {n_streams} streams"]
    return []


def _check_complete(cells: Mapping[str, Mapping[str, object]], learners: Sequence[str]) -> None:
    """Raise if a stream has no name, or a learner was not evaluated on it."""
    for stream, row in cells.items():
        missing = [learner for learner in learners if learner not in row]
        if not stream:
            msg = "the results do not name their stream, so they cannot be ranked: use rank_table and pass names"
            raise StreamgaugeError(msg)
        if missing:
            msg = (
                f"{missing[0]} was not evaluated on {stream}, unlike other learners: evaluate it there or leave it out"
            )
            raise StreamgaugeError(msg)


def _warn_of_seeds(streams: Iterable[str]) -> list[str]:
    """Return a warning if streams differ in their seeds only, since they are then no independent streams."""
    alike = Counter(map(strip_seeds, streams))
    return [
        f"{n} of the streams are {name} with other seeds: unless these change its concept they repeat one stream, and p"
        " is too small; give the run the seed of the stream, and they count as one"
        for name, n in alike.items()
        if n > 1
    ]


def read_fold_values(
    run: RunData, measure: str, forgetting: str | None = None, value: str | None = None
) -> dict[str, NDArray[np.float64]]:
    """Return the value of each learner in each fold, as `rank` averages them.

    Examples
    --------
    >>> import streamgauge as sg
    >>> run = sg.evaluate("SEA(n_rows=500)", "NaiveBayes", scheme="Bootstrap(5)")
    >>> read_fold_values(run, "accuracy")["NaiveBayes"].shape
    (5,)
    """
    forgetting = choose_forgetting(run.forgettings, forgetting)
    value = choose_value(forgetting, value)
    curves = {learner: run.curve(learner, measure, forgetting) for learner in run.learners}
    if value == "last":
        curves = {learner: curve[-1:] for learner, curve in curves.items()}
        where = "after the last row"
    else:
        defined = np.logical_and.reduce([np.isfinite(curve).all(axis=1) for curve in curves.values()])
        if defined.any():
            curves = {learner: curve[defined] for learner, curve in curves.items()}
        where = "at every reading at which the other learners have a value"
    for learner, curve in curves.items():
        if not len(curve) or np.isnan(curve).any():
            msg = f"{measure} of {learner} on {name_stream(run)} is undefined in some fold {where}"
            raise StreamgaugeError(msg)
    return {learner: np.asarray(curve.mean(axis=0)) for learner, curve in curves.items()}


def _map_mean_ranks(ranking: Ranking) -> dict[str, float]:
    return dict(zip(ranking.learners, ranking.mean_ranks.tolist(), strict=True))


def _find_cliques(neighbours: Mapping[str, set[str]]) -> list[set[str]]:
    """Return the maximal sets of names that are all neighbours (Bron and Kerbosch)."""
    cliques: list[set[str]] = []

    def grow(clique: set[str], candidates: set[str], excluded: set[str]) -> None:
        if not candidates and not excluded:
            cliques.append(clique)
            return
        pivot = max(candidates | excluded, key=lambda name: len(neighbours[name] & candidates))
        for name in sorted(candidates - neighbours[pivot]):
            grow(clique | {name}, candidates & neighbours[name], excluded & neighbours[name])
            candidates = candidates - {name}
            excluded = excluded | {name}

    grow(set(), set(neighbours), set())
    return cliques


def diagram_text(ranking: Ranking, *, width: int = 60) -> str:
    """Return the critical-difference diagram as text, `width` characters wide without the names.

    The first lines show the mean ranks. Each bar below joins learners without a significant difference and has a dot
    for each of them; a learner without a dot on the bar does not belong to it.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> values = [[0.9, 0.68 + 0.01 * i, 0.71] for i in range(8)]
    >>> print(diagram_text(rank_table(values, ["tree", "bayes", "majority"]), width=21))
    1         2         3
    ├───────────────────┤
    ●                     1.00 tree
                  ●       2.44 bayes
                    ●     2.56 majority
                  ●─●
    """
    k, means = len(ranking.learners), _map_mean_ranks(ranking)

    def locate(mean_rank: float) -> int:
        return round((mean_rank - 1) / (k - 1) * (width - 1))

    axis = [" "] * width
    for whole in range(1, k + 1):
        label = str(whole)
        start = min(locate(whole), width - len(label))
        axis[start : start + len(label)] = label
    lines = ["".join(axis).rstrip(), "├" + "─" * (width - 2) + "┤"]
    lines += [f"{' ' * locate(means[name]) + '●':<{width}} {means[name]:.2f} {name}" for name in ranking.order]
    for group in ranking.groups:
        columns = [locate(means[name]) for name in group]
        bar = "".join("●" if i in columns else "─" for i in range(min(columns), max(columns) + 1))
        lines.append(" " * min(columns) + bar)
    return "\n".join(lines)
