"""Folds, cells and groups of cells. A cell is one learner in one fold; it touches only its own state."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.batch_plan import BatchPlan, BatchResult, RunSpec, SavedStates, TaskRunner, run_serially
from streamgauge._engine.blocks import BlockState
from streamgauge._engine.label_sums import LabelSums
from streamgauge._engine.meter import Meter, read_thread_time
from streamgauge._engine.schedule import DelayBuffer, HeldColumns, Schedule
from streamgauge._foreign import find_end_of_training, save_part
from streamgauge.drift import Watch
from streamgauge.errors import CallTimeoutError, LearnerError, StreamgaugeError
from streamgauge.forgetting import Landmark, NativeForgetting, NumberSums
from streamgauge.learners.adapters.saved_states import record_pickles, set_trust
from streamgauge.learners.call_limit import CallWatch
from streamgauge.learners.plain_loop import Predicted, as_learner_error, fail_after, join_parts, limit_votes
from streamgauge.measures import build_state, measure_tallies, reads_baselines
from streamgauge.protocols import CellBatch, DetectorSpec, ForgettingState, Learner, MajorityBaseline, SchemeBase
from streamgauge.randomness import fold_seed
from streamgauge.records import (
    NEVER,
    Alarm,
    Batch,
    CellBlocks,
    Failure,
    NumberTallies,
    Schema,
    Step,
    Tallies,
    Tally,
    Trace,
)
from streamgauge.records.columns import protect
from streamgauge.records.serialise import loading, pack, pack_columns, unpack, unpack_columns
from streamgauge.significance.prediction_powered import N_NUMBERS
from streamgauge.tasks import find_task

__all__ = ["Cell", "CellGroup", "Fold"]

CellTallies = Sequence[Sequence[Tally]]
"""The tallies of a cell by forgetting and reading row, up to where its learner failed."""


class Fold:
    """What the learners of one fold share: the current step, and what the baselines give for its rows.

    Parameters
    ----------
    number
        The number of the fold.
    schema
        The attributes and targets of the rows.
    with_baselines
        Whether the baselines are needed.
    majorities
        For each forgetting, the first baseline of the labels that it remembers; None for that of all labels.
    """

    def __init__(
        self,
        number: int,
        schema: Schema,
        *,
        with_baselines: bool = True,
        majorities: Sequence[MajorityBaseline | None] = (),
    ) -> None:
        self.number, self.task = number, find_task(schema)
        self.n_scored = 0
        self._with_baselines, self._majorities = with_baselines or self.task.always_has_baselines, majorities
        self.majority_hits: list[NDArray[Any] | None] = [None for _ in majorities]
        """For each forgetting, the column of its first baseline; None for that of all labels."""
        self._baselines = self.task.build_baselines()
        self._no_hits = np.zeros(0, dtype=np.bool_)
        self._test: DelayBuffer[np.bool_] = DelayBuffer(default=True)
        self._weight: DelayBuffer[np.float64] = DelayBuffer(1.0)
        self._held, self._held_for_labels = HeldColumns(), HeldColumns()
        self._scored: slice | NDArray[np.intp]
        self.training_end: int | None = None
        """The number of operations of the current step after which training ends; None if it does not end in it."""
        self._begin(Step(Batch(0, np.empty((0, schema.n_attributes)), self.task.make_abstentions(0))))

    def begin_step(self, schedule: Schedule, step: Step, training_end: int | None = None) -> None:
        """Begin the next step: what the scheme says of the rows, in the order of the schedule."""
        self._begin(*self._arrange(schedule, step), schedule)
        self.training_end = training_end

    def _begin(
        self, step: Step, scoring: Step | None = None, labelled: Step | None = None, schedule: Schedule | None = None
    ) -> None:
        """Begin a step; `scoring` has its scored rows as tests, if they are scored later than they are tested.

        `labelled` has the rows whose labels arrive as tests, if that is later than they are scored, or never.
        """
        self.step, self.schedule = step, schedule if scoring is not None else None
        self.labelled_step, self._labels_schedule = labelled, schedule
        step = step if scoring is None else scoring
        hits: list[Any] = []
        if self._with_baselines:
            learnt = (step.batch.y, step.labels, step.learning_weight)
            recent = [None if each is None else each.update(*learnt, step.batch.time) for each in self._majorities]
            of_tests = self._baselines.update(*learnt)
            if labelled is not None and schedule is not None:
                held: list[Any] = self._held_for_labels.arrange(schedule, majority=of_tests[0], last=of_tests[1])
                self._labelled_hits = held
            hits = self.hold(self._held, *of_tests, *recent)
        self._scored, self.row = self._find_scored(step, hits)
        scored = self._scored
        self.scoring_step = self._leave_out(step, scored)
        self.y_true = step.batch.y[scored]
        columns = (step.batch.weight, step.batch.time)
        self.weight, self.time = (None if column is None else column[scored] for column in columns)
        self.n_scored += len(self.row)
        if hits:
            hits = [None if hit is None else hit[scored] for hit in hits]
            self.majority_hit, self.no_change_hit, *self.majority_hits = hits
        else:
            self.majority_hit = self.no_change_hit = self._no_hits_of(len(self.row))

    def _find_scored(
        self, step: Step, baselines: Sequence[NDArray[Any] | None]
    ) -> tuple[slice | NDArray[np.intp], NDArray[np.int64] | range]:
        """Return which rows of a step are scored, and the latest row of the stream when each of them is."""
        scorable = self.task.find_scorable(baselines[0] if baselines else None)
        if scorable is None:
            return slice(None) if step.scored is None else step.scored, step.scored_times
        positions = np.flatnonzero(scorable) if step.scored is None else step.scored[scorable[step.scored]]
        return positions, step.times[positions]

    @staticmethod
    def _leave_out(step: Step, scored: slice | NDArray[np.intp]) -> Step:
        """Return a step whose scored rows are only some of them, for recorders."""
        if isinstance(scored, slice) or step.scored is scored:
            return step
        test = np.zeros(len(step.batch), dtype=np.bool_)
        test[scored] = True
        return replace(step, test=test)

    def hold(self, held: HeldColumns, *columns: NDArray[Any] | None) -> list[Any]:
        """Return what was computed at the tests of the rows of a step, where they are scored."""
        if self.schedule is None:
            return list(columns)
        return held.arrange(self.schedule, **{str(index): column for index, column in enumerate(columns)})

    def _arrange(self, schedule: Schedule, step: Step) -> tuple[Step, Step | None, Step | None]:
        moves = schedule.moves
        if moves is None and schedule.test is None and schedule.revealed is None:
            return step, None, None
        inserts = moves is not None and len(moves.from_inserted) > 0
        test = self._test.arrange(step.test, schedule, np.True_ if inserts else None)
        weight = self._weight.arrange(step.weight, schedule, np.float64(0.0) if inserts else None)
        if schedule.idle is not None:
            weight = np.where(schedule.idle, 0.0, 1.0 if weight is None else weight)
        row, now = (None, None) if moves is None else (moves.row, moves.now)
        masks = [
            mask if mask is None or test is None else test & mask
            for mask in (test if schedule.test is None else schedule.test, schedule.scored, schedule.labelled)
        ]
        tested, scored, labelled = (Step(schedule.batch, mask, weight, schedule.revealed, row, now) for mask in masks)
        return (
            tested,
            None if schedule.scored is None else scored,
            None if schedule.labelled is None else labelled,
        )

    @property
    def scored_mask(self) -> NDArray[np.bool_]:
        """Which rows of the step are scored."""
        mask = np.zeros(len(self.step.batch), dtype=np.bool_)
        mask[self._scored] = True
        return mask

    def count_scored_before(self, position: int) -> int:
        """Count the scored rows of the step before a position."""
        return position if isinstance(self._scored, slice) else int(np.searchsorted(self._scored, position))

    @property
    def scores_all(self) -> bool:
        """Whether all rows of the step are scored."""
        return isinstance(self._scored, slice)

    def make_trace(self, predictions: Any, votes: NDArray[np.float64] | None) -> Trace:  # noqa: ANN401
        """Return the trace of one learner's predictions."""
        return Trace(
            row=cast("NDArray[np.int64]", self.row),  # a range, expanded when it is needed
            y_true=self.y_true,
            y_pred=predictions[self._scored],
            majority_hit=self.majority_hit,
            no_change_hit=self.no_change_hit,
            weight=self.weight,
            votes=None if votes is None else votes[self._scored],
            time=self.time,
        )

    def trace_labelled(
        self,
        held: HeldColumns,
        predictions: Any,  # noqa: ANN401
        votes: NDArray[np.float64] | None,
    ) -> Trace | None:
        """Return one learner's predictions for the rows whose labels arrive in the step, in that order.

        `held` keeps predictions until then. None if these are the scored rows.
        """
        step, schedule = self.labelled_step, self._labels_schedule
        if step is None or schedule is None:
            return None
        columns = held.arrange(schedule, predictions=predictions, votes=votes)
        arrived, row = self._find_scored(step, self._labelled_hits if self._with_baselines else ())
        predicted, votes = (None if column is None else column[arrived] for column in columns)
        hits: list[Any] = self._labelled_hits if self._with_baselines else [self._no_hits_of(len(step.batch))] * 2
        weight, time = (None if column is None else column[arrived] for column in (step.batch.weight, step.batch.time))
        return Trace(
            row=cast("NDArray[np.int64]", row),
            y_true=step.batch.y[arrived],
            y_pred=predicted,
            majority_hit=hits[0][arrived],
            no_change_hit=hits[1][arrived],
            weight=weight,
            votes=votes,
            time=time,
        )

    def _no_hits_of(self, n: int) -> NDArray[np.bool_]:
        """Return a column without hits; one serves all batches."""
        if len(self._no_hits) < n:
            self._no_hits = np.zeros(n, dtype=np.bool_)
            self._no_hits.setflags(write=False)
        return self._no_hits[:n]

    def trace_unlabelled(self, predictions: Any, votes: NDArray[np.float64] | None) -> Trace | None:  # noqa: ANN401
        """Return one learner's predictions for tested rows of unknown class; None if there are none.

        If predictions wait for labels there are none either, since no label will come.
        """
        step = self.step
        if self.schedule is not None or not step.batch.n_unlabelled:
            return None
        unknown = step.unlabelled[: int(np.searchsorted(step.unlabelled, len(predictions)))]
        no_hits = np.zeros(len(unknown), dtype=np.bool_)
        columns = (step.batch.weight, votes, step.batch.time)
        weight, votes, time = (None if column is None else column[unknown] for column in columns)
        return Trace(
            row=step.times[unknown],
            y_true=step.batch.y[unknown],
            y_pred=predictions[unknown],
            majority_hit=no_hits,
            no_change_hit=no_hits,
            weight=weight,
            votes=votes,
            time=time,
        )

    def save(self) -> bytes:
        """Return the whole state between two batches."""
        buffers = pack_columns("buffers", {}, {"test": self._test.slots, "weight": self._weight.slots})
        facts = {"number": self.number, "n_scored": self.n_scored}
        majorities = [b"" if each is None else each.save() for each in self._majorities]
        held = [self._held.save(), self._held_for_labels.save()]
        return pack("fold", facts, [self._baselines.save(), buffers, *held, *majorities])

    def load(self, state: bytes) -> None:
        """Restore a saved state of the same fold."""
        facts, parts = unpack("fold", state)
        with loading("fold"):
            baselines, buffers, held, held_for_labels, *majorities = parts
            columns = unpack_columns("buffers", buffers)[1]
            self._baselines.load(baselines)
            self._held.load(held)
            self._held_for_labels.load(held_for_labels)
            for majority, saved in zip(self._majorities, majorities, strict=True):
                if majority is not None:
                    majority.load(saved)
            self._test.slots, self._weight.slots = columns["test"], columns["weight"]
            self.n_scored = facts["n_scored"]

    def merge(self, state: bytes) -> None:
        """Count the rows of a saved fold as scored; its baselines, which depend on the order of rows, are left."""
        self.n_scored += unpack("fold", state)[0]["n_scored"]


