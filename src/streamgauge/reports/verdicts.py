"""Live verdicts as reports show them: by measure, what is decided first, from the view of the learner that is ahead."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from streamgauge._format.numbers import RATE, format_difference, format_value, to_difference_unit
from streamgauge.records import ModelVerdict, Verdict
from streamgauge.records.readings import name_row
from streamgauge.significance.verdict_terms import describe_rows_left, describe_verdicts, find_question

__all__ = [
    "COMPARISONS_TITLE",
    "VerdictGroup",
    "VerdictLine",
    "format_short_margin",
    "group_verdicts",
    "sort_model_verdicts",
]

COMPARISONS_TITLE = "Comparisons at the end"
"""The title of tests that are valid once, after the last row, unlike live verdicts."""


@dataclass(frozen=True)
class VerdictLine:
    """A verdict as it is listed.

    Parameters
    ----------
    verdict
        The verdict.
    sentence
        What holds.
    ahead, behind
        Who is ahead now, and the other learner.
    lead
        By how much it is ahead, 0 or more; NaN while the difference is undefined.
    reach
        The interval of the lead; None if there is none.

    Examples
    --------
    >>> facts = (-0.05, (-0.08, -0.02), 0.02, 0.05, 1, "equal", "block_sequence")
    >>> loss = Verdict("a", "b", "first", 9000, *facts, measure="log_loss", unit="nats", greater_is_better=False)
    >>> (group,) = group_verdicts([loss])
    >>> group.lines[0].state
    'now a is ahead by 0.05 nats [+0.02, +0.08]'
    """

    verdict: Verdict
    sentence: str
    ahead: str
    behind: str
    lead: float
    reach: tuple[float, float] | None

    @classmethod
    def of(cls, verdict: Verdict, sentence: str) -> "VerdictLine":
        """Return the line of a verdict."""
        turn = 1.0 if verdict.greater_is_better else -1.0
        names = (verdict.first, verdict.second)
        if turn * verdict.difference < 0.0:
            turn, names = -turn, names[::-1]
        ends = sorted(turn * end for end in verdict.interval or ())
        return cls(verdict, sentence, *names, abs(verdict.difference), (ends[0], ends[1]) if ends else None)

    @property
    def interval(self) -> str:
        """The interval of the lead; empty if there is none."""
        ends = [format_difference(end, self.verdict.unit) for end in self.reach or ()]
        return f"[{', '.join(ends)}]" if ends else ""

    @property
    def lead_now(self) -> str:
        """Who is ahead now, and by how much."""
        unit = self.verdict.unit
        if math.isnan(self.lead):
            return "the difference is not defined now"
        if self.lead == 0.0:
            return f"now there is no difference {self.interval}".rstrip()
        parts = (format_value(self.lead, unit), to_difference_unit(unit, short=True), self.interval)
        return f"now {self.ahead} is ahead by {' '.join(filter(None, parts))}"

    @property
    def state(self) -> str:
        """Who is ahead now, and about how many more rows a verdict needs."""
        return "; ".join(filter(None, (self.lead_now, describe_rows_left(self.verdict))))


@dataclass(frozen=True)
class VerdictGroup:
    """The verdicts in one measure, what is decided first.

    Parameters
    ----------
    measure
        The measure.
    conditions
        The question that they answer, which may be empty, their level, and their margin if they have one.
    lines
        The verdicts as they are listed.
    n_decided
        How many of them are decided.

    Examples
    --------
    >>> group_verdicts([])
    []
    """

    measure: str
    conditions: tuple[str, ...]
    lines: tuple[VerdictLine, ...]
    n_decided: int

    @property
    def heading(self) -> str:
        """The measure, the question, the level and the margin."""
        question, *others = self.conditions
        return f"Live verdicts on {self.measure}{question and f', {question}'} ({', '.join(others)})"


def group_verdicts(verdicts: Sequence[Verdict], name: Callable[[int], str] = name_row) -> list[VerdictGroup]:
    """Return live verdicts by measure, in the order in which the measures first appear; `name` returns names of rows.

    Examples
    --------
    >>> facts = (0.03, (0.01, 0.05), 0.01, 0.05, 1, "equal", "two_way_sequence")
    >>> [group.heading for group in group_verdicts([Verdict("a", "b", "first", 4000, *facts)])]
    ['Live verdicts on accuracy (anytime-valid at 95%, margin 1 pp)']
    """
    order = list(dict.fromkeys(verdict.measure for verdict in verdicts))
    lines = list(map(VerdictLine.of, verdicts, describe_verdicts(verdicts, name).sentences))
    lines.sort(key=lambda line: order.index(line.verdict.measure))
    groups = []
    for measure, group in groupby(lines, key=lambda line: line.verdict.measure):
        # What is decided, then what was decided once, then what never was.
        ordered = sorted(group, key=lambda line: (line.verdict.row is None) * (1 + (line.verdict.earlier is None)))
        n_decided = sum(line.verdict.row is not None for line in ordered)
        groups.append(VerdictGroup(measure, _list_conditions(ordered[0].verdict), tuple(ordered), n_decided))
    return groups


def sort_model_verdicts(verdicts: Sequence[ModelVerdict]) -> list[ModelVerdict]:
    """Return verdicts on one model: requirements that are broken first, then those that are kept, then the others.

    Examples
    --------
    >>> sort_model_verdicts([])
    []
    """
    return sorted(verdicts, key=lambda verdict: ("broken", "kept", "undecided").index(verdict.outcome))


def format_short_margin(verdict: Verdict) -> str:
    """Return the margin of a verdict in its unit, abbreviated.

    Examples
    --------
    >>> format_short_margin(Verdict("a", "b", "undecided", None, 0.0, None, 0.01, 0.05, 1, "equal", "block_sequence"))
    '1 pp'
    """
    scale = 100 if verdict.unit == RATE else 1
    return f"{scale * verdict.rope:g} {to_difference_unit(verdict.unit, short=True)}".rstrip()


def _list_conditions(verdict: Verdict) -> tuple[str, ...]:
    """Return the question, which may be empty, the level, and the margin if the test has one."""
    level = f"anytime-valid at {100 * (1 - verdict.alpha):g}%"
    margin = [f"margin {format_short_margin(verdict)}"] if verdict.test != "group_sequential" else []
    return find_question(verdict), level, *margin
