"""Sums over labelled and unlabelled rows in a cell, from which the loss over all rows is estimated with few labels."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from streamgauge.protocols import Measure
from streamgauge.randomness import uniform
from streamgauge.records import ABSTAINED, Trace
from streamgauge.records.serialise import loading, pack_columns, unpack_columns
from streamgauge.significance.prediction_powered import N_NUMBERS, LabelDesign, add_rows

__all__ = ["LabelSums", "list_losses"]

LOSSES = ("error", "brier")
"""The losses that are estimated with few labels: the error always, another one if it is measured."""

STEPS = 4096.0
"""Losses and confidences are rounded to multiples of 1 / 4096, so that sums are exact whatever the batch size."""

FIRST_STRETCH = 64
MIN_LABELS = 30
"""Before this number of labels the expected loss is used as it is."""


def list_losses(measures: Sequence[Measure]) -> tuple[str, ...]:
    """Return the losses of a run that are estimated with few labels.

    Examples
    --------
    >>> from streamgauge.measures import accuracy, brier
    >>> list_losses((accuracy,)), list_losses((accuracy, brier))
    (('error',), ('error', 'brier'))
    """
    names = {measure.name for measure in measures}
    return tuple(loss for loss in LOSSES if loss == "error" or loss in names)


def compute_losses(losses: Sequence[str], trace: Trace) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the loss of each scored row and what the votes say to expect, float64 [2][losses, rows], in steps.

    Examples
    --------
    >>> y, hit = np.array([0, 1], dtype=np.int32), np.zeros(2, dtype=np.bool_)
    >>> trace = Trace(np.arange(2), y, np.zeros(2, dtype=np.int32), hit, hit, votes=np.array([[3.0, 1.0], [1.0, 1.0]]))
    >>> [column.tolist() for column in compute_losses(("error", "brier"), trace)]
    [[[0.0, 1.0], [0.0625, 0.25]], [[0.25, 0.5], [0.1875, 0.25]]]
    """
    votes, row = cast("NDArray[np.float64]", trace.votes), np.arange(len(trace))
    votes = np.maximum(votes, 0.0) if votes.min(initial=0.0) < 0.0 else votes
    total = votes.sum(axis=1)
    silent = ~((total > 0.0) & np.isfinite(total))
    if silent.any():
        votes = np.where(silent[:, None], 1.0, votes)
        total = np.where(silent, float(votes.shape[1]), total)
    loss, expected = np.empty((2, len(losses), len(trace)))
    for index, name in enumerate(losses):
        if name == "error":
            loss[index] = ~trace.correct
            chosen = 1.0 - votes[row, trace.y_pred] / total  # an abstention reads some class
            expected[index] = np.where(trace.y_pred == ABSTAINED, 1.0, chosen)
        else:
            squares = np.square(votes).sum(axis=1) / total**2
            loss[index] = 0.5 * (1.0 + squares) - votes[row, trace.y_true] / total
            expected[index] = 0.5 * (1.0 - squares)
    return np.rint(loss * STEPS) / STEPS, np.rint(expected * STEPS) / STEPS


