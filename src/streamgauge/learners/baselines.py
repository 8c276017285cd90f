"""Baselines that any learner must beat, and a memoriser that detects leaking evaluations."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import require_at_least
from streamgauge.learners.native import NativeLearner
from streamgauge.learners.regressors import NativeRegressor, make_mean_target
from streamgauge.protocols import Learner
from streamgauge.records import Schema
from streamgauge.tasks import Classification, Regression

__all__ = ["MajorityClass", "Memoriser", "NoChange", "RandomGuess", "make_majority_class", "make_stand_in"]


@dataclass(frozen=True)
class MajorityClass:
    """Predicts the class with the greatest weight so far, or over a window; ties go to the first class.

    Its `kappa_m` is exactly 0 on every stream: without a window over `Landmark`, with one over a `Window` of the same
    width.

    Parameters
    ----------
    window
        The number of most recently learnt rows that count; None for all rows.
    seed
        Not used: it makes no random choice.

    Examples
    --------
    >>> MajorityClass(window=1000)
    MajorityClass(window=1000, seed=1)
    """

    window: int | None = None
    seed: int = 1
    seedless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.window is not None:
            require_at_least("window", self.window, 1)

    def build(self, schema: Schema, seed: int) -> NativeLearner:  # noqa: ARG002
        """Build an untrained learner."""
        if self.window is None:
            return NativeLearner(_native.majority_class(schema.n_values, schema.n_classes))
        return NativeLearner(_native.recent_majority(schema.n_values, schema.n_classes, self.window))


def make_majority_class(schema: Schema, y: NDArray[np.int32], weight: NDArray[np.float64]) -> NativeLearner:
    """Return a `MajorityClass` that knows some labels; it predicts for a learner that waits for its first rows.

    Examples
    --------
    >>> from streamgauge.records import Attribute
    >>> known = np.array([1, 0, 1], dtype=np.int32), np.ones(3)
    >>> make_majority_class(Schema((Attribute("x"),), ("a", "b")), *known).predict(np.zeros((1, 1))).argmax()
    np.int64(1)
    """
    learner = MajorityClass().build(schema, seed=1)
    learner.learn(np.zeros((len(y), schema.n_attributes)), y, weight)
    return learner


def make_stand_in(schema: Schema, y: Any, weight: NDArray[np.float64]) -> Learner:  # noqa: ANN401
    """Return a baseline that knows some labels: the majority class, or the mean of a numeric target.

    Examples
    --------
    >>> from streamgauge.records import Attribute, NumericTarget
    >>> schema = Schema((Attribute("x"),), target=NumericTarget())
    >>> make_stand_in(schema, np.array([1.0, 2.0]), np.ones(2)).predict(np.zeros((1, 1))).tolist()
    [1.5]
    """
    if schema.target is None:
        return make_majority_class(schema, y, weight)
    return make_mean_target(schema, y, weight)


@dataclass(frozen=True)
class NoChange:
    """Predicts the class, or the number, of the most recently learnt row.

    Its `kappa_temporal` is 0 on every stream, with a numeric target its `rae_no_change` 1.

    Examples
    --------
    >>> NoChange()
    NoChange(seed=1)
    """

    seed: int = 1
    seedless: ClassVar[bool] = True
    tasks: ClassVar[tuple[str, ...]] = (Classification.name, Regression.name)

    def build(self, schema: Schema, seed: int) -> NativeLearner | NativeRegressor:  # noqa: ARG002
        """Build an untrained learner."""
        if schema.target is not None:
            return NativeRegressor(_native.last_target(schema.n_values), schema)
        return NativeLearner(_native.no_change(schema.n_values, schema.n_classes))


@dataclass(frozen=True)
class RandomGuess:
    """Draws a class at random, with the class frequencies seen so far (a stratified guess).

    The expected value of its `kappa` is 0. The random draw is addressed by the row's values and the number of rows
    learnt before, since predicting must not change the state: equal rows get the same guess until something is learnt.

    Examples
    --------
    >>> import numpy as np
    >>> from streamgauge.records import Attribute
    >>> learner = RandomGuess().build(Schema((Attribute("x"),), ("a", "b")), seed=1)
    >>> learner.learn(np.zeros((4, 1)), np.array([0, 1, 1, 1], dtype=np.int32), None)
    >>> learner.predict(np.arange(1000.0)[:, np.newaxis]).mean(axis=0).round(1).tolist()
    [0.3, 0.7]
    """

    seed: int = 1
    seedless: ClassVar[bool] = False

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build an untrained learner."""
        return NativeLearner(_native.random_guess(schema.n_values, schema.n_classes, seed))


@dataclass(frozen=True)
class Memoriser:
    """Memorises every row it has learnt and guesses all others; with a numeric target, the guess is the mean so far.

    On random labels it scores no better than chance, unless a row is scored after its label was learnt: it detects
    evaluations that leak labels. On random numbers it is no better than `MeanTarget`. Its memory grows with the stream.

    Examples
    --------
    >>> Memoriser()
    Memoriser(seed=1)
    """

    seed: int = 1
    seedless: ClassVar[bool] = False
    tasks: ClassVar[tuple[str, ...]] = (Classification.name, Regression.name)

    def build(self, schema: Schema, seed: int) -> NativeLearner | NativeRegressor:
        """Build an untrained memoriser."""
        if schema.target is not None:
            return NativeRegressor(_native.target_memoriser(schema.n_values), schema)
        return NativeLearner(_native.memoriser(schema.n_values, schema.n_classes, seed))
