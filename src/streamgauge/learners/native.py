"""The wrapper of native learners, which turns a step into one call of a kernel."""

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.records import Step

__all__ = ["KernelState", "NativeLearner"]

Kernel = TypeVar("Kernel", bound=_native.Learner | _native.Regressor)


class KernelState(Generic[Kernel]):
    """What a learner in native code is, whatever it predicts: a kernel with a state.

    Parameters
    ----------
    kernel
        The kernel.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    @property
    def facts(self) -> dict[str, int]:
        """Facts about the model, such as n_nodes, n_leaves and depth of a tree."""
        return self._kernel.facts

    @property
    def n_bytes(self) -> int:
        """The memory of the learner in bytes."""
        return self._kernel.n_bytes

    def save(self) -> bytes:
        """Return the complete state."""
        return self._kernel.save()

    def load(self, state: bytes) -> None:
        """Restore a saved state."""
        self._kernel.load(state)


class NativeLearner(KernelState[_native.Learner]):
    """A learner in native code; see `streamgauge.protocols.Learner`.

    Examples
    --------
    >>> kernel = _native.no_change(np.zeros(1, dtype=np.uint32), 2)
    >>> learner = NativeLearner(kernel)
    >>> learner.learn(np.zeros((1, 1)), np.array([1], dtype=np.int32), None)
    >>> learner.predict(np.zeros((1, 1))).tolist()
    [[0.0, 1.0]]
    """

    @property
    def kernel(self) -> _native.Learner:
        """The kernel; an ensemble moves those of its members into its own kernel."""
        return self._kernel

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the votes for the classes of each row; the state does not change."""
        return self._kernel.predict(x)

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn labelled rows, in order."""
        self._kernel.interleave(x, y, np.zeros(len(y), dtype=np.bool_), weight, False)  # noqa: FBT003

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Predict each tested row of a step, then learn it."""
        return self._kernel.interleave(step.batch.x, step.labels, step.test, step.learning_weight, with_votes)

    def interleave_timed(
        self, step: Step, *, with_votes: bool
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None, NDArray[np.uint64], NDArray[np.uint64]]:
        """Run `interleave` and return, too, the nanoseconds that predicting and learning each row took."""
        return self._kernel.interleave_timed(step.batch.x, step.labels, step.test, step.learning_weight, with_votes)
