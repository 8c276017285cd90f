"""The answer first: which learner is best, by how much, how sure, and since when."""

from collections.abc import Iterator, Sequence

import numpy as np

from streamgauge._format.numbers import RATE, format_margin, format_value
from streamgauge._format.text import count, describe_forgetting, join_words
from streamgauge.records import RunData
from streamgauge.reports.findings import group_by_test
from streamgauge.reports.ranked import find_rare_class, find_value, format_ends
from streamgauge.significance import BestGroup, Comparison, RankedPair, Ranking, best_group
from streamgauge.significance.compare import LANDMARK, choose_measure

__all__ = ["describe_below_baseline", "format_with_interval", "write_headline", "write_ranking_headline"]

OUTCOMES = {"kept": "kept by", "broken": "broken by", "undecided": "undecided for"}
"""What is said of the learners whose verdict on a requirement is of a kind."""


def write_headline(results: RunData, comparisons: Sequence[Comparison] = ()) -> list[str]:
    r"""Return the answers of a run: who does not beat a constant, the best by each measure, budgets, a rare class.

    Examples
    --------
    >>> from streamgauge import SEA, compare, evaluate
    >>> results = evaluate(SEA(n_rows=5000), {"bayes": "NaiveBayes", "majority": "MajorityClass"})
    >>> print(*write_headline(results, [compare(results)]), sep="\n")
    Best: bayes, accuracy 87.24% [86.09, 88.39]; better than majority as trained here, known since row 200.
    """
    groups = [best_group(tests) for tests in group_by_test(comparisons)]
    answers = [_describe_group(results, group) for group in groups] or _describe_untested(results)
    return [*describe_below_baseline(results), *answers, *_describe_budgets(results), *_describe_rare_class(results)]


def write_ranking_headline(ranking: Ranking) -> str:
    """Return the answer of a ranking: the learner with the best mean rank, and which others are really worse.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> write_ranking_headline(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"]))
    'No clear best over 2 streams; ahead: tree, mean rank 1.00 by accuracy; not distinguishable from bayes.'
    """
    if ranking.control:
        return _describe_control(ranking)
    best = ranking.best
    mean = float(ranking.mean_ranks.min())
    behind = [
        name
        for name in ranking.order
        if name not in best and all(ranking.better(pair) in best for pair in ranking.pairs if _joins(pair, name, best))
    ]
    equal = [name for name in ranking.order if name not in (*best, *behind)]
    streams = count(len(ranking.streams), "stream")
    intro = f"Best over {streams}" if behind else f"No clear best over {streams}; ahead"
    whom = "all others" if not equal and len(behind) > 1 else join_words(behind)
    claims = [f"better than {whom}"] if behind else []
    claims += [f"not distinguishable from {join_words(equal)}"] if equal else []
    return f"{intro}: {'; '.join([f'{join_words(best)}, mean rank {mean:.2f} by {ranking.subject}', *claims])}."


def _describe_control(ranking: Ranking) -> str:
    """Return how the control compares with the other learners, which alone was tested."""
    control = ranking.control
    found: dict[str, list[str]] = {"better than": [], "worse than": [], "not distinguishable from": []}
    for pair in ranking.pairs:
        if control in (pair.first, pair.second):
            better = ranking.better(pair)
            how = "not distinguishable from" if better is None else "better than" if better == control else "worse than"
            found[how].append(pair.second if pair.first == control else pair.first)
    claims = [f"{how} {join_words(names)}" for how, names in found.items() if names]
    mean = float(ranking.mean_ranks[ranking.learners.index(control)])
    streams = count(len(ranking.streams), "stream")
    return f"{control} over {streams}: {'; '.join([f'mean rank {mean:.2f} by {ranking.subject}', *claims])}."


def _joins(pair: RankedPair, name: str, others: Sequence[str]) -> bool:
    return (pair.first == name and pair.second in others) or (pair.second == name and pair.first in others)


