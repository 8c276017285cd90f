"""The outcome of a significance test, and the registry of the tests."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

from streamgauge._format.markup import build_table, tag
from streamgauge._format.numbers import RATE, format_difference, format_p_term, format_p_value, to_difference_unit
from streamgauge._format.text import describe_forgetting
from streamgauge.errors import unknown_name

__all__ = [
    "MODELS",
    "SEEDS",
    "SUCH_STREAMS",
    "TESTS",
    "THIS_STREAM",
    "Answer",
    "Comparison",
    "SignificanceTest",
    "find_test",
    "p_text",
    "significance_test",
]

SEEDS = "on this stream the two are equally good for a typical seed"
"""The null hypothesis of tests over folds: the stream is fixed; the seeds and the folds' samples are random."""

MODELS = "these two trained models are equally good"
"""The null hypothesis of tests over rows: the models are fixed; the rows are random. Two seeds are two models."""

THIS_STREAM = "on this stream, given what was learnt from it, the two are equally good on average over seeds and rows"
"""The null hypothesis of tests over folds and rows: both are random, but what the rows taught the learners is not."""

SUCH_STREAMS = "on average over streams of this source the two are equally good"
"""The null hypothesis about other streams: seeds, rows and what is learnt from them are random."""

Basis = Literal["folds and rows", "folds", "resampled folds", "rows of one fold", "losses", "5x2 folds"]
"""What a test runs over, which decides its arguments (the level `alpha` is always the last):

- ``folds and rows``: the values of both learners, whole and with each block of rows left out;
- ``folds``: one difference per fold;
- ``resampled folds``: one difference per fold, and the ratio of tested to learnt rows;
- ``rows of one fold``: the rows that only the first, and only the second, got right, and all rows;
- ``losses``: the losses of each model, row by row;
- ``5x2 folds``: the differences of five repetitions of two folds.
"""

LEFT_OUT: dict[str, str] = {
    SEEDS: "It leaves out the luck of the rows, which the folds share.",
    MODELS: "It leaves out the luck of seeds and of the rows learnt.",
}
"""What tests leave out, by their null hypothesis."""

QUESTIONS: dict[str, str] = {
    SEEDS: "on this stream",
    THIS_STREAM: "on this stream",
    SUCH_STREAMS: "for such streams",
    MODELS: "as trained here",
}
"""The question that a test answers, as the end of a sentence, by its null hypothesis."""


@dataclass(frozen=True)
class Answer:
    """What a comparison says to a second question: that about other streams of the same source.

    Parameters
    ----------
    question
        The question, as the end of a sentence.
    null
        The null hypothesis.
    interval
        The confidence interval of first minus second.
    p_value
        The two-sided p-value.
    note
        What to keep in mind.
    adjusted
        The p-value adjusted for several pairs; None for one pair alone.

    Examples
    --------
    >>> Answer("for such streams", SUCH_STREAMS, (-0.01, 0.05), 0.19).p_value
    0.19
    """

    question: str
    null: str
    interval: tuple[float, float]
    p_value: float
    note: str = ""
    adjusted: float | None = None

    @property
    def deciding_p(self) -> float:
        """The p-value that decides: the adjusted one where several pairs were tested."""
        return self.p_value if self.adjusted is None else self.adjusted


