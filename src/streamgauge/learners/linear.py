"""Linear learners: a perceptron and logistic regression.

Both have a weight per class for each number and for each nominal value (one-hot), and a bias. A missing number stands
at the mean of those seen so far, a missing nominal value has no weight. A row of weight w makes a step w times as long.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.learners.native import NativeLearner
from streamgauge.records import Schema

__all__ = ["LogisticRegression", "ManyClasses", "Perceptron"]

ManyClasses = Literal["softmax", "one_vs_rest"]
"""How logistic regression tells more than two classes apart."""


@dataclass(frozen=True)
class Perceptron:
    """A sigmoid unit per class that descends its squared error from small random weights, as in MOA.

    Votes are the outputs of the units, made to add up to 1; all are 0 before the first row was learnt.

    MOA takes numbers as they come: ``standardise=False``. Where they are large, its units are soon saturated and learn
    no more, and what it has learnt then hangs on its first weights. MOA also takes the codes of nominal values for
    numbers, and one missing value leaves all of its weights undefined for good.

    Parameters
    ----------
    learning_rate
        The length of a step.
    standardise
        Whether each number is taken less its mean and over its standard deviation, of the rows learnt so far.
    seed
        The seed of the first weights.

    Examples
    --------
    >>> Perceptron(learning_rate=0.5)
    Perceptron(learning_rate=0.5, standardise=True, seed=1)
    """

    learning_rate: float = 1.0
    standardise: bool = True
    seed: int = 1
    seedless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _require_not_negative("learning_rate", self.learning_rate)

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build a perceptron that has seen nothing."""
        options = (self.learning_rate, 0.0, self.standardise)
        return NativeLearner(_native.linear_model(schema.n_values, schema.n_classes, "perceptron", *options, seed))


@dataclass(frozen=True)
class LogisticRegression:
    """Logistic regression by stochastic gradient descent, on numbers standardised as the stream goes.

    A row first counts in mean and deviation, then makes a step down the log loss. Votes are probabilities; all are 0
    before the first row was learnt.

    Parameters
    ----------
    learning_rate
        The length of a step.
    l2
        How strongly large weights are punished: each step also takes ``learning_rate * l2`` of every weight away.
    classes
        How more than two classes are told apart: "softmax", one model of all; or "one_vs_rest", a model per class,
        whose probabilities are made to add up to 1.
    standardise
        Whether each number is taken less its mean and over its standard deviation, of the rows learnt so far.
    seed
        Not used: it makes no random choice.

    Examples
    --------
    >>> import numpy as np
    >>> from streamgauge.records import Attribute
    >>> learner = LogisticRegression().build(Schema((Attribute("size"),), ("small", "large")), seed=1)
    >>> sizes = np.linspace(0.0, 9.0, 200)[:, np.newaxis]
    >>> learner.learn(sizes, (sizes[:, 0] > 5.0).astype(np.int32), None)
    >>> learner.predict(np.array([[1.0], [9.0]])).argmax(axis=1).tolist()
    [0, 1]
    """

    learning_rate: float = 0.01
    l2: float = 0.0
    classes: ManyClasses = "softmax"
    standardise: bool = True
    seed: int = 1
    seedless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _require_not_negative("learning_rate", self.learning_rate)
        _require_not_negative("l2", self.l2)
        if self.classes not in get_args(ManyClasses):
            raise unknown_name(kind="way with many classes", name=str(self.classes), known=get_args(ManyClasses))

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build a model that has seen nothing."""
        options = (self.learning_rate, self.l2, self.standardise)
        return NativeLearner(_native.linear_model(schema.n_values, schema.n_classes, self.classes, *options, seed))


def _require_not_negative(option: str, value: float) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (number and 0 <= value < float("inf")):
        msg = f"{option} = {value!r}: it must be a finite number of 0 or more"
        raise StreamgaugeError(msg)