class LabelSums:
    """The sums of one cell. A row counts once its label has arrived, or would have if the coin had chosen it.

    The expected loss is recalibrated by a line that is fitted to the labelled rows before each stretch of rows; the
    stretches grow with the stream, and their ends do not depend on batches.

    Parameters
    ----------
    losses
        The names of the losses.
    design
        How rows are chosen for a label.
    seed
        The seed of the run.

    Examples
    --------
    >>> sums = LabelSums(("error",), LabelDesign(0.5), seed=1)
    >>> y, hit = np.zeros(100, dtype=np.int32), np.zeros(100, dtype=np.bool_)
    >>> trace = Trace(np.arange(100), y, y, hit, hit, votes=np.ones((100, 2)))
    >>> sums.update(trace, [60, 100])[:, 0, :2].tolist()
    [[60.0, 30.0], [100.0, 50.0]]
    """

    def __init__(self, losses: Sequence[str], design: LabelDesign, seed: int) -> None:
        self._losses, self._design, self._seed = tuple(losses), design, seed
        self._numbers = np.zeros((len(losses), N_NUMBERS))
        self._slope, self._intercept = np.ones(len(losses)), np.zeros(len(losses))
        self._end_of_stretch = FIRST_STRETCH
        nothing = np.empty((len(losses), 0))
        self._waiting: dict[str, NDArray[Any]] = {
            "row": np.empty(0, dtype=np.int64),
            "wrong": np.empty(0, dtype=np.bool_),
            "chosen": np.empty(0, dtype=np.bool_),
            "loss": nothing,
            "expected": nothing,
        }

    def _take(self, trace: Trace) -> dict[str, NDArray[Any]]:
        """Return what is needed of the rows of a trace."""
        keep = slice(None)
        if len(trace) and trace.row[0] < self._design.first_row:
            keep = slice(int(np.searchsorted(trace.row, self._design.first_row)), None)
        row = trace.row[keep]
        chosen = np.empty(0, dtype=np.bool_)
        if len(row):
            first = int(row[0])
            coins = uniform(self._seed, "labelled", 0, first, int(row[-1]) - first + 1)
            chosen = coins[row - first] < self._design.share
        loss, expected = compute_losses(self._losses, trace)
        columns = {"row": row, "wrong": ~trace.correct[keep], "chosen": chosen}
        return {**columns, "loss": loss[:, keep], "expected": expected[:, keep]}

    def update(self, trace: Trace, reading_rows: Sequence[int]) -> NDArray[np.float64]:
        """Add scored rows in the order of the stream; return the sums at readings, [readings, losses, numbers]."""
        waiting = self._waiting
        if trace.weight is not None and (trace.weight != 1.0).any():
            self._numbers[:] = np.nan  # the rows have weights, for which there are no intervals
        if len(trace):
            new = self._take(trace)
            late = len(waiting["row"]) > 0
            waiting = {name: np.concatenate([waiting[name], new[name]], axis=-1) for name in new} if late else new
        lag = self._design.lag
        kept = np.empty((len(reading_rows), *self._numbers.shape))
        for index, row in enumerate(reading_rows):
            waiting = self._add(waiting, row - lag)
            kept[index] = self._numbers
        self._waiting = self._add(waiting, int(waiting["row"][-1]) + 1 - lag) if len(waiting["row"]) else waiting
        return kept

    def _add(self, waiting: dict[str, NDArray[Any]], stop: int) -> dict[str, NDArray[Any]]:
        """Add the rows before a position, stretch by stretch; return those after it."""
        while len(waiting["row"]) and waiting["row"][0] < stop:
            while waiting["row"][0] >= self._end_of_stretch:
                self._begin_stretch()
            n = int(np.searchsorted(waiting["row"], min(stop, self._end_of_stretch)))
            now = {name: column[..., :n] for name, column in waiting.items()}
            waiting = {name: column[..., n:] for name, column in waiting.items()}
            for index in range(len(self._losses)):
                loss, expected = now["loss"][index], now["expected"][index]
                line = (self._intercept[index] * STEPS) + (self._slope[index] * STEPS) * expected
                recalibrated = np.clip(np.rint(line), 0.0, STEPS) / STEPS
                self._numbers[index] += add_rows(loss, expected, recalibrated, now["wrong"], now["chosen"])
        return waiting

    def _begin_stretch(self) -> None:
        """Begin the next stretch of rows: fit the line to the labelled rows so far."""
        self._end_of_stretch += max(FIRST_STRETCH, self._end_of_stretch // 8)
        for index, numbers in enumerate(self._numbers):
            n, _, loss, _, expected, expected_squares, products = numbers[4:11].tolist()
            if n < MIN_LABELS:
                continue
            spread = expected_squares - expected * expected / n
            slope = (products - loss * expected / n) / spread if spread > 0.0 else 0.0
            self._slope[index] = min(max(slope, 0.0), 1.0)
            self._intercept[index] = (loss - self._slope[index] * expected) / n

    def save(self) -> bytes:
        """Return the whole state."""
        columns = {"numbers": self._numbers, "slope": self._slope, "intercept": self._intercept}
        columns |= {f"waiting {name}": column for name, column in self._waiting.items()}
        return pack_columns("label sums", {"end": self._end_of_stretch}, columns)

    def load(self, state: bytes) -> None:
        """Restore a saved state."""
        facts, columns = unpack_columns("label sums", state)
        with loading("label sums"):
            self._numbers, self._slope, self._intercept = (
                columns[name].copy() for name in ("numbers", "slope", "intercept")
            )
            self._waiting = {name: columns[f"waiting {name}"] for name in self._waiting}
            self._end_of_stretch = facts["end"]
