"""The one loop: any number of learners and folds, in lock-step over the batches of a stream."""

import inspect
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from streamgauge._engine.batch_plan import BatchPlan, BatchResult
from streamgauge._engine.checkpoint import CheckpointPolicy, checkpointing_of, opened_recorders, same_run
from streamgauge._engine.collector import Collector, Progress
from streamgauge._engine.executor import Backend
from streamgauge._engine.journal import Journal, Layout
from streamgauge._engine.label_counts import confusions_of, label_counts
from streamgauge._engine.planner import Planner, Rows, StopCondition, run_plans
from streamgauge._engine.run_spec import RunSpec
from streamgauge._engine.schedule import Score
from streamgauge._engine.signals import asked_to_stop
from streamgauge._engine.source import RowSource, usual_size
from streamgauge._format.progress_bar import progress_bar
from streamgauge._format.text import to_text
from streamgauge.backends import Auto
from streamgauge.drift import name_detectors
from streamgauge.errors import EndlessStreamError, FailureWarning, require_at_least, require_between, unknown_name
from streamgauge.forgetting import Landmark, Window
from streamgauge.labelling import AllLabels
from streamgauge.learners.named import name_learners
from streamgauge.measures import describe_measure, find_measures
from streamgauge.names import require_object
from streamgauge.protocols import CellBatch, Forgetting, Labelling, Measure, Recorder, Resumable, Scheme, Stream
from streamgauge.records import Failure, Reading, Verdict, readings_of
from streamgauge.results import Results
from streamgauge.schemes import Prequential
from streamgauge.significance.live import LiveTest
from streamgauge.streams import as_stream, drifts_of
from streamgauge.streams.true_drifts import min_limit

__all__ = ["Evaluation", "evaluate"]

Told = TypeVar("Told")

Taker = Callable[[CellBatch], None]


