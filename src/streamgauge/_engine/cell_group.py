"""Cells that live together."""

import time
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.batch_plan import BatchPlan, BatchResult, SavedStates
from streamgauge._engine.cells import Cell, Fold, Tallies
from streamgauge._engine.executor import TaskRunner, one_by_one
from streamgauge._engine.meter import Meter
from streamgauge._engine.run_spec import RunSpec
from streamgauge._engine.schedule import Schedule
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import NativeForgetting
from streamgauge.measures import build_state, measure_tallies, reads_baselines
from streamgauge.protocols import CellBatch
from streamgauge.randomness import fold_seed
from streamgauge.records import Batch, Step
from streamgauge.records.tally import Tallies as Columns

__all__ = ["CellGroup"]


class CellGroup:
    """Cells that live together, with the folds that they share.

    Parameters
    ----------
    run_spec
        Describes them.

    Examples
    --------
    >>> from streamgauge import SEA, Landmark, MajorityClass, Prequential
    >>> from streamgauge.measures import accuracy
    >>> from streamgauge._engine.schedule import LabelTotals
    >>> from streamgauge.streams import take
    >>> learners = {"majority": MajorityClass()}
    >>> run_spec = RunSpec(SEA().schema, Prequential(), learners, (Landmark(),), (accuracy,), {}, seed=1)
    >>> batch = take(SEA(), 100)
    >>> results_of_groups = CellGroup(run_spec).run_plan(BatchPlan([100], 100, LabelTotals(), Schedule(batch), batch))
    >>> results_of_groups.values.shape, results_of_groups.n_scored
    ((1, 1, 1, 1), (100,))
    """

    def __init__(self, run_spec: RunSpec) -> None:
        self.run_spec = run_spec
        self._places = tuple(range(run_spec.n_cells)) if run_spec.places is None else run_spec.places
        with_baselines = self._asks_for_baselines()
        numbers = sorted({fold for _, fold in run_spec.cells})
        folds = {fold: Fold(fold, run_spec.schema, with_baselines=with_baselines) for fold in numbers}
        self._folds = list(folds.values())
        self._cells = [self._built(name, folds[fold]) for name, fold in run_spec.cells]

    def _asks_for_baselines(self) -> bool:
        """Whether a measure, or anything that is not ours, may look at what the baselines got right."""
        run_spec = self.run_spec
        known = (run_spec.schema.n_classes, run_spec.measures)
        native = (isinstance(build_state(forgetting, *known), NativeForgetting) for forgetting in run_spec.forgettings)
        return run_spec.with_passages or reads_baselines(run_spec.measures) or not all(native)

    def _built(self, name: str, fold: Fold) -> Cell:
        run_spec = self.run_spec
        n_classes, spec = run_spec.schema.n_classes, run_spec.learners[name]
        learner = spec.build(run_spec.schema, fold_seed(run_spec.seed, fold.number, spec.seed))
        clock = time.process_time_ns if run_spec.clock == "process" else time.thread_time_ns
        meter = Meter(learner, n_classes, clock, run_spec.time_budget) if run_spec.metered else None
        states = [build_state(forgetting, n_classes, run_spec.measures) for forgetting in run_spec.forgettings]
        return Cell(name, learner, fold, states, meter, run_spec.detectors)

    def run_plan(self, order: BatchPlan, workers: TaskRunner = one_by_one) -> BatchResult:
        """Let all cells do what an order says, and measure at its stops."""
        plan, batch, reading_rows = order.plan, order.batch, order.reading_rows
        if plan is None:
            tallies = [cell.finish(order.n_done) for cell in self._cells]
        else:
            take = partial(self._take, plan, batch, order.n_done)
            counts_pairs = self._counts_pairs(order)
            shared = len(self._cells) > len(self._folds)
            if shared:  # else each takes its own, and nobody waits for all of them
                workers(take, self._folds)

            def advance(cell: Cell) -> Tallies:
                if not shared:
                    take(cell.fold)
                return cell.advance(reading_rows, with_votes=self.run_spec.with_votes, counts_pairs=counts_pairs)

            tallies = workers(advance, self._cells)
        return self._told(order, tallies)

    def _counts_pairs(self, order: BatchPlan) -> bool:
        """Whether it is to be told which predictions of an order were right."""
        return order.counts_pairs and len(self.run_spec.learners) > 1

    def _take(self, plan: Schedule, batch: Batch | None, n_done: int, fold: Fold) -> None:
        if batch is None:  # of the end, of which the scheme has nothing to say
            fold.take(plan, Step(Batch(n_done, plan.batch.x[:0], plan.batch.y[:0])))
        else:
            fold.take(plan, self.run_spec.scheme.step(batch, fold.number, self.run_spec.seed))

    def _told(self, order: BatchPlan, tallies: list[Tallies]) -> BatchResult:
        cells, reading_rows = self._cells, order.reading_rows
        correct = scored = costs = None
        if self._counts_pairs(order):
            correct = np.stack([cell.correct for cell in cells])
            if any(fold.step.scored is not None for fold in self._folds):
                scored = np.stack([fold.scored_mask for fold in self._folds])
        notes = [cell.meter.notes() for cell in cells if cell.meter is not None]
        if notes and reading_rows:
            costs = np.array(notes, dtype=np.float64)
        return BatchResult(
            self._places,
            tuple(fold.number for fold in self._folds),
            self._measured(tallies, len(reading_rows)),
            tuple(fold.n_scored for fold in self._folds),
            {place: cell.failure for place, cell in zip(self._places, cells, strict=True) if cell.failure is not None},
            tuple(alarm for cell in cells for alarm in cell.alarms),
            correct,
            scored,
            costs,
            tuple(cell.meter.totals() for cell in cells if cell.meter is not None),
            self.run_spec.clock,
            self._passages(reading_rows, tallies) if self.run_spec.with_passages else (),
            self._kept() if order.keeps else None,
            self._confusions(tallies, order.confused) if order.confused else None,
        )

    def _confusions(self, tallies: list[Tallies], kept: Sequence[int]) -> NDArray[np.float64]:
        """Take the confusion matrices out of the tallies [cell][forgetting][stop], at the places of some stops."""
        c = self.run_spec.schema.n_classes
        found = np.full((len(tallies), len(self.run_spec.forgettings), len(kept), c, c + 1), np.nan)
        for of_cell, told in zip(tallies, found, strict=True):
            for of_stops, matrices in zip(of_cell, told, strict=True):
                places = [place for place in kept if place < len(of_stops)]
                if places:
                    columns = Columns.joined([of_stops])
                    matrices[: len(places), :, :c] = columns.confusion[places]
                    matrices[: len(places), :, c] = columns.abstained[places]
        return found

    def _kept(self) -> SavedStates:
        """Save all for a checkpoint; whether a run ends where that cannot be is for others to say."""
        try:
            return self.save()
        except StreamgaugeError as error:
            return SavedStates({}, {}, str(error))

    def save(self) -> SavedStates:
        """Save all cells and folds between two orders."""
        cells = {place: cell.save() for place, cell in zip(self._places, self._cells, strict=True)}
        return SavedStates(cells, {fold.number: fold.save() for fold in self._folds})

    def load(self, saved: SavedStates, *, trusted: bool = True) -> None:
        """Take over the states of its cells and folds, and go on from there bit for bit."""
        for fold in self._folds:
            fold.load(saved.folds[fold.number])
        for place, cell in zip(self._places, self._cells, strict=True):
            cell.load(saved.cells[place], trusted=trusted)

    def _passages(self, reading_rows: Sequence[int], tallies: list[Tallies]) -> tuple[CellBatch, ...]:
        return tuple(cell.passage(reading_rows, of_cell) for cell, of_cell in zip(self._cells, tallies, strict=True))

    def _measured(self, tallies: list[Tallies], n_readings: int) -> NDArray[np.float64]:
        """Measure the tallies [cell][forgetting][stop] into values [cell, forgetting, stop, measure]."""
        measures = self.run_spec.measures
        series = [of_stops for of_cell in tallies for of_stops in of_cell]
        if all(len(of_stops) == n_readings for of_stops in series):
            values = measure_tallies(measures, series)
        else:  # a learner has failed
            values = np.full((len(series), n_readings, len(measures)), np.nan)
            for told, of_stops in zip(values, series, strict=True):
                if len(of_stops):
                    told[: len(of_stops)] = measure_tallies(measures, [of_stops])[0]
        return values.reshape(len(tallies), len(self.run_spec.forgettings), *values.shape[1:])
