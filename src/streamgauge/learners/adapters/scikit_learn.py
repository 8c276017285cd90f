"""Any scikit-learn classifier with `partial_fit`."""

import inspect
import pickle
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.learners.rows import row_by_row
from streamgauge.protocols import Learner
from streamgauge.records import Schema, Step

__all__ = ["ScikitLearn"]


@dataclass(frozen=True)
class ScikitLearn:
    """A classifier with `partial_fit`; each fold gets its own fresh copy, with its own `random_state`.

    Rows are predicted and learnt one by one, as a stream demands. Nominal values reach it as codes, missing ones as
    NaN. It abstains until it has learnt a row.

    Parameters
    ----------
    estimator
        The classifier, which is copied and never changed.
    seed
        Two learners with the same seed share their randomness in each fold.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> ScikitLearn(GaussianNB())
    ScikitLearn(estimator=GaussianNB(), seed=1)
    """

    estimator: Any
    seed: int = 1

    @property
    def seedless(self) -> bool:
        """Whether the estimator has no `random_state`."""
        return not _random_states(self.estimator)

    def build(self, schema: Schema, seed: int) -> Learner:
        """Copy the estimator and give the copy its own seed."""
        estimator = deepcopy(self.estimator)
        names = _random_states(estimator)
        if names:
            estimator.set_params(**dict.fromkeys(names, seed % 2**32))
        return _ScikitLearner(estimator, schema.n_classes)


def _random_states(estimator: Any) -> list[str]:  # noqa: ANN401
    params = estimator.get_params() if hasattr(estimator, "get_params") else {}
    return [name for name in params if name == "random_state" or name.endswith("__random_state")]


class _ScikitLearner:
    """The learner of one fold."""

    def __init__(self, estimator: Any, n_classes: int) -> None:  # noqa: ANN401
        self._estimator = estimator
        self._n_classes = n_classes
        self._learnt = False
        parameters = inspect.signature(estimator.partial_fit).parameters
        self._takes_weight = "sample_weight" in parameters
        self._takes_classes = "classes" in parameters

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Vote with the estimator's probabilities, or for its prediction where it has none."""
        votes = np.zeros((len(x), self._n_classes))
        if not self._learnt:
            return votes
        with np.errstate(divide="ignore", invalid="ignore"):  # naive Bayes takes logarithms of what it never saw
            if hasattr(self._estimator, "predict_proba"):
                votes[:, self._estimator.classes_.astype(np.intp)] = self._estimator.predict_proba(x)
            else:
                votes[np.arange(len(x)), self._estimator.predict(x).astype(np.intp)] = 1.0
        return votes

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn rows of known class."""
        options: dict[str, object] = {"classes": np.arange(self._n_classes)} if self._takes_classes else {}
        if weight is not None and self._takes_weight:
            options["sample_weight"] = weight
        elif weight is not None:
            copies = np.rint(weight).astype(np.intp)
            if not np.array_equal(copies, weight):
                name = type(self._estimator).__name__
                msg = (
                    f"{name} takes no sample_weight, so it cannot learn a row with weight {weight[copies != weight][0]}"
                )
                raise StreamgaugeError(msg)
            x, y = np.repeat(x, copies, axis=0), np.repeat(y, copies)
        if len(y):
            self._estimator.partial_fit(x, y, **options)
            self._learnt = True

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Predict each tested row of a step, then learn it."""
        return row_by_row(self, step, self._n_classes, with_votes=with_votes)

    @property
    def n_bytes(self) -> int:
        """The size of its pickle, the nearest to its memory that every estimator can tell."""
        return len(self.save())

    def save(self) -> bytes:
        """Give all of its state, as a pickle: load only what you saved yourself."""
        return pickle.dumps((self._estimator, self._learnt))

    def load(self, state: bytes) -> None:
        """Take over a saved state; it is a pickle, so it must come from a trusted place."""
        self._estimator, self._learnt = pickle.loads(state)
