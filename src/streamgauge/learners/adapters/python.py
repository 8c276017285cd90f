"""Python objects with `predict` and `learn`."""

import inspect
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.learners.adapters.chunked import learn_copies
from streamgauge.learners.adapters.saved_states import (
    SizeCache,
    measure_size,
    pickle_state,
    seal,
    unpickle_state,
    unseal,
)
from streamgauge.learners.adapters.seeding import SEED_NAMES, generate_seeds
from streamgauge.learners.plain_loop import Predicted, run_row_by_row
from streamgauge.protocols import Learner
from streamgauge.records import Schema, Step
from streamgauge.tasks import Task, find_task

__all__ = ["PythonLearner"]


@dataclass(frozen=True)
class PythonLearner:
    """Any object with ``predict(x)`` and ``learn(x, y)`` or ``learn(x, y, weight)``.

    Both get arrays of one row: x float64 [1, d], with nominal values as codes and missing values as NaN; y int32 [1].
    `predict` returns either a class code per row, -1 to abstain, or votes [1, classes]. With a numeric target y is
    float64 [1], and `predict` returns a number per row, NaN to abstain. Each fold gets a deep copy,
    whose attribute `seed` or `random_state`, if it has one, is set; an object with a method `fresh(schema, seed)`
    builds its copies itself. If `learn` takes no weight, a row of weight 2 is learnt twice.

    The state is saved by the methods `save` and `load` of the object, if it has them, else by pickle: then load only
    states that you trust.

    Parameters
    ----------
    learner
        The object, which is copied and never changed.
    seed
        Two learners with the same seed share their random numbers in each fold.

    Examples
    --------
    >>> class Last:
    ...     label = -1
    ...
    ...     def predict(self, x):
    ...         return np.full(len(x), self.label)
    ...
    ...     def learn(self, x, y):
    ...         self.label = y[-1]
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> results = evaluate(SEA(n_rows=1000), {"mine": Last(), "ours": NoChange()})
    >>> bool((results.curve("mine", "accuracy") == results.curve("ours", "accuracy")).all())
    True
    """

    learner: Any
    seed: int = 1

    @property
    def short_name(self) -> str:
        """Default name of the learner."""
        return type(self.learner).__name__

    @property
    def seedless(self) -> bool:
        """Whether the object has no attribute for a seed."""
        return not (_list_seed_attributes(self.learner) or hasattr(self.learner, "fresh"))

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks that the object declares with an attribute of this name; empty for any."""
        return tuple(getattr(self.learner, "tasks", ()))

    @property
    def trained(self) -> bool:
        """Whether the object says that it can predict before it has learnt a row."""
        return bool(getattr(self.learner, "trained", False))

    def build(self, schema: Schema, seed: int) -> Learner:
        """Return a learner with a seeded copy of the object."""
        if hasattr(self.learner, "fresh"):
            return _ObjectLearner(self.learner.fresh(schema, next(generate_seeds(seed))), find_task(schema))
        learner = deepcopy(self.learner)
        for name, nested_seed in zip(_list_seed_attributes(learner), generate_seeds(seed), strict=False):
            setattr(learner, name, nested_seed)
        return _ObjectLearner(learner, find_task(schema))


def _list_seed_attributes(learner: object) -> list[str]:
    return sorted(name for name in SEED_NAMES if hasattr(learner, name))


class _ObjectLearner:
    """The learner of one fold."""

    def __init__(self, learner: Any, task: Task) -> None:  # noqa: ANN401
        self._learner, self._task = learner, task
        self._n_seen, self._size = 0, SizeCache()
        self._takes_weight = len(inspect.signature(learner.learn).parameters) > 2

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._task.read_outputs(self._learner.predict(x), len(x))

    def learn(self, x: NDArray[np.float64], y: NDArray[Any], weight: NDArray[np.float64] | None) -> None:
        self._n_seen += len(y)
        if self._takes_weight:
            self._learner.learn(x, y, weight)
        elif weight is None:
            self._learner.learn(x, y)
        else:
            learn_copies(self._learner.learn, f"learn of {type(self._learner).__name__}", (x, y), weight)

    def interleave(self, step: Step, *, with_votes: bool) -> Predicted:
        return run_row_by_row(self, step, self._task, with_votes=with_votes)

    @property
    def n_bytes(self) -> int:
        n_bytes = getattr(self._learner, "n_bytes", None)
        if isinstance(n_bytes, int):
            return n_bytes
        return self._size.get(self._n_seen, lambda: measure_size(self._learner))

    def save(self) -> bytes:
        if self._saves_itself:
            return seal("PythonLearner", self._learner.save())
        return pickle_state("PythonLearner", self._learner)

    def load(self, state: bytes) -> None:
        if self._saves_itself:
            self._learner.load(unseal("PythonLearner", state))
        else:
            self._learner, self._size = unpickle_state("PythonLearner", state), SizeCache()

    @property
    def _saves_itself(self) -> bool:
        return hasattr(self._learner, "save") and hasattr(self._learner, "load")
