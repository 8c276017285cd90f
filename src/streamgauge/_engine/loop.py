"""The one loop: all cells of a run advance batch by batch."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import cast

from streamgauge._engine.batch_plan import Backend, BatchPlan, BatchResult, Executor, RunSpec
from streamgauge._engine.checkpoint.policy import CheckpointPolicy, ResumePoint
from streamgauge._engine.checkpoint.recorder_log import RecorderContext
from streamgauge._engine.collector import Collector, Progress
from streamgauge._engine.planner import Planner, PlannerMark
from streamgauge._engine.schedule import Score
from streamgauge._engine.source import RowSource
from streamgauge.protocols import CellBatch, Recorder
from streamgauge.records.manifest import RunManifest
from streamgauge.significance.live import LiveTest
from streamgauge.significance.single_model import ModelWatch
from streamgauge.tasks import find_task

__all__ = ["Run", "RunOptions"]

TALLY_BYTES = 64 << 20
"""The most bytes of the confusion matrices of the readings of a batch: with many classes batches have fewer rows."""


@dataclass(frozen=True)
class RunOptions:
    """How a run is carried out.

    Parameters
    ----------
    score, score_unlabelled_start
        Which prediction of a row is scored, and whether rows tested before the first late label are scored.
    every
        The number of rows between two readings.
    n_rows
        The most rows to read; None for all.
    batch_size
        The number of rows of a batch.
    time_limit
        The run ends after this number of seconds; None for no limit.
    live_test, n_analyses
        How learners are compared at every reading, and the number of readings if it is known.
    model_watch
        Judges each learner by requirements at every reading; None for no requirements.
    backend
        Where the cells run.
    recorders, recorder_context
        What else to record, and what recorders are opened with.
    checkpoints
        When checkpoints are written and where; None for none.
    manifest
        Returns what the run is, which checkpoints hold.
    """

    score: Score
    score_unlabelled_start: bool
    every: int
    n_rows: int | None
    batch_size: int
    time_limit: float | None
    live_test: LiveTest | None
    n_analyses: int | None
    model_watch: ModelWatch | None
    backend: Backend
    recorders: Sequence[Recorder]
    recorder_context: RecorderContext
    checkpoints: CheckpointPolicy | None
    manifest: Callable[[], RunManifest]


@dataclass(frozen=True)
class _Pending:
    """A submitted plan, when it was submitted, and the state of the planner after it if it can be withdrawn."""

    plan: BatchPlan
    submitted: float
    mark: PlannerMark | None


class Run:
    """One run over the rows of a source. Iterate over `advance` once."""

    def __init__(self, source: RowSource, run_spec: RunSpec, options: RunOptions) -> None:
        self._source, self._run_spec, self._options = source, run_spec, options
        self._planner = Planner(
            source,
            options.score,
            options.every,
            self._is_checkpoint_due,
            score_unlabelled_start=options.score_unlabelled_start,
            n_rows=run_spec.n_rows,
        )
        self.collector = Collector(run_spec, options.live_test, options.n_analyses, options.model_watch)
        self._may_end = options.checkpoints is None
        self.seconds = 0.0
        self.ended_by = ""
        """Why the run ended before its rows did; empty if it did not."""

    def advance(self, should_stop: Callable[[], bool]) -> Iterator[Progress]:
        """Run from the start, or from a checkpoint, until the rows end or `should_stop` returns True."""
        options, collector = self._options, self.collector
        began, seconds_before = time.perf_counter(), 0.0
        with ExitStack() as stack:
            checkpoints = options.checkpoints
            resume_point = None if checkpoints is None else stack.enter_context(checkpoints.open(options.manifest))
            executor = stack.enter_context(options.backend.open(self._run_spec))
            callbacks = self._open_recorders(stack, resume_point)
            if resume_point is not None:
                resume_point.load(executor, self._planner, collector)
                self.seconds = seconds_before = resume_point.seconds
                yield from resume_point.history
                yield collector.repeat_verdicts()  # there may be no further rows
            self._plans = self._plan_batches(executor, collector.n_done)
            stack.callback(self._close_plans)
            for plan, results in self._run_plans(executor):
                yield self._collect(plan, results, callbacks)
                elapsed = time.perf_counter() - began
                self.seconds = seconds_before + elapsed
                self.ended_by = self.ended_by or self._find_reason_to_stop(should_stop, elapsed)
            if self.ended_by and self._source.live is None and next(self._plans, None) is None:
                self.ended_by = ""  # those were the last rows
            final_plan = self._planner.final_plan(collector.n_done)
            if final_plan is not None and (not final_plan.is_idle or self._run_spec.keeps_blocks):
                executor.submit(final_plan)
                progress = self._collect(final_plan, executor.collect(), callbacks)
                if not final_plan.is_idle:
                    yield progress

    def _open_recorders(self, stack: ExitStack, resume_point: ResumePoint | None) -> list[Callable[[CellBatch], None]]:
        """Open the recorders; with checkpoints they run at the end, from a log."""
        recorders, context, checkpoints = (
            self._options.recorders,
            self._options.recorder_context,
            self._options.checkpoints,
        )
        if checkpoints is None or not recorders:
            return [stack.enter_context(recorder.open(*context)) for recorder in recorders]
        return [stack.enter_context(checkpoints.open_recorders(recorders, context, resume_point))]

    def _plan_batches(self, executor: Executor, start: int) -> Generator[BatchPlan]:
        options = self._options
        size = min(options.batch_size, self._count_tallied_rows())
        if options.checkpoints is not None:
            size = min(size, options.checkpoints.max_batch_rows)
        for batch, arrivals in self._source.batches(size, options.n_rows, start, ahead=executor.reads_ahead):
            yield self._planner.plan(batch, arrivals)

    def _count_tallied_rows(self) -> int:
        """Return the most rows of a batch whose readings have tallies of at most `TALLY_BYTES`."""
        spec = self._run_spec
        reading_bytes = find_task(spec.schema).tally_bytes * len(spec.cells) * len(spec.forgettings)
        return max(1, TALLY_BYTES // reading_bytes) * self._options.every

    def _run_plans(self, executor: Executor) -> Iterator[tuple[BatchPlan, list[BatchResult]]]:
        """Run plans until the run is to end, as many at a time as the executor takes.

        A run with checkpoints continues up to its next checkpoint.
        """
        pending: deque[_Pending] = deque()
        n_before, finished = self.collector.n_done, 0.0
        while self._submit_plans(pending, executor):
            first = pending.popleft()
            plan = first.plan
            if plan.is_idle:
                yield plan, []
                continue
            results, was_ending = executor.collect(), bool(self.ended_by)
            yield plan, results
            started, finished = max(first.submitted, finished), time.perf_counter()
            known = [result.seconds for result in results if result.seconds is not None]
            self._source.adapt_slice_rows(plan.n_done - n_before, max(known, default=finished - started))
            n_before = plan.n_done
            if self.ended_by and not was_ending and n_before:
                self._withdraw_plans(first, pending, executor)

    def _close_plans(self) -> None:
        self._plans.close()  # which may have been replaced

    def _submit_plans(self, pending: deque[_Pending], executor: Executor) -> bool:
        """Submit plans until the executor has enough or the run is to end; return whether any is pending."""
        while len(pending) < executor.depth and not (self._may_end and self.ended_by):
            plan = next(self._plans, None)
            if plan is None:
                break
            mark = self._planner.mark() if executor.makes_rows else None
            if executor.makes_rows and plan.row_range is not None and not self._run_spec.with_cell_batches:
                plan = plan.without_rows()
            pending.append(_Pending(plan, time.perf_counter(), mark))
            if plan.is_idle:  # no checkpoint will come
                self._may_end = True
                break
            self._may_end = plan.saves or self._options.checkpoints is None
            executor.submit(plan)
        return bool(pending)

    def _withdraw_plans(self, collected: _Pending, pending: deque[_Pending], executor: Executor) -> None:
        """Withdraw the plans that no group has begun, and go back to the last that is left, or was collected."""
        n_withdrawn = executor.withdraw()
        if not n_withdrawn:
            return
        for _ in range(n_withdrawn):
            pending.pop()
        last = pending[-1] if pending else collected
        self._may_end = last.plan.saves or self._options.checkpoints is None
        self._planner.go_back(cast("PlannerMark", last.mark), last.plan.n_done)
        self._plans.close()
        self._plans = self._plan_batches(executor, last.plan.n_done)

    def _find_reason_to_stop(self, should_stop: Callable[[], bool], elapsed: float) -> str:
        if should_stop():
            return "interrupt"
        limit = self._options.time_limit
        return "time limit" if limit is not None and elapsed >= limit else ""

    def _is_checkpoint_due(self, n_rows: int) -> bool:
        """Return whether a checkpoint is due after a number of rows; called in the order of the rows."""
        checkpoints = self._options.checkpoints
        if checkpoints is None:
            return False
        return checkpoints.is_due(n_rows, self._run_spec.n_rows) or bool(self.ended_by)

    def _collect(
        self, plan: BatchPlan, results: Sequence[BatchResult], callbacks: Sequence[Callable[[CellBatch], None]]
    ) -> Progress:
        """Pass the results of a plan to the recorders, the collector and the checkpoint."""
        if callbacks and not plan.is_idle:
            pairs = [pair for result in results for pair in zip(result.cells, result.cell_batches, strict=False)]
            for callback in callbacks:
                for _, cell_batch in sorted(pairs, key=lambda pair: pair[0]):
                    callback(cell_batch)
        progress = self.collector.add(plan, results)
        checkpoints = self._options.checkpoints
        if checkpoints is not None and not plan.is_idle:
            checkpoints.add(progress)
            if plan.saves:
                checkpoints.write(self.seconds, results, self._planner, self.collector)
        return progress
