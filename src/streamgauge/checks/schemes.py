"""The contract of a scheme."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from streamgauge._engine.schedule import Score
from streamgauge._foreign import adopt_labelling
from streamgauge.backends import Threads
from streamgauge.evaluation import evaluate
from streamgauge.labelling import AllLabels
from streamgauge.learners import Memoriser
from streamgauge.protocols import CellBatch, Labelling, Scheme
from streamgauge.streams import ArrayStream

__all__ = ["check_scheme", "make_noise"]


def check_scheme(
    scheme: Scheme, labelling: Labelling = AllLabels(), *, score: Score = "first", n_rows: int = 1000, seed: int = 1
) -> None:
    """Raise unless a scheme never scores a row after its label was learnt, and does not depend on batches.

    The proof is a `Memoriser` on random labels, which must score chance. Predictions, readings and label counts must be
    the same at every batch size.

    Parameters
    ----------
    scheme, labelling, score
        What to check, with which labelling and scoring.
    n_rows
        The number of rows; their times are their positions.
    seed
        The seed of the rows.

    Examples
    --------
    >>> from streamgauge.schemes import Prequential
    >>> check_scheme(Prequential(), n_rows=500)
    """
    stream = make_noise(labelling, n_rows, seed)
    options: dict[str, Any] = {"scheme": scheme, "labelling": labelling, "score": score, "score_unlabelled_start": True}
    options |= {"every": max(1, n_rows // 3), "seed": seed, "resources": False, "backend": Threads(1)}
    title = f"{scheme!r} with {labelling!r}, scoring {score}"
    expected: tuple[list[Any], bytes, str] | None = None
    for size in (1, 77, n_rows):
        recorder = _Predictions()
        results = evaluate(stream, Memoriser(), batch_size=size, recorders=[recorder], **options)
        outcome = (recorder.predictions, results.values.tobytes(), repr(results.feedback))
        assert expected is None or outcome == expected, f"{title} depends on the batch size"
        expected = outcome
        _require_chance(recorder, title)


def make_noise(labelling: Labelling, n_rows: int, seed: int) -> ArrayStream:
    """Return a stream of random labels, with times, and with the column of delays that a labelling reads.

    Examples
    --------
    >>> make_noise(AllLabels(), 10, seed=1).n_rows
    10
    """
    generator = np.random.default_rng(seed)
    columns = {"a": generator.random(n_rows), "b": generator.random(n_rows)}
    attribute = adopt_labelling(labelling).attribute
    if attribute is not None:
        columns[attribute] = generator.integers(0, 30, n_rows).astype(np.float64)
    y = generator.integers(0, 2, n_rows).astype(np.int32)
    return ArrayStream(columns, y, time=np.arange(n_rows, dtype=np.float64))


@dataclass(frozen=True)
class _Predictions:
    """Keeps every prediction in memory."""

    predictions: list[tuple[int, int, int, int, bool]] = field(default_factory=list)
    needs_votes: ClassVar[bool] = False

    @contextmanager
    def open(self, *_: object) -> Iterator[Callable[[CellBatch], None]]:
        """Keep all predictions."""

        def record(cell_batch: CellBatch) -> None:
            step, trace = cell_batch.step, cell_batch.trace
            rows = step.rows if step.scored is None else step.rows[step.scored]
            columns = (rows, trace.row, trace.y_pred, trace.correct)
            entries = zip(*(column.tolist() for column in columns), strict=True)
            self.predictions.extend((cell_batch.fold, *entry) for entry in entries)

        yield record
        self.predictions.sort()


def _require_chance(recorder: _Predictions, title: str) -> None:
    """Raise unless about half of the last predictions of the rows were correct in each fold."""
    correct_rows: dict[int, dict[int, bool]] = {}
    for fold, row, _, _, correct in recorder.predictions:
        correct_rows.setdefault(fold, {})[row] = correct
    for fold, by_row in correct_rows.items():
        n = len(by_row)
        errors = abs(sum(by_row.values()) / n - 0.5) / (0.5 / np.sqrt(n))
        assert errors < 5, (
            f"a memoriser does not score chance under {title}: {errors:.0f} standard errors off in {fold}"
        )