def _describe_untested(results: RunData) -> list[str]:
    """Return the value of the only learner, or of that with the best one, where nothing was tested."""
    if not results.values.size:
        return []
    chosen = choose_measure(results)
    measure = chosen if chosen in results.measures else results.measures[0]
    forgetting = LANDMARK if LANDMARK in results.forgettings else results.forgettings[0]
    several = len(results.learners) > 1
    best = [name for name in results.learners if name in results.best(measure, forgetting) or not several]
    if not best or len(best) == len(results.learners) > 1:
        return []
    value, ends = find_value(results, best[0], measure, forgetting)
    if value is None or not np.isfinite(value):
        return []
    over = describe_forgetting(forgetting)
    text = f"{measure} {format_with_interval(value, ends, results.unit(measure))} {over}"
    return [f"Ahead: {join_words(best)}, {text}; not tested." if several else f"{best[0]}: {text}."]


def _describe_group(results: RunData, group: BestGroup) -> str:
    subject = _describe_value(results, group)
    behind, equal = list(group.others), list(group.members[1:])
    claims = []
    if behind:
        since = _find_since(results, group, behind)
        known = "" if since is None else f", known since {results.name_row(since)}"
        whom = "all others" if not equal and len(behind) > 1 else join_words(behind)
        claims.append(f"better than {whom}{_lead(group.question)}{known}")
        within, margin = _find_within_margin(results, group, behind)
        if within:
            of = "" if within == behind else f" from {join_words(within)}"
            claims.append(f"the difference{of} is within the margin of {margin}")
    if group.such_streams is not None and behind:
        elsewhere = [name for name in behind if name not in group.such_streams]
        whom = (
            "too"
            if elsewhere == behind
            else f"better than {join_words(elsewhere)} only"
            if elsewhere
            else "not established"
        )
        claims.append(f"for such streams {whom}")
    if equal:
        claims.append(f"not distinguishable from {join_words(equal)}{'' if behind else _lead(group.question)}")
    intro = "Best" if behind else "No clear best; ahead"
    return f"{intro}: {subject}; {'; '.join(claims)}."


def _lead(question: str) -> str:
    return f" {question}" if question else ""


def _describe_value(results: RunData, group: BestGroup) -> str:
    """Return the best learner with its value and, if that can be computed, the interval."""
    value, ends = find_value(results, group.best, group.measure, group.forgetting, alpha=group.alpha)
    over = "" if group.forgetting == LANDMARK else f" {describe_forgetting(group.forgetting)}"
    if LANDMARK not in results.forgettings and ends is not None:
        over = " over all rows"  # the readings cover fewer
    if value is None:
        return f"{group.best} in {group.measure}{over}"
    return f"{group.best}, {group.measure} {format_with_interval(value, ends, results.unit(group.measure))}{over}"


def format_with_interval(value: float, ends: tuple[float, float] | None, unit: str) -> str:
    """Return a value with its unit and its interval, if there is one.

    Examples
    --------
    >>> format_with_interval(0.85, (0.8, 0.9), "rate"), format_with_interval(0.5, None, "nats")
    ('85.00% [80.00, 90.00]', '0.5 nats')
    """
    text = format_value(value, unit) + ("%" if unit == RATE else f" {unit}".rstrip())
    return f"{text} {format_ends(ends, unit)}".rstrip()


def _find_within_margin(results: RunData, group: BestGroup, behind: Sequence[str]) -> tuple[list[str], str]:
    """Return the learners that the live verdicts call equivalent to the best one, and the margin."""
    found = {
        verdict.second if verdict.first == group.best else verdict.first: verdict
        for verdict in results.verdicts
        if verdict.measure == group.measure
        and verdict.outcome == "equivalent"
        and group.best in (verdict.first, verdict.second)
    }
    within = [name for name in behind if name in found]
    return within, format_margin(found[within[0]].rope, found[within[0]].unit) if within else ""


