"""Linear learners: a perceptron and logistic regression.

Both have, per class, a weight for each numeric attribute and each nominal value (one-hot), and a bias. A missing number
is replaced by the mean of those seen so far; a missing nominal value contributes nothing. A row of weight w makes a
step w times as long.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.learners.native import NativeLearner
from streamgauge.records import Schema

__all__ = ["LogisticRegression", "ManyClasses", "Perceptron", "require_not_negative"]

ManyClasses = Literal["softmax", "one_vs_rest"]
"""How logistic regression handles more than two classes."""


@dataclass(frozen=True)
class Perceptron:
    """One sigmoid unit per class, trained on the squared error from small random weights, as in MOA.

    Votes are the outputs of the units, scaled to a sum of 1; all are 0 before the first row has been learnt.

    MOA does not standardise numbers; ``standardise=False`` does the same. If they are large, the units soon saturate
    and stop learning, so the model depends on the initial weights. MOA also treats the codes of nominal values as
    numbers, and a single missing value makes all of its weights NaN for good.

    Parameters
    ----------
    learning_rate
        The length of a step.
    standardise
        Whether to standardise each number by the mean and standard deviation over the rows learnt so far.
    seed
        The seed of the initial weights.

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
        require_not_negative("learning_rate", self.learning_rate)

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build an untrained perceptron."""
        options = (self.learning_rate, 0.0, self.standardise)
        return NativeLearner(_native.linear_model(schema.n_values, schema.n_classes, "perceptron", *options, seed))


@dataclass(frozen=True)
class LogisticRegression:
    """Logistic regression by stochastic gradient descent, on numbers standardised online.

    A row first updates the means and standard deviations, then makes a gradient step on the log loss. Votes are
    probabilities; all are 0 before the first row has been learnt.

    Parameters
    ----------
    learning_rate
        The length of a step.
    l2
        The strength of L2 regularisation: each step also reduces every weight by ``learning_rate * l2`` of itself.
    classes
        How to handle more than two classes: "softmax", one joint model; or "one_vs_rest", one model per class, whose
        probabilities are scaled to a sum of 1.
    standardise
        Whether to standardise each number by the mean and standard deviation over the rows learnt so far.
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
        require_not_negative("learning_rate", self.learning_rate)
        require_not_negative("l2", self.l2)
        if self.classes not in get_args(ManyClasses):
            raise unknown_name(kind="way with many classes", name=str(self.classes), known=get_args(ManyClasses))

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build an untrained model."""
        options = (self.learning_rate, self.l2, self.standardise)
        return NativeLearner(_native.linear_model(schema.n_values, schema.n_classes, self.classes, *options, seed))


def require_not_negative(option: str, value: float) -> None:
    """Raise unless an option is a finite number of 0 or more.

    Examples
    --------
    >>> require_not_negative("l2", 0.0)
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and 0 <= value < float("inf")):
        msg = f"{option} = {value!r}: it must be a finite number of 0 or more"
        raise StreamgaugeError(msg)
