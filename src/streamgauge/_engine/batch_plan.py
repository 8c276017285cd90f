"""What groups of cells are given, and what they give back: plain columns that can go anywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.meter import Totals
from streamgauge._engine.schedule import LabelTotals, Schedule
from streamgauge.protocols import CellBatch
from streamgauge.records import Alarm, Batch, Failure

__all__ = ["BatchPlan", "BatchResult", "Clock", "RowRange", "SavedStates"]

Clock = Literal["process", "thread"]
"""Whose CPU time is charged to a learner: that of all threads of its process, or of the calling one alone."""


@dataclass(frozen=True)
class BatchPlan:
    """What all groups are to do next.

    Parameters
    ----------
    reading_rows
        After how many rows of the stream to take readings.
    n_done
        How many rows of the stream are done then.
    counts
        What became of the labels until then.
    plan
        The rows to test and learn; None for a reading alone.
    batch
        The rows of the stream about which the scheme is asked; None where there are none.
    keeps
        Whether all cells are to be saved when it is carried out, for a checkpoint.
    labels
        How classes and labels came up to each stop, as `LabelCounter` counts them.
    confused
        The places of the stops at which confusion matrices are kept.
    """

    reading_rows: Sequence[int]
    n_done: int
    counts: LabelTotals
    plan: Schedule | None = None
    batch: Batch | None = None
    keeps: bool = False
    labels: NDArray[np.int64] | None = None
    confused: Sequence[int] = ()

    @property
    def counts_pairs(self) -> bool:
        """Whether it has tests by which learners are compared."""
        return self.plan is not None and (self.batch is None or self.batch.start >= 0)


@dataclass(frozen=True)
class RowRange:
    """An order without its rows, for those who can make them: which rows of the stream, and what is asked of them."""

    start: int
    n: int
    reading_rows: Sequence[int]
    n_done: int
    keeps: bool = False
    confused: Sequence[int] = ()


@dataclass(frozen=True)
class SavedStates:
    """Saved states: of cells by their places in the run, of folds by their numbers; or why they cannot be saved."""

    cells: Mapping[int, bytes]
    folds: Mapping[int, bytes]
    refusal: str = ""


@dataclass(frozen=True)
class BatchResult:
    """What an order brought to the cells of a group.

    Parameters
    ----------
    places
        Which cells of the run these are.
    folds
        In which folds they are.
    values
        The values at the stops, float64 [cells, forgettings, stops, measures]; NaN where a learner has failed.
    n_scored
        How many rows each of the folds has scored up to now.
    failures
        The cells that have failed up to now, by place.
    alarms
        What the detectors told.
    correct
        Which rows of the plan each cell got right, bool [cells, n]; None where nobody asks.
    scored
        Which rows of the plan each fold scored, bool [folds, n]; None for all.
    costs
        The figures of each cell's meter at the stops, float64 [cells, stops, figures]; None where there are no meters.
    totals
        What each cell's meter counted up to now.
    clock
        Which clock told CPU time.
    passages
        What the order brought to each cell in full, where a recorder asks.
    saved
        The states of cells and folds, where the order keeps them.
    confusions
        The confusion matrices that are kept, float64 [cells, forgettings, kept, true, predicted], with a column more
        for rows without a prediction; NaN where a learner has failed; None where none are kept.
    """

    places: tuple[int, ...]
    folds: tuple[int, ...]
    values: NDArray[np.float64]
    n_scored: tuple[int, ...]
    failures: Mapping[int, Failure]
    alarms: tuple[Alarm, ...]
    correct: NDArray[np.bool_] | None = None
    scored: NDArray[np.bool_] | None = None
    costs: NDArray[np.float64] | None = None
    totals: tuple[Totals, ...] = ()
    clock: Clock = "thread"
    passages: tuple[CellBatch, ...] = ()
    saved: SavedStates | None = None
    confusions: NDArray[np.float64] | None = None
