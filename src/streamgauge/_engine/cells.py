"""Folds and cells: what runs side by side in an evaluation. A cell is one learner in one fold."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge._engine.meter import Meter
from streamgauge._engine.schedule import DelayBuffer, Schedule
from streamgauge.drift import Watch
from streamgauge.errors import LearnerError, StreamgaugeError
from streamgauge.learners.adapters.saved_states import noting_pickles, trusting
from streamgauge.learners.plain_loop import as_learner_error
from streamgauge.protocols import CellBatch, DetectorSpec, ForgettingState, Learner
from streamgauge.records import ABSTAINED, Alarm, Batch, Failure, Schema, Step, Tally, Trace
from streamgauge.records.serialise import loading, pack, pack_columns, unpack, unpack_columns

__all__ = ["Cell", "Fold", "Tallies"]

Tallies = Sequence[Sequence[Tally]]
"""The tallies of a cell by forgetting and stop, as far as its learner got without failing."""


class Fold:
    """What the learners of one fold share: the step at hand and the hits of the two baselines.

    Parameters
    ----------
    number
        Which fold it is.
    schema
        What the rows look like.
    with_baselines
        Whether anybody asks for the hits; else there are none.
    """

    def __init__(self, number: int, schema: Schema, *, with_baselines: bool = True) -> None:
        self.number, self.n_classes = number, schema.n_classes
        self.n_scored = 0
        self._with_baselines = with_baselines
        self._baselines = _native.Baselines(schema.n_classes)
        self._no_hits = np.zeros(0, dtype=np.bool_)
        self._test: DelayBuffer[np.bool_] = DelayBuffer(usual=True)
        self._weight: DelayBuffer[np.float64] = DelayBuffer(1.0)
        nothing = Batch(0, np.empty((0, schema.n_attributes)), np.empty(0, dtype=np.int32))
        self._scored: slice | NDArray[np.intp]
        self._do(Step(nothing))

    def take(self, plan: Schedule, step: Step) -> None:
        """Take what the scheme says of the next rows, in the order of the plan, and let the baselines predict them."""
        self._do(self._planned(plan, step))

    def _do(self, step: Step) -> None:
        self.step = step
        self._scored = scored = slice(None) if step.scored is None else step.scored
        self.row = step.scored_times
        self.y_true = step.batch.y[scored]
        columns = (step.batch.weight, step.batch.time)
        self.weight, self.time = (None if column is None else column[scored] for column in columns)
        self.n_scored += len(self.row)
        if self._with_baselines:
            hits = self._baselines.update(step.batch.y, step.labels, step.learning_weight)
            self.majority_hit, self.no_change_hit = (hit[scored] for hit in hits)
        else:
            if len(self._no_hits) < len(self.row):  # one column serves all batches
                self._no_hits = np.zeros(len(self.row), dtype=np.bool_)
                self._no_hits.setflags(write=False)
            self.majority_hit = self.no_change_hit = self._no_hits[: len(self.row)]

    def _planned(self, plan: Schedule, step: Step) -> Step:
        moves = plan.moves
        if moves is None and plan.test is None and plan.revealed is None:
            return step
        put_in = moves is not None and len(moves.put_in) > 0
        test = self._test.arranged(step.test, plan, np.True_ if put_in else None)
        weight = self._weight.arranged(step.weight, plan, np.float64(0.0) if put_in else None)
        if plan.test is not None:
            test = plan.test if test is None else test & plan.test
        times = (None, None) if moves is None else (moves.row, moves.now)
        return Step(plan.batch, test, weight, plan.revealed, *times)

    @property
    def scored_mask(self) -> NDArray[np.bool_]:
        """Which rows of the step are scored."""
        mask = np.zeros(len(self.step.batch), dtype=np.bool_)
        mask[self._scored] = True
        return mask

    def n_scored_before(self, position: int) -> int:
        """Count the rows of the step before a position that are scored."""
        return position if self.step.scored is None else int(np.searchsorted(self.step.scored, position))

    def trace(self, predictions: NDArray[np.int32], votes: NDArray[np.float64] | None) -> Trace:
        """Make the trace of one learner's predictions."""
        votes = None if votes is None else votes[self._scored]
        hits = (self.majority_hit, self.no_change_hit)
        row = cast("NDArray[np.int64]", self.row)  # a range is written out where somebody asks for it
        return Trace(row, self.y_true, predictions[self._scored], *hits, self.weight, votes, self.time)

    def save(self) -> bytes:
        """Give all of its state between two batches."""
        stores = pack_columns("stores", {}, {"test": self._test.store, "weight": self._weight.store})
        return pack("fold", {"number": self.number, "n_scored": self.n_scored}, [self._baselines.save(), stores])

    def load(self, state: bytes) -> None:
        """Take over a saved state of the same fold."""
        facts, parts = unpack("fold", state)
        with loading("fold"):
            baselines, stores = parts
            columns = unpack_columns("stores", stores)[1]
            self._baselines.load(baselines)
            self._test.store, self._weight.store = columns["test"], columns["weight"]
            self.n_scored = facts["n_scored"]


