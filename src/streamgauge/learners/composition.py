"""Building the members of ensembles and wrappers.

A member is built from its specification. If it is native, its kernel is moved into the ensemble and runs without
Python; any other learner is called back, a block of rows at a time if the ensemble allows it.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge._foreign import find_short_name, needs_training
from streamgauge.errors import StreamgaugeError
from streamgauge.learners.native import NativeLearner
from streamgauge.protocols import Learner, LearnerSpec
from streamgauge.records import Attribute, Batch, Schema, Step

__all__ = ["Builder", "CallbackMember", "make_builder"]

Builder = Callable[[NDArray[np.uint32], int, int], "_native.Learner | CallbackMember"]
"""Builds a member from the number of values of each attribute, the number of classes and a seed."""


def make_builder(spec: LearnerSpec, schema: Schema) -> Builder:
    """Return the callback with which native code builds the members of an ensemble.

    Parameters
    ----------
    spec
        The specification of each member.
    schema
        The schema of the stream. If the ensemble shows a member fewer attributes or other classes, the member gets a
        schema with placeholder names.

    Examples
    --------
    >>> from streamgauge.learners import NaiveBayes
    >>> build = make_builder(NaiveBayes(), Schema((Attribute("size"),), ("small", "large")))
    >>> type(build(np.zeros(1, dtype=np.uint32), 2, 1)).__name__
    'Learner'
    """
    if needs_training(spec):
        msg = (
            f"{find_short_name(spec)} cannot learn row by row, as members of this learner must: set the number of rows "
            f"between two fits, as in Refitted(..., every=1000)"
        )
        raise StreamgaugeError(msg)

    def build(n_values: NDArray[np.uint32], n_classes: int, seed: int) -> "_native.Learner | CallbackMember":
        is_same = n_classes == schema.n_classes and np.array_equal(n_values, schema.n_values)
        learner = spec.build(schema if is_same else _make_schema(n_values, n_classes), seed)
        return learner.kernel if isinstance(learner, NativeLearner) else CallbackMember(learner)

    return build


def _make_schema(n_values: NDArray[np.uint32], n_classes: int) -> Schema:
    """Return a schema with placeholder names."""
    attributes = (
        Attribute(f"attribute {i}", tuple(map(str, range(n))) if n else None, missing=True)
        for i, n in enumerate(n_values.tolist())
    )
    return Schema(tuple(attributes), tuple(map(str, range(n_classes))))


class CallbackMember:
    """A Python learner with the interface of a native one, which ensembles in native code call back.

    Examples
    --------
    >>> from streamgauge.learners import NoChange
    >>> member = CallbackMember(NoChange().build(Schema((Attribute("size"),), ("small", "large")), seed=1))
    >>> y = np.array([1, 0], dtype=np.int32)
    >>> member.interleave(np.zeros((2, 1)), y, None, None, False)[0].tolist()
    [-1, 1]
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = learner

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the votes for the classes of each row; the state does not change."""
        return np.asarray(self._learner.predict(x), dtype=np.float64)

    def interleave(
        self,
        x: NDArray[np.float64],
        y: NDArray[np.int32],
        test: NDArray[np.bool_] | None,
        weight: NDArray[np.float64] | None,
        with_votes: bool,  # noqa: FBT001
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Predict each tested row, then learn it."""
        step = Step(Batch(0, x, y), test=test, weight=weight)
        return self._learner.interleave(step, with_votes=with_votes)

    @property
    def n_bytes(self) -> int:
        """The memory of the learner in bytes."""
        return self._learner.n_bytes

    def save(self) -> bytes:
        """Return the complete state."""
        return self._learner.save()

    def load(self, state: bytes) -> None:
        """Restore a saved state."""
        self._learner.load(state)
