"""Measures from plain functions of a tally."""

from collections.abc import Callable
from typing import cast

from streamgauge.protocols import Measure
from streamgauge.records import Tally

__all__ = ["as_measure"]


def as_measure(*, greater_is_better: bool, name: str | None = None) -> Callable[[Callable[[Tally], float]], Measure]:
    """Make a measure of a function of a tally: it gets a name and says which way is better.

    The function stays what it is, with its docstring. Without a name it goes by its own.

    Examples
    --------
    >>> import numpy as np
    >>> @as_measure(greater_is_better=False)
    ... def abstention(tally: Tally) -> float:
    ...     return float(tally.abstained.sum()) / tally.total
    >>> abstention.name, abstention(Tally(np.eye(2), np.array([2.0, 0.0]), 0.0, 0.0, 4))
    ('abstention', 0.5)
    """

    def decorate(function: Callable[[Tally], float]) -> Measure:
        vars(function).update(name=name or function.__name__, greater_is_better=greater_is_better)
        return cast("Measure", function)

    return decorate
