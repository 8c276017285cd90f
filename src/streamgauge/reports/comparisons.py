"""Comparisons arranged for display."""

from collections.abc import Sequence

from streamgauge._format.numbers import format_difference, to_difference_unit
from streamgauge.significance import Comparison

__all__ = ["find_shared_unit", "format_estimate", "format_interval", "group_by_pair", "label_difference"]


def group_by_pair(comparisons: Sequence[Comparison]) -> list[list[Comparison]]:
    """Return the tests of each pair of learners in one measure, in their original order.

    The first test of a pair decides its verdict.

    Examples
    --------
    >>> group_by_pair([])
    []
    """
    pairs: dict[tuple[str, str, str], list[Comparison]] = {}
    for comparison in comparisons:
        pairs.setdefault((comparison.first, comparison.second, comparison.measure), []).append(comparison)
    return list(pairs.values())


def find_shared_unit(comparisons: Sequence[Comparison]) -> str | None:
    """Return the unit of all differences; None if they have several.

    Examples
    --------
    >>> from streamgauge.significance import mcnemar
    >>> find_shared_unit([mcnemar(20, 5, 100)]), find_shared_unit([])
    ('rate', None)
    """
    units = {comparison.unit for comparison in comparisons}
    return units.pop() if len(units) == 1 else None


def label_difference(shared: str | None) -> str:
    """Return the heading of a column of differences, with the unit that they share.

    Examples
    --------
    >>> label_difference("rate"), label_difference(None)
    ('difference, pp', 'difference')
    """
    return "difference" if shared is None else f"difference, {to_difference_unit(shared, short=True)}"


def format_estimate(comparison: Comparison, shared: str | None) -> str:
    """Return the difference of a comparison, with its unit unless the heading shows it.

    Examples
    --------
    >>> from streamgauge.significance import mcnemar
    >>> format_estimate(mcnemar(20, 5, 100), "rate"), format_estimate(mcnemar(20, 5, 100), None)
    ('+15.00', '+15.00 pp')
    """
    text = format_difference(comparison.difference, comparison.unit)
    return text if shared is not None else f"{text} {to_difference_unit(comparison.unit, short=True)}"


def format_interval(comparison: Comparison) -> str:
    """Return the interval of a comparison; empty if it has none.

    Examples
    --------
    >>> from streamgauge.significance import mcnemar
    >>> format_interval(mcnemar(20, 5, 100))
    '[+5.65, +24.35]'
    """
    if comparison.interval is None:
        return ""
    return f"[{', '.join(format_difference(bound, comparison.unit) for bound in comparison.interval)}]"
