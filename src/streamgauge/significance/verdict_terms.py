"""Live verdicts in words: a sentence for each, and once for all of them what they claim and what they cannot know."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from streamgauge._format.text import count
from streamgauge.records import ModelVerdict, Verdict
from streamgauge.records.readings import name_row
from streamgauge.significance.comparison import LEFT_OUT, QUESTIONS, THIS_STREAM

__all__ = ["DescribedVerdicts", "describe_rows_left", "describe_verdicts", "find_question"]

EXACT = ("empirical_bernstein", "group_sequential")
"""The anytime-valid tests whose level is exact; that of the others holds once there are many rows."""

NOT_KNOWN: Mapping[str, str] = {**LEFT_OUT, THIS_STREAM: "It says nothing about other streams of this source."}
"""What live verdicts leave out, by their null hypothesis."""


@dataclass(frozen=True)
class DescribedVerdicts:
    """Verdicts with their sentences, and what holds for all of them.

    Parameters
    ----------
    verdicts
        The verdicts.
    sentences
        A sentence for each verdict.
    terms
        What they claim, how often they may be wrong, what they cannot know, and notes; one sentence or two each.
    notes
        Those of the terms that are notes, such as what is missing for a verdict.

    Examples
    --------
    >>> DescribedVerdicts((), (), ()).facts
    []
    """

    verdicts: tuple[Verdict | ModelVerdict, ...]
    sentences: tuple[str, ...]
    terms: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def facts(self) -> list[dict[str, Any]]:
        """The verdicts as JSON values, each with its sentence, those on pairs also with their question."""
        return [
            {**asdict(verdict), "sentence": sentence, "question": find_question(verdict)}
            if isinstance(verdict, Verdict)
            else {**asdict(verdict), "sentence": sentence}
            for verdict, sentence in zip(self.verdicts, self.sentences, strict=True)
        ]


def find_question(verdict: Verdict) -> str:
    """Return the question that a verdict answers, as the end of a sentence; empty if its null hypothesis is unknown.

    Examples
    --------
    >>> find_question(Verdict("a", "b", "undecided", None, 0.0, None, 0.01, 0.05, 1, THIS_STREAM, "block_sequence"))
    'on this stream'
    """
    return QUESTIONS.get(verdict.null, "")


def describe_rows_left(verdict: Verdict) -> str:
    """Return about how many more rows a verdict needs, in two digits; empty if that is not known.

    Examples
    --------
    >>> facts = (0.02, (0.0, 0.04), 0.01, 0.05, 1, THIS_STREAM, "block_sequence")
    >>> describe_rows_left(Verdict("a", "b", "undecided", None, *facts, rows_left=12_345))
    'about 12,000 more rows if the difference stays as it is'
    """
    if verdict.rows_left is None:
        return ""
    return f"about {count(int(float(f'{verdict.rows_left:.2g}')), 'more row')} if the difference stays as it is"


def describe_verdicts(
    verdicts: Sequence[Verdict | ModelVerdict], name: Callable[[int], str] = name_row
) -> DescribedVerdicts:
    """Return verdicts with their sentences, and once for all of them what they claim and what they cannot know.

    A note that several verdicts share is among the terms, not in their sentences. `name` returns the name of a row.

    Examples
    --------
    >>> facts = (0.031, (0.012, 0.05), 0.01, 0.05, 3, THIS_STREAM, "two_way_sequence")
    >>> described = describe_verdicts([Verdict("tree", "bayes", "first", 4000, *facts)])
    >>> described.sentences
    ('tree is better than bayes in accuracy, known since row 4,000',)
    >>> described.terms[0].partition("; ")[2]
    'the probability that any of the 3 claims is ever wrong is at most about 5%.'
    """
    if not verdicts:
        return DescribedVerdicts((), (), ())
    n_holders = Counter(verdict.note for verdict in verdicts)
    sentences, notes = [], {}
    for verdict in verdicts:
        is_shared = n_holders[verdict.note] > 1
        sentence = (replace(verdict, note="") if is_shared else verdict).describe(name)
        sentences.append(sentence)
        if verdict.note not in sentence:
            notes[verdict.note] = "" if is_shared or len(verdicts) == 1 else f" on {_name(verdict)}"
    remarks = tuple(f"Note{whom}: {note.rstrip('.')}." for note, whom in notes.items())
    terms = (*_describe_claims(verdicts), *remarks)
    return DescribedVerdicts(tuple(verdicts), tuple(sentences), terms, remarks)


def _name(verdict: Verdict | ModelVerdict) -> str:
    if isinstance(verdict, ModelVerdict):
        return f"{verdict.learner} and {verdict.requirement}"
    return f"{verdict.first} and {verdict.second}, {verdict.measure}"


def _describe_claims(verdicts: Sequence[Verdict | ModelVerdict]) -> list[str]:
    n_claims, alpha = verdicts[0].n_claims, verdicts[0].alpha
    about = "" if all(verdict.test in EXACT for verdict in verdicts) else "about "
    which = f"any of the {n_claims:,} claims" if n_claims > 1 else "each" if len(verdicts) > 1 else "it"
    looks = (
        f"A verdict holds for the rows so far, at any number of looks; the probability that {which} is ever wrong is "
        f"at most {about}{100 * alpha:g}%."
    )
    if isinstance(verdicts[0], ModelVerdict):
        return [
            looks,
            "Kept: the whole interval is on the right side of the limit; broken: all of it is on the wrong side. "
            "Rows to come may be different.",
        ]
    nulls = dict.fromkeys(verdict.null for verdict in verdicts if isinstance(verdict, Verdict))
    margin = any(verdict.test != "group_sequential" for verdict in verdicts)
    return [
        looks,
        *(f"Null hypothesis: {null}. {NOT_KNOWN.get(null, '')}".rstrip() for null in nulls),
        *(["Differences up to the margin do not matter."] if margin else []),
    ]
