"""Rows of squares that come and go, on which learners must replace what they know."""

import numpy as np
from numpy.typing import NDArray

from streamgauge.records import Attribute, Schema

__all__ = ["chessboard"]


def chessboard(n_rows: int) -> tuple[Schema, NDArray[np.float64], NDArray[np.int32]]:
    """Eight classes on a board of 64 squares, whose squares are shown one after the other, 100 rows each."""
    rng = np.random.default_rng(5)
    squares = rng.permutation(64).repeat(100)[np.arange(n_rows) % 6_400]
    corners = np.column_stack([squares % 8, squares // 8])
    classes = rng.permutation(np.arange(64) % 8)
    schema = Schema((Attribute("a"), Attribute("b")), tuple("abcdefgh"))
    return schema, (corners + rng.random((n_rows, 2))) / 8, classes[squares].astype(np.int32)
