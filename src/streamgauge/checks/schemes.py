"""The contract of a scheme."""

from dataclasses import dataclass
from typing import Any, ClassVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from streamgauge.evaluate import Evaluation, evaluate
from streamgauge.labelling import AllLabels
from streamgauge.learners.rows import row_by_row
from streamgauge.protocols import Labelling, Scheme
from streamgauge.randomness import uniform
from streamgauge.records import Schema, Step
from streamgauge.streams import ArrayStream

__all__ = ["Memoriser", "check_scheme"]


@dataclass(frozen=True)
class Memoriser:
    """Knows by heart every row it has learnt, and guesses the others.

    On random labels it scores chance, unless some row is scored after its label was learnt.

    Examples
    --------
    >>> Memoriser()
    Memoriser(seed=1)
    """

    seed: int = 1
    seedless: ClassVar[bool] = False

    def build(self, schema: Schema, seed: int) -> "_Memoriser":
        """Build a memoriser that has seen nothing."""
        return _Memoriser(schema.n_classes, seed)


class _Memoriser:
    """The memoriser of one fold."""

    def __init__(self, n_classes: int, seed: int) -> None:
        self._n_classes, self._seed = n_classes, seed
        self._known: dict[bytes, int] = {}

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Vote for the class learnt for exactly this row, or for a guess."""
        votes = np.zeros((len(x), self._n_classes))
        for row, values in enumerate(x):
            key = values.tobytes()
            guess = int(uniform(self._seed, "guess", 0, crc32(key))[0] * self._n_classes)
            votes[row, self._known.get(key, guess)] = 1.0
        return votes

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:  # noqa: ARG002
        """Learn rows by heart."""
        self._known.update((values.tobytes(), int(label)) for values, label in zip(x, y, strict=True))

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Predict each tested row of a step, then learn it."""
        return row_by_row(self, step, self._n_classes, with_votes=with_votes)

    @property
    def n_bytes(self) -> int:
        """The memory of its rows."""
        return sum(len(key) + 8 for key in self._known)

    def save(self) -> bytes:
        """Give all of its state."""
        return b"".join(key + value.to_bytes(8, "little") for key, value in self._known.items())

    def load(self, state: bytes) -> None:
        """Take over a saved state of rows of the same length."""
        size = len(next(iter(self._known))) + 8 if self._known else len(state)
        parts = (state[i : i + size] for i in range(0, len(state), size))
        self._known = {part[:-8]: int.from_bytes(part[-8:], "little") for part in parts}


def check_scheme(scheme: Scheme, labelling: Labelling = AllLabels(), *, n_rows: int = 2000, seed: int = 1) -> None:
    """Raise unless a scheme never scores a row after its label was learnt, and does not depend on batches.

    The proof is a `Memoriser` on random labels, which must score chance.

    Examples
    --------
    >>> from streamgauge.schemes import Prequential
    >>> check_scheme(Prequential(), n_rows=500)
    """
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 2, n_rows).astype(np.int32)
    stream = ArrayStream(generator.random((n_rows, 2)), y)
    options: dict[str, Any] = {"scheme": scheme, "labelling": labelling, "every": n_rows, "seed": seed}
    readings = [evaluate(stream, Memoriser(), batch_size=size, **options).values for size in (1, 77, n_rows)]
    for other in readings[1:]:
        np.testing.assert_array_equal(readings[0], other, err_msg=f"{scheme!r} depends on the batch size")
    scored = _n_scored(Evaluation(stream, Memoriser(), **options))
    chance = np.abs(readings[0][-1, 0, :, 0, 0] - 0.5) / (0.5 / np.sqrt(np.maximum(scored, 1)))
    assert (chance < 5).all(), (
        f"a memoriser does not score chance under {scheme!r}: {chance.max():.0f} standard errors off"
    )


def _n_scored(evaluation: Evaluation) -> NDArray[np.int64]:
    """Count the rows that each fold scores."""
    (batch,) = evaluation.stream.batches(evaluation.stream.n_rows or 1)
    steps = [evaluation.scheme.step(batch, fold, evaluation.seed) for fold in range(evaluation.scheme.n_folds)]
    return np.array([len(batch) if step.scored is None else len(step.scored) for step in steps])
