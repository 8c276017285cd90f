"""What a learner costs: its own time and memory, whatever else runs at the same time.

Whole parts of a step are timed as they run, which costs almost nothing. A sample of rows is run and timed one by one:
it shows how time divides into predicting and learning, and the latency of single rows.
"""

import sys
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from time import perf_counter_ns, thread_time_ns
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.learners.plain_loop import Predicted, fail_after, join_parts, run_row_by_row_timed
from streamgauge.protocols import Learner
from streamgauge.records import Resources, Step, find_known
from streamgauge.records.serialise import loading, pack, pack_columns, unpack, unpack_columns
from streamgauge.tasks import Task

__all__ = ["FIGURES", "Meter", "Totals", "build_resources", "read_thread_time"]

FIGURES = ("cpu_seconds", "wall_seconds", "predict_share", "n_bytes", "ram_hours")
"""What is noted at every reading."""

PERCENTILES = (50.0, 90.0, 99.0, 99.9, 100.0)
SAMPLED_ROWS = 32
SAMPLE_SPACINGS = (256, 32_768)
"""The least and the most rows between two samples; the distance grows, since reading a clock costs time."""

FREE_SAMPLING = 50_000_000
"""Nanoseconds that samples may take, whatever the rest takes."""

SAMPLED_SHARE = 0.05
"""The largest share of a learner's CPU time that samples may take: a single row costs a model of chunks nearly as much
as a whole chunk."""

_COUNTED = (
    *("_cpu", "_wall", "_charged", "_ram_hours", "_learning"),
    *("_n_run", "_next_sample", "_n_samples", "_sampling"),
    *("n_predicted", "n_learnt", "n_late"),
)
"""The counts of a meter that a checkpoint keeps."""


@runtime_checkable
class _Timed(Protocol):
    """A learner that times its rows itself, without calls from Python."""

    def interleave_timed(
        self, step: Step, *, with_votes: bool
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None, NDArray[np.uint64], NDArray[np.uint64]]: ...


@runtime_checkable
class _LearnsInChunks(Protocol):
    """A learner that knows how long it has learnt, in rare calls that a sample of rows would miss."""

    @property
    def learning_seconds(self) -> float | None:
        """Seconds since it was built or loaded; None if it learns row by row."""


@dataclass(frozen=True)
class Totals:
    """Counts of a meter: rows predicted, learnt and predicted late, and the latencies of single rows."""

    n_predicted: int
    n_learnt: int
    n_late: int
    predicting: "Latencies"
    learning: "Latencies"

    @property
    def n_timed(self) -> int:
        """The number of rows that were timed one by one."""
        return max(self.predicting.n, self.learning.n)

    @property
    def latency(self) -> NDArray[np.float64]:
        """Seconds that a row takes at each of `PERCENTILES`: predicting it, then learning it; float64 [2, p]."""
        return np.array([taken.percentiles(PERCENTILES) for taken in (self.predicting, self.learning)]) / 1e9

    def save(self) -> bytes:
        """Return it as bytes."""
        counts = [self.n_predicted, self.n_learnt, self.n_late]
        return pack("totals", {"counts": counts}, [self.predicting.save(), self.learning.save()])

    @classmethod
    def of(cls, state: bytes) -> "Totals":
        """Read what `save` returned."""
        facts, parts = unpack("totals", state)
        return cls(*facts["counts"], *map(Latencies.of, parts))


