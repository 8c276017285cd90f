"""Baselines: what any learner must beat, and what no evaluation may reward."""

from dataclasses import dataclass
from typing import ClassVar

from streamgauge import _native
from streamgauge.errors import require_at_least
from streamgauge.learners.native import NativeLearner
from streamgauge.records import Schema

__all__ = ["MajorityClass", "Memoriser", "NoChange", "RandomGuess"]


@dataclass(frozen=True)
class MajorityClass:
    """Predicts the class with the greatest weight so far, or of late; the first of equals.

    Without a window its `kappa_m` is 0 on every stream.

    Parameters
    ----------
    window
        Only so many rows, those learnt last, count; None for all.
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
        """Build a learner that has seen nothing."""
        if self.window is None:
            return NativeLearner(_native.majority_class(schema.n_values, schema.n_classes))
        return NativeLearner(_native.recent_majority(schema.n_values, schema.n_classes, self.window))


@dataclass(frozen=True)
class NoChange:
    """Predicts the class of the row it learnt last.

    Its `kappa_temporal` is 0 on every stream.

    Examples
    --------
    >>> NoChange()
    NoChange(seed=1)
    """

    seed: int = 1
    seedless: ClassVar[bool] = True

    def build(self, schema: Schema, seed: int) -> NativeLearner:  # noqa: ARG002
        """Build a learner that has seen nothing."""
        return NativeLearner(_native.no_change(schema.n_values, schema.n_classes))


@dataclass(frozen=True)
class RandomGuess:
    """Guesses: draws a class with the frequencies seen so far (stratified).

    Its `kappa` is 0 but for chance. The draw of a row is addressed by the row's values and by how many rows were learnt
    before, for predicting must change nothing: equal rows between which nothing is learnt get the same guess.

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
        """Build a learner that has seen nothing."""
        return NativeLearner(_native.random_guess(schema.n_values, schema.n_classes, seed))


@dataclass(frozen=True)
class Memoriser:
    """Knows by heart every row it has learnt, and guesses the others.

    On random labels it scores chance, unless some row is scored after its label was learnt: it finds what an evaluation
    leaks. Its memory grows with the stream.

    Examples
    --------
    >>> Memoriser()
    Memoriser(seed=1)
    """

    seed: int = 1
    seedless: ClassVar[bool] = False

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build a memoriser that has seen nothing."""
        return NativeLearner(_native.memoriser(schema.n_values, schema.n_classes, seed))
