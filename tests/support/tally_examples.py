"""Tallies of any counts."""

import numpy as np
from hypothesis import strategies as st

from streamgauge.records import Tally

__all__ = ["tallies"]


@st.composite
def tallies(draw: st.DrawFn, *, abstaining: bool = True) -> Tally:
    """Draw whole counts of which many are 0, so that classes are absent, never predicted, or both."""
    n = draw(st.integers(2, 5))
    counts = draw(st.lists(st.integers(0, 6) | st.just(0), min_size=n * (n + 1), max_size=n * (n + 1)))
    table = np.array(counts, dtype=np.float64).reshape(n, n + 1)
    table[0, 1] += 0.0 if table.sum() else 1.0
    if not abstaining:
        table[:, 0] = 0.0
        table[0, 1] += 0.0 if table.sum() else 1.0
    return Tally(table[:, 1:], table[:, 0], 0.0, 0.0, int(table.sum()))