class Cell:
    """One learner in one fold, with its tallies, detectors and meter."""

    def __init__(
        self,
        name: str,
        learner: Learner,
        fold: Fold,
        states: Sequence[ForgettingState],
        meter: Meter | None,
        detectors: Mapping[str, DetectorSpec],
        *,
        live: BlockState | None = None,
        label_sums: LabelSums | None = None,
    ) -> None:
        self.name, self.fold, self.meter = name, fold, meter
        self._learner, self._states, self._n_forgettings = learner, states, len(fold.majority_hits)
        self._blocks = next((state for state in states if isinstance(state, BlockState)), None)
        self._live, self._held_for_labels = live, HeldColumns()
        self._labelled: Trace | None = None
        self._label_sums = label_sums
        self.call_watch: CallWatch | None = None
        """Limits the time of calls of the learner; None for no limit."""
        self.label_numbers: NDArray[np.float64] | None = None
        """The sums of `LabelSums` at the reading rows of the current step; None if they are not kept."""
        self.failure: Failure | None = None
        self.spent = (0.0, 0)
        """The seconds of CPU time that the learner has taken, and for how many rows."""
        self.predicted_from = NEVER
        """The row after which the first prediction that is no abstention was scored."""
        self.alarms: list[Alarm] = []
        self._held = HeldColumns()
        self._task, self._nothing = fold.task, (fold.task.make_abstentions(0), None)
        self._trace = fold.make_trace(self._nothing[0], None)
        self._predicted: Predicted = self._nothing
        self._watches = {detector: Watch(spec) for detector, spec in detectors.items()}
        self._end_training = find_end_of_training(learner)

    @property
    def blocks(self) -> CellBlocks | None:
        """The tallies at the ends of blocks in the current step; None if the learner has failed."""
        return None if self.failure is not None or self._blocks is None else self._blocks.kept

    @property
    def live_blocks(self) -> CellBlocks | None:
        """As `blocks`, of the rows whose labels have arrived, if those are others."""
        return None if self.failure is not None or self._live is None else self._live.kept

    @property
    def looks(self) -> NDArray[np.float64] | None:
        """The numbers of the tallies at the reading rows for live verdicts; None if the learner has failed."""
        state = self._blocks if self._live is None else self._live
        return None if self.failure is not None or state is None else state.looks

    def _update(self, reading_rows: Sequence[int]) -> CellTallies:
        """Pass the trace to the forgettings."""
        hits = chain(self.fold.majority_hits, repeat(None))
        tallies = []
        for state, hit in zip(self._states, hits, strict=False):
            trace = self._trace if hit is None else self._trace.with_majority(hit[: len(self._trace)])
            tallies.append(state.update(trace, reading_rows))
        if self._live is not None:
            self._live.update(self._trace if self._labelled is None else self._labelled, reading_rows)
        if self._label_sums is not None:
            self.label_numbers = self._label_sums.update(self._trace, reading_rows)
        return tallies[: self._n_forgettings]  # without those of a landmark that is kept for its blocks alone

    def set_block_rows(self, block_rows: Sequence[int]) -> None:
        """Set the ends of blocks in the next step."""
        for state in (self._blocks, self._live):
            if state is not None:
                state.block_rows = block_rows

    def advance(self, reading_rows: Sequence[int], *, with_votes: bool, with_correct: bool) -> CellTallies:
        """Run the step of the fold; return the tallies per forgetting and reading row, up to a failure.

        With `with_correct`, `correct` holds which predictions were correct.
        """
        step = self.fold.step
        if self.failure is not None:
            return self._skip(reading_rows)
        started = read_thread_time()
        try:
            predictions, votes = self._call(lambda: self._interleave(step, reading_rows, with_votes=with_votes))
        except (Exception, CallTimeoutError) as error:
            failure = as_learner_error(0, self._task.make_outputs(0), error, with_votes=with_votes)
            return self._fail(failure, reading_rows)
        votes = None if votes is None else limit_votes(votes)
        self._predicted = predictions, votes
        seconds, n_rows = self.spent
        self.spent = (seconds + (read_thread_time() - started) / 1e9, n_rows + len(step.batch))
        if self._live is not None:
            self._labelled = self.fold.trace_labelled(self._held_for_labels, predictions, votes)
        predictions, votes = self.fold.hold(self._held, predictions, votes)
        if with_correct:
            self.correct: NDArray[np.bool_] = self._task.find_correct(predictions, step.batch.y)
        self._trace = self.fold.make_trace(predictions, votes)
        return self._score(reading_rows)

    def _call(self, function: Callable[[], Predicted]) -> Predicted:
        return function() if self.call_watch is None else self.call_watch.run(function)

    def _score(self, reading_rows: Sequence[int]) -> CellTallies:
        """Pass the trace to the detectors and the forgettings."""
        if self.predicted_from == NEVER:
            first = np.flatnonzero(self._task.find_predicted(self._trace.y_pred))[:1]
            self.predicted_from = int(self._trace.row[first[0]]) if len(first) else NEVER
        self.alarms = list(self._watch(self._trace))
        return self._update(reading_rows)

    def _watch(self, trace: Trace) -> Iterator[Alarm]:
        errors = protect(self._task.compute_losses(trace)) if self._watches else np.empty(0)
        for detector, watch in self._watches.items():
            for kind, rows in zip(("drift", "warning"), watch.update(trace.row, errors), strict=True):
                yield from (Alarm(row, self.name, self.fold.number, detector, kind) for row in rows)

    def _fail(self, error: LearnerError, reading_rows: Sequence[int]) -> CellTallies:
        """Score the predictions before the row at which the learner failed."""
        step, (predictions, votes) = self.fold.step, error.done
        self._predicted = predictions, votes
        rows, times = step.rows, step.times
        self.failure = Failure(self.name, self.fold.number, int(rows[error.position]), str(error))
        n_missing = len(rows) - len(predictions)
        padded = np.append(predictions, self._task.make_abstentions(n_missing))
        votes = None if votes is None else np.concatenate([votes, self._task.make_outputs(n_missing)])
        padded, votes = self.fold.hold(self._held, padded, votes)
        self.correct = self._task.find_correct(padded, step.batch.y)
        n_scored = self.fold.count_scored_before(error.position)
        self._trace = self.fold.make_trace(padded, votes).part(0, n_scored)
        tallies = self._score(reading_rows)
        if self.meter is not None:
            self.meter.repeat_last_note(len(reading_rows))
        n_readings = sum(row <= times[error.position] for row in reading_rows)
        return [by_row[:n_readings] for by_row in tallies]

    def _skip(self, reading_rows: Sequence[int]) -> CellTallies:
        """Return no tallies: the learner has failed before."""
        self.correct = np.zeros(len(self.fold.step.batch), dtype=np.bool_)
        self._trace, self.alarms, self._predicted = self._trace.part(0, 0), [], self._nothing
        if self.meter is not None:
            self.meter.repeat_last_note(len(reading_rows))
        return [() for _ in self._states[: self._n_forgettings]]

    def _interleave(self, step: Step, reading_rows: Sequence[int], *, with_votes: bool) -> Predicted:
        cuts: list[int] = []
        if self.meter is not None and step.now is None:
            cuts = [row - step.batch.start for row in reading_rows]
        elif self.meter is not None and step.now is not None:
            cuts = np.searchsorted(step.now, reading_rows, side="left").tolist()
        end = self.fold.training_end
        if end is None or self._end_training is None:
            return self._run(step, cuts, with_votes=with_votes)
        first = self._run(step.part(0, end), [cut for cut in cuts if cut < end], with_votes=with_votes)
        try:
            if self.meter is None:
                self._end_training()
            else:
                self.meter.charge(self._end_training)
        except Exception as error:
            failure = fail_after([first], error, self._task, with_votes=with_votes)
            failure.position = max(end - 1, 0)  # the last training row, if it is one of the stream
            raise failure from error
        try:
            later = [cut - end for cut in cuts if cut >= end]
            second = self._run(step.part(end, len(step.batch)), later, with_votes=with_votes)
        except Exception as error:
            raise fail_after([first], error, self._task, with_votes=with_votes) from error
        return join_parts([first, second], self._task, with_votes=with_votes)

    def _run(self, step: Step, cuts: Sequence[int], *, with_votes: bool) -> Predicted:
        """Run a step; with a meter, note the cost before some positions."""
        if self.meter is None:
            return self._learner.interleave(step, with_votes=with_votes)
        return self.meter.interleave(step, with_votes=with_votes, cuts=cuts)

    def finish(self, reading_rows: Sequence[int]) -> CellTallies:
        """Return the tallies at the end of the stream."""
        if self.failure is not None:
            return self._skip(reading_rows)
        self.fold.step = self.fold.scoring_step = self.fold.step.part(0, 0)
        no_classes, no_hits = self.fold.y_true[:0], self.fold.majority_hit[:0]
        self._trace = Trace(
            row=np.empty(0, dtype=np.int64),
            y_true=no_classes,
            y_pred=no_classes,
            majority_hit=no_hits,
            no_change_hit=no_hits,
            votes=np.empty((0, 0)),
        )
        self.alarms, self._predicted, self._labelled = [], self._nothing, None
        if self.meter is not None and reading_rows:
            self.meter.note()
        return self._update(reading_rows)

    def make_cell_batch(self, reading_rows: Sequence[int], tallies: CellTallies) -> CellBatch:
        """Return the rows, predictions and tallies of the current step, for recorders."""
        return CellBatch(
            learner=self.name,
            fold=self.fold.number,
            step=self.fold.scoring_step,
            trace=self._trace,
            reading_rows=reading_rows[: len(tallies[0])],
            tallies=[drop_rows(by_row) for by_row in tallies],
            unlabelled=self.fold.trace_unlabelled(*self._predicted),
        )

    @property
    def _parts(self) -> dict[str, object]:
        """All state beside that of the learner."""
        parts: dict[str, object] = {f"forgetting {index}": state for index, state in enumerate(self._states)}
        parts |= {f"detector {name}": watch for name, watch in self._watches.items()}
        parts["held"] = self._held
        if self._live is not None:
            parts |= {"live": self._live, "held for labels": self._held_for_labels}
        if self._label_sums is not None:
            parts["label sums"] = self._label_sums
        return parts if self.meter is None else {**parts, "meter": self.meter}

    def save(self) -> bytes:
        """Return the whole state between two batches; a learner that has failed is not saved."""
        with record_pickles() as pickled:
            parts = {} if self.failure is not None else {"learner": save_part(self._learner, self.name)}
        parts |= {name: save_part(part, name) for name, part in self._parts.items()}
        failure = None if self.failure is None else (self.failure.row, self.failure.error)
        facts: dict[str, Any] = {"pickled": sorted(pickled), "failure": failure, "parts": list(parts)}
        facts["predicted_from"] = self.predicted_from
        return pack("cell", facts, list(parts.values()))

    def load(self, state: bytes, *, trusted: bool = True) -> None:
        """Restore the state of a cell with the same parts; nothing is unpickled unless it is trusted."""
        facts, states = unpack("cell", state)
        parts = self._parts if facts["failure"] else {"learner": self._learner, **self._parts}
        with loading("cell"), set_trust(trusted):
            if list(parts) != facts["parts"]:
                msg = f"it consists of {', '.join(facts['parts'])}"
                raise ValueError(msg)
            for part, saved in zip(parts.values(), states, strict=True):
                part.load(saved)  # type: ignore[attr-defined]
            self.predicted_from = facts["predicted_from"]
            if facts["failure"]:
                self.failure = Failure(self.name, self.fold.number, *facts["failure"])

    def merge(self, state: bytes, classes: Sequence[int]) -> None:
        """Add the tallies of a saved cell of other rows, whose classes have these codes here."""
        facts, states = unpack("cell", state)
        saved = dict(zip(facts["parts"], states, strict=True))
        for index, tally in enumerate(self._states):
            tally.merge(saved[f"forgetting {index}"], classes)  # type: ignore[attr-defined]
        self.predicted_from = min(self.predicted_from, facts["predicted_from"])


