"""All pairs of three or more learners: adjusted p-values, and the best with those not significantly worse."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from streamgauge._format.markup import Markup, tag
from streamgauge._format.text import count, describe_forgetting, join_words
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.significance.comparison import LEFT_OUT, Comparison
from streamgauge.significance.corrections import CORRECTIONS

__all__ = ["ADJUSTMENTS", "BestGroup", "Comparisons", "adjust_pairs", "best_group", "check_adjustment"]

NO_ADJUSTMENT = "none"
ADJUSTMENTS = (*CORRECTIONS, NO_ADJUSTMENT)
"""The names by which p-values of several pairs are adjusted."""


def check_adjustment(name: str) -> None:
    """Raise if a name is none of `ADJUSTMENTS`.

    Examples
    --------
    >>> check_adjustment("holm")
    """
    if name not in ADJUSTMENTS:
        raise unknown_name(kind="adjustment", name=name, known=ADJUSTMENTS)


def adjust_pairs(comparisons: Sequence[Comparison], adjust: str = "holm") -> "Comparisons":
    """Return the comparisons of all pairs by one test, with p-values adjusted for their number.

    Each of the two questions has its own adjustment. One pair needs none.

    Parameters
    ----------
    comparisons
        One per pair.
    adjust
        One of `ADJUSTMENTS`.

    Examples
    --------
    >>> from streamgauge.significance import sign_test
    >>> pairs = [sign_test([1.0] * 9 + [-1.0]), sign_test([1.0] * 10), sign_test([1.0, -1.0] * 5)]
    >>> [round(pair.adjusted, 4) for pair in adjust_pairs(pairs)], adjust_pairs(pairs)[0].adjustment
    ([0.043, 0.0059, 1.0], 'Holm over 3 pairs')
    """
    check_adjustment(adjust)
    if adjust == NO_ADJUSTMENT or len(comparisons) < 2:
        return Comparisons(comparisons)
    title, correct = CORRECTIONS[adjust]
    adjusted = correct([comparison.p_value for comparison in comparisons])
    answers = [comparison.such_streams for comparison in comparisons]
    known = [answer for answer in answers if answer is not None]
    others = correct([answer.p_value for answer in known]).tolist() if len(known) == len(answers) else []
    words = f"{title} over {count(len(comparisons), 'pair')}"
    return Comparisons(
        replace(
            comparison,
            adjusted=p_value,
            adjustment=words,
            such_streams=replace(known[index], adjusted=others[index]) if others else comparison.such_streams,
        )
        for index, (comparison, p_value) in enumerate(zip(comparisons, adjusted.tolist(), strict=True))
    )


@dataclass(frozen=True)
class BestGroup:
    """The best of several learners, and those that are not significantly worse.

    Parameters
    ----------
    best
        The learner with the best value.
    members
        The best, and all that are not significantly worse than it; the best first.
    others
        The learners that are significantly worse, or were not tested against the best.
    measure, forgetting
        What was compared, and over which rows.
    alpha
        The level.
    question
        The question that is answered, as the end of a sentence.
    adjustment
        How p-values were adjusted, in words; empty if they were not.
    such_streams
        The members for other streams of the same source; None if the tests do not answer that.

    Examples
    --------
    >>> group = BestGroup("tree", ("tree", "bayes"), ("majority",), "kappa", question="on this stream")
    >>> group.sentence
    'Best in kappa: tree; not significantly worse (on this stream): bayes.'
    """

    best: str
    members: tuple[str, ...]
    others: tuple[str, ...]
    measure: str
    forgetting: str = "Landmark()"
    alpha: float = 0.05
    question: str = ""
    adjustment: str = ""
    such_streams: tuple[str, ...] | None = None

    @property
    def sentence(self) -> str:
        """The group in English."""
        where = ", ".join(part for part in (self.adjustment, self.question) if part)
        over = "" if self.forgetting == "Landmark()" else f" {describe_forgetting(self.forgetting)}"
        measure = f" in {self.measure}{over}" if self.measure else ""
        text = f"Best{measure}: {self.best}; {self._describe(self.members, where)}."
        if self.such_streams is not None:
            text = f"{text} For such streams, {self._describe(self.such_streams, '')}."
        return text

    def _describe(self, members: tuple[str, ...], where: str) -> str:
        where = f" ({where})" if where else ""
        rest = members[1:]
        if not rest:
            return f"all others are significantly worse{where}"
        return f"not significantly worse{where}: {join_words(rest)}"

    def __repr__(self) -> str:
        return self.sentence


class Comparisons(tuple[Comparison, ...]):
    """The comparisons of all pairs; of three or more learners they are shown with the group of the best.

    Examples
    --------
    >>> from streamgauge.significance import sign_test
    >>> Comparisons([sign_test([1.0] * 10)])
    the first is better than the second by 1.00 on this stream (sign test over 10 folds, p = 0.0020). It leaves out \
