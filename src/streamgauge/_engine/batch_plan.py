"""What passes between the loop and its workers: the description of a run, planned batches, and their results.

A group of cells gets a `BatchPlan` and returns a `BatchResult` of plain columns. A cell never depends on another, so
groups can run in this process, in others or on a cluster.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.label_sums import list_losses
from streamgauge._engine.meter import Totals
from streamgauge._engine.schedule import LabelTotals, Schedule
from streamgauge.measures import accuracy, list_statistics, reads_baselines
from streamgauge.protocols import CellBatch, DetectorSpec, Forgetting, LearnerSpec, Measure, SchemeBase
from streamgauge.records import Alarm, Batch, BlockLayout, CellBlocks, Failure, Schema
from streamgauge.records.blocks import list_boundaries, list_looks
from streamgauge.significance.prediction_powered import LabelDesign
from streamgauge.tasks import find_task

__all__ = [
    "Backend",
    "BatchPlan",
    "BatchResult",
    "Clock",
    "Executor",
    "PlanMaker",
    "RowRange",
    "RowsSpec",
    "RunSpec",
    "SavedStates",
    "TaskRunner",
    "run_serially",
]

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

Clock = Literal["process", "thread"]
"""Whose CPU time counts for a learner: that of all threads of its process, or of the calling thread alone."""


@dataclass(frozen=True)
class BatchPlan:
    """What all cells do next.

    Parameters
    ----------
    reading_rows
        After how many rows of the stream to take readings.
    n_done
        The number of rows of the stream that are processed after this plan.
    label_totals
        What happened to the labels until then.
    schedule
        The rows to test and learn, in order; None for a final reading alone, or if no rows arrived for a while.
    batch
        The rows of the stream that the scheme is asked about; None if there are none.
    saves
        Whether all cells save their states afterwards, for a checkpoint.
    label_counts
        Classes and labels up to each reading row, as `LabelCounter` counts them.
    times
        The time of the last row before each reading, float64; None if the rows carry no times.
    confusion_readings
        The indices of the reading rows at which confusion matrices are kept.
    longest_delays
        The greatest number of rows between a row and its label until each reading row.
    """

    reading_rows: Sequence[int]
    n_done: int
    label_totals: LabelTotals
    schedule: Schedule | None = None
    batch: Batch | None = None
    saves: bool = False
    label_counts: NDArray[np.int64] | None = None
    times: NDArray[np.float64] | None = None
    confusion_readings: Sequence[int] = ()
    longest_delays: Sequence[int] = ()

    @property
    def is_idle(self) -> bool:
        """Whether no rows arrived for a while, so that there is nothing to do."""
        return self.schedule is None and not self.reading_rows

    @property
    def has_tests(self) -> bool:
        """Whether it tests rows, so that learners can be compared."""
        return self.schedule is not None and (self.batch is None or self.batch.start >= 0)

    @property
    def row_range(self) -> "RowRange | None":
        """The plan without its rows; None if its rows are not those of the stream."""
        if self.batch is None or self.batch.start < 0:
            return None
        return RowRange(
            start=self.batch.start,
            n=len(self.batch),
            reading_rows=self.reading_rows,
            n_done=self.n_done,
            saves=self.saves,
            confusion_readings=self.confusion_readings,
        )

    def without_rows(self) -> "BatchPlan":
        """Return what collecting its results needs, if no recorder needs the rows."""
        if self.batch is None or self.schedule is None:
            return self
        slim = [
            Batch(batch.start, np.empty((len(batch), 0)), np.broadcast_to(np.int32(0), len(batch)))
            for batch in (self.batch, self.schedule.batch)
        ]
        return replace(self, batch=slim[0], schedule=Schedule(slim[1], moves=self.schedule.moves))


@dataclass(frozen=True)
class RowRange:
    """A plan without its rows, for workers that can read or compute them."""

    start: int
    n: int
    reading_rows: Sequence[int]
    n_done: int
    saves: bool = False
    confusion_readings: Sequence[int] = ()


@dataclass(frozen=True)
class SavedStates:
    """Saved states of cells by index and of folds by number, or the reason why they cannot be saved.

    `scheduler` is the state of what plans the next batches; empty if a worker does not need it.
    """

    cells: Mapping[int, bytes]
    folds: Mapping[int, bytes]
    refusal: str = ""
    scheduler: bytes = b""


@dataclass(frozen=True)
class BatchResult:
    """What a plan gave in the cells of one group.

    Parameters
    ----------
    cells
        The indices of these cells in the run.
    folds
        Their folds.
    values
        The values at the reading rows, float64 [cells, forgettings, readings, measures]; NaN after a failure.
    n_scored
        The number of rows that each fold has scored so far.
    failures
        The cells that have failed so far, by index.
    alarms
        The alarms of the detectors.
    correct
        Which rows of the schedule each cell predicted correctly, bool [cells, n]; None if not needed.
    scored
        Which rows of the schedule each fold scored, bool [folds, n]; None for all.
    costs
        The figures of each cell's meter at the reading rows, float64 [cells, readings, figures]; None without meters.
    totals
        What each cell's meter has counted so far.
    clock
        Which clock measured CPU time.
    cell_batches
        The rows, predictions and tallies of each cell, if a recorder needs them.
    saved
        The states of cells and folds, if the plan saves them.
    confusions
        Confusion matrices, float64 [cells, forgettings, kept, true, predicted] with one more column for rows without a
        prediction; NaN after a failure; None if none are kept.
    predicted_from
        The row after which each cell's first prediction that is no abstention was scored; `NEVER` before it.
    blocks
        The tallies of each cell at the ends of blocks; None for a cell that has failed. Empty if there is one learner.
    spent
        The seconds of CPU time that each cell's learner has taken so far in this process, and for how many rows.
    live_blocks
        As `blocks`, of the rows whose labels have arrived; empty if those are the scored rows.
    looks
        The tallies of each cell at the reading rows by `RunSpec.block_layout`, float64 [cells, readings, numbers], of
        the rows whose labels have arrived; None without live measures.
    label_sums
        The sums of `LabelSums` of each cell at the reading rows, float64 [cells, readings, losses, numbers]; None
        unless a random share of the rows has labels.
    seconds
        How long the group took, the rows included; None if it did not make them.
    """

    cells: tuple[int, ...]
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
    cell_batches: tuple[CellBatch, ...] = ()
    saved: SavedStates | None = None
    confusions: NDArray[np.float64] | None = None
    predicted_from: tuple[int, ...] = ()
    blocks: tuple[CellBlocks | None, ...] = ()
    spent: tuple[tuple[float, int], ...] = ()
    live_blocks: tuple[CellBlocks | None, ...] = ()
    looks: NDArray[np.float64] | None = None
    label_sums: NDArray[np.float64] | None = None
    seconds: float | None = None


class PlanMaker(Protocol):
    """Makes plans of consecutive row ranges in a worker; can be saved between two."""

    def plan(self, row_range: RowRange) -> BatchPlan:
        """Return the plan of a row range, with its rows."""
        ...

    def save(self) -> bytes:
        """Return the whole state."""
        ...

    def load(self, state: bytes) -> None:
        """Restore a saved state."""
        ...


class RowsSpec(Protocol):
    """Where the rows of a run come from: a plain description, from which workers make the rows themselves."""

    @property
    def is_computed(self) -> bool:
        """Whether the rows are computed, so that any machine can make them."""
        ...

    def open(self) -> PlanMaker:
        """Start from the first row."""
        ...


@dataclass(frozen=True)
class RunSpec:
    """The cells of a run, or of a group of it, and how they are scored: a plain description.

    Parameters
    ----------
    schema
        The attributes and classes of the rows.
    scheme
        Which rows are tested and learnt.
    learners
        All learners of the run by name.
    forgettings, measures, detectors
        How cells are scored and watched.
    seed
        The seed of the run.
    selected
        The cells of the group; None for all. The index of a cell is that of its learner times the number of folds,
        plus its fold.
    with_votes, with_cell_batches
        Whether traces carry votes, and whether results carry the batches of the cells for recorders.
    metered, time_budget, clock
        Whether and how the cost of cells is measured.
    n_rows
        The number of rows, if it is known.
    rows
        Where the rows come from, for workers that make them themselves.
    live_measures
        The measures whose live verdicts need tallies.
    labels_wait
        Whether rows may be scored before their labels arrive, or although they never do.
    compared
        The measures of the live test of pairs of learners.
    every
        The number of rows between two readings; 0 without live verdicts.
    keeps_looks
        Whether tallies are needed at every reading row, to judge single learners.
    label_design
        How rows are chosen for a label, if that is a random share, to estimate losses from few labels; else None.
    call_limit
        The most seconds of a call of a learner; None for no limit.

    Examples
    --------
    >>> from streamgauge import SEA, Bootstrap, Landmark, MajorityClass, NoChange
    >>> from streamgauge.measures import accuracy
    >>> learners = {"majority": MajorityClass(), "last": NoChange()}
    >>> spec = RunSpec(SEA().schema, Bootstrap(2), learners, (Landmark(),), (accuracy,), {}, seed=1)
    >>> spec.cells
    (('majority', 0), ('majority', 1), ('last', 0), ('last', 1))
    >>> spec.select([1, 3]).cells
    (('majority', 1), ('last', 1))
    """

    schema: Schema
    scheme: SchemeBase
    learners: Mapping[str, LearnerSpec]
    forgettings: tuple[Forgetting, ...]
    measures: tuple[Measure, ...]
    detectors: Mapping[str, DetectorSpec]
    seed: int
    selected: tuple[int, ...] | None = None
    with_votes: bool = False
    with_cell_batches: bool = False
    metered: bool = False
    time_budget: float | None = None
    clock: Clock = "thread"
    n_rows: int | None = None
    rows: RowsSpec | None = None
    live_measures: tuple[Measure, ...] = ()
    labels_wait: bool = False
    compared: tuple[Measure, ...] = (accuracy,)
    every: int = 0
    keeps_looks: bool = False
    label_design: LabelDesign | None = None
    call_limit: float | None = None

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return self.scheme.n_folds

    @property
    def keeps_blocks(self) -> bool:
        """Whether tallies of blocks are kept, to compare learners or for live verdicts."""
        return len(self.learners) > 1 or bool(self.live_measures)

    @property
    def few_label_losses(self) -> tuple[str, ...]:
        """The losses that are estimated from few labels; none if all labels arrive or no coin decides which do."""
        return () if self.label_design is None else list_losses((*self.measures, *self.live_measures))

    def list_block_rows(self, plan: BatchPlan) -> list[int]:
        """Return the rows of a plan at which tallies of blocks are kept: ends of blocks, and the end of the run."""
        if not self.keeps_blocks:
            return []
        if plan.batch is None:
            return [plan.n_done]
        start, stop = plan.batch.start, plan.batch.start + len(plan.batch)
        if start < 0:
            return []
        looks = list_looks(self.every, start, stop, self.n_rows) if self.live_measures and self.every else []
        return sorted({*list_boundaries(start, stop), *looks})

    @cached_property
    def block_layout(self) -> BlockLayout:
        """What is kept of the tallies of blocks."""
        measures = (*self.measures, *self.live_measures)
        statistics = set(list_statistics(measures))
        return find_task(self.schema).make_layout(statistics, with_baselines=reads_baselines(measures))

    @property
    def n_cells(self) -> int:
        """The number of cells of the whole run."""
        return len(self.learners) * self.n_folds

    @property
    def indices(self) -> tuple[int, ...]:
        """The indices of the cells of the group."""
        return tuple(range(self.n_cells)) if self.selected is None else self.selected

    @property
    def cells(self) -> tuple[tuple[str, int], ...]:
        """The learner and fold of each cell of the group."""
        cells = tuple(product(self.learners, range(self.n_folds)))
        return tuple(cells[index] for index in self.indices)

    def select(self, indices: Sequence[int], clock: Clock | None = None) -> "RunSpec":
        """Return the description of a group of cells."""
        return replace(self, selected=tuple(indices), clock=clock or self.clock)


class TaskRunner(Protocol):
    """Calls a function for many items that share nothing."""

    def __call__(self, function: Callable[[Item], Outcome], items: Sequence[Item]) -> list[Outcome]:
        """Return the results in the order of the items."""
        ...


def run_serially(function: Callable[[Item], Outcome], items: Sequence[Item]) -> list[Outcome]:
    """Call a function for one item after the other.

    Examples
    --------
    >>> run_serially(abs, [-1, 2])
    [1, 2]
    """
    return [function(item) for item in items]


class Executor(Protocol):
    """Runs plans in its groups of cells, wherever these are; at most `depth` plans may be pending."""

    @property
    def depth(self) -> int:
        """How many plans may be pending now."""
        ...

    @property
    def makes_rows(self) -> bool:
        """Whether the groups make the rows of the stream themselves: then plans need none, and can be withdrawn."""
        ...

    @property
    def reads_ahead(self) -> bool:
        """Whether rows may be read in a thread of this process while the cells run."""
        ...

    def submit(self, plan: BatchPlan) -> None:
        """Submit a plan to all groups."""
        ...

    def collect(self) -> list[BatchResult]:
        """Wait for the oldest pending plan; return its results, one a group."""
        ...

    def withdraw(self) -> int:
        """Withdraw the newest pending plans that no group has begun; return their number."""
        ...

    def load(self, saved: SavedStates, *, trusted: bool) -> None:
        """Restore saved states in all groups before the first plan; nothing is unpickled unless trusted."""
        ...


@runtime_checkable
class Backend(Protocol):
    """Where cells run: a value that opens an executor for the length of a run."""

    def open(self, run_spec: RunSpec) -> AbstractContextManager[Executor]:
        """Build the cells of a run."""
        ...
