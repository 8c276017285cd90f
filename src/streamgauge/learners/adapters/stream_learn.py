"""Chunk ensembles of stream-learn."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import require_at_least
from streamgauge.learners.adapters.chunked import ChunkedLearner
from streamgauge.learners.adapters.scikit_learn import EstimatorModel, copy_estimator
from streamgauge.learners.adapters.seeding import generate_seeds
from streamgauge.protocols import Learner
from streamgauge.records import Schema

__all__ = ["StreamLearn"]

_GLOBAL_RANDOMNESS = threading.Lock()
"""Held while NumPy's global random state, which these ensembles draw from, is that of one learner."""


@dataclass(frozen=True)
class StreamLearn:
    """An ensemble of stream-learn, which learns chunks; each fold gets an untrained copy with its own seed.

    Every row is predicted before its chunk is learnt, as in the TestThenTrain of stream-learn. Until the first
    chunk is full, it predicts the majority class of the rows in it. The ensembles draw from NumPy's global random
    state: each learner has its own, which is swapped in while it predicts or learns, so learners take turns. They take
    no weights: a row of weight 2 is two rows of a chunk, and a fractional weight fails. In a chunk that lacks a class,
    stream-learn itself gives the first rows the labels of all classes. Nominal values are passed as codes, missing
    values as NaN. The state is pickled, so load only states that you trust.

    Parameters
    ----------
    ensemble
        The ensemble, which is copied and never changed.
    chunk_size
        Number of rows of a chunk.
    seed
        Two learners with the same seed share their random numbers in each fold.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> StreamLearn(GaussianNB(), chunk_size=500)  # or any other estimator with partial_fit
    StreamLearn(ensemble=GaussianNB(), chunk_size=500, seed=1)
    """

    ensemble: Any
    chunk_size: int = 200
    seed: int = 1

    def __post_init__(self) -> None:
        require_at_least("chunk_size", self.chunk_size, 1)

    @property
    def short_name(self) -> str:
        """Default name of the learner."""
        return type(self.ensemble).__name__

    @property
    def seedless(self) -> bool:
        """False: any of them may draw from NumPy's global random state."""
        return False

    def build(self, schema: Schema, seed: int) -> Learner:
        """Return a learner with an untrained copy of the ensemble and its own random state."""
        model = _Ensemble(copy_estimator(self.ensemble, seed), schema.n_classes, self.chunk_size, seed)
        return ChunkedLearner(model, schema, self.chunk_size, "StreamLearn")


class _Ensemble:
    """An ensemble with its own random state."""

    any_number = True

    def __init__(self, ensemble: Any, n_classes: int, chunk_size: int, seed: int) -> None:  # noqa: ANN401
        self._model = EstimatorModel(ensemble, n_classes, chunk_size=chunk_size, classes_always=True)
        self._random = np.random.RandomState(next(generate_seeds(seed))).get_state()

    def predict_votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        with self._use_own_randomness(advance=False):
            return self._model.predict_votes(x)

    def predict_codes(self, x: NDArray[np.float64]) -> NDArray[np.int32]:
        with self._use_own_randomness(advance=False):
            return self._model.predict_codes(x)

    def fit(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        with self._use_own_randomness(advance=True):
            self._model.fit(x, y.copy(), weight)  # a copy, since it may modify the labels

    @contextmanager
    def _use_own_randomness(self, *, advance: bool) -> Iterator[None]:
        """Swap in the random state of this ensemble; keep the advanced state only if `advance` is set."""
        with _GLOBAL_RANDOMNESS:
            previous = np.random.get_state()
            np.random.set_state(self._random)
            try:
                yield
            finally:
                if advance:
                    self._random = np.random.get_state()
                np.random.set_state(previous)

    def save(self) -> Any:  # noqa: ANN401
        return self._model.save(), self._random

    def load(self, state: Any) -> None:  # noqa: ANN401
        model, self._random = state
        self._model.load(model)
