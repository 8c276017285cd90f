"""Any object with `predict` and `learn`."""

import inspect
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.learners.adapters.chunked import repeated, usable
from streamgauge.learners.adapters.saved_states import Size, opened, pickled, sealed, size_of, unpickled
from streamgauge.learners.adapters.seeding import SEED_NAMES, seeds
from streamgauge.learners.plain_loop import run_row_by_row
from streamgauge.protocols import Learner
from streamgauge.records import ABSTAINED, Schema, Step

__all__ = ["PythonLearner"]


@dataclass(frozen=True)
class PythonLearner:
    """Any object with ``predict(x)`` and ``learn(x, y)`` or ``learn(x, y, weight)``.

    Both get arrays of one row: x float64 [1, d], with nominal values as codes and missing ones as NaN; y int32 [1].
    What `predict` returns is either a class code per row, -1 where it has nothing to say, or votes [1, classes].
    Each fold gets its own deep copy, whose attribute `seed` or `random_state`, if it has one, is set; one that has a
    method `fresh(schema, seed)` makes its own. Where `learn` takes no weight, a row of weight 2 is learnt twice.

    It is saved with its own `save` and `load`, if it has them, else with pickle: then load only what you saved
    yourself.

    Parameters
    ----------
    learner
        The object, which is copied and never changed.
    seed
        Two learners with the same seed share their randomness in each fold.

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
        """What it is called where it has no other name."""
        return type(self.learner).__name__

    @property
    def seedless(self) -> bool:
        """Whether it has no attribute for a seed."""
        return not (_seed_names(self.learner) or hasattr(self.learner, "fresh"))

    def build(self, schema: Schema, seed: int) -> Learner:
        """Copy the object and give the copy its own seed."""
        if hasattr(self.learner, "fresh"):
            return _ObjectLearner(self.learner.fresh(schema, next(seeds(seed))), schema.n_classes)
        learner = deepcopy(self.learner)
        for name, own in zip(_seed_names(learner), seeds(seed), strict=False):
            setattr(learner, name, own)
        return _ObjectLearner(learner, schema.n_classes)


def _seed_names(learner: object) -> list[str]:
    return sorted(name for name in SEED_NAMES if hasattr(learner, name))


class _ObjectLearner:
    """The learner of one fold."""

    def __init__(self, learner: Any, n_classes: int) -> None:  # noqa: ANN401
        self._learner, self._n_classes = learner, n_classes
        self._n_seen, self._size = 0, Size()
        self._takes_weight = len(inspect.signature(learner.learn).parameters) > 2

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.asarray(self._learner.predict(x))
        if found.shape == (len(x), self._n_classes):
            return usable(found.astype(np.float64))
        codes = found.astype(np.intp)
        if codes.shape != (len(x),) or (codes != found).any() or codes.max(initial=0) >= self._n_classes:
            msg = (
                f"predict gave {found!r} for {len(x)} row(s); it must give a class code below {self._n_classes} "
                f"or {self._n_classes} votes for each"
            )
            raise StreamgaugeError(msg)
        votes = np.zeros((len(x), self._n_classes))
        certain = np.flatnonzero(codes > ABSTAINED)
        votes[certain, codes[certain]] = 1.0
        return votes

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        self._n_seen += len(y)
        if self._takes_weight:
            self._learner.learn(x, y, weight)
        elif weight is None:
            self._learner.learn(x, y)
        else:
            repeated(self._learner.learn, f"learn of {type(self._learner).__name__}", (x, y), weight)

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        return run_row_by_row(self, step, self._n_classes, with_votes=with_votes)

    @property
    def n_bytes(self) -> int:
        own = getattr(self._learner, "n_bytes", None)
        return own if isinstance(own, int) else self._size.after(self._n_seen, lambda: size_of(self._learner))

    def save(self) -> bytes:
        if self._saves_itself:
            return sealed("PythonLearner", self._learner.save())
        return pickled("PythonLearner", self._learner)

    def load(self, state: bytes) -> None:
        if self._saves_itself:
            self._learner.load(opened("PythonLearner", state))
        else:
            self._learner, self._size = unpickled("PythonLearner", state), Size()

    @property
    def _saves_itself(self) -> bool:
        return hasattr(self._learner, "save") and hasattr(self._learner, "load")
