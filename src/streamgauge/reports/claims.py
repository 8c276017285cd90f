"""What is claimed: of pairs after the last row, of pairs while the stream runs, and of one model."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby

from streamgauge._format.numbers import RATE, format_difference, format_p_term, format_value, to_difference_unit
from streamgauge._format.text import join_words
from streamgauge.records import ModelVerdict, Verdict
from streamgauge.records.readings import name_row
from streamgauge.reports.findings import group_by_pair
from streamgauge.reports.model import Claim, Claims, Estimate
from streamgauge.reports.verdicts import (
    COMPARISONS_TITLE,
    VerdictGroup,
    VerdictLine,
    group_verdicts,
    sort_model_verdicts,
)
from streamgauge.significance import Comparison, best_group
from streamgauge.significance.comparison import LEFT_OUT
from streamgauge.significance.verdict_terms import describe_rows_left, describe_verdicts

__all__ = ["claim_models", "claim_pairs", "claim_verdicts", "describe_tests"]

N_OPEN = 3
"""The number of pairs that are shown at once."""

MAX_UNDECIDED = 3
"""The number of undecided pairs that are shown at once for each measure."""

MAX_NAMED = 2
"""The number of pairs that a note names; if it concerns more, it tells how many."""


def claim_pairs(comparisons: Sequence[Comparison]) -> list[Claims]:
    """Return the outcome of the first test of each pair, by measure; pairs of the best first, close ones before others.

    Examples
    --------
    >>> from streamgauge import SEA, compare, evaluate
    >>> results = evaluate(SEA(n_rows=5000), {"bayes": "NaiveBayes", "majority": "MajorityClass"})
    >>> (claims,) = claim_pairs([compare(results)])
    >>> claims.title
    'Comparisons at the end on accuracy, as trained here'
    >>> print(claims.claims[0].whole)
    bayes is better than majority by 23.76 pp [+22.21, +25.31], p < 0.0001
    """
    groups = []
    leading = sorted((pair[0] for pair in group_by_pair(comparisons)), key=_find_kind)
    for _, found in groupby(leading, key=_find_kind):
        tests = list(found)
        best = best_group(tests).best
        tests.sort(key=lambda test: (best not in (test.first, test.second), abs(test.difference or 0.0)))
        bounds = [0.0, *(bound for test in tests for bound in _list_bounds(test))]
        subject = ", ".join(filter(None, (tests[0].subject, tests[0].question)))
        title = f"{COMPARISONS_TITLE} on {subject}" if subject else COMPARISONS_TITLE
        claims = tuple(map(_claim_pair, tests))
        groups.append(Claims(title, claims, N_OPEN, "in the report", (min(bounds), max(bounds))))
    return groups


def describe_tests(comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    """Return what all claims on pairs have in common, each once: how they were tested, what that leaves out, notes.

    Examples
    --------
    >>> from streamgauge import SEA, compare, evaluate
    >>> describe_tests([compare(evaluate(SEA(n_rows=5000), ["NaiveBayes", "MajorityClass"]))])[1]
    'It leaves out the luck of seeds and of the rows learnt.'
    """
    leading = [pair[0] for pair in group_by_pair(comparisons)]
    if not leading:
        return ()
    titles = join_words(list(dict.fromkeys(f"{test.title} over {test.basis}" for test in leading)))
    if len({test.basis for test in leading}) > 1:
        titles = join_words(list(dict.fromkeys(test.title for test in leading)))
    adjusted = f", p-values adjusted by {leading[0].adjustment}" if leading[0].adjustment else ""
    level = f"{100 * (1 - leading[0].alpha):g}%"
    how = f"Tests that are valid once, after the last row: {titles}{adjusted}; intervals at {level} of each pair alone."
    left_out = dict.fromkeys(LEFT_OUT[test.null] for test in leading if test.null in LEFT_OUT)
    return (how, *left_out, *_describe_warnings(comparisons))


def _describe_warnings(comparisons: Sequence[Comparison]) -> list[str]:
    """Return each warning once, with the pairs that it concerns unless these are all."""
    pairs = group_by_pair(comparisons)
    holders: dict[str, list[str]] = {}
    for pair in pairs:
        for test in pair:
            which = f" ({test.title})" if len(pair) > 1 else ""
            for warning in test.warnings:
                holders.setdefault(f"{warning.rstrip('.')}{which}", []).append(f"{pair[0].first} and {pair[0].second}")
    notes = []
    for warning, names in holders.items():
        few = f" on {join_words(names)}" if len(names) <= MAX_NAMED else f" on {len(names)} of {len(pairs)} pairs"
        notes.append(f"Note{'' if len(names) == len(pairs) else few}: {warning}.")
    return notes


def _find_kind(test: Comparison) -> tuple[str, str, str]:
    return test.measure, test.forgetting, test.null


def _list_bounds(test: Comparison) -> tuple[float, ...]:
    """Return the numbers in the drawing of a test: the interval, if any, then the difference."""
    bounds = (*(test.interval or ()), *(() if test.difference is None else (test.difference,)))
    return bounds if all(map(math.isfinite, bounds)) else ()


def _claim_pair(test: Comparison) -> Claim:
    """Return the claim of a test that is turned to the greater value, so that its difference is above 0."""
    unit = to_difference_unit(test.unit, short=True)
    ahead, behind = (test.first, test.second) if test.greater_is_better else (test.second, test.first)
    interval = _format_ends(test.interval, test.unit)
    evidence = f"{'adjusted ' * (test.adjusted is not None)}p {format_p_term(test.deciding_p)}"
    lead = ""
    if test.difference is not None:
        lead = " ".join(filter(None, ("by", format_value(test.difference, test.unit), unit, interval)))
    if test.significant:
        sentence = f"{ahead} is better than {behind}"
        text = f"{sentence} {lead or f'in {test.measure}'}"
    else:
        sentence = text = f"No difference can be claimed between {ahead} and {behind}"
        if test.difference:
            sentence, text = f"{sentence}; {ahead} is ahead", f"{text}; {ahead} is ahead {lead}"
    tail = f", {evidence}"
    if (answer := test.such_streams) is not None:
        claim = "too" if answer.deciding_p <= test.alpha and test.significant else "not established"
        ends = _format_ends(answer.interval, test.unit)
        tail += f"; {answer.question} {claim} {ends}, p {format_p_term(answer.deciding_p)}"
    is_clear = test.interval is not None and (test.interval[0] > 0 or test.interval[1] < 0)
    value = " ".join(filter(None, (format_difference(test.difference, test.unit), unit)))
    estimate = Estimate(value, interval, bounds=_list_bounds(test), is_clear=is_clear)
    outcome = "first" if test.significant else "undecided"
    return Claim(sentence + tail, outcome=outcome, estimate=estimate, text=text + tail)


def _format_ends(ends: Sequence[float] | None, unit: str) -> str:
    return f"[{', '.join(format_difference(end, unit) for end in ends)}]" if ends else ""


def claim_verdicts(
    verdicts: Sequence[Verdict], name: Callable[[int], str] = name_row
) -> tuple[list[Claims], tuple[str, ...]]:
    """Return what holds now of each pair in each measure, what is decided first, and what all verdicts have in common.

    Pairs that have no interval yet for the same reason are one claim; if there are no others, only the reason is said.
    `name` returns the name of a row.

    Examples
    --------
    >>> known = Verdict("a", "b", "first", 4000, 0.03, (0.01, 0.05), 0.01, 0.05, 1, "equal", "empirical_bernstein")
    >>> claims, terms = claim_verdicts([known])
    >>> claims[0].claims[0].whole
    'a is better than b in accuracy, known since row 4,000; now a is ahead by 3.00 pp [+1.00, +5.00]'
    """
    groups = group_verdicts(verdicts, name)
    described = describe_verdicts(verdicts)
    is_waiting = all(_find_obstacle(line) for group in groups for line in group.lines)
    return list(map(_claim_group, groups)), described.notes if is_waiting else described.terms


def _claim_group(group: VerdictGroup) -> Claims:
    n_waiting = Counter(map(_find_obstacle, group.lines))
    waiting = {why: n_pairs for why, n_pairs in n_waiting.items() if why and n_pairs > 1}
    lines = [line for line in group.lines if _find_obstacle(line) not in waiting]
    bounds = [bound for line in lines for bound in (*(line.reach or ()), line.lead) if math.isfinite(bound)]
    margin = group.lines[0].verdict.rope
    scale = min(0.0, -1.5 * margin, *bounds), max(0.0, 1.5 * margin, *bounds)
    claims = list(map(_claim_verdict, lines))
    claims[group.n_decided : group.n_decided] = (
        Claim(
            f"{'All ' if n_pairs == len(group.lines) else ''}{n_pairs} pairs: undecided yet in {group.measure}",
            outcome="undecided",
        )
        for n_pairs in waiting.values()
    )
    return Claims(group.heading, tuple(claims), group.n_decided + len(waiting) + MAX_UNDECIDED, "undecided", scale)


def _find_obstacle(line: VerdictLine) -> str:
    """Return why a pair that was never decided has no interval yet; empty if it has one."""
    verdict = line.verdict
    return verdict.note if verdict.outcome == "undecided" and not (verdict.earlier or verdict.interval) else ""


def _claim_verdict(line: VerdictLine) -> Claim:
    verdict, known = line.verdict, math.isfinite(line.lead)
    unit = to_difference_unit(verdict.unit, short=True) if known else ""
    estimate = Estimate(
        f"{format_value(line.lead, verdict.unit)} {unit}".rstrip(),
        line.interval,
        f"{line.ahead} is ahead" if known and line.lead > 0.0 else "",
        bounds=(*(line.reach or ()), line.lead) if known else (),
        margin=0.0 if verdict.test == "group_sequential" else verdict.rope,
        is_clear=verdict.row is not None,
    )
    return Claim(line.sentence, line.lead_now, describe_rows_left(verdict), verdict.outcome, estimate)


def claim_models(
    verdicts: Sequence[ModelVerdict], name: Callable[[int], str] = name_row
) -> tuple[Claims, tuple[str, ...]]:
    """Return what holds now of each learner and requirement, what is broken first, and what all have in common.

    `name` returns the name of a row.

    Examples
    --------
    >>> facts = (0.081, (0.062, 0.1), 0.05, 0.05, 1, "empirical_bernstein", "error", "rate", False)
    >>> broken = ModelVerdict("tree", "error<0.05", "broken", 9000, 8000, *facts)
    >>> print(claim_models([broken])[0].claims[0].sentence)
    tree breaks error<0.05: its error since row 8,000 is 8.10%, at least 6.20%; known since row 9,000
    """
    verdicts = sort_model_verdicts(verdicts)
    described = describe_verdicts(verdicts, name)
    claims = tuple(map(_claim_model, verdicts, described.sentences))
    return Claims("", claims, len(verdicts), noun="verdict"), described.terms


def _claim_model(verdict: ModelVerdict, sentence: str) -> Claim:
    known, unit = math.isfinite(verdict.value), "%" if verdict.unit == RATE else f" {verdict.unit}".rstrip()
    ends = ", ".join(format_value(end, verdict.unit) for end in verdict.interval or ())
    estimate = Estimate(
        f"{format_value(verdict.value, verdict.unit)}{unit if known else ''}",
        f"[{ends}]" if ends else "",
        f"limit {format_value(verdict.limit, verdict.unit)}{unit}",
        bounds=(*(verdict.interval or ()), verdict.value) if known else (),
        middle=verdict.limit,
        is_clear=verdict.row is not None,
    )
    return Claim(sentence, outcome=verdict.outcome, estimate=estimate)