the luck of the rows, which the folds share.
    """

    @property
    def best_group(self) -> BestGroup:
        """The best, and those that are not significantly worse; see `best_group`."""
        return best_group(self)

    @property
    def better(self) -> str | None:
        """The learner that is better than all others; None if it cannot be distinguished from one of them."""
        group = self.best_group
        return group.best if len(group.members) == 1 else None

    def __repr__(self) -> str:
        if len(self) < 2:
            return "\n".join(map(repr, self)) or "()"
        left_out = dict.fromkeys(LEFT_OUT[test.null] for test in self if test.null in LEFT_OUT)
        claims = [test.sentence.replace(f" {LEFT_OUT.get(test.null)}", "") for test in self]
        lines = [self.best_group.sentence, *(f"- {claim}" for claim in claims)]
        warnings = Counter(warning for test in self for warning in test.warnings)
        for warning, n in warnings.items():
            where = "" if n == len(self) else f" on {n} of {len(self)} pairs"
            lines.append(f"Note{where}: {warning}.")
        return "\n".join([*lines, *left_out])

    def _repr_html_(self) -> str:
        groups = [tag("p", tag("b", self.best_group.sentence))] if len(self) > 1 else []
        return tag("div", *groups, *(Markup(comparison._repr_html_()) for comparison in self))


def best_group(comparisons: Sequence[Comparison]) -> BestGroup:
    """Return the best of several learners, and those that are not significantly worse than it.

    A learner of the group may still be worse: there is too little evidence to say so.

    Parameters
    ----------
    comparisons
        Comparisons of the pairs in one measure, as `compare_all` returns them. If there are several tests of a pair,
        the two-way t decides, else the first.

    Examples
    --------
    >>> import streamgauge as sg
    >>> from streamgauge.significance import compare_all
    >>> learners = {"tree": sg.HoeffdingTree(), "bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    >>> results = sg.evaluate(sg.SEA(n_rows=2000), learners, scheme=sg.Bootstrap(5))
    >>> group = best_group(compare_all(results))
    >>> group.best, group.members, group.others
    ('bayes', ('bayes', 'tree'), ('majority',))
    """
    if not comparisons:
        msg = "there are no comparisons, so no learner is the best: pass those of compare_all(results)"
        raise StreamgaugeError(msg)
    head = comparisons[0]
    kinds = {(comparison.measure, comparison.forgetting) for comparison in comparisons}
    if len(kinds) > 1:
        names = ", ".join(sorted(f"{measure} ({forgetting})" for measure, forgetting in kinds))
        msg = f"the best group needs comparisons in one measure, not {names}: call best_group for each"
        raise StreamgaugeError(msg)
    pairs: dict[frozenset[str], Comparison] = {}
    for comparison in sorted(comparisons, key=lambda comparison: comparison.test != "two_way_t"):
        pairs.setdefault(frozenset((comparison.first, comparison.second)), comparison)
    tests = list(pairs.values())
    scores = _score_learners(tests)
    order = sorted(scores, key=lambda name: -scores[name])
    best = order[0]
    against = {_other(test, best): test for test in tests if best in (test.first, test.second)}
    members = [name for name in order[1:] if name in against and against[name].better != best]
    with_streams = all(test.such_streams is not None for test in against.values())
    such_streams = [name for name in order[1:] if name in against and not _is_worse_elsewhere(against[name], best)]
    deciding = next(iter(against.values()))
    return BestGroup(
        best=best,
        members=(best, *members),
        others=tuple(name for name in order[1:] if name not in members),
        measure=head.measure,
        forgetting=head.forgetting,
        alpha=head.alpha,
        question=deciding.question,
        adjustment=deciding.adjustment,
        such_streams=(best, *such_streams) if with_streams else None,
    )


def _score_learners(tests: Sequence[Comparison]) -> dict[str, float]:
    """Return a number for each learner, greater for a better one: its value, or its mean lead over the others."""
    scores: dict[str, list[float]] = {}
    by_value = all(test.values is not None for test in tests)
    for test in tests:
        turn = 1.0 if test.greater_is_better else -1.0
        lead = test.difference or 0.0
        first, second = test.values if by_value and test.values is not None else (lead, -lead)
        scores.setdefault(test.first, []).append(turn * first)
        scores.setdefault(test.second, []).append(turn * second)
    return {name: float(np.mean(values)) for name, values in scores.items()}


def _other(test: Comparison, name: str) -> str:
    return test.second if test.first == name else test.first


def _is_worse_elsewhere(test: Comparison, best: str) -> bool:
    """Return whether the other learner of a test is worse than the best for other streams of the source too."""
    answer = test.such_streams
    return test.better == best and answer is not None and answer.deciding_p <= test.alpha
