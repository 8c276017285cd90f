"""One run of an experiment: claim it, evaluate its learners, save the results."""

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from streamgauge._engine.journal import format as files
from streamgauge.backends import Threads
from streamgauge.errors import CheckpointWarning, FailureWarning, StreamgaugeError, StreamWarning
from streamgauge.evaluation import evaluate
from streamgauge.experiments.checkpoints import RunCheckpoints
from streamgauge.experiments.experiment import MAKERS, Job
from streamgauge.experiments.stream_sources import OpenedStream
from streamgauge.records import Reading
from streamgauge.results import Results
from streamgauge.store import Claim, Store
from streamgauge.streams.base import min_limit

__all__ = ["Event", "Settings", "run_job"]

Kind = Literal["started", "advanced", "finished", "failed", "stopped", "done", "busy", "noted"]


@dataclass(frozen=True)
class Event:
    """Progress of a job.

    Parameters
    ----------
    kind
        The job started, advanced, finished, failed or was stopped; was done before; is busy in another process; or
        has a note.
    index
        Index of the job in the experiment.
    label
        Description of the job.
    n_rows
        Rows done; for a started job the total, or 0 if unknown.
    n_learners, n_failed
        Number of learners it evaluates, and how many of them failed.
    text
        Reason of a failure, or the note.
    """

    kind: Kind
    index: int
    label: str = ""
    n_rows: int = 0
    n_learners: int = 0
    n_failed: int = 0
    text: str = ""


@dataclass(frozen=True)
class Settings:
    """Settings of all jobs: folder of the store, threads per job, what counts as done, rows between checkpoints."""

    folder: str
    threads: int = 1
    ignore_results_before: float | None = None
    ignore_checkpoints_before: float | None = None
    together: bool = False
    checkpoint_every: int | None = None


def run_job(index: int, job: Job, settings: Settings, report: Callable[[Event], None]) -> None:
    """Run the missing part of a job, and report its progress.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge.experiments.experiment import Experiment
    >>> from streamgauge.experiments.stream_sources import Source
    >>> experiment = Experiment("small", {"sea": Source("SEA", rows=100)}, {"last": "NoChange"})
    >>> (job,) = experiment.list_jobs()
    >>> settings = Settings(tempfile.mkdtemp())
    >>> _ = Store(settings.folder, new=True)
    >>> for _ in range(2):
    ...     run_job(0, job, settings, lambda event: event.kind == "advanced" or print(event.kind))
    started
    finished
    done
    """
    store = Store(settings.folder)
    n_learners = len(job.experiment.learners)
    try:
        claim = store.claim(
            job.make_condition(),
            job.describe_learners(),
            job.make_request(),
            experiment=job.experiment.name,
            ignore_results_before=settings.ignore_results_before,
            together=settings.together,
        )
    except (StreamgaugeError, OSError) as error:
        report(Event("failed", index, label=str(job), n_learners=n_learners, n_failed=n_learners, text=str(error)))
        return
    if isinstance(claim, str):
        report(Event("done" if claim == "done" else "busy", index, label=str(job), n_learners=n_learners))
    else:
        _ClaimedJob(index=index, job=job, settings=settings, store=store, claim=claim, report=report).run()


