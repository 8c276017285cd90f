"""What a report asks of a comparison, so that it need not know who made it."""

from collections.abc import Sequence
from typing import Protocol

from streamgauge._format.numbers import format_difference, to_difference_unit

__all__ = ["Comparison", "by_pair", "difference_heading", "difference_text", "interval_text", "shared_unit"]


class Comparison(Protocol):
    """The outcome of one test between two learners; see `streamgauge.significance`."""

    @property
    def first(self) -> str:
        """The name of one learner."""
        ...

    @property
    def second(self) -> str:
        """The name of the other."""
        ...

    @property
    def measure(self) -> str:
        """What was compared."""
        ...

    @property
    def test(self) -> str:
        """What the test is called."""
        ...

    @property
    def p_value(self) -> float:
        """How often chance alone would differ so much; NaN where the test cannot say."""
        ...

    @property
    def difference(self) -> float | None:
        """The value of the first minus that of the second; None where the test estimates none."""
        ...

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the difference lies, with the confidence that the sentence states; None where the test gives none."""
        ...

    @property
    def unit(self) -> str:
        """In what the measure is told; ``rate`` for a rate."""
        ...

    @property
    def sentence(self) -> str:
        """The verdict in plain English."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before believing it."""
        ...


def by_pair(comparisons: Sequence[Comparison]) -> list[list[Comparison]]:
    """Gather the tests of each pair of learners in one measure, pairs and tests in the order they came.

    The first test of a pair is the one that leads its verdict.

    Examples
    --------
    >>> by_pair([])
    []
    """
    pairs: dict[tuple[str, str, str], list[Comparison]] = {}
    for comparison in comparisons:
        pairs.setdefault((comparison.first, comparison.second, comparison.measure), []).append(comparison)
    return list(pairs.values())


def shared_unit(comparisons: Sequence[Comparison]) -> str | None:
    """Give the unit of all differences, which a heading then tells; None where they have several.

    Examples
    --------
    >>> from streamgauge.significance import mcnemar
    >>> shared_unit([mcnemar(20, 5, 100)]), shared_unit([])
    ('rate', None)
    """
    units = {comparison.unit for comparison in comparisons}
    return units.pop() if len(units) == 1 else None


def difference_heading(shared: str | None) -> str:
    """Name the column of differences, with the unit that they share.

    Examples
    --------
    >>> difference_heading("rate"), difference_heading(None)
    ('difference, pp', 'difference')
    """
    return "difference" if shared is None else f"difference, {to_difference_unit(shared, short=True)}"


def difference_text(comparison: Comparison, shared: str | None) -> str:
    """Put the difference of a comparison, with its unit unless the heading tells it.

    Examples
    --------
    >>> from streamgauge.significance import mcnemar
    >>> difference_text(mcnemar(20, 5, 100), "rate"), difference_text(mcnemar(20, 5, 100), None)
    ('+15.00', '+15.00 pp')
    """
    text = format_difference(comparison.difference, comparison.unit)
    return text if shared is not None else f"{text} {to_difference_unit(comparison.unit, short=True)}"


def interval_text(comparison: Comparison) -> str:
    """Put the interval of a comparison; nothing where it has none.

    Examples
    --------
    >>> from streamgauge.significance import mcnemar
    >>> interval_text(mcnemar(20, 5, 100))
    '[+5.65, +24.35]'
    """
    if comparison.interval is None:
        return ""
    return f"[{', '.join(format_difference(bound, comparison.unit) for bound in comparison.interval)}]"
