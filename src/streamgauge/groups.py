"""Groups of cells: built from a plain description, so that a group can live in this process, another one or a cluster.

A group is given what a batch brings (an `Order`) and gives back plain columns (`Brought`). What one group does never
depends on another, so it does not matter where groups live, nor which cells go together.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from streamgauge.cells import Cell, Fold, Tallies
from streamgauge.errors import StreamgaugeError
from streamgauge.measures import build_state, measured
from streamgauge.metering import Meter, Totals
from streamgauge.protocols import DetectorSpec, Forgetting, LearnerSpec, Measure, Passage, Scheme
from streamgauge.randomness import fold_seed
from streamgauge.records import Alarm, Batch, Failure, Schema, Step
from streamgauge.sequencing import Counts, Plan
from streamgauge.tallies import Tallies as Columns

__all__ = ["Backend", "Brought", "Clock", "Crew", "Group", "Host", "Order", "Saved", "Source", "Workers", "one_by_one"]

Task = TypeVar("Task")
Done = TypeVar("Done")

Clock = Literal["process", "thread"]
"""Whose CPU time is charged to a learner: that of all threads of its process, or of the calling one alone."""


class Workers(Protocol):
    """Do tasks that share nothing."""

    def __call__(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> list[Done]:
        """Do the work of every task; the results come in the order of the tasks."""
        ...


def one_by_one(work: Callable[[Task], Done], tasks: Sequence[Task]) -> list[Done]:
    """Do the work of tasks one after the other.

    Examples
    --------
    >>> one_by_one(abs, [-1, 2])
    [1, 2]
    """
    return [work(task) for task in tasks]


@dataclass(frozen=True)
class Crew:
    """Which cells there are and how they are scored: a plain description of a group.

    Parameters
    ----------
    schema
        What the rows look like.
    scheme
        Says which rows are tested and learnt.
    learners
        All learners of the run, by name.
    forgettings, measures, detectors
        How the cells are scored and watched.
    seed
        The seed of the run.
    places
        Which cells of the run are in the group: the place of a cell is that of its learner times the number of folds,
        plus its fold. None for all.
    with_votes, with_passages
        Whether traces carry votes, and whether passages are told.
    metered, time_budget, clock
        Whether cells are metered, and how.
    n_rows
        How many rows there will be at most, as far as that is known.
    source
        Makes the rows, where a group is to make them itself.

    Examples
    --------
    >>> from streamgauge import SEA, Bootstrap, Landmark, MajorityClass, NoChange
    >>> from streamgauge.measures import accuracy
    >>> learners = {"majority": MajorityClass(), "last": NoChange()}
    >>> crew = Crew(SEA().schema, Bootstrap(2), learners, (Landmark(),), (accuracy,), {}, seed=1)
    >>> crew.cells
    (('majority', 0), ('majority', 1), ('last', 0), ('last', 1))
    >>> crew.part([1, 3]).cells
    (('majority', 1), ('last', 1))
    """

    schema: Schema
    scheme: Scheme
    learners: Mapping[str, LearnerSpec]
    forgettings: tuple[Forgetting, ...]
    measures: tuple[Measure, ...]
    detectors: Mapping[str, DetectorSpec]
    seed: int
    places: tuple[int, ...] | None = None
    with_votes: bool = False
    with_passages: bool = False
    metered: bool = False
    time_budget: float | None = None
    clock: Clock = "thread"
    n_rows: int | None = None
    source: "Source | None" = None

    @property
    def n_folds(self) -> int:
        """How many folds the run has."""
        return self.scheme.n_folds

    @property
    def n_cells(self) -> int:
        """How many cells the run has."""
        return len(self.learners) * self.n_folds

    @property
    def cells(self) -> tuple[tuple[str, int], ...]:
        """The learner and fold of each cell of the group."""
        every = tuple(product(self.learners, range(self.n_folds)))
        return every if self.places is None else tuple(every[place] for place in self.places)

    def part(self, places: Sequence[int], clock: Clock | None = None) -> "Crew":
        """Describe the group of some of the cells."""
        return replace(self, places=tuple(places), clock=clock or self.clock)


@dataclass(frozen=True)
class Order:
    """What all groups are to do next.

    Parameters
    ----------
    stops
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

    stops: Sequence[int]
    n_done: int
    counts: Counts
    plan: Plan | None = None
    batch: Batch | None = None
    keeps: bool = False
    labels: NDArray[np.int64] | None = None
    confused: Sequence[int] = ()

    @property
    def counts_pairs(self) -> bool:
        """Whether it has tests by which learners are compared."""
        return self.plan is not None and (self.batch is None or self.batch.start >= 0)


