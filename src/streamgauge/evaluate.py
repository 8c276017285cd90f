"""The one loop: any number of learners and folds, in lock-step over the batches of a stream."""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.backends import Threads
from streamgauge.cells import Cell, Fold, Tallies
from streamgauge.drift import named_detectors
from streamgauge.errors import FailureWarning, StreamgaugeError, require_at_least, require_between
from streamgauge.feeding import Feed
from streamgauge.forgetting import Landmark, Window
from streamgauge.interruption import asked_to_stop
from streamgauge.labelling import AllLabels
from streamgauge.learners import as_spec
from streamgauge.measures import build_state, facts_of, measured, measures_of
from streamgauge.metering import FIGURES, Meter, costs_of
from streamgauge.naming import described
from streamgauge.progress import progress_bar
from streamgauge.protocols import (
    Backend,
    Forgetting,
    Labelling,
    LearnerSpec,
    Measure,
    Passage,
    Recorder,
    Resumable,
    Scheme,
    Stream,
    Workers,
)
from streamgauge.randomness import fold_seed
from streamgauge.records import (
    Alarm,
    Batch,
    Failure,
    Feedback,
    PairSums,
    Reading,
    Resources,
    Results,
    Step,
    readings_of,
)
from streamgauge.schemes import Prequential
from streamgauge.sequencing import Plan, Score, Sequencer
from streamgauge.streams import as_stream, drifts_of
from streamgauge.streams.truth import sooner

__all__ = ["Evaluation", "evaluate"]

Taker = Callable[[Passage], None]


def evaluate(
    stream: object,
    learners: object,
    *,
    progress: bool | None = False,
    on_reading: Callable[[Reading], object] | None = None,
    **options: object,
) -> Results:
    """Evaluate learners on a stream, all in one pass.

    It stands for this loop, run for every learner in every fold side by side::

        for x, y in stream:
            score(learner.predict(x), y)
            learner.learn(x, y)

    A learner that fails is told by a `FailureWarning` and in `Results.failures`, and its readings from there on are
    NaN, while the others go on; where all of them fail, that is an error.

    Ctrl-C ends it after the batch at hand; what was measured so far is returned, marked as not complete.

    Parameters
    ----------
    stream
        A stream, or a pair of arrays (x, y).
    learners
        A learner, several, or several by name; those of other libraries are recognised on sight.
    progress
        Whether to show a progress bar; None for only where standard error is a terminal.
    on_reading
        Called with every reading as soon as it is there.
    options
        Those of `Evaluation`: scheme, labelling, score, forgetting, measures, detectors, every, n_rows, time_limit,
        time_budget, seed, batch_size, resources, recorders, backend.

    Examples
    --------
    >>> from streamgauge import HoeffdingTree, MajorityClass, SEA, evaluate
    >>> results = evaluate(SEA(n_rows=10_000), [HoeffdingTree(), MajorityClass()], every=5_000)
    >>> results.learners, results.rows.tolist()
    (('HoeffdingTree', 'MajorityClass'), [5000, 10000])
    >>> bool(results.curve("HoeffdingTree", "accuracy")[-1, 0] > results.curve("MajorityClass", "accuracy")[-1, 0])
    True
    """
    evaluation = Evaluation(stream, learners, **options)  # type: ignore[arg-type]
    if not evaluation.ends:
        msg = "the stream never ends: say with n_rows how many rows to read, or iterate over an Evaluation"
        raise StreamgaugeError(msg)
    kept = []
    with asked_to_stop() as stopping, progress_bar(evaluation.n_rows_known, shown=progress) as advance_to:
        for progress_now in evaluation.advance(stopping):
            if len(progress_now.rows) or progress_now.alarms:
                kept.append(progress_now)
            advance_to(progress_now.n_rows, lambda: evaluation.status)
            if on_reading is not None:
                for reading in evaluation.readings_of(progress_now):
                    on_reading(reading)
    for failure in evaluation.failures:
        warnings.warn(f"{failure}; its readings from there on are NaN", FailureWarning, stacklevel=2)
    return evaluation.results(kept)


@dataclass(frozen=True)
class Progress:
    """What one batch brought: its stops, the values there as in `Results`, the figures of each cell's cost, alarms."""

    n_rows: int
    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    costs: NDArray[np.float64] | None = None
    alarms: tuple[Alarm, ...] = ()


