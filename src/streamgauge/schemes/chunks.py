"""Chunks: test a chunk of rows, then learn it."""

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import adopt_scheme
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import Scheme, SchemeBase
from streamgauge.records import Batch
from streamgauge.schemes.prequential import Prequential
from streamgauge.schemes.wrapping import WrappingScheme, require_scheme

__all__ = ["Chunks"]


@dataclass(frozen=True)
class Chunks(WrappingScheme):
    """Test a chunk of rows, then learn all of it, then continue with the next chunk.

    Parameters
    ----------
    sizes
        The number of rows of a chunk; or a tuple of sizes, used in turn.
    scheme
        Which of these rows a fold tests and learns.

    Examples
    --------
    >>> batch = Batch(0, np.zeros((7, 1)), np.zeros(7, dtype=np.int32))
    >>> Chunks(3).learnable_after(batch).tolist()
    [2, 2, 2, 5, 5, 5, 8]
    >>> Chunks((1, 2)).learnable_after(batch).tolist()
    [0, 2, 2, 3, 5, 5, 6]
    """

    sizes: int | tuple[int, ...] = 1000
    scheme: Scheme = Prequential()

    def __post_init__(self) -> None:
        if self.sizes == ():
            msg = "sizes = (): a chunk needs a size"
            raise StreamgaugeError(msg)
        for size in self._sizes:
            require_at_least("sizes", size, 1)
        require_scheme(self.scheme, without="learnable_after")

    @property
    def _sizes(self) -> tuple[int, ...]:
        return self.sizes if isinstance(self.sizes, tuple) else (self.sizes,)

    @property
    def inner(self) -> SchemeBase:
        """The scheme that chooses the rows a fold tests and learns."""
        return adopt_scheme(self.scheme)

    def learnable_after(self, batch: Batch) -> NDArray[np.int64]:
        """Return for each row the last row of its chunk."""
        ends = np.array(list(accumulate(self._sizes)))
        turn, offset = np.divmod(batch.rows, ends[-1])
        last: NDArray[np.int64] = turn * ends[-1] + ends[np.searchsorted(ends, offset, side="right")] - 1
        return last