class Cell:
    """One learner in one fold; it touches only its own state."""

    def __init__(
        self,
        name: str,
        learner: Learner,
        fold: Fold,
        states: Sequence[ForgettingState],
        meter: Meter | None,
        detectors: Mapping[str, DetectorSpec],
    ) -> None:
        self.name, self.fold, self.meter = name, fold, meter
        self._learner, self._states = learner, states
        self.failure: Failure | None = None
        self.alarms: list[Alarm] = []
        self._trace = fold.trace(np.empty(0, dtype=np.int32), None)
        self._watches = {detector: Watch(spec) for detector, spec in detectors.items()}

    def advance(self, reading_rows: Sequence[int], *, with_votes: bool, counts_pairs: bool) -> Tallies:
        """Do the step of the fold; give the tallies per forgetting and stop, up to where the learner failed.

        Where pairs are counted, `correct` tells which predictions were right.
        """
        step = self.fold.step
        if self.failure is not None:
            return self._stand_still(reading_rows)
        try:
            predictions, votes = self._interleave(step, reading_rows, with_votes=with_votes)
        except Exception as error:
            return self._fail(
                as_learner_error(0, np.empty((0, self.fold.n_classes)), error, with_votes=with_votes), reading_rows
            )
        if counts_pairs:
            self.correct: NDArray[np.bool_] = np.equal(predictions, step.batch.y)
        self._trace = self.fold.trace(predictions, votes)
        self.alarms = list(self._watched(self._trace))
        return [state.update(self._trace, reading_rows) for state in self._states]

    def _watched(self, trace: Trace) -> Iterator[Alarm]:
        """Let the detectors watch the errors of a trace."""
        errors = (~trace.correct).astype(np.float64) if self._watches else np.empty(0)
        for detector, watch in self._watches.items():
            for kind, rows in zip(("drift", "warning"), watch.update(trace.row, errors), strict=True):
                yield from (Alarm(row, self.name, self.fold.number, detector, kind) for row in rows)

    def _fail(self, error: LearnerError, reading_rows: Sequence[int]) -> Tallies:
        """Score what was done before the row it failed at; from then on there is nothing to tell."""
        step, (predictions, votes) = self.fold.step, error.done
        rows, times = step.rows, step.times
        self.failure = Failure(self.name, self.fold.number, int(rows[error.position]), str(error))
        before = np.append(predictions, np.full(len(rows) - len(predictions), ABSTAINED, dtype=np.int32))
        self.correct = np.equal(before, step.batch.y)
        whole = self.fold.trace(before, None if votes is None else np.resize(votes, (len(rows), self.fold.n_classes)))
        self._trace = whole.part(0, self.fold.n_scored_before(error.position))
        self.alarms = list(self._watched(self._trace))
        tallies = [state.update(self._trace, reading_rows) for state in self._states]
        if self.meter is not None:
            self.meter.stand_still(len(reading_rows))
        n_told = sum(stop <= times[error.position] for stop in reading_rows)
        return [of_stops[:n_told] for of_stops in tallies]

    def _stand_still(self, reading_rows: Sequence[int]) -> Tallies:
        """Do nothing, for it has failed."""
        self.correct = np.zeros(len(self.fold.step.batch), dtype=np.bool_)
        self._trace, self.alarms = self._trace.part(0, 0), []
        if self.meter is not None:
            self.meter.stand_still(len(reading_rows))
        return [() for _ in self._states]

    def _interleave(
        self, step: Step, reading_rows: Sequence[int], *, with_votes: bool
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        if self.meter is None:
            return self._learner.interleave(step, with_votes=with_votes)
        if step.now is None:
            cuts = [stop - step.batch.start for stop in reading_rows]
        else:
            cuts = np.searchsorted(step.now, reading_rows, side="left").tolist()
        return self.meter.interleave(step, with_votes=with_votes, cuts=cuts)

    def finish(self, stop: int) -> Tallies:
        """Give the tallies at the end."""
        if self.failure is not None:
            return self._stand_still([stop])
        self.fold.step = self.fold.step.part(0, 0)
        nothing = slice(0, 0)
        hits = (self.fold.majority_hit[nothing], self.fold.no_change_hit[nothing])
        y = self.fold.y_true[nothing]
        self._trace, self.alarms = Trace(np.empty(0, dtype=np.int64), y, y, *hits, votes=np.empty((0, 0))), []
        if self.meter is not None:
            self.meter.note()
        return [state.update(self._trace, [stop]) for state in self._states]

    def passage(self, reading_rows: Sequence[int], tallies: Tallies) -> CellBatch:
        """Tell what the step at hand brought."""
        told = reading_rows[: len(tallies[0])]
        return CellBatch(self.name, self.fold.number, self.fold.step, self._trace, told, tallies)

    @property
    def _parts(self) -> dict[str, object]:
        """What it consists of, beside its learner."""
        parts: dict[str, object] = {f"forgetting {place}": state for place, state in enumerate(self._states)}
        parts |= {f"detector {name}": watch for name, watch in self._watches.items()}
        return parts if self.meter is None else {**parts, "meter": self.meter}

    def save(self) -> bytes:
        """Give all of its state between two batches; a learner that has failed is not saved."""
        with noting_pickles() as pickled:
            parts = {} if self.failure is not None else {"learner": _saved(self._learner, self.name)}
        parts |= {name: _saved(part, name) for name, part in self._parts.items()}
        failure = None if self.failure is None else (self.failure.row, self.failure.error)
        facts = {"pickled": sorted(pickled), "failure": failure, "parts": list(parts)}
        return pack("cell", facts, list(parts.values()))

    def load(self, state: bytes, *, trusted: bool = True) -> None:
        """Take over a saved state of a cell built alike; where it is not trusted, nothing is unpickled."""
        facts, states = unpack("cell", state)
        parts = self._parts if facts["failure"] else {"learner": self._learner, **self._parts}
        with loading("cell"), trusting(trusted):
            if list(parts) != facts["parts"]:
                msg = f"it consists of {', '.join(facts['parts'])}"
                raise ValueError(msg)
            for part, saved in zip(parts.values(), states, strict=True):
                part.load(saved)  # type: ignore[attr-defined]
            if facts["failure"]:
                self.failure = Failure(self.name, self.fold.number, *facts["failure"])


def _saved(part: object, name: str) -> bytes:
    save = getattr(part, "save", None)
    if save is None or not hasattr(part, "load"):
        msg = f"{name} cannot be saved, as a checkpoint needs: {type(part).__name__} has no methods save() and load()"
        raise StreamgaugeError(msg)
    try:
        state = save()
    except Exception as error:  # as of what cannot be pickled
        msg = f"{name} cannot be saved, as a checkpoint needs: {type(error).__name__}: {error}"
        raise StreamgaugeError(msg) from error
    return state if isinstance(state, bytes) else bytes(state)