@dataclass(frozen=True)
class _ClaimedJob:
    """A job that this process has claimed."""

    index: int
    job: Job
    settings: Settings
    store: Store
    claim: Claim
    report: Callable[[Event], None]

    def run(self) -> None:
        """Evaluate the learners, and save the results or the reason of a failure."""
        n_learners = len(self.claim.learners)
        try:
            self._write_description()
            with self.job.source.open(self.job.seed) as opened:
                self.report_event("started", min_limit(self.claim.condition.rows, opened.stream.n_rows) or 0)
                results = self._evaluate_or_resume(opened)
        except Exception as error:  # one failed run must not end the others
            reason = _format_error(error)
            self._checkpoints.drop()  # a failed run is retried from its first row
            self.store.fail(self.claim, reason)
            self.report_event("failed", n_failed=n_learners, text=reason)
            return
        except BaseException:
            self.store.release(self.claim)
            raise
        if not results.complete:
            self.store.release(self.claim)
            self.report_event("stopped")
            return
        self.store.finish(self.claim, results)
        self._checkpoints.drop()
        failed = {failure.learner: str(failure) for failure in results.failures}
        self.report_event("finished", results.n_rows, n_failed=len(failed), text="; ".join(failed.values()))

    def report_event(self, kind: Kind, n_rows: int = 0, n_failed: int = 0, text: str = "") -> None:
        self.report(
            Event(
                kind=kind,
                index=self.index,
                label=str(self.claim.condition),
                n_rows=n_rows,
                n_learners=len(self.claim.learners),
                n_failed=n_failed,
                text=text,
            )
        )

    @property
    def _folder(self) -> Path:
        return self.store.get_folder(self.claim.run)

    def _write_description(self) -> None:
        """Write what the run is to its folder, for those who watch it."""
        claim = self.claim
        self._folder.mkdir(parents=True, exist_ok=True)
        facts = {"experiment": claim.experiment, "title": str(claim.condition), "learners": list(claim.learners)}
        files.write_json(self._folder / files.RUN, facts)

    @property
    def _checkpoints(self) -> RunCheckpoints:
        return RunCheckpoints(self._folder, self.settings.checkpoint_every, self.settings.ignore_checkpoints_before)

    def _evaluate_or_resume(self, opened: OpenedStream) -> Results:
        """Resume from a checkpoint if there is one; if that fails, start from the first row."""
        if self._checkpoints.exist:
            try:
                return self._evaluate(opened)
            except Exception as error:  # such as a checkpoint of another version
                self.report_event("noted", text=f"it starts from the first row: {_format_error(error)}")
                self._checkpoints.drop()
        return self._evaluate(opened)

    def _evaluate(self, opened: OpenedStream) -> Results:
        experiment, condition = self.job.experiment, self.claim.condition
        scheme = MAKERS["schemes"](self.job.scheme)
        learners = experiment.make_learners()
        describe = partial(self._describe, opened=opened)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FailureWarning)  # failures are part of the results
            warnings.simplefilter("ignore", CheckpointWarning)  # the checkpoint before it is as good
            warnings.simplefilter("ignore", StreamWarning)  # notes are reported below
            results = evaluate(
                opened.stream,
                {name: learners[name] for name in self.claim.learners},
                scheme=opened.add_training(scheme),
                labelling=opened.labelling or MAKERS["labellings"](self.job.labelling or "AllLabels"),
                score=experiment.score,
                score_unlabelled_start=experiment.score_unlabelled_start,
                forgetting=experiment.make_forgettings(scheme),
                measures=tuple(experiment.measures),
                detectors=experiment.make_detectors(),
                live_test=experiment.make_live_test(),
                budgets=experiment.make_budgets(),
                every=condition.every,
                n_rows=condition.rows,
                time_budget=condition.time_budget,
                seed=condition.seed,
                resources=experiment.resources,
                backend=Threads(self.settings.threads),
                checkpoint=self._checkpoints.make_policy(opened.stream, self._warn, describe),
                journal=self._folder,
                on_reading=_ProgressReporter(self),
                progress=False,
            )
        for note in results.notes:
            self.report(Event("noted", self.index, label=condition.stream, text=note))
        return replace(results, description=describe(results.description))

    def _warn(self, reason: str) -> None:
        self.report_event("noted", text=f"if it is killed, it starts from the first row: {reason}")

    def _describe(self, description: Mapping[str, Any], opened: OpenedStream) -> dict[str, Any]:
        """Return the description of the run with stream, scheme and labelling named as in the experiment."""
        condition = self.claim.condition
        training = "" if opened.training is None else "Pretrained on a training set: "
        return {
            **description,
            "stream": {**description["stream"], "name": condition.stream},
            "scheme": {**description["scheme"], "name": f"{training}{condition.scheme}"},
            "labelling": condition.labelling,
            "experiment": self.claim.experiment,
            "condition": condition.key,
            "sample": condition.sample,
        }


def _format_error(error: Exception) -> str:
    return str(error) if isinstance(error, StreamgaugeError) else f"{type(error).__name__}: {error}"


class _ProgressReporter:
    """Callback for readings that reports the rows done to the owner of the job and to the catalogue."""

    def __init__(self, job: _ClaimedJob) -> None:
        self._job, self._row, self._reported, self._noted = job, 0, 0.0, time.monotonic()

    def __call__(self, reading: Reading) -> None:
        if reading.row == self._row:
            return
        self._row, now = reading.row, time.monotonic()
        if now - self._reported > 0.1:
            self._reported = now
            self._job.report_event("advanced", reading.row)
        if now - self._noted > 5.0:
            self._noted = now
            self._job.store.note_progress(self._job.claim, reading.row)
