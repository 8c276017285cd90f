"""What a run found and what cannot be concluded from it, in plain sentences."""

from collections.abc import Iterable, Sequence

import numpy as np

from streamgauge._format.numbers import RATE, format_p_value, format_value
from streamgauge._format.text import count, join_words
from streamgauge.drift import AlarmScore, score_results
from streamgauge.records import RunData
from streamgauge.reports.abstentions import abstentions
from streamgauge.reports.comparisons import Comparison, by_pair
from streamgauge.reports.pareto import standings
from streamgauge.reports.series import panels
from streamgauge.significance import Ranking

__all__ = ["findings", "limits", "ranking_findings", "ranking_limits"]

UNBALANCED = 0.8
"""From such a share of the most frequent class on, the accuracy says little."""


def findings(results: RunData, comparisons: Sequence[Comparison] = ()) -> list[str]:
    """Say what a run found, a sentence each.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=2000), {"bayes": NaiveBayes(), "majority": MajorityClass()})
    >>> findings(results)[0].startswith("bayes has the best accuracy over Landmark() after 2,000 rows")
    True
    """
    return [
        *_best(results),
        *(pair[0].sentence for pair in by_pair(comparisons)),
        *_classes(results),
        *_alarms(results),
        *_costs(results),
        *([results.feedback.sentence] if results.feedback is not None and results.feedback.sentence else []),
    ]


def limits(results: RunData, comparisons: Sequence[Comparison] = (), *, warnings: bool = True) -> list[str]:
    """Say what cannot be concluded from a run, or what to know before one does; a sentence each.

    Parameters
    ----------
    results, comparisons
        What was found.
    warnings
        Whether to repeat the warnings of the comparisons.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> limits(evaluate(SEA(n_rows=2000), NaiveBayes()))[0]
    'There is one fold, so nothing here says how much another seed or sample would have changed.'
    """
    return [
        *_incomplete(results),
        *_untested(results, comparisons),
        *_of_tests(comparisons),
        *(_warnings(comparisons) if warnings else ()),
        *(["There is one fold, so nothing here says how much another seed or sample would have changed."]
          if results.n_folds == 1 and results.values.size else []),
        *_undefined(results),
        *abstentions(results),
        *_mixed(results),
        *_unjudged(results),
        "All of this is of one stream. Whether it holds on others takes more of them: streamgauge rank.",
    ]  # fmt: skip


def ranking_findings(ranking: Ranking) -> list[str]:
    """Say what a ranking over streams found.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> ranking_findings(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"]))[0]
    'tree has the best mean rank by accuracy, 1.00, over 2 streams.'
    """
    best = ranking.order[0]
    mean = float(ranking.mean_ranks[ranking.learners.index(best)])
    outcome = ranking.friedman
    p_value = outcome.best_p
    how = "with Iman-Davenport's correction" if outcome.exact_p is None else "exact"
    differ = "Not all learners are equally good" if p_value <= ranking.alpha else "Ranks so far apart may be chance"
    streams = count(len(ranking.streams), "stream")
    real = [
        f"{better} is better than {pair.second if better == pair.first else pair.first} "
        f"(adjusted p {_p(pair.adjusted)}; won {pair.wins}, tied {pair.ties}, lost {pair.losses} "
        f"as {pair.first} against {pair.second})."
        for pair in ranking.pairs
        if (better := ranking.better(pair)) is not None
    ]
    return [
        f"{best} has the best mean rank by {ranking.measure}, {mean:.2f}, over {streams}.",
        f"{differ} (Friedman test, {how}, p {_p(p_value)}).",
        *real,
    ]


def ranking_limits(ranking: Ranking) -> list[str]:
    """Say what cannot be concluded from a ranking.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> ranking_limits(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"]))[0]
    'tree and bayes cannot be told apart on these streams, which does not show that they are equally good.'
    """
    alike = [
        f"{join_words(group)} cannot be told apart on these streams, which does not show that they are equally good."
        for group in ranking.groups
    ]
    warnings = [f"{warning[0].upper()}{warning[1:]}." for warning in ranking.warnings]
    streams = "The streams stand for all streams that one has in mind: others may rank the learners otherwise."
    return [*alike, *warnings, streams]


def _p(p_value: float) -> str:
    text = format_p_value(p_value)
    return f"< {text[1:]}" if text.startswith("<") else f"= {text}"


def _best(results: RunData) -> Iterable[str]:
    for panel in panels(results):
        best, n = panel.best, len(panel.values)
        if best and len(best) < n:
            value = panel.finals[next(iter(best))].mean
            shown = format_value(value, panel.unit) + (" %" if panel.unit == RATE else f" {panel.unit}")
            mean = " on average over folds" if panel.n_folds > 1 else ""
            have = "have" if len(best) > 1 else "has"
            names = join_words([name for name in panel.values if name in best])
            rows = count(int(panel.rows[-1]), "row")
            yield f"{names} {have} the best {panel.measure} over {panel.forgetting} after {rows}: {shown}{mean}."


