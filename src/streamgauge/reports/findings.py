"""The findings and limitations of a run or a ranking, in sentences."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from streamgauge._format.numbers import (
    RATE,
    format_difference,
    format_p_term,
    format_p_value,
    format_value,
    to_difference_unit,
)
from streamgauge._format.text import count, describe_forgetting, join_words
from streamgauge.drift import AlarmScore, score_results
from streamgauge.records import RunData
from streamgauge.reports.pareto import find_pareto_points
from streamgauge.reports.series import list_series
from streamgauge.significance import BestGroup, Comparison, RankedPair, Ranking, best_group
from streamgauge.significance.requests import find_test_obstacle

__all__ = [
    "describe_abstentions",
    "describe_owed_labels",
    "find_best_groups",
    "find_shared_unit",
    "format_estimate",
    "format_interval",
    "format_such_streams",
    "group_by_pair",
    "group_by_test",
    "label_difference",
    "label_p",
    "list_findings",
    "list_limitations",
    "list_ranking_findings",
    "list_ranking_limitations",
    "turn_to_leader",
]


def group_by_pair(comparisons: Sequence[Comparison]) -> list[list[Comparison]]:
    """Return the tests of each pair of learners in one measure, the two-way t first, else in their original order.

    The first test of a pair decides its verdict, and which learner is the first: all tests of the pair are turned so
    that its difference points to the right, see `turn_to_leader`.

    Examples
    --------
    >>> group_by_pair([])
    []
    """
    pairs: dict[tuple[str, str, str], list[Comparison]] = {}
    for comparison in comparisons:
        pairs.setdefault((comparison.first, comparison.second, comparison.measure), []).append(comparison)
    ordered = [sorted(pair, key=lambda comparison: comparison.test != "two_way_t") for pair in pairs.values()]
    return [[turn_to_leader(comparison, pair[0]) for comparison in pair] for pair in ordered]


def turn_to_leader(comparison: Comparison, leading: Comparison | None = None) -> Comparison:
    """Return a comparison from the view of the learner with the greater values, so that its difference is above 0.

    The first is then the better one, or the one that is ahead; where less is better, it is the other one. With
    `leading`, that comparison of the same pair decides.

    Examples
    --------
    >>> from streamgauge.significance import mcnemar
    >>> turned = turn_to_leader(mcnemar(5, 20, 100))
    >>> turned.first, turned.difference, turned.better == mcnemar(5, 20, 100).better
    ('the second', 0.15, True)
    """
    leading = comparison if leading is None else leading
    if (leading.direction or leading.difference or 0.0) >= 0:
        return comparison
    interval, such_streams = comparison.interval, comparison.such_streams
    return replace(
        comparison,
        first=comparison.second,
        second=comparison.first,
        direction=-comparison.direction,
        difference=None if comparison.difference is None else -comparison.difference,
        interval=None if interval is None else _turn(interval),
        such_streams=None if such_streams is None else replace(such_streams, interval=_turn(such_streams.interval)),
        values=None if comparison.values is None else (comparison.values[1], comparison.values[0]),
    )


def _turn(interval: tuple[float, float]) -> tuple[float, float]:
    return -interval[1], -interval[0]


def find_shared_unit(comparisons: Sequence[Comparison]) -> str | None:
    """Return the unit of all differences; None if they have several.

    Examples
    --------
    >>> from streamgauge.significance import mcnemar
    >>> find_shared_unit([replace(mcnemar(20, 5, 100), unit="rate")]), find_shared_unit([])
    ('rate', None)
    """
    units = {comparison.unit for comparison in comparisons}
    return units.pop() if len(units) == 1 else None


def label_difference(shared: str | None) -> str:
    """Return the heading of a column of differences, with the unit that they share.

    Examples
    --------
    >>> label_difference("rate"), label_difference(None)
    ('difference, pp', 'difference')
    """
    return "difference" if shared is None else f"difference, {to_difference_unit(shared, short=True)}"


def format_estimate(comparison: Comparison, shared: str | None) -> str:
    """Return the difference of a comparison, with its unit unless the heading shows it.

    Examples
    --------
    >>> from streamgauge.significance import mcnemar
    >>> outcome = replace(mcnemar(20, 5, 100), unit="rate")
    >>> format_estimate(outcome, "rate"), format_estimate(outcome, None)
    ('+15.00', '+15.00 pp')
    """
    text = format_difference(comparison.difference, comparison.unit)
    return text if shared is not None else f"{text} {to_difference_unit(comparison.unit, short=True)}".rstrip()


def format_interval(comparison: Comparison) -> str:
    """Return the interval of a comparison; empty if it has none.

    Examples
    --------
    >>> from streamgauge.significance import mcnemar
    >>> format_interval(replace(mcnemar(20, 5, 100), unit="rate"))
    '[+5.65, +24.35]'
    """
    return _format_bounds(comparison.interval, comparison.unit)


def format_such_streams(comparison: Comparison) -> tuple[str, str]:
    """Return the interval and the deciding p-value for other streams of the source; empty if the test has none.

    Examples
    --------
    >>> from streamgauge.significance import SUCH_STREAMS, Answer, mcnemar
    >>> answer = Answer("for such streams", SUCH_STREAMS, (-0.01, 0.31), 0.07)
    >>> format_such_streams(replace(mcnemar(20, 5, 100), unit="rate", such_streams=answer))
    ('[-1.00, +31.00]', '0.0700')
    """
    answer = comparison.such_streams
    if answer is None:
        return "", ""
    return _format_bounds(answer.interval, comparison.unit), format_p_value(answer.deciding_p)


def _format_bounds(interval: tuple[float, float] | None, unit: str) -> str:
    return "" if interval is None else f"[{', '.join(format_difference(bound, unit) for bound in interval)}]"


def label_p(comparisons: Sequence[Comparison]) -> str:
    """Return the heading of a column of the p-values that decide.

    Examples
    --------
    >>> from streamgauge.significance import adjust_pairs, mcnemar
    >>> label_p([mcnemar(20, 5, 100)]), label_p(adjust_pairs([mcnemar(20, 5, 100)] * 3))
    ('p', 'adjusted p')
    """
    return "adjusted p" if any(comparison.adjusted is not None for comparison in comparisons) else "p"


def find_best_groups(comparisons: Sequence[Comparison]) -> list[BestGroup]:
    """Return the best of three or more learners and those that are not significantly worse, for each measure.

    Examples
    --------
    >>> find_best_groups([])
    []
    """
    return [best_group(group) for group in group_by_test(comparisons) if len(group) > 1]


def group_by_test(comparisons: Sequence[Comparison]) -> list[list[Comparison]]:
    """Return the deciding tests of all pairs in each measure and forgetting.

    Examples
    --------
    >>> group_by_test([])
    []
    """
    tests = sorted((pair[0] for pair in group_by_pair(comparisons)), key=_find_kind)
    return [list(group) for _, group in groupby(tests, key=_find_kind)]


def _find_kind(comparison: Comparison) -> tuple[str, str]:
    return comparison.measure, comparison.forgetting


IMBALANCED = 0.8
"""With at least this share of the most frequent class, the accuracy is misleading."""

NOTEWORTHY_ABSTENTIONS = 0.005


def list_findings(results: RunData, comparisons: Sequence[Comparison] = ()) -> list[str]:
    """Return the findings of a run, one sentence each.

    Parameters
    ----------
    results, comparisons
        The results and the tests of pairs.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=2000), {"bayes": NaiveBayes(), "majority": MajorityClass()})
    >>> list_findings(results)[0].startswith("bayes has the best accuracy over all rows after 2,000 rows")
    True
    """
    return [
        *_describe_best(results, {comparison.measure for comparison in comparisons}),
        *_describe_imbalance(results),
        *_describe_alarms(results),
        *_describe_costs(results),
        *(f"Note: {note}." for note in results.notes),
    ]


def list_limitations(results: RunData, comparisons: Sequence[Comparison] = ()) -> list[str]:
    """Return the limitations of a run, one sentence each.

    Parameters
    ----------
    results, comparisons
        The results and the tests of pairs.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> list_limitations(evaluate(SEA(n_rows=2000), NaiveBayes()))[0]
    'There is one fold, so the variation over seeds and samples is unknown.'
    """
    one_fold = results.n_folds == 1 and results.values.size
    return [
        *_describe_gaps(results),
        *_describe_untested(results, comparisons),
        *_describe_test_limits(comparisons),
        *(["There is one fold, so the variation over seeds and samples is unknown."] if one_fold else []),
        *_describe_undefined(results),
        *_describe_mixing(results),
        *_describe_unknown_drifts(results),
        "All results are from one stream. To generalise, evaluate on more streams and use streamgauge rank.",
    ]


def list_ranking_findings(ranking: Ranking) -> list[str]:
    """Return the findings of a ranking over streams.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> list_ranking_findings(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"]))[0]
    'tree has the best mean rank by accuracy, 1.00, over 2 streams.'
    """
    best, mean = ranking.best, float(ranking.mean_ranks.min())
    outcome = ranking.friedman
    p_value = outcome.best_p
    how = "with Iman-Davenport's correction" if outcome.exact_p is None else "exact"
    differ = (
        "Not all learners are equally good" if p_value <= ranking.alpha else "The differences in rank may be chance"
    )
    streams = count(len(ranking.streams), "stream")
    claims = [_describe_claim(pair, better) for pair in ranking.pairs if (better := ranking.better(pair)) is not None]
    return [
        f"{join_words(best)} {'has' if len(best) == 1 else 'share'} the best mean rank by {ranking.subject},"
        f" {mean:.2f}, over {streams}.",
        f"{differ} (Friedman test, {how}, p {format_p_term(p_value)}).",
        *claims,
    ]


def _describe_claim(pair: RankedPair, better: str) -> str:
    """Return a sentence on the better one of a pair, with its own wins."""
    worse, wins, losses = (pair.second, pair.wins, pair.losses)
    if better == pair.second:
        worse, wins, losses = (pair.first, pair.losses, pair.wins)
    numbers = f"{count(wins, 'win')}, {count(pair.ties, 'tie')}, {count(losses, 'loss', 'losses')}"
    return f"{better} is better than {worse} ({numbers}; adjusted p {format_p_term(pair.adjusted)})."


def list_ranking_limitations(ranking: Ranking) -> list[str]:
    """Return the limitations of a ranking.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> list_ranking_limitations(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"]))[0]
    'tree and bayes do not differ significantly on these streams, which does not show that they are equally good.'
    """
    groups = [
        f"{join_words(group)} do not differ significantly on these streams, which does not show that they are equally"
        " good."
        for group in ranking.groups
    ]
    warnings = [_make_sentence(warning) for warning in ranking.warnings]
    return [*groups, *warnings, "The conclusions hold for streams like these: others may give another ranking."]


def describe_abstentions(results: RunData) -> Iterator[str]:
    """Yield a sentence on each learner that often made no prediction, which counts as an error.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> from streamgauge.labelling import Delayed
    >>> options = {"labelling": Delayed(499), "score_unlabelled_start": True}
    >>> (sentence,) = describe_abstentions(evaluate(SEA(n_rows=2000), NaiveBayes(), **options))
    >>> sentence.partition(",")[0]
    'NaiveBayes made no prediction for 25.00% of the rows (measured over all rows)'
    """
    if results.confusions is None or not len(results.confusions.rows):
        return
    last = results.confusions.weights[-1]  # [learners, forgettings, true, predicted]
    with np.errstate(invalid="ignore"):
        shares = np.nan_to_num(last[..., -1].sum(axis=-1) / last.sum(axis=(-2, -1)))
    for learner, by_forgetting in zip(results.learners, shares, strict=True):
        index = int(by_forgetting.argmax())
        if by_forgetting[index] > NOTEWORTHY_ABSTENTIONS:
            share, phrase = format_value(by_forgetting[index]), describe_forgetting(results.forgettings[index])
            yield (
                f"{learner} made no prediction for {share}% of the rows (measured {phrase}), probably because it had"
                " seen no label yet; these rows count as errors. WarmUp(rows) excludes the first rows."
            )


def describe_owed_labels(results: RunData) -> Iterator[str]:
    """Yield why live verdicts and the tables differ, if labels were still due at the end.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> from streamgauge.labelling import Delayed
    >>> list(describe_owed_labels(evaluate(SEA(n_rows=2000), NaiveBayes(), labelling=Delayed(499))))[0][:64]
    'Live verdicts leave out the 499 rows whose label was still due a'
    """
    feedback = results.feedback
    if feedback is not None and feedback.n_owed and results.description.get("score") == "first":
        rows = "1 row" if feedback.n_owed == 1 else f"{feedback.n_owed:,} rows"
        yield (
            f"Live verdicts leave out the {rows} whose label was still due at the end; the tables and the tests at the"
            " end count them, so their numbers differ."
        )


def _make_sentence(warning: str) -> str:
    return f"{warning[0].upper()}{warning[1:]}" + ("" if warning.endswith(".") else ".")


def _describe_best(results: RunData, tested: Collection[str]) -> Iterable[str]:
    """Yield the best in each measure that was not tested; the headline has the others."""
    for series in list_series(results):
        if series.measure in tested:
            continue
        best = series.best
        if best and len(best) < len(series.values):
            value = series.finals[next(iter(best))].mean
            number = format_value(value, series.unit) + ("%" if series.unit == RATE else f" {series.unit}".rstrip())
            mean = " on average over folds" if series.n_folds > 1 else ""
            have = "have" if len(best) > 1 else "has"
            names = join_words([name for name in series.values if name in best])
            over, rows = describe_forgetting(series.forgetting), count(int(series.rows[-1]), "row")
            yield f"{names} {have} the best {series.measure} {over} after {rows}: {number}{mean}."


def _describe_imbalance(results: RunData) -> Iterable[str]:
    counts = results.labels
    if counts is None or not len(counts.rows) or not counts.by_class[-1].sum() or len(counts.classes) == 1:
        return
    shares = counts.by_class[-1] / counts.by_class[-1].sum()
    most = int(shares.argmax())
    if shares[most] >= IMBALANCED:
        yield (
            f"{100 * shares[most]:.1f}% of the rows are of class {counts.classes[most]}, so a learner that always "
            "predicts it has that accuracy: look at kappa_m or at per-class measures."
        )


def _describe_alarms(results: RunData) -> Iterable[str]:
    if not results.alarms or not results.drifts:
        return
    by_detector: dict[tuple[str, str], list[AlarmScore]] = {}
    for (learner, detector, _), score in score_results(results).items():
        by_detector.setdefault((learner, detector), []).append(score)
    for (learner, detector), scores in by_detector.items():
        n_detected, n_drifts = sum(score.n_detected for score in scores), sum(score.n_drifts for score in scores)
        false_alarms = count(sum(score.n_false for score in scores), "false alarm")
        folds = f", over {len(scores)} folds" if len(scores) > 1 else ""
        drifts = count(n_drifts, "true drift")
        yield f"{detector} on {learner} detected {n_detected} of {drifts}, with {false_alarms}{folds}."


def _describe_costs(results: RunData) -> Iterable[str]:
    if results.resources is None or len(results.learners) < 2 or not results.values.size:
        return
    measure = results.measures[0]
    if not any(results.final(name, measure).n_defined for name in results.learners):
        return
    points = find_pareto_points([results])
    front = [point.learner for point in sorted(points, key=lambda point: point.cost) if point.on_front]
    if len(front) < len(points):
        yield f"On the Pareto front of {measure} against RAM-hours: {join_words(front)}; all others are dominated."
    else:
        yield f"No learner is dominated in {measure} and RAM-hours: better learners cost more."


def _describe_gaps(results: RunData) -> Iterable[str]:
    if not results.complete:
        yield f"The run was cut short after {count(results.n_rows, 'row')}; later rows are not covered."
    for failure in results.failures:
        yield f"{failure.learner} failed in fold {failure.fold} at row {failure.row:,}, so it is in no comparison."


def _describe_untested(results: RunData, comparisons: Sequence[Comparison]) -> Iterable[str]:
    if len(results.learners) > 1 and not comparisons:
        reason = find_test_obstacle(results, results.pairs[0]) if results.pairs else None
        yield f"The differences were not tested for significance: {reason or 'use streamgauge compare'}."
    pairs = {frozenset((comparison.first, comparison.second)) for comparison in comparisons}
    for pair in results.pairs if comparisons else ():
        if frozenset((pair.first, pair.second)) not in pairs:
            reason = find_test_obstacle(results, pair, comparisons[0].measure)
            yield f"{pair.first} and {pair.second} were not tested{f': {reason}' if reason else ''}."
    tested = {comparison.measure for comparison in comparisons}
    others = [measure for measure in results.measures if measure not in tested]
    if comparisons and others:
        yield f"Only {join_words(sorted(tested))} was tested: differences in {join_words(others)} may be chance."


def _describe_test_limits(comparisons: Sequence[Comparison]) -> Iterable[str]:
    leading = [pair[0] for pair in group_by_pair(comparisons)]
    equal = [f"{test.first} and {test.second}" for test in leading if not test.deciding_p <= test.alpha]
    if equal:
        yield f"No difference was found between {join_words(equal)}, which does not show that they are equally good."
    if len(leading) > 1 and leading[0].adjusted is not None:
        yield (
            f"Claims are by p-values adjusted by {leading[0].adjustment}; the intervals are of each pair alone, at"
            f" {100 * (1 - leading[0].alpha):g}%."
        )
    elif len(leading) > 1:
        alpha = leading[0].alpha
        chance = 1 - (1 - alpha) ** len(leading)
        yield (
            f"{len(leading)} pairs were tested, each at level {100 * alpha:g}%: if all learners were equally good, the"
            f" probability of at least one false claim could be {100 * chance:.0f}%."
        )


def _describe_undefined(results: RunData) -> Iterable[str]:
    for series in list_series(results):
        undefined = sum(int(np.isnan(values).sum()) for values in series.values.values())
        if undefined and not results.failures:
            total = sum(values.size for values in series.values.values())
            over = describe_forgetting(series.forgetting)
            yield f"{series.measure} {over} is undefined at {undefined:,} of {total:,} readings."


def _describe_mixing(results: RunData) -> Iterable[str]:
    if results.drifts and "Landmark()" in results.forgettings:
        yield "Readings over all rows mix the rows before and after a drift, so they do not show current performance."


def _describe_unknown_drifts(results: RunData) -> Iterable[str]:
    if results.alarms and not results.drifts:
        yield "The true drifts are unknown, so the alarms cannot be scored."