class Evaluation:
    """An evaluation that can be watched: iterate over it to get each reading as soon as it is there.

    Its memory does not grow with the stream, so the stream need not end.

    Parameters
    ----------
    stream, learners
        As for `evaluate`.
    scheme
        Which rows are tested and learnt in which fold.
    labelling
        When the labels arrive that the learners may see.
    score
        Which prediction of a row is scored: the "first", made when it came; the "last", made just before its label was
        learnt; or "labelled", the first, but only of those rows whose label arrives at all.
    forgetting
        How the past fades, or several ways of it. None for a landmark; with `Holdout`, for the last test.
    measures
        What to measure: names, measures, or plain functions of a tally or of y_true and y_pred; one or several.
    detectors
        Detectors of drift, or their names, that each watch the errors of every learner in every fold: 1 where a
        scored prediction was wrong. Their alarms are in the results.
    every
        A reading is taken after so many rows, and always at the end. None for 200 readings, or one every 10,000 rows
        where nobody knows how many rows there will be; with `Holdout`, for one after each test.
    n_rows
        How many rows to read at most.
    time_limit
        How many seconds to run at most; it then ends after the rows at hand.
    time_budget
        How many seconds a prediction may take; a late one is an error.
    seed
        Decides the folds and, with each learner's own seed, the learners' randomness.
    batch_size
        How many rows go into native code at once; the results do not depend on it.
    resources
        Whether to measure what each learner costs: time, latency and memory. It adds some 15 ns per row and learner.
    recorders
        What else to keep: see `streamgauge.recording`.
    backend
        Where the cells run; the results do not depend on it.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes
    >>> for reading in Evaluation(SEA(), NaiveBayes(), every=1000):
    ...     if reading.row == 3000:
    ...         break
    >>> reading.measure
    'accuracy'
    """

    def __init__(  # noqa: PLR0913
        self,
        stream: object,
        learners: object,
        *,
        scheme: Scheme = Prequential(),
        labelling: Labelling = AllLabels(),
        score: Score = "first",
        forgetting: Forgetting | Sequence[Forgetting] | None = None,
        measures: object = "accuracy",
        detectors: object = (),
        every: int | None = None,
        n_rows: int | None = None,
        time_limit: float | None = None,
        time_budget: float | None = None,
        seed: int = 1,
        batch_size: int = 32_768,
        resources: bool = False,
        recorders: Sequence[Recorder] = (),
        backend: Backend = Threads(),
    ) -> None:
        for option, value in (("n_rows", n_rows), ("every", every), ("batch_size", batch_size)):
            if value is not None:
                require_at_least(option, value, 1)
        for option, seconds in (("time_limit", time_limit), ("time_budget", time_budget)):
            if seconds is not None:
                require_between(option, seconds, 0.0, float("inf"))
        require_at_least("seed", seed, 0)
        self.stream: Stream = as_stream(stream)
        self.specs = named_learners(learners)
        self.scheme, self.labelling, self.score, self.backend, self.seed = scheme, labelling, score, backend, seed
        period = getattr(scheme, "period", None)  # of a holdout, and the size of its tests
        usual: Forgetting = Landmark() if period is None else Window(period[1])
        forgetting = usual if forgetting is None else forgetting
        self.forgettings = tuple(forgetting) if isinstance(forgetting, Sequence) else (forgetting,)
        self.measures: tuple[Measure, ...] = measures_of(measures, self.stream)
        self.detectors = named_detectors(detectors)
        self.recorders, self.resources = tuple(recorders), resources
        self._with_votes = any(getattr(part, "needs_votes", False) for part in (*self.measures, *self.recorders))
        self.time_limit, self.time_budget, self.batch_size = time_limit, time_budget, batch_size
        self._limit, self._every = n_rows, every or (None if period is None else period[0])
        self._feed = Feed(self.stream, scheme, labelling, seed)
        self._start()

    def _start(self) -> None:
        """Forget an earlier run."""
        schema, scheme = self._feed.schema, self._feed.scheme
        self._sequencer = Sequencer(scheme, self.score)
        self._folds = [Fold(fold, schema) for fold in range(scheme.n_folds)]
        self._pairs = _native.PairCounter(len(self.specs), len(self._folds))
        self._cells: list[Cell] = []
        self._n_done = 0
        self._seconds = 0.0
        self._ended_by = ""

    @cached_property
    def n_rows(self) -> int | None:
        """How many rows there are to read at most; None where nobody knows an end."""
        return sooner(self._limit, self.stream.n_rows)

    @property
    def n_rows_known(self) -> int | None:
        """As `n_rows`, where that is known without a look at all rows."""
        lazy = getattr(self.stream, "ends", False) and "n_rows" not in self.__dict__
        return self._limit if lazy else self.n_rows

    @property
    def ends(self) -> bool:
        """Whether the run ends, if only by a time limit or Ctrl-C; asks no file for the number of its rows."""
        stopped = self._limit is not None or self.time_limit is not None or isinstance(self.stream, Resumable)
        return stopped or getattr(self.stream, "ends", False) or self.stream.n_rows is not None

    @property
    def status(self) -> str:
        """How the stream stands, where it is one that tells."""
        return self.stream.status if isinstance(self.stream, Resumable) else ""

    @cached_property
    def every(self) -> int:
        """After how many rows a reading is taken."""
        return self._every or (10_000 if self.n_rows is None else max(1, self.n_rows // 200))

    def __iter__(self) -> Iterator[Reading]:
        for progress in self.advance():
            yield from self.readings_of(progress)

    def readings_of(self, progress: Progress) -> Iterator[Reading]:
        """Give the readings that a batch brought."""
        names = (tuple(self.specs), self._forgetting_names, self._measure_names)
        return readings_of(progress.rows, progress.values, *names)

    def advance(self, stopping: Callable[[], bool] = lambda: False) -> Iterator[Progress]:
        """Run from the start, batch by batch, until the rows end or `stopping` says so."""
        self._start()
        self._cells = self._built_cells()
        started = time.perf_counter()
        with ExitStack() as opened, self.backend.start() as workers:
            facts = (self.stream, self._feed.schema, list(self.specs), self._forgetting_names)
            takers = [opened.enter_context(recorder.open(*facts)) for recorder in self.recorders]
            rows = self._feed.batches(self.batch_size, self._limit)
            for batch, arrivals in rows:
                before = time.perf_counter()
                if len(batch):
                    yield self._advance_by(self._sequencer.plan(batch, arrivals), batch, workers, takers)
                else:  # nothing came for a while
                    yield self._nothing()
                now = time.perf_counter()
                self._seconds = now - started
                self._pace(len(batch), now - before)
                self._ended_by = self._reason_to_stop(stopping)
                if self._ended_by:
                    break
            if self._ended_by and not isinstance(self.stream, Resumable) and next(rows, None) is None:
                self._ended_by = ""  # these were the last rows
            yield from self._finish(workers, takers)

    def _nothing(self) -> Progress:
        shape = (0, len(self.specs), len(self._folds), len(self.forgettings), len(self.measures))
        return Progress(self._n_done, np.empty(0, dtype=np.int64), np.empty(shape))

    def _built_cells(self) -> list[Cell]:
        schema = self._feed.schema
        # The threads that a learner starts are charged to it where no other learner can have started them.
        clock = time.process_time_ns if self._is_alone else time.thread_time_ns
        cells = []
        for (name, spec), fold in product(self.specs.items(), self._folds):
            learner = spec.build(schema, fold_seed(self.seed, fold.number, spec.seed))
            metered = self.resources or self.time_budget is not None
            meter = Meter(learner, schema.n_classes, clock, self.time_budget) if metered else None
            states = [build_state(forgetting, schema.n_classes, self.measures) for forgetting in self.forgettings]
            cells.append(Cell(name, learner, fold, states, meter, self.detectors))
        return cells

    @property
    def _is_alone(self) -> bool:
        """Whether never more than one cell runs at a time."""
        return len(self.specs) * len(self._folds) == 1 or getattr(self.backend, "n", None) == 1

    def _pace(self, n_rows: int, seconds: float) -> None:
        """Let what is done at once take about a second, so that a run can be watched and stopped in time."""
        if seconds > 2.0:
            self._feed.piece = max(1, int(n_rows / seconds))
        elif self._feed.piece is not None and seconds < 0.5:
            self._feed.piece *= 2

    def _reason_to_stop(self, stopping: Callable[[], bool]) -> str:
        if stopping():
            return "interrupt"
        return "time limit" if self.time_limit is not None and self._seconds >= self.time_limit else ""

    def _advance_by(self, plan: Plan, batch: Batch, workers: Workers, takers: Sequence[Taker]) -> Progress:
        """Let all cells do what a batch brings."""
        start, stop = batch.start, batch.start + len(batch)
        stops = list(range((start // self.every + 1) * self.every, stop + 1, self.every)) if start >= 0 else []
        scheme, seed = self._feed.scheme, self.seed
        workers.map(lambda fold: fold.take(plan, scheme.step(batch, fold.number, seed)), self._folds)
        progress = self._measured_at(stops, workers, takers)
        if len(self.specs) > 1 and start >= 0:
            self._count_pairs()
        self._n_done = max(0, stop)
        if all(cell.failure is not None for cell in self._cells):
            raise StreamgaugeError("; ".join(map(str, self.failures[:3])))
        return replace(progress, n_rows=self._n_done)

    def _measured_at(self, stops: list[int], workers: Workers, takers: Sequence[Taker]) -> Progress:
        """Let all cells do the steps of their folds, and measure at the stops."""
        tallies = workers.map(lambda cell: cell.advance(stops, with_votes=self._with_votes), self._cells)
        return self._told(stops, tallies, takers)

    def _told(self, stops: list[int], tallies: list[Tallies], takers: Sequence[Taker]) -> Progress:
        for take in takers:
            for cell, of_cell in zip(self._cells, tallies, strict=True):
                take(cell.passage(stops, of_cell))
        notes = [cell.meter.notes() for cell in self._cells if cell.meter is not None]
        costs = None
        if notes:
            shape = (len(self.specs), len(self._folds), len(stops), len(FIGURES))
            costs = np.moveaxis(np.array(notes, dtype=np.float64).reshape(shape), 2, 0)
        alarms = tuple(sorted(alarm for cell in self._cells for alarm in cell.alarms))
        values = self._measured(tallies, len(stops))
        return Progress(self._n_done, np.array(stops, dtype=np.int64), values, costs, alarms)

    def _count_pairs(self) -> None:
        n = len(self._folds[0].step.batch)
        correct = np.stack([cell.correct for cell in self._cells]).reshape(len(self.specs), len(self._folds), n)
        whole = all(fold.step.scored is None for fold in self._folds)
        scored = None if whole else np.stack([fold.scored_mask for fold in self._folds])
        self._pairs.update(correct, scored)

    def _finish(self, workers: Workers, takers: Sequence[Taker]) -> Iterator[Progress]:
        """Test what is to be tested at the end, and take a last reading: the last part of a stream has one, too."""
        plan = self._sequencer.at_end(self._n_done) if self._n_done else None
        stops = [self._n_done]
        if plan is not None:
            nothing = Step(Batch(self._n_done, plan.batch.x[:0], plan.batch.y[:0]))
            workers.map(lambda fold: fold.take(plan, nothing), self._folds)
            yield self._measured_at(stops, workers, takers)
            if len(self.specs) > 1:
                self._count_pairs()
        elif self._n_done % self.every:
            yield self._told(stops, [cell.finish(self._n_done) for cell in self._cells], takers)

    def _measured(self, tallies: list[Tallies], n_stops: int) -> NDArray[np.float64]:
        """Measure the tallies [cell][forgetting][stop] into values [stop, learner, fold, forgetting, measure]."""
        series = [of_stops for of_cell in tallies for of_stops in of_cell]
        if all(len(of_stops) == n_stops for of_stops in series):
            values = measured(self.measures, series)
        else:  # a learner has failed
            values = np.full((len(series), n_stops, len(self.measures)), np.nan)
            for told, of_stops in zip(values, series, strict=True):
                if len(of_stops):
                    told[: len(of_stops)] = measured(self.measures, [of_stops])[0]
        shape = (len(self.specs), len(self._folds), len(self.forgettings), *values.shape[1:])
        return np.moveaxis(values.reshape(shape), 3, 0)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The learners that have failed up to now, each with its fold, row and error."""
        return tuple(cell.failure for cell in self._cells if cell.failure is not None)

    @property
    def _forgetting_names(self) -> tuple[str, ...]:
        return tuple(described(forgetting) for forgetting in self.forgettings)

    @property
    def _measure_names(self) -> tuple[str, ...]:
        return tuple(measure.name for measure in self.measures)

    def results(self, progress: Iterable[Progress]) -> Results:
        """Put together what the batches brought."""
        parts = list(progress)
        kept = [part for part in parts if len(part.rows)]
        shape = (0, len(self.specs), len(self._folds), len(self.forgettings), len(self.measures))
        names, failed = list(self.specs), {failure.learner for failure in self.failures}
        pairs = tuple(
            PairSums(names[a], names[b], *self._pairs.sums(a, b))
            for a, b in combinations(range(len(names)), 2)
            if not {names[a], names[b]} & failed
        )
        return Results(
            np.concatenate([np.empty(0, dtype=np.int64), *(part.rows for part in kept)]),
            np.concatenate([np.empty(shape), *(part.values for part in kept)]),
            tuple(names),
            self._forgetting_names,
            self._measure_names,
            pairs,
            self._n_done,
            not self._ended_by,
            self._description(),
            self._feedback(),
            self._resources(kept),
            self.failures,
            tuple(alarm for part in parts for alarm in part.alarms),
        )

    def _feedback(self) -> Feedback:
        seen = self._sequencer
        n_scored = np.array([fold.n_scored for fold in self._folds])
        return Feedback(seen.n_revealed, seen.n_owed, seen.n_hidden, seen.n_unknown, n_scored)

    def _resources(self, kept: Sequence[Progress]) -> Resources | None:
        meters = [cell.meter for cell in self._cells if cell.meter is not None]
        costs = [part.costs for part in kept if part.costs is not None]
        if not meters or not costs:
            return None
        rows = np.concatenate([part.rows for part in kept])
        shape = (len(self.specs), len(self._folds))
        return costs_of(meters, shape, rows, np.concatenate(costs), "process" if self._is_alone else "thread")

    def _description(self) -> dict[str, object]:
        learners = {name: {"spec": described(spec), "seedless": spec.seedless} for name, spec in self.specs.items()}
        test = getattr(self.scheme, "test", "all")
        n_rows = self.n_rows_known if self._ended_by else self._n_done
        live = {"live": dict(self.stream.facts())} if isinstance(self.stream, Resumable) else {}
        return {
            **live,
            "stream": {"name": described(self.stream), "fingerprint": self.stream.fingerprint, "n_rows": n_rows},
            "drifts": [asdict(drift) for drift in drifts_of(self.stream, self._n_done)],
            "learners": learners,
            "scheme": {"name": described(self.scheme), "n_folds": len(self._folds), "test": test},
            "labelling": described(self.labelling),
            "score": self.score,
            "forgettings": list(self._forgetting_names),
            "measures": {m.name: facts_of(m) for m in self.measures},
            "detectors": list(self.detectors),
            "every": self.every,
            "time_limit": self.time_limit,
            "time_budget": self.time_budget,
            "seed": self.seed,
            "seconds": self._seconds,
            "ended_by": self._ended_by or "end of the rows",
        }


def named_learners(learners: object) -> dict[str, LearnerSpec]:
    """Give every learner a name: the given one, or its class's, with its options where two would be the same.

    Examples
    --------
    >>> from streamgauge import MajorityClass, NoChange
    >>> list(named_learners([MajorityClass(), NoChange()]))
    ['MajorityClass', 'NoChange']
    """
    if isinstance(learners, Mapping):
        named = {str(name): as_spec(learner) for name, learner in learners.items()}
    else:
        specs = [as_spec(one) for one in (learners if isinstance(learners, list | tuple) else (learners,))]
        short = [getattr(spec, "short_name", type(spec).__name__) for spec in specs]
        names = [name if short.count(name) == 1 else described(spec) for name, spec in zip(short, specs, strict=True)]
        named = dict(zip(names, specs, strict=True))
        if len(named) < len(specs):
            repeated = next(name for name in names if names.count(name) > 1)
            msg = (
                f"two learners are the same: {repeated}; give them names, as in {{'a': ..., 'b': ...}}, or other seeds"
            )
            raise StreamgaugeError(msg)
    if not named:
        msg = "there is no learner to evaluate"
        raise StreamgaugeError(msg)
    return named