def _classes(results: RunData) -> Iterable[str]:
    counts = results.labels
    if counts is None or not len(counts.rows) or not counts.by_class[-1].sum():
        return
    shares = counts.by_class[-1] / counts.by_class[-1].sum()
    most = int(shares.argmax())
    if shares[most] >= UNBALANCED:
        yield (
            f"{100 * shares[most]:.1f} % of the rows are of class {counts.classes[most]}, so a learner that always "
            "says so has that accuracy: look at kappa_m or at measures of classes."
        )


def _alarms(results: RunData) -> Iterable[str]:
    if not results.alarms or not results.drifts:
        return
    by_cell: dict[tuple[str, str], list[AlarmScore]] = {}
    for (learner, detector, _), score in score_results(results).items():
        by_cell.setdefault((learner, detector), []).append(score)
    for (learner, detector), scores in by_cell.items():
        found, n_drifts = sum(score.n_detected for score in scores), sum(score.n_drifts for score in scores)
        n_false = sum(score.n_false for score in scores)
        over = f", over {len(scores)} folds" if len(scores) > 1 else ""
        alarms = count(n_false, "false alarm")
        yield f"{detector} on {learner} found {found} of {count(n_drifts, 'true drift')}, with {alarms}{over}."


def _costs(results: RunData) -> Iterable[str]:
    if results.resources is None or len(results.learners) < 2 or not results.values.size:
        return
    if not any(results.final(name, results.measures[0]).n_defined for name in results.learners):
        return
    found = standings([results])
    front = [standing.learner for standing in sorted(found, key=lambda standing: standing.cost)]
    front = [name for name in front if next(s for s in found if s.learner == name).on_front]
    measure = results.measures[0]
    yield (
        f"For their cost in RAM-hours {join_words(front)} cannot be beaten in {measure}: "
        "every other learner is beaten in both."
        if len(front) < len(found)
        else f"No learner is beaten both in {measure} and in RAM-hours: what is better costs more."
    )


def _incomplete(results: RunData) -> Iterable[str]:
    if not results.complete:
        yield f"The run was cut short after {count(results.n_rows, 'row')}; nothing is said of what comes after them."
    for failure in results.failures:
        yield f"{failure.learner} failed in fold {failure.fold} at row {failure.row:,}, so it is in no comparison."


def _untested(results: RunData, comparisons: Sequence[Comparison]) -> Iterable[str]:
    if len(results.learners) > 1 and not comparisons:
        yield "Whether the differences are real was not tested here: streamgauge compare does."
    tested = {comparison.measure for comparison in comparisons}
    others = [measure for measure in results.measures if measure not in tested]
    if comparisons and others:
        yield f"Only {join_words(sorted(tested))} was tested: differences in {join_words(others)} may be chance."


def _of_tests(comparisons: Sequence[Comparison]) -> Iterable[str]:
    leads = [pair[0] for pair in by_pair(comparisons)]
    alike = [f"{lead.first} and {lead.second}" for lead in leads if not _claimed(lead)]
    if alike:
        yield f"That no difference was found between {join_words(alike)} does not show that they are equally good."
    alpha = float(getattr(leads[0], "alpha", 0.05)) if leads else 0.05
    if len(leads) > 1:
        chance = 1 - (1 - alpha) ** len(leads)
        yield (
            f"{len(leads)} pairs were tested, each at a level of {100 * alpha:g} %: were all equally good, the chance "
            f"of a false claim among them could be {100 * chance:.0f} %."
        )


def _warnings(comparisons: Sequence[Comparison]) -> Iterable[str]:
    for warning in dict.fromkeys(warning for comparison in comparisons for warning in comparison.warnings):
        yield f"{warning[0].upper()}{warning[1:]}" + ("" if warning.endswith(".") else ".")


def _claimed(lead: Comparison) -> bool:
    return bool(lead.p_value <= float(getattr(lead, "alpha", 0.05)))


def _undefined(results: RunData) -> Iterable[str]:
    for panel in panels(results):
        undefined = sum(int(np.isnan(values).sum()) for values in panel.values.values())
        if undefined and not results.failures:
            whole = sum(values.size for values in panel.values.values())
            yield f"{panel.measure} over {panel.forgetting} is not defined at {undefined:,} of its {whole:,} readings."


def _mixed(results: RunData) -> Iterable[str]:
    if results.drifts and "Landmark()" in results.forgettings:
        yield (
            "Readings over Landmark() mix the rows before and after a drift; they do not say how good a learner is now."
        )


def _unjudged(results: RunData) -> Iterable[str]:
    if results.alarms and not results.drifts:
        yield "The true drifts are not known, so nobody can say which alarms are right."
