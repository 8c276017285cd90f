"""Evaluate learners on a stream, in one call or reading by reading."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from streamgauge._engine.batch_plan import Backend, RunSpec
from streamgauge._engine.checkpoint.policy import CheckpointPolicy, as_policy
from streamgauge._engine.collector import Progress, join_confusions, join_label_counts, join_times
from streamgauge._engine.journal import Journal, Layout
from streamgauge._engine.loop import Run, RunOptions
from streamgauge._engine.planner import RowSourceSpec
from streamgauge._engine.pushed import PushedRun
from streamgauge._engine.schedule import Score, check_score
from streamgauge._engine.signals import catch_stop_signals
from streamgauge._engine.source import RowSource, default_batch_size
from streamgauge._foreign import adopt_scheme, adopt_stream, is_trained, needs_times, needs_votes
from streamgauge._format.progress_bar import progress_bar
from streamgauge._format.text import to_text
from streamgauge.backends import Auto
from streamgauge.drift import name_detectors
from streamgauge.errors import (
    EndlessStreamError,
    FailureWarning,
    StreamgaugeError,
    StreamWarning,
    require_at_least,
    require_between,
    require_kind,
    require_path,
)
from streamgauge.forgetting import Landmark, Window
from streamgauge.labelling import AllLabels
from streamgauge.learners.adapters import check_schema, check_tasks, name_learners
from streamgauge.learners.adapters.hints import (
    LONG_SECONDS,
    ROWS_NEEDED,
    can_have_chunks,
    describe_untrained,
    suggest_chunks,
)
from streamgauge.learners.refitted import plan_fits
from streamgauge.measures import check_forgettings, describe_measure, find_measures
from streamgauge.names import find_labelled_stream, find_learners, find_object, refuse_class
from streamgauge.protocols import Forgetting, Labelling, LiveStreamBase, Measure, Recorder, Scheme, Stream, StreamBase
from streamgauge.records import Failure, ModelVerdict, Reading, Verdict, list_readings
from streamgauge.records.description import RunDescription
from streamgauge.records.manifest import RunManifest
from streamgauge.results import ConfusionMatrices, Predictions, Results
from streamgauge.results.call import CALL, describe_call, list_files
from streamgauge.results.log import open_log
from streamgauge.schemes import Prequential
from streamgauge.significance.live import LiveTest
from streamgauge.significance.pair_watch import MAX_PAIRED
from streamgauge.significance.prediction_powered import LabelDesign, find_label_design
from streamgauge.significance.requests import PlannedRun, check_tests
from streamgauge.significance.requirements import as_requirements
from streamgauge.significance.single_model import ModelWatch, check_requirement
from streamgauge.streams import as_stream, drifts_of
from streamgauge.streams.base import min_limit
from streamgauge.streams.files.column_roles import Key
from streamgauge.streams.files.used_files import refuse_replacing
from streamgauge.tasks import find_task

__all__ = ["Evaluation", "evaluate"]

Item = TypeVar("Item")


MAX_CELLS = 1_000_000
"""The most cells, learners times folds."""

MAX_FOLDS = 255
"""The most folds in which learners can be compared."""


class Evaluation:
    """An evaluation that can be followed: iterate over it to get each reading as soon as it is taken.

    Its memory does not grow with the stream, so the stream need not end.

    Parameters
    ----------
    stream, learners
        As for `evaluate`; so are all options.

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
        target: Key | None = None,
        weight: Key | None = None,
        time: Key | None = None,
        time_format: str | None = None,
        keep: Sequence[Key] | None = None,
        drop: Sequence[Key] = (),
        numeric: Sequence[Key] = (),
        nominal: Sequence[Key] = (),
        scheme: Scheme | str = Prequential(),
        labelling: Labelling | str | None = None,
        score: Score = "first",
        score_unlabelled_start: bool = False,
        forgetting: Forgetting | str | Sequence[Forgetting | str] | None = None,
        measures: object = None,
        detectors: object = (),
        every: int | None = None,
        n_rows: int | None = None,
        time_limit: float | None = None,
        time_budget: float | None = None,
        call_limit: float | None = None,
        live_test: LiveTest | None = LiveTest(),
        budgets: object = None,
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
        _check_numbers({"n_rows": n_rows, "every": every, "batch_size": batch_size}, least=1, n_bits=63)
        _check_numbers({"seed": seed}, least=0, n_bits=64)
        for option, seconds in (("time_limit", time_limit), ("time_budget", time_budget), ("call_limit", call_limit)):
            if seconds is not None:
                require_between(option, seconds, 0.0, float("inf"))
        require_kind("resources", resources, bool, "True or False")
        _check_kinds(recorders, backend, {"checkpoint": checkpoint, "journal": journal})
        found_scheme: Scheme = find_object("scheme", scheme)
        columns = {"target": target, "weight": weight, "time": time, "time_format": time_format, "keep": keep}
        columns |= {"drop": drop, "numeric": numeric, "nominal": nominal}
        self.stream, hidden = _find_stream(stream, columns)
        for recorder in recorders:
            if isinstance(recorder, Predictions | ConfusionMatrices):
                refuse_replacing(self.stream, recorder.path)
        self.specs, self._learner_notes = plan_fits(name_learners(find_learners(learners)), found_scheme)
        check_score(score)
        self.scheme, self.score, self.backend, self.seed = found_scheme, score, backend, seed
        self.labelling: Labelling = hidden if labelling is None else find_object("labelling", labelling)
        self.score_unlabelled_start = score_unlabelled_start
        self._stream, period = adopt_stream(self.stream), adopt_scheme(self.scheme).period
        default: Forgetting = Landmark() if period is None else Window(period[1])
        forgettings = default if forgetting is None else find_object("forgetting", forgetting)
        self.forgettings: tuple[Forgetting, ...] = (
            tuple(forgettings) if isinstance(forgettings, Sequence) else (forgettings,)
        )
        for each in self.forgettings:
            require_kind("forgetting", each, Forgetting, "objects such as Window(1000)")
        self.measures = self._find_measures(measures)
        is_bounded = n_rows is not None or self._stream.ends or self.stream.n_rows is not None
        _check_folds(self.scheme, len(self.specs))
        check_forgettings(self.forgettings, find_task(self.stream.schema), self.measures, is_bounded=is_bounded)
        _check_times(self._stream, self.labelling, self.forgettings)
        self.detectors = name_detectors(detectors, find_task(self.stream.schema))
        self.recorders, self.resources, self.journal = tuple(recorders), resources, journal
        _check_live_test(live_test)
        self.time_limit, self.time_budget, self.call_limit, self.live_test = (
            time_limit,
            time_budget,
            call_limit,
            live_test,
        )
        self._limit, self._every = n_rows, every or (None if period is None else period[0])
        self._source = RowSource(self.stream, self.scheme, self.labelling, seed, n_rows)
        self._source.require_second_pass()
        if not isinstance(self._stream, LiveStreamBase):  # a live one cannot know which values will be missing
            self._check_learners(is_bounded=is_bounded)
        single_pass = len(self.specs) * self._source.scheme.n_folds == 1 and self._stream.in_memory
        self.batch_size = batch_size or default_batch_size(self._source.schema, single_pass=single_pass)
        self.checkpoints: CheckpointPolicy | None = None
        if checkpoint is not None or checkpoint_every is not None or resume:
            self.checkpoints = as_policy(checkpoint, checkpoint_every, resume=resume, trust=trust_checkpoint)
        self._hints: tuple[str, ...] = ()
        self.stop_after: int | None = None
        """A row after which the run ends although more rows were planned; None for no such row."""
        self._resume = resume
        self._run: Run | PushedRun | None = None
        self.requirements = as_requirements(budgets)
        self._bound = tuple(each.bind(self._source.schema, self.measures) for each in self.requirements)
        self._check_requirements()
        self._build_run_spec()  # checks the live test

    def _find_measures(self, wanted: object) -> tuple[Measure, ...]:
        """Return the measures of the run; raise if one of them, or a learner, is for another task."""
        check_tasks(self.specs, find_task(self.stream.schema))
        return find_measures(wanted, self.stream)

    def _check_learners(self, *, is_bounded: bool) -> None:
        """Raise if a learner is known not to take the rows; that of an ARFF file may, not must, have missing values."""
        try:
            check_schema(self.specs, self._source.schema)
        except StreamgaugeError:
            if self._stream.in_memory or not is_bounded:
                raise
            check_schema(self.specs, self._source.observe_schema())

    def _check_requirements(self) -> None:
        """Raise if a requirement cannot be judged in this run."""
        if self._bound and self._source.scheme.repeats_tests:
            msg = (
                f"budgets: {to_text(self.scheme)} tests the same rows again and again, which are no new evidence; use"
                " another scheme, such as Prequential()"
            )
            raise StreamgaugeError(msg)
        for requirement in self._bound:
            check_requirement(requirement, self._build_plain_spec().block_layout)

    @cached_property
    def run_spec(self) -> RunSpec:
        """The cells of the run, as a plain description."""
        return replace(self._build_run_spec(), every=self.every)

    def _build_run_spec(self) -> RunSpec:
        spec = self._build_plain_spec()
        live_test = self._find_live_test()
        if live_test is None:
            return spec
        compared = live_test.find_measures(self.measures, self._source.schema, spec.block_layout)
        k, waits = spec.n_folds, spec.labels_wait
        by_tallies = tuple(m for m in compared if not live_test.uses_counts(m, k, labels_wait=waits))
        with_votes = spec.with_votes or any(map(needs_votes, by_tallies))
        by_tallies = (*spec.live_measures, *(m for m in by_tallies if m not in spec.live_measures))
        spec = replace(spec, live_measures=by_tallies, compared=compared, with_votes=with_votes)
        live_test.check(compared, spec.block_layout, k, labels_wait=waits)
        return spec

    def _find_live_test(self) -> LiveTest | None:
        """Return the live test, if there are learners to compare on rows that are tested once."""
        can_compare = len(self.specs) > 1 and not self._source.scheme.repeats_tests
        return self.live_test if can_compare else None

    def _build_plain_spec(self) -> RunSpec:
        return RunSpec(
            schema=self._source.schema,
            scheme=self._source.scheme,
            learners=self.specs,
            forgettings=self.forgettings,
            measures=self.measures,
            detectors=self.detectors,
            seed=self.seed,
            with_votes=find_task(self._source.schema).has_votes
            and (
                self._label_design is not None
                or any(map(needs_votes, (*self.measures, *self.required_measures)))
                or any(map(needs_votes, self.recorders))
            ),
            with_cell_batches=bool(self.recorders),
            metered=self._is_metered,
            time_budget=self.time_budget,
            call_limit=self.call_limit,
            n_rows=self.n_rows_known,
            rows=RowSourceSpec(
                self.stream, self.scheme, self.labelling, self.seed, self.score, self._scores_unlabelled_start
            ),
            live_measures=self.required_measures,
            keeps_looks=bool(self.required_measures),
            labels_wait=self.score == "first" and not isinstance(self.labelling, AllLabels),
            label_design=self._label_design,
        )

    @cached_property
    def _label_design(self) -> LabelDesign | None:
        """How rows are chosen for a label, if losses can be estimated from few labels.

        That needs predictions for rows without a label, and tests of the rows that may get one.
        """
        scheme = self._source.scheme
        if self.score != "first" or scheme.repeats_tests or scheme.period is not None:
            return None
        if not find_task(self._source.schema).has_votes:
            return None
        return find_label_design(self.labelling, scheme.training if isinstance(scheme.training, int) else 0)

    @property
    def _scores_unlabelled_start(self) -> bool:
        """Whether all rows are scored; learners are compared on the same rows, so none may need labels to start."""
        return self.score_unlabelled_start or all(map(is_trained, self.specs.values()))

    def check_tests(
        self, tests: Sequence[str], *, measure: str | None = None, alpha: float = 0.05, forgetting: str | None = None
    ) -> tuple[str, ...]:
        """Return the names of tests as `compare` spells them; raise if one of them could not follow the run.

        Parameters
        ----------
        tests
            Names of tests; none for the recommended one.
        measure, alpha, forgetting
            As for `streamgauge.compare`.

        Examples
        --------
        >>> from streamgauge import SEA, Bootstrap, NaiveBayes, NoChange
        >>> evaluation = Evaluation(SEA(), [NaiveBayes(), NoChange()], scheme=Bootstrap(10))
        >>> evaluation.check_tests(["sign_test"])
        ('sign',)
        >>> evaluation.check_tests(["sign_test"], measure="kappa")
        Traceback (most recent call last):
        ...
        streamgauge.errors.StreamgaugeError: sign compares readings, and kappa is not measured in this run: add it to \
the measures, or use two_way_t
        """
        planned = PlannedRun(
            n_folds=self._source.scheme.n_folds,
            scheme=to_text(self.scheme),
            schema=self._source.schema,
            measures=self.measures,
            layout=self._build_run_spec().block_layout,
            repetitions=self._source.scheme.repetitions,
            resampling=self._source.scheme.resampling,
            repeats_tests=self._source.scheme.repeats_tests,
            n_rows=self.n_rows_known,
            forgettings=tuple(map(to_text, self.forgettings)),
        )
        return check_tests(planned, tests, measure=measure, alpha=alpha, forgetting=forgetting)

    def _check_log(self, log: Path) -> Path:
        """Return the path of a log; raise if it would replace a file that the run reads."""
        if any(log.resolve() == Path(file.path) for file in list_files((self.stream, self.scheme))):
            msg = f"the log {log} is a file that the run reads: choose another name"
            raise StreamgaugeError(msg)
        return log

    @property
    def _is_metered(self) -> bool:
        return self.resources or self.time_budget is not None

    @cached_property
    def n_rows(self) -> int | None:
        """The most rows to read; None if there is no known end."""
        return min_limit(self._limit, self.stream.n_rows)

    @property
    def n_rows_known(self) -> int | None:
        """As `n_rows`, if that is known without counting the rows of a file."""
        needs_count = self._stream.ends and "n_rows" not in self.__dict__
        return self._limit if needs_count else self.n_rows

    @property
    def ends(self) -> bool:
        """Whether the run ends, if only by a time limit or Ctrl-C; counts no rows of a file."""
        limited = self.time_limit is not None or isinstance(self._stream, LiveStreamBase)
        limited = limited or min_limit(self._limit, self.stop_after) is not None
        return limited or self._stream.ends or self.stream.n_rows is not None

    @property
    def status(self) -> str:
        """The state of a live stream as a short text."""
        return self._stream.status

    @cached_property
    def every(self) -> int:
        """The number of rows between two readings."""
        return self._every or (10_000 if self.n_rows is None else max(1, self.n_rows // 200))

    def __repr__(self) -> str:
        return f"Evaluation of {', '.join(self.specs)} on {to_text(self.stream)}, {to_text(self.scheme)}"

    def __iter__(self) -> Iterator[Reading]:
        for progress in self.advance():
            yield from self.readings_of(progress)

    def readings_of(self, progress: Progress) -> Iterator[Reading]:
        """Yield the readings of a batch."""
        return list_readings(progress.rows, progress.values, *self._names)

    def advance(self, should_stop: Callable[[], bool] = lambda: False) -> Iterator[Progress]:
        """Run batch by batch, from the start or a checkpoint, until the rows end or `should_stop` returns True."""
        if self.journal is None:
            self._run = run = self._make_run()
            yield from run.advance(should_stop)
            return
        with_times = self._stream.has_times is not False
        compared = tuple(measure.name for measure in self._build_run_spec().compared)
        layout = Layout(*self._names, self._source.scheme.n_folds, self._is_metered, with_times, compared)
        with Journal(self.journal, layout, self._describe()) as journal:
            self._run = run = self._make_run()
            for progress in run.advance(lambda: should_stop() or journal.is_stop_requested):
                journal.write_progress(progress, self.failures, self._describe_source)
                yield progress
            journal.close("cut short" if run.ended_by else "complete", run.ended_by)

    def push_rows(self) -> PushedRun:
        """Return a run to which a caller passes batches of rows with predictions, in place of the stream."""
        live_test, n_analyses = self._plan_analyses()
        self._run = run = PushedRun(
            self._source,
            self.run_spec,
            every=self.every,
            live_test=live_test,
            n_analyses=n_analyses,
            model_watch=self._make_model_watch(),
        )
        return run

    def _make_run(self) -> Run:
        live_test, n_analyses = self._plan_analyses()  # may count the rows of a file, so it comes before run_spec
        options = RunOptions(
            score=self.score,
            score_unlabelled_start=self._scores_unlabelled_start,
            every=self.every,
            n_rows=min_limit(self._limit, self.stop_after),
            batch_size=self.batch_size,
            time_limit=self.time_limit,
            live_test=live_test,
            n_analyses=n_analyses,
            model_watch=self._make_model_watch(),
            backend=self.backend,
            recorders=self.recorders,
            recorder_context=(self.stream, self._source.schema, list(self.specs), self._forgetting_names),
            checkpoints=self.checkpoints,
            manifest=self._make_manifest,
        )
        return Run(self._source, self.run_spec, options)

    def _make_manifest(self) -> RunManifest:
        """Return what must fit a checkpoint for the run to resume from it."""
        recorders = [to_text(recorder) for recorder in self.recorders]
        return RunManifest.here(*self._names, {**self._describe(), "recorders": recorders})

    @property
    def required_measures(self) -> tuple[Measure, ...]:
        """The measures of the requirements, each once."""
        return tuple({requirement.measure.name: requirement.measure for requirement in self._bound}.values())

    def _make_model_watch(self) -> ModelWatch | None:
        """Return what judges each learner by the requirements; None if there are none."""
        if not self._bound:
            return None
        scheme, run_spec, live_test = self._source.scheme, self.run_spec, self.live_test or LiveTest()
        once = (scheme.resampling, scheme.test) in (("CrossValidation", "held_out"), ("Split", "training"))
        return ModelWatch(
            tuple(self.specs),
            scheme.n_folds,
            self._bound,
            run_spec.block_layout,
            alpha=live_test.alpha,
            shared=live_test.shared,
            tests_per_row=scheme.repetitions if once else scheme.n_folds,
            note="only rows whose label has arrived count" if run_spec.labels_wait else "",
            label_design=run_spec.label_design,
            losses=run_spec.few_label_losses,
        )

    def _plan_analyses(self) -> tuple[LiveTest | None, int | None]:
        """Return the live test and the number of readings; rows of a file are not counted for it alone."""
        is_counted = self._every is None or not self._stream.ends
        n_rows = self.n_rows if is_counted else self._limit
        live_test = self._find_live_test()  # None if the same rows are tested again: they are no new evidence
        if live_test is None or n_rows is None:
            return live_test, None
        return live_test, -(-n_rows // self.every) or 1

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The learners that have failed so far, each with its fold, row and error."""
        return () if self._run is None else self._run.collector.failures

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What is known of each pair of learners at the last reading, without learners that have failed."""
        return () if self._run is None else self._run.collector.verdicts

    @property
    def model_verdicts(self) -> tuple[ModelVerdict, ...]:
        """What is known of each learner and requirement at the last reading, without learners that have failed."""
        return () if self._run is None else self._run.collector.model_verdicts

    @property
    def _forgetting_names(self) -> tuple[str, ...]:
        return tuple(to_text(forgetting) for forgetting in self.forgettings)

    @property
    def _names(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """The names of the learners, the forgettings and the measures."""
        return tuple(self.specs), self._forgetting_names, tuple(measure.name for measure in self.measures)

    def results(self, progress: Iterable[Progress]) -> Results:
        """Join the progress of all batches."""
        if self._run is None:
            self._run = self._make_run()
        collector, task = self._run.collector, find_task(self._source.schema)
        parts = list(progress)
        read = [part for part in parts if len(part.rows)]
        learners, forgettings, measures = self._names
        shape = (0, len(learners), self._source.scheme.n_folds, len(forgettings), len(measures))
        return Results(
            rows=np.concatenate([np.empty(0, dtype=np.int64), *(part.rows for part in read)]),
            values=np.concatenate([np.empty(shape), *(part.values for part in read)]),
            learners=learners,
            forgettings=forgettings,
            measures=measures,
            pairs=collector.pairs,
            n_rows=collector.n_done,
            complete=not self._run.ended_by,
            description=self._describe_end(),
            feedback=collector.feedback,
            resources=collector.resources(read),
            failures=collector.failures,
            alarms=tuple(alarm for part in parts for alarm in part.alarms),
            verdicts=collector.verdicts,
            model_verdicts=collector.model_verdicts,
            label_estimates=collector.label_estimates,
            labels=join_label_counts(read, task.label_groups),
            times=join_times(read),
            differences=collector.differences,
            blocks=collector.blocks,
            own_measures={measure.name: measure for measure in self.measures},
            confusions=join_confusions(read, self.every, self._source.schema.classes),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user must know: how the rows are read, how learners are run and, after the run, what would be faster.

        Examples
        --------
        >>> from streamgauge import SEA, NaiveBayes
        >>> Evaluation(SEA(), NaiveBayes()).notes
        ()
        """
        return (*self._stream.notes, *self._learner_notes, *self._list_pair_notes(), *self._hints)

    def _list_pair_notes(self) -> list[str]:
        n = len(self.specs)
        if n <= MAX_PAIRED:
            return []
        return [
            f"{n:,} learners: only pairs of the first {MAX_PAIRED} are compared; compare others in a run of their own"
        ]

    def _describe_untrained(self) -> tuple[str, ...]:
        """Return which learners had too few rows to be fitted, unless the scheme fits them when training ends."""
        scheme = self._source.scheme
        if self._run is None or scheme.trains_first or scheme.training != 0:
            return ()
        n_rows = self._run.collector.n_done
        hints = (describe_untrained(name, spec, n_rows) for name, spec in self.specs.items() if n_rows)
        return tuple(hint for hint in hints if hint is not None)

    def _suggest_chunks(self) -> tuple[str, ...]:
        """Return what chunks would gain for learners that took long; a live stream cannot be read again to time it."""
        spent = {} if self._run is None else self._run.collector.spent
        slow = [name for name, spec in self.specs.items() if can_have_chunks(spec) and spent[name][0] > LONG_SECONDS]
        if not slow or isinstance(self._stream, LiveStreamBase):
            return ()
        rows, _ = self._source.read(0, ROWS_NEEDED)
        hints = (suggest_chunks(name, self.specs[name], self._source.schema, rows, spent[name]) for name in slow)
        return tuple(hint for hint in hints if hint is not None)

    def _describe_drifts(self) -> list[dict[str, object]]:
        n_done = 0 if self._run is None else self._run.collector.n_done
        return [asdict(drift) for drift in drifts_of(self.stream, n_done)]

    def _describe_source(self) -> dict[str, object]:
        """Describe what changes during a run: the drifts so far, the state of a live source, estimates of losses."""
        estimates = () if self._run is None else self._run.collector.label_estimates
        return {
            "drifts": self._describe_drifts()[-1000:],
            "source": dict(self._stream.facts()),
            "label_estimates": [asdict(estimate) for estimate in estimates],
        }

    def _describe_end(self) -> dict[str, object]:
        """Describe the run so far, for the manifest of its results."""
        run = self._run
        ended_by, n_done, seconds = ("", 0, 0.0) if run is None else (run.ended_by, run.collector.n_done, run.seconds)
        description: dict[str, Any] = {**self._describe()}
        live: Mapping[str, object] = self._stream.facts()
        if live or isinstance(self._stream, LiveStreamBase):
            description["live"] = dict(live)
        if not ended_by:
            description["stream"] = {**description["stream"], "n_rows": n_done}
        notes = {"notes": list(self.notes)} if self.notes else {}
        return {
            **description,
            "drifts": self._describe_drifts(),
            "seconds": seconds,
            "ended_by": ended_by or "end of the rows",
            **notes,
        }

    def _describe(self) -> RunDescription:
        """Describe the run by what is known before it starts, for its manifest everywhere."""
        learners = {name: {"spec": to_text(spec), "seedless": spec.seedless} for name, spec in self.specs.items()}
        facts = {
            "stream": {
                "name": to_text(self.stream),
                "fingerprint": self.stream.fingerprint,
                "n_rows": self.n_rows_known,
            },
            "learners": learners,
            "scheme": {
                "name": to_text(self.scheme),
                "n_folds": self._source.scheme.n_folds,
                "test": self._source.scheme.test,
                **({"resampling": resampling} if (resampling := self._source.scheme.resampling) else {}),
                **({"repetitions": repetitions} if (repetitions := self._source.scheme.repetitions) > 1 else {}),
                **({"repeats_tests": True} if self._source.scheme.repeats_tests else {}),
            },
            "labelling": to_text(self.labelling),
            "score": self.score,
            **({"score_unlabelled_start": True} if self.score_unlabelled_start else {}),
            "forgettings": list(self._forgetting_names),
            "measures": {measure.name: describe_measure(measure) for measure in self.measures},
            "detectors": {name: to_text(detector) for name, detector in self.detectors.items()},
            "every": self.every,
            "time_limit": self.time_limit,
            "time_budget": self.time_budget,
            **({} if self.call_limit is None else {"call_limit": self.call_limit}),
            "live_test": None if self.live_test is None else to_text(self.live_test),
            **({"budgets": list(map(str, self.requirements))} if self.requirements else {}),
            "seed": self.seed,
            CALL: self.describe_arguments(),
        }
        return cast("RunDescription", facts)

    def describe_arguments(self) -> dict[str, Any]:
        """Return the arguments of this evaluation, so that it can be repeated."""
        return describe_call(
            stream=self.stream,
            learners=self.specs,
            scheme=self.scheme,
            labelling=self.labelling,
            forgettings=self.forgettings,
            measures=self.measures,
            detectors=self.detectors,
            live_test=self.live_test,
            budgets=self.requirements,
            options={
                "score": self.score,
                "score_unlabelled_start": self.score_unlabelled_start,
                "every": self._every,
                "n_rows": self._limit,
                "time_budget": self.time_budget,
                "call_limit": self.call_limit,
                "seed": self.seed,
                "resumed": self._resume,
            },
        )

    def run(
        self,
        *,
        progress: bool | None = None,
        on_reading: Callable[[Reading], object] | None = None,
        on_verdict: Callable[[Verdict | ModelVerdict], object] | None = None,
        log: Path | str | None = None,
    ) -> Results:
        """Run to the end, or until Ctrl-C, and return the results; the options are those of `evaluate`.

        Examples
        --------
        >>> from streamgauge import SEA, NaiveBayes
        >>> Evaluation(SEA(n_rows=100), NaiveBayes()).run().n_rows
        100
        """
        if not self.ends:
            msg = "the stream never ends: set n_rows, or iterate over an Evaluation"
            raise EndlessStreamError(msg)
        _check_callbacks({"on_reading": on_reading, "on_verdict": on_verdict}, log)
        _warn(self.notes, StreamWarning)
        parts = []
        with ExitStack() as stack:
            writer = None if log is None else stack.enter_context(open_log(self._check_log(Path(log))))
            if writer is not None:
                writer.write("start", {name: fact for name, fact in self._describe().items() if name != CALL})
            should_stop = stack.enter_context(catch_stop_signals(terminate=self.checkpoints is not None))
            advance_to = stack.enter_context(progress_bar(self.n_rows_known, shown=progress))
            for part in self.advance(should_stop):
                if len(part.rows) or part.alarms:
                    parts.append(part)
                advance_to(part.n_rows, lambda: self.status)
                _notify(on_reading, self.readings_of(part))
                _notify(on_verdict, part.new_verdicts)
                if writer is not None:
                    times = (
                        None if part.times is None else dict(zip(part.rows.tolist(), part.times.tolist(), strict=True))
                    )
                    writer.write_batch(self.readings_of(part), part.alarms, part.new_verdicts, self.failures, times)
            self._hints = (*self._describe_untrained(), *self._suggest_chunks())
            results = self.results(parts)
            if writer is not None:
                writer.write("end", {"row": results.n_rows, "ended_by": results.description["ended_by"]})
        _warn((f"{failure}; its readings from there on are NaN" for failure in self.failures), FailureWarning)
        _warn(self._hints, StreamWarning)
        return results


def _warn(texts: Iterable[str], category: type[Warning]) -> None:
    """Issue warnings at the line that called `evaluate`."""
    for text in texts:
        warnings.warn(text, category, stacklevel=4)


def _find_stream(stream: object, columns: Mapping[str, Any]) -> tuple[Stream, Labelling]:
    """Return a stream from what was given, and when its labels arrive."""
    if isinstance(stream, str | Path):
        given = {name: value for name, value in columns.items() if value is not None and value != ()}
        found, hidden = find_labelled_stream(str(stream), **given)
        return found, AllLabels() if hidden is None else hidden
    refuse_class("stream", stream)
    return as_stream(stream, **columns), AllLabels()


def _check_live_test(live_test: object) -> None:
    if not isinstance(live_test, LiveTest | None):
        msg = f"live_test = {live_test!r}: pass a LiveTest, such as LiveTest(measure='kappa'), or None"
        raise StreamgaugeError(msg)


def _check_numbers(options: Mapping[str, int | None], least: int, n_bits: int) -> None:
    for option, value in options.items():
        if value is not None or option == "seed":
            require_at_least(option, value, least)  # type: ignore[arg-type]
        if value is not None and value >= 2**n_bits:
            msg = f"{option} = {value}: it must be below 2**{n_bits}"
            raise StreamgaugeError(msg)


def _check_kinds(recorders: object, backend: object, folders: Mapping[str, object]) -> None:
    require_kind("backend", backend, Backend, "an object of streamgauge.backends, such as Threads(2)")
    require_kind(
        "recorders", recorders, (list, tuple), "a list, such as [streamgauge.results.Predictions('p.parquet')]"
    )
    for recorder in recorders:  # type: ignore[attr-defined]
        require_kind(
            "recorders", recorder, Recorder, "an object with a method open(), such as Predictions('p.parquet')"
        )
    for option, folder in folders.items():
        if folder is not None and not isinstance(folder, CheckpointPolicy):
            require_path(option, folder)


def _check_callbacks(functions: Mapping[str, object], log: object) -> None:
    for option, function in functions.items():
        if function is not None and not callable(function):
            msg = f"{option} = {function!r}: it must be a function"
            raise StreamgaugeError(msg)
    if log is not None:
        require_path("log", log)


def _check_times(stream: StreamBase, labelling: Labelling, forgettings: Sequence[Forgetting]) -> None:
    """Raise if a part of the run needs times and the rows are known to have none."""
    parts: list[tuple[Labelling | Forgetting, str]] = [(labelling, "Delayed(rows=...)")]
    parts += [(forgetting, "Window(width=...)") for forgetting in forgettings]
    for part, substitute in parts:
        if needs_times(part) and stream.has_times is False:
            msg = (
                f"{to_text(part)} needs the times of the rows, but {to_text(stream)} has none: name the column of times"
                f" with time=... (--time on the command line), or count in rows with {substitute}"
            )
            raise StreamgaugeError(msg)


def _check_folds(scheme: Scheme, n_learners: int) -> None:
    n_cells = adopt_scheme(scheme).n_folds * n_learners
    if n_cells > MAX_CELLS:
        msg = f"{to_text(scheme)} and {n_learners} learners make {n_cells:,} cells; the most is {MAX_CELLS:,}"
        raise StreamgaugeError(msg)
    if adopt_scheme(scheme).n_folds > MAX_FOLDS and n_learners > 1:
        msg = f"{to_text(scheme)} has more than {MAX_FOLDS} folds, which is the most for a comparison of learners"
        raise StreamgaugeError(msg)


def evaluate(  # noqa: PLR0913
    stream: object,
    learners: object,
    *,
    target: Key | None = None,
    weight: Key | None = None,
    time: Key | None = None,
    time_format: str | None = None,
    keep: Sequence[Key] | None = None,
    drop: Sequence[Key] = (),
    numeric: Sequence[Key] = (),
    nominal: Sequence[Key] = (),
    scheme: Scheme | str = Prequential(),
    labelling: Labelling | str | None = None,
    score: Score = "first",
    score_unlabelled_start: bool = False,
    forgetting: Forgetting | str | Sequence[Forgetting | str] | None = None,
    measures: object = None,
    detectors: object = (),
    every: int | None = None,
    n_rows: int | None = None,
    time_limit: float | None = None,
    time_budget: float | None = None,
    call_limit: float | None = None,
    live_test: LiveTest | None = LiveTest(),
    budgets: object = None,
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
    progress: bool | None = None,
    on_reading: Callable[[Reading], object] | None = None,
    on_verdict: Callable[[Verdict | ModelVerdict], object] | None = None,
    log: Path | str | None = None,
) -> Results:
    """Evaluate learners on a stream, all in one pass.

    It is equivalent to this loop, run for every learner in every fold at the same time::

        for x, y in stream:
            score(learner.predict(x), y)
            learner.learn(x, y)

    If a learner fails, a `FailureWarning` is issued, `Results.failures` has an entry, its readings from there on are
    NaN, and the others continue. If all learners fail, an error is raised.

    Ctrl-C ends the run after the current batch; the results so far are returned, marked as incomplete. With
    `checkpoint` the run can be resumed later, also after it was killed.

    Parameters
    ----------
    stream
        A stream, a pair of arrays (x, y), or a table of pandas, polars or Arrow, or a dictionary of columns, with
        `target`. As text, what the command line takes: the path of a file, the name of a data set, a generator with
        its options, such as ``"RandomRBF(n_rows=1000)"``.
    learners
        A learner, a list, or a dictionary of learners by name; those of other libraries are recognised. A text names
        one with its options, such as ``"HoeffdingTree(grace_period=100)"``; so do those for `scheme`, `labelling` and
        `forgetting`.
    target
        The name of the column with the labels, if the stream is a table or the path of a file.
    weight, time, time_format, keep, drop, numeric, nominal
        Other columns, with the same meaning as for `File`: those that hold the weight and the time of a row,
        how times are written, the attributes to keep or to drop, and columns to read as numbers or as names.
    scheme
        Which rows are tested and learnt in which fold.
    labelling
        When the labels arrive that the learners may see. None for with their rows; of the folder of a sample, as the
        sample hides them.
    score
        Which prediction of a row is scored: the "first", made when it arrived; the "last", made just before its label
        was learnt; or "labelled", the first one, but only of rows whose label arrives, and only when it arrives.
    score_unlabelled_start
        Whether to score the rows that were tested before any fold could have learnt a label, when labels are late. By
        default they are left out, unless all learners came trained; `Feedback.n_left_out` counts them.
    forgetting
        How the past fades, or several ways. None for all rows; with `Holdout`, for the last test.
    measures
        What to measure, one or several: names, such as ``kappa_m``, ``recall[up]``, ``Hoeffding(delta=0.01)``, ``all``;
        measures; plain functions of a tally, of y_true and y_pred, or of y_true and y_score; scorers of scikit-learn.
        None for the accuracy, with a numeric target the mean absolute error (``mae``).
    detectors
        Drift detectors, or their names, that watch the errors of every learner in every fold: 1 for a scored prediction
        that was wrong. Their alarms are in the results.
    every
        The number of rows between two readings; there is always one at the end. None for 200 readings, or one every
        10,000 rows if the number of rows is unknown; with `Holdout`, for one after each test.
    n_rows
        The most rows to read.
    time_limit
        The most seconds to run; the run then ends after the current rows.
    time_budget
        The most seconds that a prediction may take; a late one is an error.
    call_limit
        The most seconds that a call of a learner may take (to predict or to learn a row, a chunk, or for learners that
        run batches themselves the rows of about a second); a learner that takes longer fails, and the others go on.
        Python code is interrupted; native code fails when it returns.
    live_test
        How any two learners are compared at every reading, see `streamgauge.significance.LiveTest`; None for not at
        all.
    budgets
        What each learner must keep, judged at every reading: a text or `streamgauge.significance.Requirement`, or
        several. ``error<0.05``, ``recall[fraud]>0.5``; ``error<reference(5000)+0.01``: it may not become worse than in
        its first 5,000 rows by more than one percentage point; ``beats majority``, ``beats no change``. The verdicts
        are in `Results.model_verdicts`; they share the alpha of `live_test`.
    seed
        Decides the folds and, with each learner's own seed, the learners' random numbers.
    batch_size
        The number of rows passed to native code at once; the results do not depend on it. None for about 16 MB, or
        64 MB if the rows are in memory and there is one cell (one learner in one fold).
    resources
        Whether to measure the cost of each learner: time, latency and memory. It adds some 15 ns per row and learner.
    recorders
        What else to record: see `streamgauge.results`.
    backend
        Where the cells run; the results do not depend on it.
    checkpoint
        A folder for checkpoints, from which a stopped or killed run can be resumed.
    checkpoint_every
        The number of rows between two checkpoints; None for about every 30 seconds.
    resume
        Whether to resume from the latest checkpoint in the folder, if there is one: the readings up to there are
        repeated first, and the results are those of a run that was never stopped.
    trust_checkpoint
        Whether to load a checkpoint from elsewhere although it holds pickled learners, which may run any code.
    journal
        A folder into which the run writes its progress, so that the dashboard can follow it.
    progress
        Whether to show progress. None to show it once a run has taken a second, on a terminal or in a notebook.
    on_reading
        Called with every reading as soon as it is taken.
    on_verdict
        Called with the verdict on two learners, or on one and a budget, as soon as it is reached, and again when it no
        longer holds.
    log
        A file that gets every reading, alarm, verdict and failure as a line of JSON, as it happens.

    Examples
    --------
    >>> from streamgauge import HoeffdingTree, MajorityClass, SEA, evaluate
    >>> results = evaluate(SEA(n_rows=10_000), [HoeffdingTree(), MajorityClass()], every=5_000)
    >>> results.learners, results.rows.tolist()
    (('HoeffdingTree', 'MajorityClass'), [5000, 10000])
    >>> bool(results.curve("HoeffdingTree", "accuracy")[-1, 0] > results.curve("MajorityClass", "accuracy")[-1, 0])
    True
    """
    evaluation = Evaluation(
        stream,
        learners,
        target=target,
        weight=weight,
        time=time,
        time_format=time_format,
        keep=keep,
        drop=drop,
        numeric=numeric,
        nominal=nominal,
        scheme=scheme,
        labelling=labelling,
        score=score,
        score_unlabelled_start=score_unlabelled_start,
        forgetting=forgetting,
        measures=measures,
        detectors=detectors,
        every=every,
        n_rows=n_rows,
        time_limit=time_limit,
        time_budget=time_budget,
        call_limit=call_limit,
        live_test=live_test,
        budgets=budgets,
        seed=seed,
        batch_size=batch_size,
        resources=resources,
        recorders=recorders,
        backend=backend,
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
        resume=resume,
        trust_checkpoint=trust_checkpoint,
        journal=journal,
    )
    return evaluation.run(progress=progress, on_reading=on_reading, on_verdict=on_verdict, log=log)


def _notify(callback: Callable[[Item], object] | None, items: Iterable[Item]) -> None:
    if callback is not None:
        for item in items:
            callback(item)
