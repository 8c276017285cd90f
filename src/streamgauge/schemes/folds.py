"""Schemes with several folds, which show how certain a result is.

A fold never learns a row before it has tested it. With ``test="all"`` every fold tests every
row, so the folds are fully crossed with the rows, as the default significance test needs. With ``test="training"`` a
fold tests exactly the rows it learns (the prequential form of Bifet et al. 2015), with ``test="held_out"`` exactly
those it does not learn.

References
----------
Bifet, de Francisci Morales, Read, Holmes, Pfahringer (2015): Efficient online evaluation of big data stream
classifiers. KDD.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamgauge import randomness
from streamgauge.errors import require_at_least, unknown_name
from streamgauge.protocols import SchemeBase
from streamgauge.records import Batch, Step

__all__ = ["Bootstrap", "CrossValidation", "Split", "TestMode", "check_test_mode"]

TestMode = Literal["all", "training", "held_out"]
"""Which rows a fold tests: all, those it learns, or those it does not learn."""


def check_test_mode(test: str) -> None:
    """Raise unless a test mode is known.

    Examples
    --------
    >>> check_test_mode("held_out")
    """
    if test not in get_args(TestMode):
        raise unknown_name(kind="test mode", name=str(test), known=get_args(TestMode))


@dataclass(frozen=True)
class _Folds(SchemeBase):
    """A scheme of k folds."""

    k: int = 10
    test: TestMode = "all"

    def __post_init__(self) -> None:
        require_at_least("k", self.k, 2)
        check_test_mode(self.test)

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return self.k

    @property
    def resampling(self) -> str:
        """How folds sample the rows they learn."""
        return type(self).__name__

    def _step(self, batch: Batch, weight: NDArray[np.float64]) -> Step:
        """Test all rows, those learnt, or those not learnt."""
        if self.test == "all":
            return Step(batch, weight=weight)
        return Step(batch, test=weight > 0 if self.test == "training" else weight == 0, weight=weight)


@dataclass(frozen=True)
class CrossValidation(_Folds):
    """Each row is drawn for one of k folds; a fold learns all rows but those drawn for it.

    Parameters
    ----------
    k
        The number of folds.
    test
        Which rows a fold tests: "all", "training" (those it learns) or "held_out" (those drawn for it).

    Examples
    --------
    >>> batch = Batch(0, np.zeros((1000, 1)), np.zeros(1000, dtype=np.int32))
    >>> learnt = [CrossValidation(10).step(batch, fold, seed=1).weight for fold in range(10)]
    >>> set(np.sum(learnt, axis=0).tolist())  # every row is learnt by nine folds
    {9.0}
    """

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        """Learn all rows but those drawn for the fold."""
        return self._step(batch, (_draw_fold(batch, self.k, seed) != fold).astype(np.float64))


@dataclass(frozen=True)
class Split(_Folds):
    """Each row is drawn for one of k folds; a fold learns only the rows drawn for it.

    Parameters
    ----------
    k
        The number of folds.
    test
        Which rows a fold tests: "all", "training" (those it learns) or "held_out" (all the others).

    Examples
    --------
    >>> batch = Batch(0, np.zeros((1000, 1)), np.zeros(1000, dtype=np.int32))
    >>> learnt = [Split(10).step(batch, fold, seed=1).weight for fold in range(10)]
    >>> set(np.sum(learnt, axis=0).tolist())  # every row is learnt by one fold
    {1.0}
    """

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        """Learn only the rows drawn for the fold."""
        return self._step(batch, (_draw_fold(batch, self.k, seed) == fold).astype(np.float64))


@dataclass(frozen=True)
class Bootstrap(_Folds):
    """Each of k folds learns each row with a weight drawn from Poisson(1).

    Parameters
    ----------
    k
        The number of folds.
    test
        Which rows a fold tests: "all", "training" (weight above 0) or "held_out" (weight 0).

    Examples
    --------
    >>> batch = Batch(0, np.zeros((1000, 1)), np.zeros(1000, dtype=np.int32))
    >>> weight = Bootstrap(10).step(batch, fold=0, seed=1).weight
    >>> 0.9 < weight.mean() < 1.1
    np.True_
    """

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        """Learn each row with its weight in the fold."""
        return self._step(batch, randomness.poisson(seed, "weights", fold, batch.start, len(batch)))


def _draw_fold(batch: Batch, k: int, seed: int) -> NDArray[np.int64]:
    """Return for which fold each row was drawn: at random, not in turn."""
    return randomness.below(seed, "fold", 0, batch.start, len(batch), k)