@dataclass(frozen=True)
class Comparison:
    """The outcome of one test between two learners.

    Parameters
    ----------
    test
        The name of the test, as `compare` accepts it.
    statistic
        The statistic of the test, defined in the docstring of the test.
    p_value
        The two-sided p-value: how often chance alone would give at least this much if the null hypothesis were true.
    direction
        1 if the test finds the first to have the greater values, -1 if the second, 0 if neither.
    difference
        The estimate of first minus second; None if the test has too little data to estimate it.
    interval
        The confidence interval of the difference at confidence ``1 - alpha``; None if the test has none.
    alpha
        The level: a difference is claimed if the p-value, adjusted where several pairs were tested, is at most this.
    null
        The null hypothesis in words: `THIS_STREAM`, `SEEDS` or `MODELS`.
    basis
        The data that the test used, in words.
    first, second
        Names of the learners.
    measure
        What was compared; empty for plain numbers.
    greater_is_better
        Whether a greater value of the measure is better.
    unit
        The unit of the measure: a ``rate`` is printed in percent, everything else as it is.
    reason
        Why `compare` chose this test.
    warnings
        Caveats for the interpretation.
    forgetting
        Over which rows the measure was computed: ``Landmark()`` for all of them with equal weight.
    such_streams
        The answer to the second question, about other streams of the same source; None if the test has none.
    values
        The values of the first and the second that were compared; None if the test knows only their difference.
    adjusted
        The p-value adjusted for all pairs that were tested together; None for one pair alone.
    adjustment
        How it was adjusted, in words, such as ``Holm over 6 pairs``; empty for one pair alone.
    n_readings
        The number of readings along the run whose mean was compared; None if it was not a mean of readings.

    Examples
    --------
    >>> outcome = Comparison("sign", 9, 0.0215, 1, 0.021, None, 0.05, SEEDS, "10 folds", "tree", "bayes")
    >>> outcome.better
    'tree'
    >>> print(outcome.sentence)
    tree is better than bayes by 0.021 on this stream (sign test over 10 folds, p = 0.0215). It leaves out the luck of \
the rows, which the folds share.
    >>> from dataclasses import replace
    >>> outcome = replace(outcome, null=THIS_STREAM, measure="log_loss", greater_is_better=False, unit="nats")
    >>> outcome.sentence
    'bayes is better than tree by 0.021 nats in log_loss on this stream (sign test over 10 folds, p = 0.0215).'
    """

    test: str
    statistic: float
    p_value: float
    direction: int
    difference: float | None
    interval: tuple[float, float] | None
    alpha: float
    null: str
    basis: str
    first: str = "the first"
    second: str = "the second"
    measure: str = ""
    greater_is_better: bool = True
    unit: str = ""
    reason: str = ""
    warnings: tuple[str, ...] = ()
    forgetting: str = "Landmark()"
    such_streams: Answer | None = None
    values: tuple[float, float] | None = None
    adjusted: float | None = None
    adjustment: str = ""
    n_readings: int | None = None

    @property
    def title(self) -> str:
        """The name of the test in prose."""
        return TESTS[self.test].title if self.test in TESTS else self.test.replace("_", " ")

    @property
    def question(self) -> str:
        """The question that it answers, as the end of a sentence; empty if the null hypothesis is not one of ours."""
        return QUESTIONS.get(self.null, "")

    @property
    def deciding_p(self) -> float:
        """The p-value that decides: the adjusted one where several pairs were tested."""
        return self.p_value if self.adjusted is None else self.adjusted

    @property
    def significant(self) -> bool:
        """Whether a difference can be claimed."""
        return self.direction != 0 and self.deciding_p <= self.alpha

    @property
    def better(self) -> str | None:
        """The name of the better learner; None if no difference can be claimed."""
        return self._leader[0] if self.significant else None

    @property
    def _leader(self) -> tuple[str, str, int]:
        """The learner that is ahead, the other, and 1 or -1: the sign that turns first minus second to its view."""
        towards = self.direction or (self.difference or 0.0)
        names = (self.first, self.second) if (towards >= 0) == self.greater_is_better else (self.second, self.first)
        return (*names, -1 if towards < 0 else 1)

    @property
    def subject(self) -> str:
        """What was compared: the measure, and the rows if it was not over all of them."""
        if self.forgetting == "Landmark()":
            return self.measure
        readings = "last reading" if self.n_readings is None else f"mean of {self.n_readings:,} readings"
        return f"{self.measure} {describe_forgetting(self.forgetting)} ({readings})"

    @property
    def sentence(self) -> str:
        """The outcome in English, from the view of the learner that is ahead; rates are printed in percent."""
        ahead, behind, turn = self._leader
        scale = turn * (100 if self.unit == RATE else 1)
        bounds = self.interval or (0.0, 0.0)
        digits = _count_digits(scale * (bounds[1] - bounds[0]) / 2 or scale * (self.difference or 0.0))

        def format_interval(interval: tuple[float, float]) -> str:
            low, high = sorted(scale * bound for bound in interval)
            alone = "" if self.adjusted is None else "unadjusted "
            return f"{alone}{100 * (1 - self.alpha):g}% interval {low:,.{digits}f} to {high:,.{digits}f}"

        evidence = f"{self.title} over {self.basis}, {_describe_p(self.p_value, self.adjusted, self.adjustment)}"
        if self.interval is not None:
            evidence = f"{format_interval(self.interval)}; {evidence}"
        by = ""
        if self.difference is not None:
            by = " ".join(["", "by", f"{scale * self.difference:,.{digits}f}", to_difference_unit(self.unit)]).rstrip()
        measure = f" in {self.subject}" if self.measure else ""
        question = f" {self.question}" if self.question else ""
        if self.significant:
            text = f"{ahead} is better than {behind}{by}{measure}{question} ({evidence})."
        else:
            lead = f"; {ahead} is ahead{by}" if self.difference else ""
            between = f"between {ahead} and {behind}"
            text = f"No difference{measure} can be claimed {between}{question}{lead} ({evidence})."
        if self.null in LEFT_OUT:
            text = f"{text} {LEFT_OUT[self.null]}"
        if self.such_streams is not None:
            answer = self.such_streams
            claim = f"{ahead} is better too" if answer.deciding_p <= self.alpha else "no difference can be claimed"
            evidence = f"{format_interval(answer.interval)}, {_describe_p(answer.p_value, answer.adjusted)}"
            question = answer.question[:1].upper() + answer.question[1:]
            text = f"{text} {question} {claim} ({evidence})."
        return text

    def __repr__(self) -> str:
        return "\n".join([self.sentence, *(f"Note: {warning}." for warning in self.warnings)])

    def _repr_html_(self) -> str:
        ahead, behind, turn = self._leader

        def format_interval(interval: tuple[float, float] | None) -> str:
            ends = [format_difference(end, self.unit) for end in sorted(turn * end for end in interval or ())]
            return f"[{', '.join(ends)}]" if ends else ""

        unit = to_difference_unit(self.unit, short=True)
        difference = " in ".join(["difference", *([self.measure] if self.measure else [])])
        such_streams = self.such_streams
        table = build_table(
            (
                "",
                f"{difference}, {unit}" if unit else difference,
                "interval" if self.adjusted is None else "unadjusted interval",
                "p" if self.adjusted is None else "adjusted p",
                "test",
                "question",
            ),
            [
                (
                    f"{ahead} minus {behind}" if self.greater_is_better else f"{behind} minus {ahead}",
                    format_difference(None if self.difference is None else turn * self.difference, self.unit),
                    format_interval(self.interval),
                    format_p_value(self.deciding_p),
                    self.title,
                    self.question,
                ),
                *(
                    []
                    if such_streams is None
                    else [
                        (
                            "",
                            "",
                            format_interval(such_streams.interval),
                            format_p_value(such_streams.deciding_p),
                            "",
                            such_streams.question,
                        )
                    ]
                ),
            ],
        )
        notes = (tag("p", f"Note: {warning}.") for warning in self.warnings)
        return tag("div", tag("p", tag("b", self.sentence)), table, *notes)


