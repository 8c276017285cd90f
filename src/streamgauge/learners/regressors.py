"""Learners of numbers: the mean of the targets, and linear regression."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.learners.linear import require_not_negative
from streamgauge.learners.native import KernelState
from streamgauge.records import Schema, Step
from streamgauge.tasks import Regression, find_task

__all__ = ["LinearRegression", "MeanTarget", "NativeRegressor", "make_mean_target"]


class NativeRegressor(KernelState[_native.Regressor]):
    """A regressor in native code; see `streamgauge.protocols.Learner`.

    Examples
    --------
    >>> from streamgauge.records import Attribute, NumericTarget
    >>> learner = MeanTarget().build(Schema((Attribute("x"),), target=NumericTarget("price")), seed=1)
    >>> learner.learn(np.zeros((2, 1)), np.array([1.0, 2.0]), None)
    >>> learner.predict(np.zeros((1, 1))).tolist()
    [1.5]
    """

    def __init__(self, kernel: _native.Regressor, schema: Schema) -> None:
        super().__init__(kernel)
        self._task = find_task(schema)

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the prediction for each row; the state does not change."""
        return self._kernel.predict(x)

    def learn(self, x: NDArray[np.float64], y: NDArray[np.float64], weight: NDArray[np.float64] | None) -> None:
        """Learn rows of known target, in order."""
        self._kernel.interleave(x, y, np.zeros(len(y), dtype=np.bool_), weight)

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.float64], None]:  # noqa: ARG002
        """Predict each tested row of a step, then learn it."""
        predictions = self._kernel.interleave(step.batch.x, step.labels, step.test, step.learning_weight)
        return self._task.decide(predictions), None

    def interleave_timed(
        self,
        step: Step,
        *,
        with_votes: bool,  # noqa: ARG002
    ) -> tuple[NDArray[np.float64], None, NDArray[np.uint64], NDArray[np.uint64]]:
        """Run `interleave` and return, too, the nanoseconds that predicting and learning each row took."""
        columns = step.batch.x, step.labels, step.test, step.learning_weight
        predictions, predicting, learning = self._kernel.interleave_timed(*columns)
        return self._task.decide(predictions), None, predicting, learning


@dataclass(frozen=True)
class MeanTarget:
    """Predicts the mean of all targets so far; what `rae` and `rrse` compare with.

    Its `rae` is exactly 1 on every stream and in every scheme, over all rows and under every forgetting.

    Examples
    --------
    >>> MeanTarget()
    MeanTarget(seed=1)
    """

    seed: int = 1
    seedless: ClassVar[bool] = True
    tasks: ClassVar[tuple[str, ...]] = (Regression.name,)

    def build(self, schema: Schema, seed: int) -> NativeRegressor:  # noqa: ARG002
        """Build an untrained learner."""
        return NativeRegressor(_native.mean_target(schema.n_values), schema)


def make_mean_target(schema: Schema, y: NDArray[np.float64], weight: NDArray[np.float64]) -> NativeRegressor:
    """Return a `MeanTarget` that knows some targets; it predicts for a learner that waits for its first rows.

    Examples
    --------
    >>> from streamgauge.records import Attribute, NumericTarget
    >>> schema = Schema((Attribute("x"),), target=NumericTarget())
    >>> make_mean_target(schema, np.array([1.0, 2.0]), np.ones(2)).predict(np.zeros((1, 1))).tolist()
    [1.5]
    """
    learner = MeanTarget().build(schema, seed=1)
    learner.learn(np.zeros((len(y), schema.n_attributes)), y, weight)
    return learner


@dataclass(frozen=True)
class LinearRegression:
    """Linear regression by stochastic gradient descent, on numbers and a target that are standardised online.

    A row first updates the means and standard deviations of its numbers and of the target, then makes a step on the
    squared error of the standardised target. The step is implicit: its gradient is that at the new weights, so that the
    model never overshoots a row, nor diverges, whatever the learning rate. There is a weight for each number and each
    nominal value (one-hot), and a bias; a missing number is replaced by the mean so far.

    Parameters
    ----------
    learning_rate
        The length of a step.
    l2
        The strength of L2 regularisation: each step also reduces every weight by ``learning_rate * l2`` of itself.
    standardise
        Whether to standardise each number by the mean and standard deviation over the rows learnt so far.
    seed
        Not used: it makes no random choice.

    Examples
    --------
    >>> from streamgauge.records import Attribute, NumericTarget
    >>> learner = LinearRegression().build(Schema((Attribute("area"),), target=NumericTarget("price")), seed=1)
    >>> areas = np.tile(np.linspace(20.0, 120.0, 50), 40)[:, np.newaxis]
    >>> learner.learn(areas, 1_000.0 + 30.0 * areas[:, 0], None)
    >>> learner.predict(np.array([[100.0]])).round().tolist()
    [4000.0]
    """

    learning_rate: float = 0.01
    l2: float = 0.0
    standardise: bool = True
    seed: int = 1
    seedless: ClassVar[bool] = True
    tasks: ClassVar[tuple[str, ...]] = (Regression.name,)

    def __post_init__(self) -> None:
        require_not_negative("learning_rate", self.learning_rate)
        require_not_negative("l2", self.l2)

    def build(self, schema: Schema, seed: int) -> NativeRegressor:  # noqa: ARG002
        """Build an untrained model."""
        kernel = _native.linear_regression(schema.n_values, self.learning_rate, self.l2, self.standardise)
        return NativeRegressor(kernel, schema)