def drop_rows(tallies: Sequence[Tally]) -> Sequence[Tally]:
    """Return tallies without their rows, which would be copied for every reading where recorders run elsewhere."""
    is_kept = isinstance(tallies, Tallies | NumberTallies) and tallies.rows is not None
    return replace(tallies, rows=None) if is_kept else tallies  # type: ignore[type-var]


def find_last_training_row(scheme: SchemeBase, schema: Schema) -> int | None:
    """Return the row of the stream after which a scheme has learnt its training rows; -1 if that is before the first.

    It is None for a scheme that does not train first.

    Examples
    --------
    >>> from streamgauge import SEA, Prequential
    >>> from streamgauge.schemes import Chunks, TrainThenTest
    >>> [find_last_training_row(scheme, SEA().schema) for scheme in (TrainThenTest(150), Prequential())]
    [149, None]
    >>> find_last_training_row(Chunks(100, TrainThenTest(150)), SEA().schema)
    199
    """
    training = scheme.training
    if scheme.trains_first or not isinstance(training, int):
        return -1
    if training == 0:
        return None
    last = Batch(training - 1, np.zeros((1, schema.n_attributes)), np.zeros(1, dtype=np.int32))
    learnable_after = scheme.learnable_after(last)
    return training - 1 if learnable_after is None else int(learnable_after[0])


