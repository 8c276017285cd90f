"""Collects the results of a run: joins those of its groups and keeps what is not kept per reading."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.batch_plan import BatchPlan, BatchResult, RunSpec
from streamgauge._engine.blocks import BlockHistory
from streamgauge._engine.journal.layout import MAX_COMPARED
from streamgauge._engine.meter import Totals, build_resources
from streamgauge._engine.planner import confusion_stride
from streamgauge._engine.schedule import LabelTotals, Schedule
from streamgauge.errors import StreamgaugeError
from streamgauge.records import (
    Alarm,
    BlockTallies,
    Confusions,
    Differences,
    Failure,
    Feedback,
    LabelCounts,
    LabelEstimate,
    ModelVerdict,
    PairSums,
    Resources,
    Verdict,
)
from streamgauge.records.serialise import loading, pack, pack_columns, unpack, unpack_columns
from streamgauge.significance.live import LiveTest
from streamgauge.significance.pair_watch import LiveBlocks, PairWatch
from streamgauge.significance.prediction_powered import LossSums, estimate_losses
from streamgauge.significance.single_model import ModelWatch

__all__ = ["Collector", "Progress", "join_confusions", "join_label_counts", "join_times"]


@dataclass(frozen=True)
class Progress:
    """The results of one batch.

    Parameters
    ----------
    n_rows
        The number of rows of the stream that are done.
    rows, values
        The reading rows, and the values as in `Results`.
    costs
        The figures of each cell's meter, [readings, learners, folds, figures]; None without meters.
    alarms
        The alarms of the detectors.
    verdicts
        What is known of each pair of learners at the last reading row; empty without one.
    model_verdicts
        What is known of each learner and requirement at the last reading row; empty without one.
    labels
        Classes and labels up to each reading row, as `LabelCounter` counts them.
    confusion_rows, confusions
        The reading rows with confusion matrices, and those, [kept, learners, forgettings, true, predicted].
    times
        The time of the last row before each reading; None if the rows carry no times.
    new_verdicts
        The verdicts on pairs and on single learners as they were reached, or no longer held, in the order of the rows:
        all of them, also those that did not last until the end of the batch.
    logged_differences
        The `differences` of progress that was read from a log, which holds no verdicts.
    """

    n_rows: int
    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    costs: NDArray[np.float64] | None = None
    alarms: tuple[Alarm, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    model_verdicts: tuple[ModelVerdict, ...] = ()
    labels: NDArray[np.int64] | None = None
    confusion_rows: NDArray[np.int64] | None = None
    confusions: NDArray[np.float64] | None = None
    times: NDArray[np.float64] | None = None
    new_verdicts: tuple[Verdict | ModelVerdict, ...] = ()
    logged_differences: Mapping[tuple[str, str, str], tuple[float, float, float]] = field(default_factory=dict)

    @property
    def differences(self) -> Mapping[tuple[str, str, str], tuple[float, float, float]]:
        """The difference of each pair of learners in each measure, and the ends of its interval, by their names.

        Empty without a reading, or if there are too many for a journal.
        """
        if len(self.verdicts) > MAX_COMPARED:
            return {}
        return self.logged_differences or {
            (verdict.first, verdict.second, verdict.measure): (
                verdict.difference,
                *(verdict.interval or (np.nan, np.nan)),
            )
            for verdict in self.verdicts
        }


def _find_change(verdict: Verdict | ModelVerdict) -> int:
    """Return the row at which a verdict was reached, or no longer held."""
    if verdict.row is None and verdict.earlier is not None:
        return verdict.earlier.until
    return verdict.row or 0


class Collector:
    """Counts, sums and failures of a run so far; readings are passed on and not kept.

    Parameters
    ----------
    run_spec
        Describes all cells of the run.
    live_test
        How learners are compared at every reading; None for not at all.
    n_analyses
        The number of readings, if it is known.
    model_watch
        Judges each learner by requirements at every reading; None for no requirements.

    Examples
    --------
    >>> from streamgauge import SEA, Landmark, MajorityClass, Prequential
    >>> from streamgauge._engine.cells import CellGroup
    >>> from streamgauge.measures import accuracy
    >>> from streamgauge.streams import take
    >>> learners = {"majority": MajorityClass()}
    >>> run_spec = RunSpec(SEA().schema, Prequential(), learners, (Landmark(),), (accuracy,), {}, seed=1)
    >>> collector, batch = Collector(run_spec), take(SEA(), 100)
    >>> plan = BatchPlan([50, 100], 100, LabelTotals(n_revealed=100), Schedule(batch), batch)
    >>> collector.add(plan, [CellGroup(run_spec).run(plan)]).values.shape
    (2, 1, 1, 1, 1)
    >>> collector.feedback.n_revealed
    100
    """

    def __init__(
        self,
        run_spec: RunSpec,
        live_test: LiveTest | None = None,
        n_analyses: int | None = None,
        model_watch: ModelWatch | None = None,
    ) -> None:
        self._names, self._shape = list(run_spec.learners), (len(run_spec.learners), run_spec.n_folds)
        self._empty = np.empty((0, *self._shape, len(run_spec.forgettings), len(run_spec.measures)))
        self._n_cells = run_spec.n_cells
        self._blocks = BlockHistory(self._shape, run_spec.block_layout) if run_spec.keeps_blocks else None
        waits = bool(run_spec.live_measures) and run_spec.labels_wait
        self._live_blocks = BlockHistory(self._shape, run_spec.block_layout) if waits else self._blocks
        live_blocks = LiveBlocks(
            source=self._live_blocks,
            measures=run_spec.compared,
            classes=run_spec.schema.classes,
            crossed=run_spec.n_folds == 1 or run_spec.scheme.test == "all",
            labels_wait=run_spec.labels_wait,
            n_rows=run_spec.n_rows,
        )
        self._pairs = PairWatch(self._names, run_spec.n_folds, live_test, n_analyses, live_blocks)
        self._models = model_watch
        self._failures: dict[int, Failure] = {}
        self._n_scored = dict.fromkeys(range(run_spec.n_folds), 0)
        self._totals: dict[int, Totals] = {}
        self._spent: dict[int, tuple[float, int]] = {}
        self._label_totals = LabelTotals()
        self._label_design, self._losses = run_spec.label_design, run_spec.few_label_losses
        self._n_classes = run_spec.schema.n_classes
        self.label_sums: NDArray[np.float64] | None = None
        """The sums of `LabelSums` at the last reading, float64 [learners, folds, losses, numbers]; None without any."""
        self._clock = "process"
        self._correct = np.empty(0, dtype=np.bool_)  # used again, since new memory of this size is slow
        self.n_done = 0

    def add(self, plan: BatchPlan, results: Sequence[BatchResult]) -> Progress:
        """Add the results of a plan, one a group; return them joined. No results mean that no rows arrived."""
        if not results:
            return Progress(self.n_done, np.empty(0, dtype=np.int64), self._empty)
        self.n_done, self._label_totals = plan.n_done, plan.label_totals
        for result in results:
            self._failures.update(result.failures)
            self._totals.update(zip(result.cells, result.totals, strict=False))
            self._n_scored.update(zip(result.folds, result.n_scored, strict=True))
            self._spent.update(zip(result.cells, result.spent, strict=False))
        if self._blocks is not None:
            self._blocks.add(
                {i: kept for result in results for i, kept in zip(result.cells, result.blocks, strict=False)}
            )
        if self._own_live_blocks is not None:
            self._own_live_blocks.add(
                {i: kept for result in results for i, kept in zip(result.cells, result.live_blocks, strict=False)}
            )
        sums = [result.label_sums for result in results if result.label_sums is not None]
        label_sums = self._join(sums, results, reading_axis=2) if sums else None
        self.label_sums = self.label_sums if label_sums is None else label_sums[-1]
        self._judge_models(plan, results, label_sums)
        self._clock = "process" if all(result.clock == "process" for result in results) else "thread"
        if plan.has_tests and len(self._names) > 1:
            self._count_pairs(plan, results)
        elif plan.schedule is None and plan.reading_rows:
            self._pairs.analyse(plan.n_done, plan.label_totals.longest_delay)
        if len(self._failures) == self._n_cells:
            raise StreamgaugeError("; ".join(map(str, self.failures[:3])))
        costs = [result.costs for result in results if result.costs is not None]
        confusions = [result.confusions for result in results if result.confusions is not None]
        rows = np.array(plan.reading_rows, dtype=np.int64)
        return Progress(
            n_rows=self.n_done,
            rows=rows,
            values=self._join([result.values for result in results], results, reading_axis=3),
            costs=self._join(costs, results, reading_axis=2) if costs else None,
            alarms=tuple(sorted(alarm for result in results for alarm in result.alarms)),
            verdicts=self.verdicts if plan.reading_rows else (),
            model_verdicts=self.model_verdicts if plan.reading_rows else (),
            labels=plan.label_counts,
            times=plan.times,
            confusion_rows=rows[list(plan.confusion_readings)] if confusions else None,
            confusions=self._join(confusions, results, reading_axis=3).sum(axis=2) if confusions else None,
            new_verdicts=self._list_changes(),
        )

    def repeat_verdicts(self) -> Progress:
        """Return progress without readings: the verdicts after the rows so far."""
        shape = (0, *self._shape, 0, 0)
        return Progress(
            n_rows=self.n_done,
            rows=np.empty(0, dtype=np.int64),
            values=np.empty(shape),
            verdicts=self.verdicts,
            model_verdicts=self.model_verdicts,
        )

    def _list_changes(self) -> tuple[Verdict | ModelVerdict, ...]:
        """Return the verdicts that changed since the last call, in the order of the rows; none on failed learners."""
        of_models = () if self._models is None else self._models.take_changes()
        known: list[Verdict | ModelVerdict] = [
            *(one for one in self._pairs.take_changes() if not {one.first, one.second} & self._failed),
            *(one for one in of_models if one.learner not in self._failed),
        ]
        return tuple(sorted(known, key=_find_change))

    def _join(
        self, parts: Sequence[NDArray[np.float64]], results: Sequence[BatchResult], reading_axis: int
    ) -> NDArray[np.float64]:
        """Join columns [cells, ...] of the groups; return [readings, learners, folds, ...]."""
        if len(parts) == 1:
            whole = parts[0]
        else:
            whole = np.concatenate(parts)[np.argsort(np.concatenate([result.cells for result in results]))]
        return np.moveaxis(whole.reshape(*self._shape, *whole.shape[1:]), reading_axis, 0)

    def _count_pairs(self, plan: BatchPlan, results: Sequence[BatchResult]) -> None:
        columns = [result.correct for result in results if result.correct is not None]
        n = columns[0].shape[1]
        if len(self._correct) < self._n_cells * n:
            self._correct = np.empty(self._n_cells * n, dtype=np.bool_)
        correct = self._correct[: self._n_cells * n].reshape(self._n_cells, n)
        predicted_from = np.zeros(self._n_cells, dtype=np.int64)
        scored = None
        for result, column in zip(results, columns, strict=True):
            correct[list(result.cells)] = column
            predicted_from[list(result.cells)] = result.predicted_from
            if result.scored is not None:
                scored = np.ones((self._shape[1], n), dtype=np.bool_) if scored is None else scored
                scored[list(result.folds)] = result.scored
        cuts = [] if plan.schedule is None else _find_cuts(plan.schedule, plan.reading_rows)
        self._pairs.predicted_from = predicted_from.reshape(self._shape).max(axis=1)
        right = correct.reshape(*self._shape, n)
        self._pairs.update(right, scored, cuts, plan.reading_rows, plan.longest_delays)

    def _judge_models(
        self, plan: BatchPlan, results: Sequence[BatchResult], label_sums: NDArray[np.float64] | None
    ) -> None:
        """Judge each learner by the requirements, if there are any, at the readings of a plan."""
        models, blocks = self._models, self._live_blocks
        if models is None or blocks is None:
            return
        waits = blocks is not self._blocks
        kept = {
            index: of_cell
            for result in results
            for index, of_cell in zip(result.cells, result.live_blocks if waits else result.blocks, strict=False)
        }
        models.add(kept)
        looks = [result.looks for result in results if result.looks is not None]
        if not looks:
            return
        numbers = self._join(looks, results, reading_axis=2)
        first = dict.fromkeys(self._names, 0)
        for result in results:
            for index, row in zip(result.cells, result.predicted_from, strict=True):
                name = self._names[index // self._shape[1]]
                first[name] = max(first[name], row)
        for index, row in enumerate(plan.reading_rows):
            models.look(
                row,
                blocks,
                numbers[index].reshape(self._n_cells, -1),
                longest_delay=plan.longest_delays[index] if plan.longest_delays else 0,
                silent=frozenset(name for name, predicted_from in first.items() if predicted_from >= row),
                label_sums=None if label_sums is None else label_sums[index],
            )

    @property
    def _own_live_blocks(self) -> BlockHistory | None:
        """The tallies of blocks of the rows whose labels have arrived; None if those are all scored rows."""
        return None if self._live_blocks is self._blocks else self._live_blocks

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The learners that have failed so far, each with its fold, row and error."""
        return tuple(failure for _, failure in sorted(self._failures.items()))

    @property
    def pairs(self) -> tuple[PairSums, ...]:
        """The sums of each pair of learners, neither of which has failed."""
        return self._pairs.sums(self._failed)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What is known of each pair of learners, neither of which has failed, at the last reading."""
        return self._pairs.verdicts(self._failed)

    @property
    def model_verdicts(self) -> tuple[ModelVerdict, ...]:
        """What is known of each learner that has not failed and each requirement, at the last reading."""
        return () if self._models is None else self._models.verdicts(self._failed)

    @property
    def label_estimates(self) -> tuple[LabelEstimate, ...]:
        """What few labels say at the last reading about each learner that has not failed."""
        design, numbers = self._label_design, self.label_sums
        if design is None or numbers is None:
            return ()
        return tuple(
            estimate_losses(name, loss, LossSums.from_numbers(of_loss), design, n_classes=self._n_classes)
            for name, of_learner in zip(self._names, numbers, strict=True)
            for loss, of_loss in zip(self._losses, of_learner.swapaxes(0, 1), strict=True)
            if name not in self._failed
        )

    @property
    def blocks(self) -> BlockTallies | None:
        """The tallies of blocks of rows; None if there is one learner."""
        return None if self._blocks is None else self._blocks.build()

    @property
    def differences(self) -> Differences | None:
        """The differences of all pairs along the run."""
        return self._pairs.differences(self._failed)

    @property
    def _failed(self) -> frozenset[str]:
        return frozenset(failure.learner for failure in self._failures.values())

    @property
    def feedback(self) -> Feedback:
        """What happened to the labels."""
        return Feedback(**asdict(self._label_totals), n_scored=np.array(list(self._n_scored.values())))

    @property
    def spent(self) -> dict[str, tuple[float, int]]:
        """The seconds of CPU time that each learner has taken in this run, over all folds, and for how many rows."""
        cells = np.array([self._spent.get(index, (0.0, 0)) for index in range(self._n_cells)]).reshape(*self._shape, 2)
        return {name: (float(s), int(n)) for name, (s, n) in zip(self._names, cells.sum(axis=1), strict=True)}

    def resources(self, parts: Sequence[Progress]) -> Resources | None:
        """Return the cost of the learners, with the figures of past progress; None without meters."""
        costs = [part.costs for part in parts if part.costs is not None]
        if not self._totals or not costs:
            return None
        rows = np.concatenate([part.rows for part in parts])
        totals = [cell_totals for _, cell_totals in sorted(self._totals.items())]
        return build_resources(totals, self._shape, rows, np.concatenate(costs), self._clock)

    def save(self) -> bytes:
        """Return the whole state."""
        facts = {
            "n_done": self.n_done,
            "label_totals": asdict(self._label_totals),
            "n_scored": [int(n) for n in self._n_scored.values()],
            "failures": {index: astuple(failure) for index, failure in self._failures.items()},
            "totals": list(self._totals),
            "clock": self._clock,
        }
        blocks = [b"" if blocks is None else blocks.save() for blocks in (self._blocks, self._own_live_blocks)]
        totals = [totals.save() for totals in self._totals.values()]
        models = b"" if self._models is None else self._models.save()
        labels = pack_columns("label sums", {}, {"numbers": self.label_sums})
        return pack("collector", facts, [self._pairs.save(), models, *blocks, labels, *totals])

    def merge(self, state: bytes) -> None:
        """Add the counts of a saved collector of other rows.

        Blocks of consecutive rows end here, so that later verdicts are on all rows.
        """
        facts, (pairs, *_) = unpack("collector", state)
        self._pairs.merge(pairs)
        if self._models is not None:
            self._models.restart()
        if self._blocks is not None:
            self._blocks.stop()
        self.n_done += facts["n_done"]
        for fold, n_scored in enumerate(facts["n_scored"]):
            self._n_scored[fold] += n_scored

    def load(self, state: bytes) -> None:
        """Restore the state of a run with the same cells."""
        facts, (pairs, models, blocks, live_blocks, labels, *totals) = unpack("collector", state)
        with loading("collector"):
            self._pairs.load(pairs)
            if self._models is not None:
                self._models.load(models)
            if self._blocks is not None:
                self._blocks.load(blocks)
            if self._own_live_blocks is not None:
                self._own_live_blocks.load(live_blocks)
            self.label_sums = unpack_columns("label sums", labels)[1]["numbers"]
            self.n_done, self._clock = facts["n_done"], facts["clock"]
            self._label_totals = LabelTotals(**facts["label_totals"])
            self._n_scored = dict(enumerate(facts["n_scored"]))
            self._failures = {int(index): Failure(*failure) for index, failure in facts["failures"].items()}
            self._totals = {index: Totals.of(saved) for index, saved in zip(facts["totals"], totals, strict=True)}


def _find_cuts(schedule: Schedule, reading_rows: Sequence[int]) -> list[int]:
    """Return the operation of a schedule before which each reading is."""
    if schedule.moves is None:
        return [row - schedule.batch.start for row in reading_rows]
    cuts: list[int] = np.searchsorted(schedule.moves.now, reading_rows).tolist()
    return cuts


def join_label_counts(parts: Sequence[Progress], classes: tuple[str, ...]) -> LabelCounts | None:
    """Join the label counts at the readings of a run, each reading row once; None if there are none.

    Examples
    --------
    >>> counts = np.array([[5, 4, 0, 0, 9], [5, 4, 0, 0, 9]])
    >>> join_label_counts([Progress(9, np.array([9, 9]), np.empty(0), labels=counts)], ("up", "down")).rows.tolist()
    [9]
    """
    known = [(part.rows, part.labels) for part in parts if part.labels is not None]
    if not known:
        return None
    rows, counts = (np.concatenate(columns) for columns in zip(*known, strict=True))
    last = _mark_last(rows)
    counts = counts[last]
    return LabelCounts(
        rows=rows[last],
        classes=classes,
        by_class=counts[:, :-3],
        n_unknown=counts[:, -3],
        n_hidden=counts[:, -2],
        n_revealed=counts[:, -1],
    )


def join_times(parts: Sequence[Progress]) -> NDArray[np.float64] | None:
    """Join the times of the readings of a run; None if some of its rows carry none.

    Examples
    --------
    >>> parts = [Progress(9, np.array([5, 9]), np.empty(0), times=np.array([1.5, 2.5]))]
    >>> join_times(parts).tolist(), join_times([])
    ([1.5, 2.5], None)
    """
    known = [part.times for part in parts if part.times is not None]
    return np.concatenate(known) if known and len(known) == len(parts) else None


def join_confusions(parts: Sequence[Progress], every: int, classes: tuple[str, ...]) -> Confusions | None:
    """Join the evenly spaced confusion matrices of a run, and the last one; None if none were kept.

    Examples
    --------
    >>> rows, matrices = np.array([10, 20, 25]), np.zeros((3, 1, 1, 2, 3))
    >>> part = Progress(25, rows, np.empty(0), confusion_rows=rows, confusions=matrices)
    >>> join_confusions([part], 10, ("up", "down")).rows.tolist()
    [10, 20, 25]
    """
    known = [
        (part.confusion_rows, part.confusions)
        for part in parts
        if part.confusion_rows is not None and part.confusions is not None
    ]
    if not known:
        return None
    rows, weights = (np.concatenate(columns) for columns in zip(*known, strict=True))
    stride = confusion_stride(max(int(rows[-1]) // every, 1), len(classes)) or 1
    even = (rows % (every * stride) == 0) & _mark_last(rows)
    even[-1] = True
    return Confusions(rows[even], classes, weights[even])


def _mark_last(rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which are the last of equal rows."""
    return np.append(np.diff(rows) > 0, [True])[: len(rows)]