class Evaluation:
    """An evaluation that can be watched: iterate over it to get each reading as soon as it is there.

    Its memory does not grow with the stream, so the stream need not end.

    Parameters
    ----------
    stream, learners
        As for `evaluate`.
    target
        The name of the column that holds the labels, where the stream is a table.
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
    live_test
        How any two learners are compared at every reading, see `streamgauge.significance.LiveTest`; None for not.
    seed
        Decides the folds and, with each learner's own seed, the learners' randomness.
    batch_size
        How many rows go into native code at once; the results do not depend on it. None for about 16 MB of
        them, or 64 MB where they are in memory anyway and there is one learner.
    resources
        Whether to measure what each learner costs: time, latency and memory. It adds some 15 ns per row and learner.
    recorders
        What else to keep: see `streamgauge.results.recorders`.
    backend
        Where the cells run; the results do not depend on it.
    checkpoint
        A folder for checkpoints, from which a run that was stopped or killed can go on; or a `CheckpointPolicy`, which
        then says what the next three say.
    checkpoint_every
        A checkpoint is written after so many rows; None for about every 30 seconds.
    resume
        Whether to go on from the newest checkpoint in the folder, where there is one: the readings up to there are told
        again first, and the results are those of a run that was never stopped.
    trust_checkpoint
        Whether to load a checkpoint from elsewhere although learners in it are pickles, which may run any code.
    journal
        A folder into which the run writes what it reads, as it runs, so that others can follow it.

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
        target: str | None = None,
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
        live_test: LiveTest | None = LiveTest(),
        seed: int = 1,
        batch_size: int | None = None,
        resources: bool = False,
        recorders: Sequence[Recorder] = (),
        backend: Backend = Auto(),
        checkpoint: Path | str | CheckpointPolicy | None = None,
        checkpoint_every: int | None = None,
        resume: bool = False,
        trust_checkpoint: bool = False,
        journal: Path | str | None = None,
    ) -> None:
        for option, value in (("n_rows", n_rows), ("every", every), ("batch_size", batch_size)):
            if value is not None:
                require_at_least(option, value, 1)
        for option, seconds in (("time_limit", time_limit), ("time_budget", time_budget)):
            if seconds is not None:
                require_between(option, seconds, 0.0, float("inf"))
        require_at_least("seed", seed, 0)
        parts = {"stream": stream, "scheme": scheme, "labelling": labelling, "forgetting": forgetting}
        for kind, part in parts.items():
            require_object(kind, part)
        self.stream: Stream = as_stream(stream, target=target)
        self.specs = name_learners(learners)
        self.scheme, self.labelling, self.score, self.backend, self.seed = scheme, labelling, score, backend, seed
        period = getattr(scheme, "period", None)  # of a holdout, and the size of its tests
        usual: Forgetting = Landmark() if period is None else Window(period[1])
        forgetting = usual if forgetting is None else forgetting
        self.forgettings = tuple(forgetting) if isinstance(forgetting, Sequence) else (forgetting,)
        self.measures: tuple[Measure, ...] = find_measures(measures, self.stream)
        self.detectors = name_detectors(detectors)
        self.recorders, self.resources, self.journal = tuple(recorders), resources, journal
        self.time_limit, self.time_budget = time_limit, time_budget
        self.live_test = live_test
        self._limit, self._every = n_rows, every or (None if period is None else period[0])
        self._feed = RowSource(self.stream, scheme, labelling, seed)
        alone = len(self.specs) * self._feed.scheme.n_folds == 1
        at_hand = alone and getattr(self.stream, "in_memory", False)
        self.batch_size = batch_size or usual_size(self._feed.schema, at_hand=at_hand)
        self.checkpointing = checkpointing_of(checkpoint, checkpoint_every, resume=resume, trust=trust_checkpoint)
        self._start()

    def _start(self) -> None:
        """Forget an earlier run."""
        self._orders = Planner(self._feed, self.score)
        self._account = Collector(self.run_spec)
        self._seconds = self._seconds_before = 0.0
        self._ended_by = ""

    @property
    def run_spec(self) -> RunSpec:
        """The cells of the run, as a plain description."""
        return RunSpec(
            self._feed.schema,
            self._feed.scheme,
            self.specs,
            self.forgettings,
            self.measures,
            self.detectors,
            self.seed,
            with_votes=any(getattr(part, "needs_votes", False) for part in (*self.measures, *self.recorders)),
            with_passages=bool(self.recorders),
            metered=self.resources or self.time_budget is not None,
            time_budget=self.time_budget,
            n_rows=self.n_rows_known,
            source=Rows(self.stream, self.scheme, self.labelling, self.seed, self.score),
        )

    @cached_property
    def n_rows(self) -> int | None:
        """How many rows there are to read at most; None where nobody knows an end."""
        return min_limit(self._limit, self.stream.n_rows)

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
        return str(getattr(self.stream, "status", ""))

    @cached_property
    def every(self) -> int:
        """After how many rows a reading is taken."""
        return self._every or (10_000 if self.n_rows is None else max(1, self.n_rows // 200))

    def __repr__(self) -> str:
        return f"Evaluation of {', '.join(self.specs)} on {to_text(self.stream)}, {to_text(self.scheme)}"

    def __iter__(self) -> Iterator[Reading]:
        for progress in self.advance():
            yield from self.readings_of(progress)

    def readings_of(self, progress: Progress) -> Iterator[Reading]:
        """Give the readings that a batch brought."""
        return readings_of(progress.rows, progress.values, *self._names)

    def advance(self, stopping: Callable[[], bool] = lambda: False) -> Iterator[Progress]:
        """Run from the start, or from a checkpoint, batch by batch, until the rows end or `stopping` says so."""
        if self.journal is None:
            yield from self._advance(stopping)
            return
        with Journal(self.journal, self._layout, self._plan()) as journal:
            for progress in self._advance(lambda: stopping() or journal.asked_to_stop):
                journal.note(progress, self.failures, self._news)
                yield progress
            journal.close("cut short" if self._ended_by else "complete", self._ended_by)

    @property
    def _layout(self) -> Layout:
        metered = self.resources or self.time_budget is not None
        return Layout(*self._names, self._feed.scheme.n_folds, metered)

    def _news(self) -> dict[str, object]:
        """Tell what else changes while a run goes on: the drifts so far, and how it stands with a live source."""
        drifts = [asdict(drift) for drift in drifts_of(self.stream, self._account.n_done)]
        source: Mapping[str, object] = getattr(self.stream, "facts", dict)()
        return {"drifts": drifts[-1000:], "source": dict(source)}

    def _advance(self, stopping: Callable[[], bool]) -> Iterator[Progress]:
        self._start()
        self._account = Collector(self.run_spec, *self._looks)
        started = time.perf_counter()
        with ExitStack() as opened:
            kept = self.checkpointing
            restored = None
            if kept is not None:
                of_run = kept.opened(lambda: same_run(self._description(), self.detectors, self.recorders))
                restored = opened.enter_context(of_run)
            host = opened.enter_context(self.backend.host(self.run_spec))
            facts = (self.stream, self._feed.schema, list(self.specs), self._forgetting_names)
            takers = opened.enter_context(opened_recorders(self.recorders, facts, kept, restored))
            if restored is not None:
                self._seconds = self._seconds_before = restored.seconds
                restored.load(host, self._orders, self._account)
                yield from restored.told
            size = self.batch_size if kept is None else min(self.batch_size, kept.most_rows)
            keeps = None if kept is None else self._keeps
            rows = self._orders.of_rows(size, self._limit, self.every, ahead=host.reads_ahead, keeps=keeps)
            orders = opened.enter_context(closing(rows))
            ending = StopCondition(lambda: bool(self._ended_by), with_checkpoint=kept is not None)
            for order, results_of_groups in run_plans(orders, host, self._feed, ending, self._account.n_done):
                yield self._entered(order, results_of_groups, takers) if results_of_groups else self._nothing()
                self._seconds = self._seconds_before + time.perf_counter() - started
                self._ended_by = self._ended_by or self._reason_to_stop(stopping)
            if self._ended_by and not isinstance(self.stream, Resumable) and next(orders, None) is None:
                self._ended_by = ""  # these were the last rows
            last = self._orders.last(self._account.n_done, self.every)
            if last is not None:
                host.give(last)
                yield self._entered(last, host.take(), takers)

    def _nothing(self) -> Progress:
        """Tell that no rows came for a while."""
        shape = (0, len(self.specs), self._feed.scheme.n_folds, len(self.forgettings), len(self.measures))
        return Progress(self._account.n_done, np.empty(0, dtype=np.int64), np.empty(shape))

    def _keeps(self, n_rows: int) -> bool:
        """Say whether there is to be a checkpoint after so many rows; called in the order of the rows."""
        due = self.checkpointing is not None and self.checkpointing.is_due(n_rows, self.n_rows_known)
        return due or bool(self._ended_by)

    @property
    def _looks(self) -> tuple[LiveTest | None, int | None]:
        """How to compare and how many looks there are; rows of a file are counted for it only if they are anyway."""
        counted = self._every is None or not getattr(self.stream, "ends", False)
        n_rows = self.n_rows if counted else self._limit
        if self.live_test is None or n_rows is None:
            return self.live_test, None
        return replace(self.live_test, horizon=self.live_test.horizon or max(n_rows, 1)), -(-n_rows // self.every) or 1

    def _reason_to_stop(self, stopping: Callable[[], bool]) -> str:
        if stopping():
            return "interrupt"
        seconds = self._seconds - self._seconds_before
        return "time limit" if self.time_limit is not None and seconds >= self.time_limit else ""

    def _entered(self, order: BatchPlan, results_of_groups: list[BatchResult], takers: Sequence[Taker]) -> Progress:
        """Enter what an order brought into the account, and tell the recorders."""
        passages = [
            told for of_group in results_of_groups for told in zip(of_group.places, of_group.passages, strict=False)
        ]
        for take in takers:
            for _, passage in sorted(passages, key=lambda told: told[0]):
                take(passage)
        progress = self._account.enter(order, results_of_groups)
        if self.checkpointing is not None:
            self.checkpointing.tell(progress)
            if order.keeps:
                self.checkpointing.write(self._seconds, results_of_groups, self._orders, self._account)
        return progress

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The learners that have failed up to now, each with its fold, row and error."""
        return self._account.failures

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What is known of each pair of learners, as of the last reading; those that have failed are in no pair."""
        return self._account.verdicts

    @property
    def _forgetting_names(self) -> tuple[str, ...]:
        return tuple(to_text(forgetting) for forgetting in self.forgettings)

    @property
    def _names(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Of the learners, the forgettings and the measures."""
        return tuple(self.specs), self._forgetting_names, tuple(measure.name for measure in self.measures)

    def results(self, progress: Iterable[Progress]) -> Results:
        """Put together what the batches brought."""
        parts = list(progress)
        kept = [part for part in parts if len(part.rows)]
        classes = self._feed.schema.classes
        shape = (0, len(self.specs), self._feed.scheme.n_folds, len(self.forgettings), len(self.measures))
        return Results(
            np.concatenate([np.empty(0, dtype=np.int64), *(part.rows for part in kept)]),
            np.concatenate([np.empty(shape), *(part.values for part in kept)]),
            tuple(self.specs),
            self._forgetting_names,
            tuple(measure.name for measure in self.measures),
            self._account.pairs,
            self._account.n_done,
            not self._ended_by,
            self._description(),
            self._account.feedback,
            self._account.resources(kept),
            self.failures,
            tuple(alarm for part in parts for alarm in part.alarms),
            self.verdicts,
            labels=label_counts([(part.rows, part.labels) for part in kept], classes),
            differences=self._account.differences,
            confusions=confusions_of([(part.confused, part.confusions) for part in kept], self.every, classes),
        )

    def _plan(self) -> dict[str, object]:
        """Say what is to be run."""
        facts = {"stream": to_text(self.stream), "scheme": to_text(self.scheme), "n_rows": self.n_rows_known}
        options = {"labelling": to_text(self.labelling), "detectors": list(self.detectors), "seed": self.seed}
        return {**facts, **options, "measure_facts": {m.name: describe_measure(m) for m in self.measures}}

    def _description(self) -> dict[str, object]:
        learners = {name: {"spec": to_text(spec), "seedless": spec.seedless} for name, spec in self.specs.items()}
        test = getattr(self.scheme, "test", "all")
        n_rows = self.n_rows_known if self._ended_by else self._account.n_done
        facts = getattr(self.stream, "facts", None)  # what became of the events of a live stream
        live = {} if facts is None else {"live": dict(facts())}
        return {
            **live,
            "stream": {"name": to_text(self.stream), "fingerprint": self.stream.fingerprint, "n_rows": n_rows},
            "drifts": [asdict(drift) for drift in drifts_of(self.stream, self._account.n_done)],
            "learners": learners,
            "scheme": {"name": to_text(self.scheme), "n_folds": self._feed.scheme.n_folds, "test": test},
            "labelling": to_text(self.labelling),
            "score": self.score,
            "forgettings": list(self._forgetting_names),
            "measures": {m.name: describe_measure(m) for m in self.measures},
            "detectors": list(self.detectors),
            "every": self.every,
            "time_limit": self.time_limit,
            "time_budget": self.time_budget,
            "live_test": None if self.live_test is None else to_text(self.live_test),
            "seed": self.seed,
            "seconds": self._seconds,
            "ended_by": self._ended_by or "end of the rows",
        }


