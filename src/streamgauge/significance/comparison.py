"""The outcome of a significance test, and the registry of the tests."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from streamgauge._format.markup import build_table, tag
from streamgauge._format.numbers import RATE, format_difference, to_difference_unit

__all__ = ["ALGORITHMS", "MODELS", "SEEDS", "TESTS", "Comparison", "SignificanceTest", "p_text", "significance_test"]

SEEDS = "on this stream the two are equally good for a typical seed"
"""The null hypothesis of tests over folds: the stream is fixed; the seeds and the folds' samples are random."""

MODELS = "these two trained models are right equally often"
"""The null hypothesis of tests over rows: the models are fixed; the rows are random. Two seeds are two models."""

ALGORITHMS = "the two are equally good on average over seeds and over rows of this source"
"""The null hypothesis of tests over folds and rows: both are random."""

Basis = Literal["folds", "resampled folds", "folds and rows", "rows of one fold", "losses", "5x2 folds"]
"""What a test runs over, which decides its arguments (the level `alpha` is always the last):

- ``folds``: one difference per fold;
- ``resampled folds``: one difference per fold, and the ratio of tested to learnt rows;
- ``folds and rows``: the `PairSums` of two learners;
- ``rows of one fold``: the rows that only the first, and only the second, got right, and all rows;
- ``losses``: the losses of each model, row by row;
- ``5x2 folds``: the differences of five repetitions of two folds.

`compare` runs the first four after an evaluation.
"""


@dataclass(frozen=True)
class Comparison:
    """The outcome of one test between two learners.

    Parameters
    ----------
    test
        The name of the test, as `compare` accepts it; ``paired_t`` where a two-way t had no rows in common to use.
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
        The level: a difference is claimed if the p-value is at most this.
    null
        The null hypothesis: `SEEDS`, `MODELS` or `ALGORITHMS`.
    basis
        The data that the test used, in words.
    first, second
        Names of the learners.
    measure
        What was compared.
    greater_is_better
        Whether a greater value of the measure is better.
    unit
        The unit of the measure: a ``rate`` is printed in percent, everything else in its own unit.
    reason
        Why `compare` chose this test.
    warnings
        Caveats for the interpretation.
    forgetting
        Over which rows the measure was computed: ``Landmark()`` for all of them with equal weight.

    Examples
    --------
    >>> outcome = Comparison("sign", 9, 0.0215, 1, 0.021, None, 0.05, SEEDS, "10 folds", "tree", "bayes")
    >>> outcome.better
    'tree'
    >>> outcome.sentence
    'tree is better than bayes by 2.10 percentage points in accuracy (sign test over 10 folds, p = 0.021).'
    >>> from dataclasses import replace
    >>> replace(outcome, measure="log_loss", greater_is_better=False, unit="nats").sentence
    'bayes is better than tree by 0.021 nats in log_loss (sign test over 10 folds, p = 0.021).'
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
    measure: str = "accuracy"
    greater_is_better: bool = True
    unit: str = RATE
    reason: str = ""
    warnings: tuple[str, ...] = ()
    forgetting: str = "Landmark()"

    @property
    def title(self) -> str:
        """The name of the test in prose."""
        return TESTS[self.test].title if self.test in TESTS else self.test.replace("_", " ")

    @property
    def significant(self) -> bool:
        """Whether a difference can be claimed."""
        return self.direction != 0 and self.p_value <= self.alpha

    @property
    def better(self) -> str | None:
        """The name of the better learner; None if no difference can be claimed."""
        if not self.significant:
            return None
        return self.first if (self.direction > 0) == self.greater_is_better else self.second

    @property
    def sentence(self) -> str:
        """The outcome as an English sentence; rates are printed in percent."""
        better = self.better
        scale = 100 if self.unit == RATE else 1
        # From the point of view of the learner that is ahead.
        turn = -scale if (self.direction if better is not None else self.difference or 0.0) < 0 else scale
        low, high = sorted(turn * bound for bound in self.interval or (0.0, 0.0))
        digits = _count_digits((high - low) / 2 or scale * (self.difference or 0.0))
        evidence = f"{self.title} over {self.basis}, {p_text(self.p_value)}"
        if self.interval is not None:
            confidence = 100 * (1 - self.alpha)
            evidence = f"{confidence:g}% interval {low:,.{digits}f} to {high:,.{digits}f}; {evidence}"
        by = ""
        if self.difference is not None:
            by = f" by {turn * self.difference:,.{digits}f} {to_difference_unit(self.unit)}"
        if better is None:
            ahead = self.first if (turn > 0) == self.greater_is_better else self.second
            lead = f"; {ahead} is ahead{by}" if self.difference else ""
            between = f"between {self.first} and {self.second}"
            return f"No difference in {self.measure} can be claimed {between}{lead} ({evidence})."
        worse = self.second if better == self.first else self.first
        return f"{better} is better than {worse}{by} in {self.measure} ({evidence})."

    def __repr__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        ends = [format_difference(end, self.unit) for end in self.interval or ()]
        interval = f"[{', '.join(ends)}]" if ends else ""
        table = build_table(
            ("", f"difference in {self.measure}, {to_difference_unit(self.unit, short=True)}", "interval", "test", "p"),
            [
                (
                    f"{self.first} minus {self.second}",
                    format_difference(self.difference, self.unit),
                    interval,
                    self.title,
                    p_text(self.p_value).removeprefix("p = "),
                )
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


TESTS: dict[str, SignificanceTest] = {}
"""The registered significance tests by name."""

_Test = TypeVar("_Test", bound=Callable[..., Comparison])


def significance_test(name: str, *, title: str, over: Basis) -> Callable[[_Test], _Test]:
    """Return a decorator that registers a function as a significance test.

    Examples
    --------
    >>> from streamgauge.significance import TESTS, mcnemar
    >>> TESTS["mcnemar"].run is mcnemar
    True
    """

    def register(function: _Test) -> _Test:
        TESTS[name] = SignificanceTest(name=name, title=title, over=over, run=function)
        return function

    return register


def _count_digits(scale: float) -> int:
    """Return the decimals that show two significant digits, between 2 and 7."""
    return min(max(1 - math.floor(math.log10(abs(scale))), 2), 7) if scale else 2


def p_text(p_value: float) -> str:
    """Return a p-value as ``p = ...``, in two significant digits.

    Examples
    --------
    >>> p_text(0.0321), p_text(1.23e-9), p_text(0.0)
    ('p = 0.032', 'p = 1.2e-9', 'p < 1e-300')
    """
    if p_value < 1e-300:
        return "p < 1e-300"
    digits, _, exponent = f"{p_value:.2g}".partition("e")
    return f"p = {digits}e{int(exponent)}" if exponent else f"p = {digits}"
