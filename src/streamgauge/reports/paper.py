"""The tables of a paper: for each measure the mean of each learner on each stream, with its deviation and marks."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.numbers import format_p_term, format_spread, format_value, label_measure
from streamgauge._format.text import count, describe_forgetting, join_words, shorten_stream_names
from streamgauge.errors import StreamgaugeError
from streamgauge.records import RunData
from streamgauge.reports.model import Cell, Document, Grid, Section
from streamgauge.significance import Ranking, compare_all, rank
from streamgauge.significance.compare import LANDMARK, choose_forgetting
from streamgauge.significance.ranking import choose_value, read_fold_values
from streamgauge.significance.seeds import compare_with_best, have_same_rows
from streamgauge.significance.setups import group_by_stream, name_stream, require_same_setup

__all__ = ["build_paper_tables", "shorten_streams"]


def build_paper_tables(
    runs: Sequence[RunData],
    *,
    measures: Sequence[str] | None = None,
    forgetting: str | None = None,
    alpha: float = 0.05,
    post_hoc: str = "wilcoxon_holm",
    value: str | None = None,
    control: str | None = None,
) -> Document:
    """Return a table for each measure: the mean of each learner on each stream with its deviation, and mean ranks.

    The deviation is over the seeds if a stream has several runs, else over the folds. The best of a stream is bold; a
    circle marks learners that are not significantly worse than it on that stream, by one test over all of its runs:
    see `streamgauge.significance.compare_with_best`.

    Parameters
    ----------
    runs, measures, forgetting, alpha, post_hoc, value, control
        As for `write_paper`.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> runs = [evaluate(stream, ["NaiveBayes", "NoChange"], n_rows=1000) for stream in ("SEA", "RandomRBF", "LED")]
    >>> (section,) = build_paper_tables(runs).sections
    >>> (table,) = section.blocks
    >>> table.columns, [name for name, _ in table.rows]
    (('stream', 'NaiveBayes', 'NoChange'), ['SEA', 'RandomRBF', 'LED', 'mean rank'])
    """
    require_same_setup(runs, forgetting=forgetting)
    known = [measure for measure in runs[0].measures if all(measure in run.measures for run in runs)]
    chosen = known if measures is None else list(measures)
    by_stream = group_by_stream(runs)
    learners = tuple(dict.fromkeys(learner for run in runs for learner in run.learners))
    sections = []
    for measure in chosen:
        ranking = None
        if len(by_stream) > 1 and len(learners) > 1:
            ranking = rank(
                runs,
                measure=measure,
                forgetting=forgetting,
                alpha=alpha,
                post_hoc=post_hoc,
                value=value,
                control=control,
            )
        options = (forgetting, value, alpha)
        grid = _build_table(by_stream, learners, measure, options, ranking)
        sections.append(Section("", (grid,), tuple(f"Note: {text}" for text in ranking.warnings) if ranking else ()))
    title = f"{count(len(learners), 'learner')} on {count(len(by_stream), 'stream')}"
    return Document(title, f"written by streamgauge {version('streamgauge')}.", tuple(sections))


def _build_table(
    by_stream: Mapping[str, Sequence[RunData]],
    learners: Sequence[str],
    measure: str,
    options: tuple[str | None, str | None, float],
    ranking: Ranking | None,
) -> Grid:
    forgetting, value, alpha = options
    first = next(iter(by_stream.values()))[0]
    unit, greater = first.unit(measure), first.greater_is_better(measure)
    rows: list[tuple[str, tuple[Cell, ...]]] = []
    tests: list[str] = []
    for name, of_stream in zip(shorten_streams(list(by_stream)), by_stream.values(), strict=True):
        means, spreads = _summarise(of_stream, learners, measure, forgetting, value)
        top = max(means.values()) if greater else min(means.values())
        best = next(name for name in learners if means[name] == top)
        equal, how = _find_equal(of_stream, best, measure, forgetting, alpha, value)
        tests.append(how)
        shown = format_value(top, unit)  # what looks equal is bold on both sides
        cells = tuple(
            Cell(
                format_value(means[learner], unit),
                format_spread(spreads[learner], unit),
                best=format_value(means[learner], unit) == shown,
                equal=learner in equal and format_value(means[learner], unit) != shown,
            )
            for learner in learners
        )
        rows.append((name, cells))
    if ranking is not None:
        by_name = dict(zip(ranking.learners, ranking.mean_ranks.tolist(), strict=True))
        ranks = tuple(Cell(f"{by_name[name]:.2f}", best=by_name[name] == min(by_name.values())) for name in learners)
        rows.append(("mean rank", ranks))
    title = f"{label_measure(measure, unit)} {_describe_value(first, forgetting, value)}"
    how = _describe_marks(tests, len(learners), alpha)
    note = _describe_table(list(by_stream.values()), ranking, how)
    return Grid(title, ("stream", *learners), tuple(rows), note, n_summary=0 if ranking is None else 1)


def _describe_marks(tests: Sequence[str], n_learners: int, alpha: float) -> str:
    """Return how learners were tested against the best, from how they were on each stream; empty if on one not."""
    if not all(tests):
        return ""
    n_pairs = n_learners * (n_learners - 1) // 2
    adjusted = {
        True: f"Bonferroni over the {count(n_learners - 1, 'comparison')} with the best",
        False: f"Holm over {n_pairs} pairs",
    }
    return ", or ".join(
        f"{how}, level {alpha:g}" + (f", {adjusted['one-sided' in how]}" if n_learners > 2 else "")
        for how in dict.fromkeys(tests)
    )


def _describe_value(run: RunData, forgetting: str | None, value: str | None) -> str:
    chosen = choose_forgetting(run.forgettings, forgetting)
    phrase = describe_forgetting(chosen)
    return phrase if choose_value(chosen, value) == "last" else f"{phrase}, mean of the readings over the stream"


def _describe_table(by_stream: Sequence[Sequence[RunData]], ranking: Ranking | None, how: str) -> str:
    """Return the end of the caption: what deviations, bold numbers and circles mean, and the test over streams.

    `how` says how differences on one stream were tested; empty if they were not.
    """
    seeds = max(map(len, by_stream))
    n_folds = max(run.n_folds for runs in by_stream for run in runs)
    of = f"{seeds} seeds" if seeds > 1 else f"{n_folds} folds"
    parts = [f"Mean and standard deviation over {of}" if seeds > 1 or n_folds > 1 else ""]
    same = [name_stream(runs[0]) for runs in by_stream if len(runs) > 1 and have_same_rows(runs)]
    if same:
        whose = "all streams" if len(same) == len(by_stream) else join_words(shorten_streams(same))
        parts.append(f"The rows of {whose} are the same for all seeds, so there only the seeds of learners differ")
    parts.append("Bold: best of a stream")
    if how:
        parts.append(f"°: not significantly worse than the best on that stream ({how})")
    if ranking is not None:
        parts += describe_ranking_tests(ranking)
    return ". ".join(filter(None, parts)) + "."


def describe_ranking_tests(ranking: Ranking) -> list[str]:
    """Return what Friedman's test and the tests of pairs say, in two sentences without full stops.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> describe_ranking_tests(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"]))
    ['Friedman test over 2 streams: χ²(1) = 2.00, exact p = 0.5000', 'No pair differs significantly over streams']
    """
    test, k, n = ranking.friedman, len(ranking.learners), len(ranking.streams)
    if test.exact_p is not None:
        outcome = f"χ²({k - 1}) = {test.chi_square:.2f}, exact p"
    else:
        outcome = f"F({k - 1}, {(k - 1) * (n - 1)}) = {test.iman_davenport:.2f}, p"
    claims = [(better, pair) for pair in ranking.pairs if (better := ranking.better(pair)) is not None]
    differ = [f"{better} over {pair.second if better == pair.first else pair.first}" for better, pair in claims]
    none = (
        f"No learner differs significantly from {ranking.control}"
        if ranking.control
        else "No pair differs significantly"
    )
    return [
        f"Friedman test over {count(n, 'stream')}: {outcome} {format_p_term(test.best_p)}",
        f"Significantly better over streams: {join_words(differ)}" if differ else f"{none} over streams",
    ]


def _summarise(
    runs: Sequence[RunData], learners: Sequence[str], measure: str, forgetting: str | None, value: str | None
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the mean and the standard deviation of each learner over the seeds of a stream, or the folds of a run."""
    by_run = [read_fold_values(run, measure, forgetting, value) for run in runs]
    missing = next((name for name in learners if any(name not in of_run for of_run in by_run)), None)
    if missing is not None:
        msg = f"{missing} was not evaluated on {name_stream(runs[0])}: evaluate it there or leave it out"
        raise StreamgaugeError(msg)
    values: dict[str, NDArray[np.float64]] = {
        name: by_run[0][name] if len(runs) == 1 else np.array([of_run[name].mean() for of_run in by_run])
        for name in learners
    }
    spreads = {name: float(own.std(ddof=1)) if len(own) > 1 else float("nan") for name, own in values.items()}
    return {name: float(own.mean()) for name, own in values.items()}, spreads


