"""The chunk ensembles of stream-learn."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import require_at_least
from streamgauge.learners.adapters.chunked import ChunkLearner
from streamgauge.learners.adapters.scikit_learn import EstimatorModel, fresh_estimator
from streamgauge.learners.adapters.seeding import seeds
from streamgauge.protocols import Learner
from streamgauge.records import Schema

__all__ = ["StreamLearn"]

_GLOBAL_RANDOMNESS = threading.Lock()
"""Held while NumPy's shared random numbers, which these ensembles draw from, are those of one learner."""


@dataclass(frozen=True)
class StreamLearn:
    """An ensemble of stream-learn, which learns chunks; each fold gets its own fresh, separately seeded copy.

    Every row is predicted before the chunk it belongs to is learnt, as by stream-learn's TestThenTrain. Until the
    first chunk is full it abstains. The ensembles draw from NumPy's shared random numbers: while one learns or votes,
    those are its own, and the others wait. They take no weights: a row of weight 2 is two rows of a chunk, and a
    weight that is not whole fails. stream-learn itself gives the first rows of a chunk in which a class is missing
    the labels of all classes. Nominal values reach it as codes, missing ones as NaN. Its state is saved with pickle,
    so load only what you saved yourself.

    Parameters
    ----------
    ensemble
        The ensemble, which is copied and never changed.
    chunk_size
        How many rows make a chunk.
    seed
        Two learners with the same seed share their randomness in each fold.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> StreamLearn(GaussianNB(), chunk_size=500)  # any estimator that learns chunks will do
    StreamLearn(ensemble=GaussianNB(), chunk_size=500, seed=1)
    """

    ensemble: Any
    chunk_size: int = 200
    seed: int = 1

    def __post_init__(self) -> None:
        require_at_least("chunk_size", self.chunk_size, 1)

    @property
    def short_name(self) -> str:
        """What it is called where it has no other name."""
        return type(self.ensemble).__name__

    @property
    def seedless(self) -> bool:
        """Not known of any of them, since they may draw from NumPy's shared random numbers."""
        return False

    def build(self, schema: Schema, seed: int) -> Learner:
        """Copy the ensemble and give the copy its own randomness."""
        model = _Ensemble(fresh_estimator(self.ensemble, seed), schema.n_classes, seed)
        return ChunkLearner(model, schema, self.chunk_size, "StreamLearn")


class _Ensemble:
    """An ensemble whose random numbers are its own."""

    def __init__(self, ensemble: Any, n_classes: int, seed: int) -> None:  # noqa: ANN401
        self._model = EstimatorModel(ensemble, n_classes, classes_always=True)
        self._random = np.random.RandomState(next(seeds(seed))).get_state()

    def votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        with self._own_randomness(kept=False):
            return self._model.votes(x)

    def codes(self, x: NDArray[np.float64]) -> NDArray[np.int32]:
        with self._own_randomness(kept=False):
            return self._model.codes(x)

    def fit(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        with self._own_randomness(kept=True):
            self._model.fit(x, y.copy(), weight)  # it may write into the labels

    @contextmanager
    def _own_randomness(self, *, kept: bool) -> Iterator[None]:
        with _GLOBAL_RANDOMNESS:
            others = np.random.get_state()
            np.random.set_state(self._random)
            try:
                yield
            finally:
                if kept:
                    self._random = np.random.get_state()
                np.random.set_state(others)

    def save(self) -> Any:  # noqa: ANN401
        return self._model.save(), self._random

    def load(self, state: Any) -> None:  # noqa: ANN401
        model, self._random = state
        self._model.load(model)