@dataclass(frozen=True)
class Recipe:
    """An order without its rows, for those who can make them: which rows of the stream, and what is asked of them."""

    start: int
    n: int
    stops: Sequence[int]
    n_done: int
    keeps: bool = False
    confused: Sequence[int] = ()


class Maker(Protocol):
    """Makes orders of recipes that follow each other, and can be saved between two."""

    def order(self, recipe: Recipe) -> Order:
        """Make the rows of a recipe, and plan them."""
        ...

    def save(self) -> bytes:
        """Give all of its state."""
        ...

    def load(self, state: bytes) -> None:
        """Take over a saved state."""
        ...


class Source(Protocol):
    """Where the rows of a run come from: a plain description."""

    @property
    def is_made(self) -> bool:
        """Whether the rows are computed, so that they can be had anywhere."""
        ...

    def opened(self) -> Maker:
        """Start from the first row."""
        ...


@dataclass(frozen=True)
class Saved:
    """Saved states: of cells by their places in the run, of folds by their numbers; or why they cannot be saved."""

    cells: Mapping[int, bytes]
    folds: Mapping[int, bytes]
    refusal: str = ""


@dataclass(frozen=True)
class Brought:
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
    passages: tuple[Passage, ...] = ()
    saved: Saved | None = None
    confusions: NDArray[np.float64] | None = None


class Host(Protocol):
    """Carries out orders, wherever its groups live; no more than `depth` may be open at a time."""

    @property
    def depth(self) -> int:
        """How many orders may be given before the first is taken back."""
        ...

    @property
    def reads_ahead(self) -> bool:
        """Whether rows may be read in a thread of this process while the cells are at work."""
        ...

    def give(self, order: Order) -> None:
        """Give an order to all groups."""
        ...

    def take(self) -> list[Brought]:
        """Wait until the oldest open order is carried out; what it brought, group by group."""
        ...

    def load(self, saved: Saved, *, trusted: bool) -> None:
        """Let all groups take over saved states before the first order; nothing is unpickled that is not trusted."""
        ...


@runtime_checkable
class Backend(Protocol):
    """Says where the cells run: a frozen value that hosts groups of cells."""

    def host(self, crew: Crew) -> AbstractContextManager[Host]:
        """Build the cells of a crew, and host them for the length of a run."""
        ...


