"""The contract of a scheme."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.evaluate import Evaluation, evaluate
from streamgauge.labelling import AllLabels
from streamgauge.learners import Memoriser
from streamgauge.protocols import Labelling, Scheme
from streamgauge.streams import ArrayStream

__all__ = ["check_scheme"]


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
