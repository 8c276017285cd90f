"""Keeps what became of every row, for figures that look at rows one by one."""

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
    """Keeps per learner whether each row was predicted right, and half its squared error, in the order of the rows.

    Both are there after the run; it is for one fold.

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
        """Keep rows for the length of a run."""
        truths = np.eye(schema.n_classes)
        parts: dict[str, list[tuple[NDArray[np.bool_], NDArray[np.float64]]]] = {name: [] for name in learners}

        def take(passage: CellBatch) -> None:
            trace = passage.trace
            if trace.votes is not None and len(trace):
                squared = 0.5 * np.sum((trace.votes - truths[trace.y_true]) ** 2, axis=1)
                parts[passage.learner].append((trace.correct, squared))

        yield take
        for name, of_learner in parts.items():
            correct, squared = zip(*of_learner, strict=True)
            self.correct[name], self.squared[name] = np.concatenate(correct), np.concatenate(squared)