class Meter:
    """Runs a learner and measures its cost.

    Parameters
    ----------
    learner
        The learner.
    task
        What its predictions are.
    clock
        Returns CPU time in nanoseconds: `read_thread_time`, or `time.process_time_ns` if nothing else runs.
    budget
        The most seconds a prediction may take; None for no limit. A late prediction counts as none.

    Examples
    --------
    >>> from streamgauge.checks.learners import MIXED, sample_batch
    >>> from streamgauge.learners import NaiveBayes
    >>> from streamgauge.tasks import find_task
    >>> meter = Meter(NaiveBayes().build(MIXED, seed=1), find_task(MIXED), read_thread_time)
    >>> predictions, _ = meter.interleave(Step(sample_batch(MIXED, 1000)), with_votes=False, cuts=[500, 1000])
    >>> len(predictions), len(meter.take_notes()), meter.n_predicted
    (1000, 2, 1000)
    """

    def __init__(self, learner: Learner, task: Task, clock: Callable[[], int], budget: float | None = None) -> None:
        self._learner, self._task, self._clock = learner, task, clock
        self._budget = None if budget is None else budget * 1e9
        self._cpu = self._wall = self._charged = 0
        self._ram_hours = 0.0
        self._learning = self._learning_before = 0.0  # seconds: in all, and before the state that was loaded
        self._notes: list[tuple[float, ...]] = []
        self._interleave_timed = learner.interleave_timed if isinstance(learner, _Timed) else self._row_by_row
        self._n_run = self._next_sample = self._n_samples = self._sampling = 0
        self._latencies = (Latencies(), Latencies())
        self.n_predicted = self.n_learnt = self.n_late = 0

    def interleave(self, step: Step, *, with_votes: bool, cuts: Sequence[int]) -> Predicted:
        """Predict and learn the rows of a step; note the cost before each of the ascending positions `cuts`."""
        done: list[Predicted] = []
        start = 0
        try:
            for cut in cuts:
                self._run(step.part(start, cut), done, with_votes=with_votes)
                self.note()
                start = cut
            whole = start == 0
            self._run(step if whole else step.part(start, len(step.batch)), done, with_votes=with_votes)
        except Exception as error:
            raise fail_after(done, error, self._task, with_votes=with_votes) from error
        self._count(step)
        return join_parts(done, self._task, with_votes=with_votes)

    def charge(self, function: Callable[[], None]) -> None:
        """Call a function of the learner, such as the end of its training, and charge its time."""
        wall, cpu = perf_counter_ns(), self._clock()
        function()
        self._charge(wall, cpu)

    def note(self) -> None:
        """Note the cost so far; the cost of noting is not charged."""
        n_bytes = self._learner.n_bytes
        self._ram_hours += n_bytes / 2**30 * (self._cpu - self._charged) / 3.6e12
        self._charged = self._cpu
        self._notes.append((self._cpu / 1e9, self._wall / 1e9, self._predict_share, n_bytes, self._ram_hours))

    def repeat_last_note(self, n_notes: int) -> None:
        """Repeat the last note of a learner that has failed, up to a number of notes."""
        last = (self._cpu / 1e9, self._wall / 1e9, self._predict_share, 0, self._ram_hours)
        self._notes += [self._notes[-1] if self._notes else last] * (n_notes - len(self._notes))

    def take_notes(self) -> list[tuple[float, ...]]:
        """Return the notes since the last call, each with a value for each of `FIGURES`."""
        notes, self._notes = self._notes, []
        return notes

    def save(self) -> bytes:
        """Return all counts so far, without the notes that were not taken yet."""
        facts = {name: getattr(self, name) for name in _COUNTED}
        return pack("meter", facts, [latencies.save() for latencies in self._latencies])

    def load(self, state: bytes) -> None:
        """Continue counting from the saved state of another meter."""
        facts, parts = unpack("meter", state)
        with loading("meter"):
            predicting, learning = map(Latencies.of, parts)
            for name in _COUNTED:
                setattr(self, name, facts[name])
        self._latencies = (predicting, learning)
        self._learning_before = self._learning

    def totals(self) -> Totals:
        """Return the counts so far."""
        counts = (self.n_predicted, self.n_learnt, self.n_late)
        return Totals(*counts, *map(copy, self._latencies))

    def _run(self, step: Step, done: list[Predicted], *, with_votes: bool) -> None:
        """Run rows; time some of them one by one if a sample is due."""
        n = len(step.batch)
        if n == 0:
            return
        self._n_run += n
        if self._budget is not None:
            self._run_timed(step, done, with_votes=with_votes)
        elif self._n_run <= self._next_sample or self._sampling > SAMPLED_SHARE * self._cpu + FREE_SAMPLING:
            self._run_whole(step, done, with_votes=with_votes)
        else:
            # Samples lie anywhere in the rows they represent, since a scheme may test and learn by turns.
            start = int(self._n_samples * 0.6180339887498949 % 1.0 * max(0, n - SAMPLED_ROWS + 1))
            stop = min(n, start + SAMPLED_ROWS)
            least, most = SAMPLE_SPACINGS
            self._next_sample = self._n_run + max(least, min(most, self._n_run // 8))
            self._n_samples += 1
            self._run_whole(step.part(0, start), done, with_votes=with_votes)
            before = self._cpu
            self._run_timed(step.part(start, stop), done, with_votes=with_votes)
            self._sampling += self._cpu - before
            self._run_whole(step.part(stop, n), done, with_votes=with_votes)

    def _run_whole(self, step: Step, done: list[Predicted], *, with_votes: bool) -> None:
        if len(step.batch):
            wall, cpu = perf_counter_ns(), self._clock()
            done.append(self._learner.interleave(step, with_votes=with_votes))
            self._charge(wall, cpu)

    def _run_timed(self, step: Step, done: list[Predicted], *, with_votes: bool) -> None:
        wall, cpu = perf_counter_ns(), self._clock()
        predictions, votes, *taken = self._interleave_timed(step, with_votes=with_votes)
        self._charge(wall, cpu)
        for latencies, nanoseconds in zip(self._latencies, taken, strict=True):
            latencies.add(nanoseconds)
        if self._budget is not None:
            late = taken[0] > self._budget
            n_late = int(np.count_nonzero(late))
            self.n_late += n_late
            predictions[late] = self._task.make_abstentions(n_late)
            if votes is not None:
                votes[late] = self._task.make_outputs(n_late)
        done.append((predictions, votes))

    def _row_by_row(
        self, step: Step, *, with_votes: bool
    ) -> tuple[Any, NDArray[np.float64] | None, NDArray[np.uint64], NDArray[np.uint64]]:
        return run_row_by_row_timed(self._learner, step, self._task, with_votes=with_votes)

    def _charge(self, wall: int, cpu: int) -> None:
        self._cpu += self._clock() - cpu
        self._wall += perf_counter_ns() - wall

    def _count(self, step: Step) -> None:
        n, weight = len(step.batch), step.learning_weight
        self.n_predicted += n if step.test is None else int(np.count_nonzero(step.test))
        if weight is None and step.revealed is None:
            self.n_learnt += n - step.batch.n_unlabelled
        else:
            learnt = find_known(step.labels)
            self.n_learnt += int(np.count_nonzero(learnt if weight is None else learnt & (weight > 0)))

    @property
    def _predict_share(self) -> float:
        learning_seconds = self._learner.learning_seconds if isinstance(self._learner, _LearnsInChunks) else None
        if learning_seconds is not None:
            self._learning = self._learning_before + learning_seconds
            return max(0.0, 1.0 - self._learning * 1e9 / self._wall) if self._wall else 0.0
        predicting, learning = (latencies.mean for latencies in self._latencies)
        predicting, learning = predicting * max(1, self.n_predicted), learning * max(1, self.n_learnt)
        return predicting / (predicting + learning) if predicting + learning > 0 else 0.0


def read_thread_time() -> int:
    """Return the nanoseconds of CPU time of the calling thread, and of the threads that shared its ensembles.

    Examples
    --------
    >>> read_thread_time() > 0
    True
    """
    return thread_time_ns() + _native.helped_nanoseconds()


class Latencies:
    """How long rows took, in buckets that grow by a sixteenth of a doubling: exact to 3 per cent, in bounded memory."""

    def __init__(self) -> None:
        self._counts = np.zeros(16 * 44, dtype=np.int64)
        self._sum = 0
        self._most = 0
        self.n = 0

    def add(self, nanoseconds: NDArray[np.uint64]) -> None:
        """Take in times; 0 stands for nothing done."""
        taken = nanoseconds[nanoseconds > 0]
        if not len(taken):
            return
        bins = np.minimum(16 * np.log2(taken), len(self._counts) - 1).astype(np.intp)
        self._counts = self._counts + np.bincount(bins, minlength=len(self._counts))  # so that copies stay as they are
        self._sum += int(taken.sum())
        self._most = max(self._most, int(taken.max()))
        self.n += len(taken)

    def save(self) -> bytes:
        """Return it as bytes."""
        return pack_columns("latencies", {"sums": [self._sum, self._most, self.n]}, {"counts": self._counts})

    @classmethod
    def of(cls, state: bytes) -> "Latencies":
        """Read what `save` returned."""
        facts, columns = unpack_columns("latencies", state)
        read = cls()
        read._counts = columns["counts"]
        read._sum, read._most, read.n = facts["sums"]
        return read

    @property
    def mean(self) -> float:
        return self._sum / self.n if self.n else 0.0

    def percentiles(self, wanted: Sequence[float]) -> list[float]:
        """Return percentiles in nanoseconds; NaN if nothing was timed, the greatest exactly."""
        if not self.n:
            return [np.nan for _ in wanted]
        reached = np.cumsum(self._counts) / self.n * 100.0
        bins = np.searchsorted(reached, np.array(wanted) - 1e-9)
        return [
            min(float(2 ** ((index + 0.5) / 16)), float(self._most)) if p < 100 else float(self._most)
            for index, p in zip(bins, wanted, strict=True)
        ]


def build_resources(
    totals: Sequence[Totals], shape: tuple[int, int], rows: NDArray[np.int64], costs: NDArray[np.float64], clock: str
) -> Resources:
    """Build `Resources` from the notes of all meters.

    Parameters
    ----------
    totals
        The counts of the meters of all cells, by learner and fold.
    shape
        The numbers of learners and folds.
    rows
        The reading rows of the notes.
    costs
        The notes, float64 [s, learners, folds, figures].
    clock
        Which clock measured CPU time.
    """
    cpu, wall, share, n_bytes, ram_hours = np.moveaxis(costs, -1, 0)

    def count(name: str) -> NDArray[np.int64]:
        return np.array([getattr(cell_totals, name) for cell_totals in totals], dtype=np.int64).reshape(shape)

    return Resources(
        rows,
        cpu_seconds=cpu,
        wall_seconds=wall,
        predict_share=share,
        n_bytes=n_bytes.astype(np.int64),
        ram_hours=ram_hours,
        n_predicted=count("n_predicted"),
        n_learnt=count("n_learnt"),
        latency=np.stack([cell_totals.latency for cell_totals in totals]).reshape(*shape, 2, -1),
        percentiles=PERCENTILES,
        n_timed=count("n_timed"),
        n_late=count("n_late"),
        peak_rss=_peak_rss(),
        cpu_clock=clock,
    )


def _peak_rss() -> int | None:
    """Return the peak memory of this process in bytes; None if the system does not provide it."""
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most
