"""Facts of runs that must be the same, bit for bit."""

import numpy as np

from streamgauge.records import RunData

__all__ = ["assert_same_blocks"]


def assert_same_blocks(one: RunData, other: RunData) -> None:
    """Check that two runs kept the same tallies of blocks of rows."""
    first, second = one.blocks, other.blocks
    if first is None or second is None:
        assert first is second
        return
    assert first.layout == second.layout
    np.testing.assert_array_equal(first.rows, second.rows)
    np.testing.assert_array_equal(first.numbers, second.numbers)
    assert first.votes.keys() == second.votes.keys()
    for key, (bins, weights) in first.votes.items():
        np.testing.assert_array_equal(second.votes[key][0], bins)
        np.testing.assert_array_equal(second.votes[key][1], weights)