def _find_equal(
    runs: Sequence[RunData], best: str, measure: str, forgetting: str | None, alpha: float, value: str | None
) -> tuple[frozenset[str], str]:
    """Return the learners that are not significantly worse than the best of a stream, and how that was tested.

    How is empty if it cannot be tested.
    """
    run = runs[0]
    try:
        chosen = choose_forgetting(run.forgettings, forgetting)
        if len(runs) > 1:
            over = compare_with_best(runs, best, measure=measure, forgetting=chosen, value=value)
            how = "t-tests over seeds and rows" if have_same_rows(runs) else "paired t-tests over the seeds"
            how = f"one-sided {how}"
            return frozenset(test.learner for test in over if test.adjusted > alpha), how
        tests = compare_all(run, measure=measure, alpha=alpha, forgetting=None if chosen == LANDMARK else chosen)
    except StreamgaugeError:
        return frozenset(), ""
    against = [test for test in tests if best in (test.first, test.second)]
    equal = frozenset(test.second if test.first == best else test.first for test in against if test.better != best)
    return equal, "two-way t" if against else ""


def shorten_streams(streams: Sequence[str]) -> list[str]:
    """Return the names of streams without options, except where two would be equal.

    Examples
    --------
    >>> shorten_streams(["SEA(noise=0.1)", "LED()", "LED(noise=0.2)"])
    ['SEA', 'LED()', 'LED(noise=0.2)']
    """
    names = shorten_stream_names(streams)
    plain = [name.partition("(")[0] for name in names]
    return [short if plain.count(short) == 1 else name for short, name in zip(plain, names, strict=True)]
