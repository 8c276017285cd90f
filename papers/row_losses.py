"""A recorder of the losses of every row, for figures that are computed row by row."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamgauge.protocols import CellBatch, Stream
from streamgauge.records import Schema

__all__ = ["RowLosses"]


@dataclass(frozen=True)
class RowLosses:
    """A recorder of correctness and half the squared error of every row, per learner, in row order.

    Both are available after the run. For evaluations with one fold.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> losses = RowLosses()
    >>> _ = evaluate(SEA(n_rows=100), NaiveBayes(), recorders=[losses])
    >>> len(losses.correct["NaiveBayes"]), bool((losses.squared["NaiveBayes"] <= 1.0).all())
    (100, True)
    """

    correct: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    squared: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    needs_votes: ClassVar[bool] = True

    @contextmanager
    def open(
        self, _stream: Stream, schema: Schema, learners: Sequence[str], *_: object
    ) -> Iterator[Callable[[CellBatch], None]]:
        """Record losses during a run."""
        truths = np.eye(schema.n_classes)
        parts: dict[str, list[tuple[NDArray[np.bool_], NDArray[np.float64]]]] = {name: [] for name in learners}

        def record(batch: CellBatch) -> None:
            trace = batch.trace
            if trace.votes is not None and len(trace):
                squared = 0.5 * np.sum((trace.votes - truths[trace.y_true]) ** 2, axis=1)
                parts[batch.learner].append((trace.correct, squared))

        yield record
        for name, losses in parts.items():
            correct, squared = zip(*losses, strict=True)
            self.correct[name], self.squared[name] = np.concatenate(correct), np.concatenate(squared)
