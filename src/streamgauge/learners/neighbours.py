"""k nearest neighbours."""

from dataclasses import dataclass
from typing import ClassVar

from streamgauge import _native
from streamgauge.errors import require_at_least
from streamgauge.learners.native import NativeLearner
from streamgauge.records import Schema

__all__ = ["KNearestNeighbours"]


@dataclass(frozen=True)
class KNearestNeighbours:
    """Votes of the k nearest rows in a window of the most recently learnt rows, like MOA's kNN.

    The squared distance of two rows is a sum over the attributes: for a number, the squared difference scaled by its
    range in the window; for a nominal value, 0 or 1. A missing value has the greatest possible distance: 1 from a
    nominal value or another missing one, and from a number the distance to the farther end of the range. Rows at the
    same distance as the k-th nearest vote too. Votes are the shares of the classes in the weight of the neighbours; all
    are 0 before the first row has been learnt.

    Parameters
    ----------
    k
        The number of neighbours that vote.
    window
        The number of most recently learnt rows to keep.
    seed
        Not used: it makes no random choice.

    Examples
    --------
    >>> import numpy as np
    >>> from streamgauge.records import Attribute
    >>> learner = KNearestNeighbours(k=3).build(Schema((Attribute("size"),), ("small", "large")), seed=1)
    >>> learner.learn(np.array([[1.0], [2.0], [3.0], [8.0]]), np.array([0, 0, 0, 1], dtype=np.int32), None)
    >>> learner.predict(np.array([[2.0], [9.0]])).round(2).tolist()
    [[1.0, 0.0], [0.67, 0.33]]
    """

    k: int = 10
    window: int = 1000
    seed: int = 1
    seedless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_at_least("k", self.k, 1)
        require_at_least("window", self.window, 1)

    def build(self, schema: Schema, seed: int) -> NativeLearner:  # noqa: ARG002
        """Build an untrained learner."""
        return NativeLearner(_native.nearest_neighbours(schema.n_values, schema.n_classes, self.k, self.window))
