"""Cells that live together."""

import time
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.batch_plan import Brought, Order, Saved
from streamgauge._engine.cells import Cell, Fold, Tallies
from streamgauge._engine.executor import Workers, one_by_one
from streamgauge._engine.meter import Meter
from streamgauge._engine.run_spec import Crew
from streamgauge._engine.schedule import Plan
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import NativeForgetting
from streamgauge.measures import build_state, measured, reads_baselines
from streamgauge.protocols import Passage
from streamgauge.randomness import fold_seed
from streamgauge.records import Batch, Step
from streamgauge.records.tally import Tallies as Columns

__all__ = ["Group"]


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
    >>> from streamgauge._engine.schedule import Counts
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
        with_baselines = self._asks_for_baselines()
        numbers = sorted({fold for _, fold in crew.cells})
        folds = {fold: Fold(fold, crew.schema, with_baselines=with_baselines) for fold in numbers}
        self._folds = list(folds.values())
        self._cells = [self._built(name, folds[fold]) for name, fold in crew.cells]

    def _asks_for_baselines(self) -> bool:
        """Whether a measure, or anything that is not ours, may look at what the baselines got right."""
        crew = self.crew
        known = (crew.schema.n_classes, crew.measures)
        native = (isinstance(build_state(forgetting, *known), NativeForgetting) for forgetting in crew.forgettings)
        return crew.with_passages or reads_baselines(crew.measures) or not all(native)

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
            take = partial(self._take, plan, batch, order.n_done)
            counts_pairs = self._counts_pairs(order)
            shared = len(self._cells) > len(self._folds)
            if shared:  # else each takes its own, and nobody waits for all of them
                workers(take, self._folds)

            def advance(cell: Cell) -> Tallies:
                if not shared:
                    take(cell.fold)
                return cell.advance(stops, with_votes=self.crew.with_votes, counts_pairs=counts_pairs)

            tallies = workers(advance, self._cells)
        return self._told(order, tallies)

    def _counts_pairs(self, order: Order) -> bool:
        """Whether it is to be told which predictions of an order were right."""
        return order.counts_pairs and len(self.crew.learners) > 1

    def _take(self, plan: Plan, batch: Batch | None, n_done: int, fold: Fold) -> None:
        if batch is None:  # of the end, of which the scheme has nothing to say
            fold.take(plan, Step(Batch(n_done, plan.batch.x[:0], plan.batch.y[:0])))
        else:
            fold.take(plan, self.crew.scheme.step(batch, fold.number, self.crew.seed))

    def _told(self, order: Order, tallies: list[Tallies]) -> Brought:
        cells, stops = self._cells, order.stops
        correct = scored = costs = None
        if self._counts_pairs(order):
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
