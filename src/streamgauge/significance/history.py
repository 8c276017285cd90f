"""Looks at pairs of learners kept along a run, so that the course of their differences can be shown."""

from collections.abc import Callable, Sequence

import numpy as np

from streamgauge.records import Differences, Verdict
from streamgauge.significance.interim_analysis import InterimAnalysis

__all__ = ["LookCourse"]

MOST_LOOKS = 256
"""How many looks are kept: each second is dropped where there are more."""


class LookCourse:
    """Keeps looks, evenly spaced, between half of `MOST_LOOKS` and all of it.

    Examples
    --------
    >>> look = InterimAnalysis(1, np.array([1]), np.array([[1]]), np.array([[0]]), 0, np.empty((0, 5)))
    >>> course = LookCourse()
    >>> for row in range(1, 1001):
    ...     course.keep(row, look)
    >>> [row for row, _ in course.kept][:3], len(course.kept)
    ([4, 8, 12], 250)
    """

    def __init__(self) -> None:
        self.kept: list[tuple[int, InterimAnalysis]] = []
        """The looks that are kept, with their rows."""
        self.n_looks = 0
        """How many looks there were."""

    @property
    def _stride(self) -> int:
        return 1 << ((max(self.n_looks, 1) - 1) // MOST_LOOKS).bit_length()

    def keep(self, row: int, look: InterimAnalysis) -> None:
        """Take in a look after so many rows."""
        before = self._stride
        self.n_looks += 1
        if self._stride > before:
            self.kept = self.kept[1::2]
        if self.n_looks % self._stride == 0:
            self.kept.append((row, look))

    def differences(
        self,
        tell: Callable[[InterimAnalysis], Sequence[Verdict]],
        last: tuple[int, InterimAnalysis] | None,
        failed: frozenset[str],
    ) -> Differences | None:
        """Give the course of the differences and their intervals, but for pairs with a learner that has failed.

        `tell` says what a look tells; `last` is the last look, whether kept or not.
        """
        looks = [*self.kept, *([last] if last is not None and last[0] not in {row for row, _ in self.kept} else [])]
        told = [[v for v in tell(look) if not {v.first, v.second} & failed] for _, look in looks]
        if not told or not told[0]:
            return None
        numbers = [[(v.difference, *(v.interval or (np.nan, np.nan))) for v in verdicts] for verdicts in told]
        rows = np.array([row for row, _ in looks], dtype=np.int64)
        pairs = tuple((verdict.first, verdict.second) for verdict in told[0])
        return Differences(rows, pairs, np.array(numbers), told[0][0].alpha, told[0][0].test)