class Group:
    """Cells that live together, with the folds that they share.

    Parameters
    ----------
    crew
        Describes them.

    Examples
    --------
    >>> from streamgauge import SEA, Landmark, MajorityClass, Prequential
    >>> from streamgauge.measures import accuracy
    >>> from streamgauge.streams import take
    >>> crew = Crew(SEA().schema, Prequential(), {"majority": MajorityClass()}, (Landmark(),), (accuracy,), {}, seed=1)
    >>> batch = take(SEA(), 100)
    >>> brought = Group(crew).carry_out(Order([100], 100, Counts(), Plan(batch), batch))
    >>> brought.values.shape, brought.n_scored
    ((1, 1, 1, 1), (100,))
    """

    def __init__(self, crew: Crew) -> None:
        self.crew = crew
        self._places = tuple(range(crew.n_cells)) if crew.places is None else crew.places
        folds = {fold: Fold(fold, crew.schema) for fold in sorted({fold for _, fold in crew.cells})}
        self._folds = list(folds.values())
        self._cells = [self._built(name, folds[fold]) for name, fold in crew.cells]

    def _built(self, name: str, fold: Fold) -> Cell:
        crew = self.crew
        n_classes, spec = crew.schema.n_classes, crew.learners[name]
        learner = spec.build(crew.schema, fold_seed(crew.seed, fold.number, spec.seed))
        clock = time.process_time_ns if crew.clock == "process" else time.thread_time_ns
        meter = Meter(learner, n_classes, clock, crew.time_budget) if crew.metered else None
        states = [build_state(forgetting, n_classes, crew.measures) for forgetting in crew.forgettings]
        return Cell(name, learner, fold, states, meter, crew.detectors)

    def carry_out(self, order: Order, workers: Workers = one_by_one) -> Brought:
        """Let all cells do what an order says, and measure at its stops."""
        plan, batch, stops = order.plan, order.batch, order.stops
        if plan is None:
            tallies = [cell.finish(order.n_done) for cell in self._cells]
        else:
            workers(partial(self._take, plan, batch, order.n_done), self._folds)
            tallies = workers(lambda cell: cell.advance(stops, with_votes=self.crew.with_votes), self._cells)
        return self._told(order, tallies)

    def _take(self, plan: Plan, batch: Batch | None, n_done: int, fold: Fold) -> None:
        if batch is None:  # of the end, of which the scheme has nothing to say
            fold.take(plan, Step(Batch(n_done, plan.batch.x[:0], plan.batch.y[:0])))
        else:
            fold.take(plan, self.crew.scheme.step(batch, fold.number, self.crew.seed))

    def _told(self, order: Order, tallies: list[Tallies]) -> Brought:
        cells, stops = self._cells, order.stops
        correct = scored = costs = None
        if order.counts_pairs and len(self.crew.learners) > 1:
            correct = np.stack([cell.correct for cell in cells])
            if any(fold.step.scored is not None for fold in self._folds):
                scored = np.stack([fold.scored_mask for fold in self._folds])
        notes = [cell.meter.notes() for cell in cells if cell.meter is not None]
        if notes and stops:
            costs = np.array(notes, dtype=np.float64)
        return Brought(
            self._places,
            tuple(fold.number for fold in self._folds),
            self._measured(tallies, len(stops)),
            tuple(fold.n_scored for fold in self._folds),
            {place: cell.failure for place, cell in zip(self._places, cells, strict=True) if cell.failure is not None},
            tuple(alarm for cell in cells for alarm in cell.alarms),
            correct,
            scored,
            costs,
            tuple(cell.meter.totals() for cell in cells if cell.meter is not None),
            self.crew.clock,
            self._passages(stops, tallies) if self.crew.with_passages else (),
            self._kept() if order.keeps else None,
            self._confusions(tallies, order.confused) if order.confused else None,
        )

    def _confusions(self, tallies: list[Tallies], kept: Sequence[int]) -> NDArray[np.float64]:
        """Take the confusion matrices out of the tallies [cell][forgetting][stop], at the places of some stops."""
        c = self.crew.schema.n_classes
        found = np.full((len(tallies), len(self.crew.forgettings), len(kept), c, c + 1), np.nan)
        for of_cell, told in zip(tallies, found, strict=True):
            for of_stops, matrices in zip(of_cell, told, strict=True):
                places = [place for place in kept if place < len(of_stops)]
                if places:
                    columns = Columns.joined([of_stops])
                    matrices[: len(places), :, :c] = columns.confusion[places]
                    matrices[: len(places), :, c] = columns.abstained[places]
        return found

    def _kept(self) -> Saved:
        """Save all for a checkpoint; whether a run ends where that cannot be is for others to say."""
        try:
            return self.save()
        except StreamgaugeError as error:
            return Saved({}, {}, str(error))

    def save(self) -> Saved:
        """Save all cells and folds between two orders."""
        cells = {place: cell.save() for place, cell in zip(self._places, self._cells, strict=True)}
        return Saved(cells, {fold.number: fold.save() for fold in self._folds})

    def load(self, saved: Saved, *, trusted: bool = True) -> None:
        """Take over the states of its cells and folds, and go on from there bit for bit."""
        for fold in self._folds:
            fold.load(saved.folds[fold.number])
        for place, cell in zip(self._places, self._cells, strict=True):
            cell.load(saved.cells[place], trusted=trusted)

    def _passages(self, stops: Sequence[int], tallies: list[Tallies]) -> tuple[Passage, ...]:
        return tuple(cell.passage(stops, of_cell) for cell, of_cell in zip(self._cells, tallies, strict=True))

    def _measured(self, tallies: list[Tallies], n_stops: int) -> NDArray[np.float64]:
        """Measure the tallies [cell][forgetting][stop] into values [cell, forgetting, stop, measure]."""
        measures = self.crew.measures
        series = [of_stops for of_cell in tallies for of_stops in of_cell]
        if all(len(of_stops) == n_stops for of_stops in series):
            values = measured(measures, series)
        else:  # a learner has failed
            values = np.full((len(series), n_stops, len(measures)), np.nan)
            for told, of_stops in zip(values, series, strict=True):
                if len(of_stops):
                    told[: len(of_stops)] = measured(measures, [of_stops])[0]
        return values.reshape(len(tallies), len(self.crew.forgettings), *values.shape[1:])
