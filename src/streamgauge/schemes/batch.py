"""Batch cross-validation: learn all rows but some, then test those, as with data that do not stream."""

from dataclasses import dataclass

import numpy as np

from streamgauge import randomness
from streamgauge.errors import require_at_least
from streamgauge.protocols import FIRST_PASS, SchemeBase
from streamgauge.records import Batch, Step

__all__ = ["BatchCrossValidation"]


@dataclass(frozen=True)
class BatchCrossValidation(SchemeBase):
    """Each row is drawn for one of k folds; a fold learns all rows of the other folds, then tests its own.

    This is cross-validation as for data that do not stream, the reference that Bifet et al. 2015 mention. The order of
    the rows is lost: a fold has learnt from rows of the future when it tests. Use it on a stream without drifts, to see
    how much a learner loses by learning in one pass from a growing number of rows. For streams use `CrossValidation`.

    The stream is read twice: first to learn, then to test. So it must end, and must not be a live one. Readings are
    made in the second pass.

    Parameters
    ----------
    k
        The number of folds in a repetition.
    repetitions
        How often the rows are drawn again; fold ``r k + i`` is fold i of repetition r. ``BatchCrossValidation(2, 5)``
        is for the test ``five_by_two``.

    References
    ----------
    M. Stone, Cross-validatory choice and assessment of statistical predictions, Journal of the Royal Statistical
    Society B 36, 1974.

    Examples
    --------
    >>> import streamgauge as sg
    >>> results = sg.evaluate(sg.SEA(n_rows=2000), sg.NaiveBayes(), scheme=BatchCrossValidation(10))
    >>> results.n_folds, results.feedback.n_scored.sum()
    (10, np.int64(2000))
    """

    k: int = 10
    repetitions: int = 1

    def __post_init__(self) -> None:
        require_at_least("k", self.k, 2)
        require_at_least("repetitions", self.repetitions, 1)

    @property
    def n_folds(self) -> int:
        """The number of folds of all repetitions."""
        return self.k * self.repetitions

    @property
    def resampling(self) -> str:
        """How folds sample the rows they learn: as those of cross-validation."""
        return "CrossValidation"

    @property
    def test(self) -> str:
        """Which rows a fold tests: those it does not learn."""
        return "held_out"

    @property
    def trains_first(self) -> bool:
        """The stream is read twice."""
        return True

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        """Learn the rows of other folds in the first pass; test the fold's own rows in the second."""
        repetition, own = divmod(fold, self.k)
        in_first_pass = batch.start < 0
        start = batch.start + FIRST_PASS if in_first_pass else batch.start
        is_own = randomness.below(seed, "fold", repetition, start, len(batch), self.k) == own
        if in_first_pass:
            return Step(batch, test=np.zeros(len(batch), dtype=np.bool_), weight=(~is_own).astype(np.float64))
        return Step(batch, test=is_own, weight=np.zeros(len(batch)))
