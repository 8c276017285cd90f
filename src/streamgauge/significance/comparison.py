"""What a test between two learners says."""

import math
from dataclasses import dataclass

from streamgauge._format.markup import simple_table, tag
from streamgauge._format.numbers import RATE, difference_unit, points

__all__ = ["ALGORITHMS", "MODELS", "SEEDS", "Comparison"]

SEEDS = "on this stream the two are equally good for a typical seed"
"""The hypothesis of tests over folds: the stream is given, the seeds and the folds' samples are chance."""

MODELS = "these two trained models are right equally often"
"""The hypothesis of tests over rows: the models are given, the rows are chance. Two seeds are two models."""

ALGORITHMS = "the two are equally good on average over seeds and over rows of this source"
"""The hypothesis of tests over folds and rows: both are chance."""

TITLES = {
    "two_way_t": "two-way t",
    "paired_t": "paired t",
    "wilcoxon": "exact Wilcoxon",
    "sign": "sign test",
    "sign_flip": "sign-flip test",
    "corrected_t": "corrected t",
    "five_by_two": "5x2 cv test",
    "mcnemar": "McNemar",
    "diebold_mariano": "Diebold-Mariano",
}


@dataclass(frozen=True)
class Comparison:
    """The outcome of one test between two learners.

    Parameters
    ----------
    test
        The name of the test, as `compare` takes it; ``paired_t`` where a two-way t had no rows in common to use.
    statistic
        The statistic of the test; its docstring says which.
    p_value
        How often chance alone would give so much, were the hypothesis true; two-sided.
    direction
        1 where the first has the greater values by the test's own reckoning, -1 where the second has, 0 for neither.
    difference
        The estimate of first minus second; None where the test was not given enough to estimate it.
    interval
        Where the true difference lies, with confidence ``1 - alpha``; None where the test gives no interval.
    alpha
        The level: a difference is claimed where the p-value is not above it.
    null
        The hypothesis that the p-value speaks of: `SEEDS`, `MODELS` or `ALGORITHMS`.
    basis
        What the test looked at, in words.
    first, second
        Names of the learners.
    measure
        What was compared.
    greater_is_better
        Whether a greater value of the measure is better.
    unit
        In what the measure is told: a ``rate`` is put in percent, all else in its own unit.
    reason
        Why this test was chosen, where `compare` chose it.
    warnings
        What to know before believing it.
    forgetting
        Over which rows the measure was taken: ``Landmark()`` for all of them alike.

    Examples
    --------
    >>> outcome = Comparison("sign", 9, 0.0215, 1, 0.021, None, 0.05, SEEDS, "10 folds", "tree", "bayes")
    >>> outcome.better
    'tree'
    >>> outcome.sentence
    'tree is better than bayes by 2.10 % points in accuracy (sign test over 10 folds, p = 0.021).'
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
        """The name of the test as a person would write it."""
        return TITLES.get(self.test, self.test)

    @property
    def significant(self) -> bool:
        """Whether a difference can be claimed."""
        return self.direction != 0 and self.p_value <= self.alpha

    @property
    def better(self) -> str | None:
        """The name of the learner that is better; None where no difference can be claimed."""
        if not self.significant:
            return None
        return self.first if (self.direction > 0) == self.greater_is_better else self.second

    @property
    def sentence(self) -> str:
        """The verdict in plain English; rates are printed in percent."""
        better = self.better
        scale = 100 if self.unit == RATE else 1
        # Told from the side of who is ahead.
        turn = -scale if (self.direction if better is not None else self.difference or 0.0) < 0 else scale
        low, high = sorted(turn * bound for bound in self.interval or (0.0, 0.0))
        digits = _digits((high - low) / 2 or scale * (self.difference or 0.0))
        evidence = f"{self.title} over {self.basis}, {p_text(self.p_value)}"
        if self.interval is not None:
            confidence = 100 * (1 - self.alpha)
            evidence = f"{confidence:g} % interval {low:,.{digits}f} to {high:,.{digits}f}; {evidence}"
        by = ""
        if self.difference is not None:
            by = f" by {turn * self.difference:,.{digits}f} {difference_unit(self.unit)}"
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
        interval = "" if self.interval is None else f"[{', '.join(points(end, self.unit) for end in self.interval)}]"
        table = simple_table(
            ("", f"difference in {self.measure}, {difference_unit(self.unit)}", "interval", "test", "p"),
            [
                (
                    f"{self.first} minus {self.second}",
                    points(self.difference, self.unit),
                    interval,
                    self.title,
                    p_text(self.p_value).removeprefix("p = "),
                )
            ],
        )
        notes = (tag("p", f"Note: {warning}.") for warning in self.warnings)
        return tag("div", tag("p", tag("b", self.sentence)), table, *notes)


def _digits(scale: float) -> int:
    """Count the decimals that show two digits of a number, between 2 and 7."""
    return min(max(1 - math.floor(math.log10(abs(scale))), 2), 7) if scale else 2


def p_text(p_value: float) -> str:
    """Put a p-value in words.

    Examples
    --------
    >>> p_text(0.0321), p_text(1.23e-9), p_text(0.0)
    ('p = 0.032', 'p = 1.2e-9', 'p < 1e-300')
    """
    if p_value < 1e-300:
        return "p < 1e-300"
    digits, _, exponent = f"{p_value:.2g}".partition("e")
    return f"p = {digits}e{int(exponent)}" if exponent else f"p = {digits}"