@dataclass(frozen=True)
class SignificanceTest:
    """An entry of the registry of significance tests.

    Parameters
    ----------
    name
        The name, as `compare` and the command line accept it.
    title
        The name in prose.
    over
        What it runs over, see `Basis`.
    run
        The function.
    least_folds
        The fewest folds that it can be run with.

    Examples
    --------
    >>> from streamgauge.significance import TESTS
    >>> TESTS["sign_flip"].title, TESTS["sign_flip"].over
    ('sign-flip test', 'folds')
    """

    name: str
    title: str
    over: Basis
    run: Callable[..., Comparison]
    least_folds: int = 1


TESTS: dict[str, SignificanceTest] = {}
"""The registered significance tests by name."""

_Test = TypeVar("_Test", bound=Callable[..., Comparison])


def significance_test(name: str, *, title: str, over: Basis, least_folds: int = 1) -> Callable[[_Test], _Test]:
    """Return a decorator that registers a function as a significance test.

    Examples
    --------
    >>> from streamgauge.significance import TESTS, mcnemar
    >>> TESTS["mcnemar"].run is mcnemar
    True
    """

    def register(function: _Test) -> _Test:
        TESTS[name] = SignificanceTest(name=name, title=title, over=over, run=function, least_folds=least_folds)
        return function

    return register


ALIASES = {"wilcoxon_signed_rank": "wilcoxon", "5x2cv": "five_by_two", "5x2": "five_by_two"}
"""Names of tests in other libraries and in papers."""


def find_test(name: str, known: Iterable[str] | None = None) -> SignificanceTest:
    """Return the test of a name: that of the registry, of its function, or its title.

    Examples
    --------
    >>> from streamgauge.significance.fold_tests import sign_test
    >>> [find_test(name).name for name in ("sign", "sign_test", "Sign test")]
    ['sign', 'sign', 'sign']
    """
    tests = {test: TESTS[test] for test in (TESTS if known is None else known)}
    wanted = name.lower().replace("-", "_").replace(" ", "_")
    for test in tests.values():
        title = test.title.lower().replace("-", "_").replace(" ", "_")
        names = {test.name, f"{test.name}_test", test.run.__name__, title, test.name.removesuffix("_t")}
        if wanted in names or ALIASES.get(wanted) == test.name:
            return test
    raise unknown_name(kind="test", name=name, known=tests)


def _count_digits(scale: float) -> int:
    """Return the decimals that show two significant digits, between 2 and 7."""
    return min(max(1 - math.floor(math.log10(abs(scale))), 2), 7) if scale else 2


def _describe_p(p_value: float, adjusted: float | None, adjustment: str = "") -> str:
    """Return a p-value, followed by the adjusted one and how it was adjusted, if it was."""
    if adjusted is None:
        return p_text(p_value)
    return f"{p_text(p_value)}, adjusted {p_text(adjusted)}" + (f" by {adjustment}" if adjustment else "")


def p_text(p_value: float) -> str:
    """Return a p-value as ``p = ...``, with four digits.

    Examples
    --------
    >>> p_text(0.0321), p_text(1.23e-9)
    ('p = 0.0321', 'p < 0.0001')
    """
    return f"p {format_p_term(p_value)}"