def _find_since(results: RunData, group: BestGroup, behind: Sequence[str]) -> int | None:
    """Return the row since which the live verdicts claim the same; None if one of them does not."""
    rows: dict[str, int] = {}
    for verdict in results.verdicts:
        if verdict.measure == group.measure and verdict.row is not None and verdict.better == group.best:
            rows[verdict.second if verdict.first == group.best else verdict.first] = verdict.row
    return max(rows[name] for name in behind) if rows.keys() >= set(behind) else None


def describe_below_baseline(results: RunData) -> Iterator[str]:
    """Yield a sentence on the learners that were right no more often than one that always predicts the same class.

    The class is the most frequent one of all scored rows, which such a learner could not have known before.

    Examples
    --------
    >>> from streamgauge import SEA, evaluate
    >>> list(describe_below_baseline(evaluate(SEA(n_rows=2000), ["NoChange", "NaiveBayes"])))
    ['NoChange does not beat a constant prediction of class 1: accuracy 53.45%, the constant 64.35%.']
    """
    confusions = results.confusions
    if confusions is None or not len(confusions.rows) or LANDMARK not in results.forgettings:
        return
    last = confusions.weights[-1][:, results.forgettings.index(LANDMARK)]  # [learners, true, predicted]
    below: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for learner, matrix in zip(results.learners, last, strict=True):
        total, by_class = matrix.sum(), matrix.sum(axis=1)
        if not total > 0.0 or _is_constant(results, learner):
            continue
        most = int(by_class.argmax())
        accuracy, constant = float(np.trace(matrix) / total), float(by_class[most] / total)
        if accuracy <= constant:
            key = confusions.classes[most], format_value(constant)
            below.setdefault(key, []).append((learner, format_value(accuracy)))
    for (label, constant_text), found in below.items():
        if len(found) == 1:
            ((learner, text),) = found
            numbers = f"accuracy {text}%, the constant {constant_text}%"
            yield f"{learner} does not beat a constant prediction of class {label}: {numbers}."
        else:
            names = join_words([f"{learner} ({text}%)" for learner, text in found])
            yield f"{names} do not beat a constant prediction of class {label}: accuracy {constant_text}%."


def _describe_rare_class(results: RunData) -> Iterator[str]:
    """Yield what to measure if a class is rare and no area or measure of it was asked for."""
    rare = find_rare_class(results)
    if rare is not None and not any(name.startswith("pr_auc") or f"[{rare[0]}]" in name for name in results.measures):
        label, share = rare
        yield f"Only {100 * share:.2g}% of the rows are of class {label}: measure pr_auc[{label}] too."


def _describe_budgets(results: RunData) -> Iterator[str]:
    """Yield who keeps all requirements and, where that is not the same for all learners, who keeps and breaks each."""
    verdicts = results.model_verdicts
    requirements = list(dict.fromkeys(verdict.requirement for verdict in verdicts))
    if not requirements:
        return
    outcomes = {(verdict.learner, verdict.requirement): verdict.outcome for verdict in verdicts}
    learners = list(dict.fromkeys(verdict.learner for verdict in verdicts))
    good = [name for name in learners if all(outcomes.get((name, text)) == "kept" for text in requirements)]
    texts = []
    for text in requirements:
        found = {kind: [name for name in learners if outcomes.get((name, text)) == kind] for kind in OUTCOMES}
        said = [
            f"{phrase} {'all' if len(found[kind]) == len(learners) > 1 else join_words(found[kind])}"
            for kind, phrase in OUTCOMES.items()
            if found[kind]
        ]
        texts.append(f"{text} is {', '.join(said)}")
    who = f"{join_words(good)} {'keeps' if len(good) == 1 else 'keep'}" if good else "No learner is known to keep"
    every = "all budgets" if len(requirements) > 1 else "the budget"
    yield f"{who} {every}: {'; '.join(texts)}."


def _is_constant(results: RunData, learner: str) -> bool:
    known = results.description.get("learners")
    facts = known.get(learner) if isinstance(known, dict) else None
    return isinstance(facts, dict) and str(facts.get("spec", "")).startswith("MajorityClass(")
