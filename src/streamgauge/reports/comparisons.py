"""What a report asks of a comparison, so that it need not know who made it."""

from collections.abc import Sequence
from typing import Protocol

from streamgauge.wording import points

__all__ = ["Comparison", "by_pair", "interval_text"]


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
    return f"[{', '.join(points(bound, comparison.unit) for bound in comparison.interval)}]"