def evaluate(
    stream: object,
    learners: object,
    *,
    progress: bool | None = False,
    on_reading: Callable[[Reading], object] | None = None,
    on_verdict: Callable[[Verdict], object] | None = None,
    **options: object,
) -> Results:
    """Evaluate learners on a stream, all in one pass.

    It stands for this loop, run for every learner in every fold side by side::

        for x, y in stream:
            score(learner.predict(x), y)
            learner.learn(x, y)

    A learner that fails is told by a `FailureWarning` and in `Results.failures`, and its readings from there on are
    NaN, while the others go on; where all of them fail, that is an error.

    Ctrl-C ends it after the batch at hand; what was measured so far is returned, marked as not complete. With
    `checkpoint` it can go on later from where it was, also after it was killed.

    Parameters
    ----------
    stream
        A stream, a pair of arrays (x, y), or a table of pandas, polars or Arrow with `target`.
    learners
        A learner, several, or several by name; those of other libraries are recognised on sight.
    progress
        Whether to show a progress bar; None for only where standard error is a terminal.
    on_reading
        Called with every reading as soon as it is there.
    on_verdict
        Called with the verdict on two learners as soon as it is known.
    options
        Those of `Evaluation`: target, scheme, labelling, score, forgetting, measures, detectors, every, n_rows,
        time_limit, time_budget, live_test, seed, batch_size, resources, recorders, backend, checkpoint,
        checkpoint_every, resume, trust_checkpoint, journal.

    Examples
    --------
    >>> from streamgauge import HoeffdingTree, MajorityClass, SEA, evaluate
    >>> results = evaluate(SEA(n_rows=10_000), [HoeffdingTree(), MajorityClass()], every=5_000)
    >>> results.learners, results.rows.tolist()
    (('HoeffdingTree', 'MajorityClass'), [5000, 10000])
    >>> bool(results.curve("HoeffdingTree", "accuracy")[-1, 0] > results.curve("MajorityClass", "accuracy")[-1, 0])
    True
    """
    for option in options:
        if option not in _known_options():
            raise unknown_name(kind="option of an evaluation called", name=option, known=_known_options())
    evaluation = Evaluation(stream, learners, **options)  # type: ignore[arg-type]
    if not evaluation.ends:
        msg = "the stream never ends: say with n_rows how many rows to read, or iterate over an Evaluation"
        raise EndlessStreamError(msg)
    kept = []
    stop_asked = asked_to_stop(also_terminated=evaluation.checkpointing is not None)
    with stop_asked as stopping, progress_bar(evaluation.n_rows_known, shown=progress) as advance_to:
        for progress_now in evaluation.advance(stopping):
            if len(progress_now.rows) or progress_now.alarms:
                kept.append(progress_now)
            advance_to(progress_now.n_rows, lambda: evaluation.status)
            _tell(evaluation.readings_of(progress_now), on_reading)
            _tell(progress_now.reached, on_verdict)
    for failure in evaluation.failures:
        warnings.warn(f"{failure}; its readings from there on are NaN", FailureWarning, stacklevel=2)
    return evaluation.results(kept)


@cache
def _known_options() -> Mapping[str, object]:
    return inspect.signature(Evaluation).parameters


def _tell(news: Iterable[Told], listener: Callable[[Told], object] | None) -> None:
    """Call a listener with everything new."""
    if listener is not None:
        for one in news:
            listener(one)