class CellGroup:
    """Cells that run in one process, with the folds that they share.

    Parameters
    ----------
    run_spec
        Describes them.

    Examples
    --------
    >>> from streamgauge import SEA, Landmark, MajorityClass, Prequential
    >>> from streamgauge._engine.schedule import LabelTotals
    >>> from streamgauge.measures import accuracy
    >>> from streamgauge.streams import take
    >>> learners = {"majority": MajorityClass()}
    >>> group = CellGroup(RunSpec(SEA().schema, Prequential(), learners, (Landmark(),), (accuracy,), {}, seed=1))
    >>> batch = take(SEA(), 100)
    >>> result = group.run(BatchPlan([100], 100, LabelTotals(), Schedule(batch), batch))
    >>> result.values.shape, result.n_scored
    ((1, 1, 1, 1), (100,))
    """

    def __init__(self, run_spec: RunSpec) -> None:
        self.run_spec, self._task = run_spec, find_task(run_spec.schema)
        with_baselines = self._needs_baselines()
        numbers = sorted({fold for _, fold in run_spec.cells})
        folds = {fold: self._build_fold(fold, with_baselines=with_baselines) for fold in numbers}
        self._folds = list(folds.values())
        self._last_training_row = find_last_training_row(run_spec.scheme, run_spec.schema)
        self._cells = [self._build_cell(name, folds[fold]) for name, fold in run_spec.cells]

    def _build_fold(self, number: int, *, with_baselines: bool) -> Fold:
        schema = self.run_spec.schema
        majorities = [self._task.build_baseline_of(forgetting) for forgetting in self.run_spec.forgettings]
        return Fold(number, schema, with_baselines=with_baselines, majorities=majorities)

    def _build_states(self) -> list[ForgettingState]:
        """Build the states of the forgettings; one of them, or one more, keeps the tallies of blocks."""
        spec, task = self.run_spec, self._task
        measures = (*spec.measures, *(measure for measure in spec.live_measures if measure not in spec.measures))
        states = [
            build_state(forgetting, task, measures if forgetting == Landmark() else spec.measures)
            for forgetting in spec.forgettings
        ]
        if not spec.keeps_blocks:
            return states
        looks = spec.keeps_looks and not spec.labels_wait
        for index, (forgetting, state) in enumerate(zip(spec.forgettings, states, strict=True)):
            if forgetting == Landmark() and isinstance(state, NativeForgetting | NumberSums):
                states[index] = BlockState(spec.block_layout, state, looks=looks)
                return states
        return [*states, self._build_landmark(looks=looks)]

    def _build_landmark(self, *, looks: bool) -> BlockState:
        layout = self.run_spec.block_layout
        state = self._task.build_state(Landmark(), layout.native_statistics)
        return BlockState(layout, cast("NativeForgetting | NumberSums", state), looks=looks)

    def _needs_baselines(self) -> bool:
        """Return whether a measure, a recorder, or a forgetting that is not ours may read the hits of the baselines."""
        spec = self.run_spec
        if spec.with_cell_batches or reads_baselines((*spec.measures, *spec.live_measures)):
            return True
        return not all(isinstance(state, NativeForgetting | BlockState) for state in self._build_states())

    def _build_cell(self, name: str, fold: Fold) -> Cell:
        run_spec = self.run_spec
        spec = run_spec.learners[name]
        learner = spec.build(run_spec.schema, fold_seed(run_spec.seed, fold.number, spec.seed))
        clock = time.process_time_ns if run_spec.clock == "process" else read_thread_time
        meter = Meter(learner, self._task, clock, run_spec.time_budget) if run_spec.metered else None
        waits = bool(run_spec.live_measures) and run_spec.labels_wait
        live = self._build_landmark(looks=run_spec.keeps_looks) if waits else None
        design, sums = run_spec.label_design, None
        if design is not None:
            sums = LabelSums(run_spec.few_label_losses, design, run_spec.seed)
        cell = Cell(name, learner, fold, self._build_states(), meter, run_spec.detectors, live=live, label_sums=sums)
        cell.call_watch = None if run_spec.call_limit is None else CallWatch(run_spec.call_limit)
        return cell

    def run(self, plan: BatchPlan, run_tasks: TaskRunner = run_serially) -> BatchResult:
        """Run a plan in all cells, and measure at its reading rows."""
        block_rows = self.run_spec.list_block_rows(plan)
        for cell in self._cells:
            cell.set_block_rows(block_rows)
        if plan.schedule is None:
            tallies = [cell.finish(plan.reading_rows) for cell in self._cells]
        else:
            with_correct = self._compares_learners(plan)
            shared = len(self._cells) > len(self._folds)

            def begin_step(fold: Fold) -> None:
                self._begin_step(plan, fold)

            def advance(cell: Cell) -> CellTallies:
                if not shared:
                    begin_step(cell.fold)
                with_votes = self.run_spec.with_votes
                return cell.advance(plan.reading_rows, with_votes=with_votes, with_correct=with_correct)

            if shared:  # else each cell begins the step of its own fold, without waiting for the others
                run_tasks(begin_step, self._folds)
            tallies = run_tasks(advance, self._cells)
        return self._make_result(plan, tallies)

    def _compares_learners(self, plan: BatchPlan) -> bool:
        return plan.has_tests and len(self.run_spec.learners) > 1

    def _begin_step(self, plan: BatchPlan, fold: Fold) -> None:
        schedule = cast("Schedule", plan.schedule)
        if plan.batch is None:  # a test after the last row, which is no row of the scheme
            step = Step(Batch(plan.n_done, schedule.batch.x[:0], schedule.batch.y[:0]))
        else:
            step = self.run_spec.scheme.step(plan.batch, fold.number, self.run_spec.seed)
        fold.begin_step(schedule, step, self._find_training_end(plan))

    def _find_training_end(self, plan: BatchPlan) -> int | None:
        """Return the number of operations of a plan after which training ends; None if it does not end in it."""
        last, batch, schedule = self._last_training_row, plan.batch, plan.schedule
        if last is None or batch is None or schedule is None or batch.start < 0:
            return None
        if last < 0:  # rows of another stream, or of a first pass, are learnt before the first row
            return 0 if batch.start == 0 else None
        if not batch.start <= last < batch.start + len(batch):
            return None
        moves = schedule.moves
        if moves is None:
            return last - batch.start + 1
        start, stop = (int(position) for position in np.searchsorted(moves.now, [last, last + 1]))
        return stop - int(np.count_nonzero(moves.source[start:stop] < 0))  # inserted tests come after training

    def _make_result(self, plan: BatchPlan, tallies: list[CellTallies]) -> BatchResult:
        cells, indices = self._cells, self.run_spec.indices
        correct = scored = None
        if self._compares_learners(plan):
            correct = np.stack([cell.correct for cell in cells])
            if not all(fold.scores_all for fold in self._folds):
                scored = np.stack([fold.scored_mask for fold in self._folds])
        meters = [cell.meter for cell in cells if cell.meter is not None]
        notes = [meter.take_notes() for meter in meters]
        cell_batches: tuple[CellBatch, ...] = ()
        if self.run_spec.with_cell_batches:
            pairs = zip(cells, tallies, strict=True)
            cell_batches = tuple(cell.make_cell_batch(plan.reading_rows, by_row) for cell, by_row in pairs)
        return BatchResult(
            cells=indices,
            folds=tuple(fold.number for fold in self._folds),
            values=self._measure(tallies, plan.reading_rows),
            n_scored=tuple(fold.n_scored for fold in self._folds),
            failures={i: cell.failure for i, cell in zip(indices, cells, strict=True) if cell.failure is not None},
            alarms=tuple(alarm for cell in cells for alarm in cell.alarms),
            correct=correct,
            scored=scored,
            predicted_from=tuple(cell.predicted_from for cell in cells),
            costs=np.array(notes, dtype=np.float64) if notes and plan.reading_rows else None,
            totals=tuple(meter.totals() for meter in meters),
            clock=self.run_spec.clock,
            cell_batches=cell_batches,
            saved=self._try_save() if plan.saves else None,
            confusions=self._copy_confusions(tallies, plan.confusion_readings) if plan.confusion_readings else None,
            blocks=tuple(cell.blocks for cell in cells) if self.run_spec.keeps_blocks else (),
            live_blocks=tuple(cell.live_blocks for cell in cells) if self.run_spec.labels_wait else (),
            looks=self._collect_looks(len(plan.reading_rows)),
            label_sums=self._collect_label_sums(len(plan.reading_rows)),
            spent=tuple(cell.spent for cell in cells),
        )

    def _collect_looks(self, n_readings: int) -> NDArray[np.float64] | None:
        """Return the numbers of the tallies for live verdicts, [cells, readings, numbers]; NaN after a failure."""
        if not self.run_spec.keeps_looks or not n_readings:
            return None
        missing = np.full((n_readings, self.run_spec.block_layout.n_numbers), np.nan)
        looks = (cell.looks for cell in self._cells)
        return np.stack([missing if numbers is None else numbers for numbers in looks])

    def _collect_label_sums(self, n_readings: int) -> NDArray[np.float64] | None:
        """Return the sums for estimates with few labels, [cells, readings, losses, numbers]; NaN after a failure."""
        if self.run_spec.label_design is None or not n_readings:
            return None
        missing = np.full((n_readings, len(self.run_spec.few_label_losses), N_NUMBERS), np.nan)
        cells = [None if cell.failure is not None else cell.label_numbers for cell in self._cells]
        return np.stack([missing if numbers is None else numbers for numbers in cells])

    def _copy_confusions(self, tallies: list[CellTallies], readings: Sequence[int]) -> NDArray[np.float64]:
        """Copy the confusion matrices of some readings out of the tallies [cell][forgetting][reading]."""
        c = self.run_spec.schema.n_classes
        confusions = np.full((len(tallies), len(self.run_spec.forgettings), len(readings), c, c + 1), np.nan)
        for by_forgetting, cell_matrices in zip(tallies, confusions, strict=True):
            for by_reading, matrices in zip(by_forgetting, cell_matrices, strict=True):
                available = [reading for reading in readings if reading < len(by_reading)]
                if available:
                    columns = Tallies.join([by_reading])
                    matrices[: len(available), :, :c] = columns.confusion[available]
                    matrices[: len(available), :, c] = columns.abstained[available]
        return confusions

    def _try_save(self) -> SavedStates:
        try:
            return self.save()
        except StreamgaugeError as error:  # whether that ends the run is for the checkpoint policy to decide
            return SavedStates({}, {}, str(error))

    def save(self) -> SavedStates:
        """Return the states of all cells and folds between two plans."""
        cells = {index: cell.save() for index, cell in zip(self.run_spec.indices, self._cells, strict=True)}
        return SavedStates(cells, {fold.number: fold.save() for fold in self._folds})

    def load(self, saved: SavedStates, *, trusted: bool = True) -> None:
        """Restore the states of its cells and folds, bit for bit."""
        for fold in self._folds:
            fold.load(saved.folds[fold.number])
        for index, cell in zip(self.run_spec.indices, self._cells, strict=True):
            cell.load(saved.cells[index], trusted=trusted)

    def merge(self, saved: SavedStates, classes: Sequence[int]) -> None:
        """Add the rows of saved cells and folds, whose classes have these codes here."""
        for fold in self._folds:
            fold.merge(saved.folds[fold.number])
        for index, cell in zip(self.run_spec.indices, self._cells, strict=True):
            cell.merge(saved.cells[index], classes)

    def read(self, row: int) -> NDArray[np.float64]:
        """Return the values after the last row, float64 [cells, forgettings, measures]; changes nothing."""
        for cell in self._cells:
            cell.set_block_rows(())
        values: NDArray[np.float64] = self._measure([cell.finish([row]) for cell in self._cells], [row])[:, :, 0]
        return values

    def _measure(self, tallies: list[CellTallies], reading_rows: Sequence[int]) -> NDArray[np.float64]:
        """Measure the tallies [cell][forgetting][reading]; return values [cell, forgetting, reading, measure]."""
        measures, n_readings = self.run_spec.measures, len(reading_rows)
        series = [by_reading for by_forgetting in tallies for by_reading in by_forgetting]
        if all(len(by_reading) == n_readings for by_reading in series):
            values = measure_tallies(measures, series, reading_rows)
        else:  # a learner has failed
            values = np.full((len(series), n_readings, len(measures)), np.nan)
            for row, by_reading in zip(values, series, strict=True):
                if len(by_reading):
                    row[: len(by_reading)] = measure_tallies(measures, [by_reading], reading_rows)[0]
        return values.reshape(len(tallies), len(self.run_spec.forgettings), *values.shape[1:])
