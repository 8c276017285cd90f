"""One run of an experiment: claimed, evaluated and kept."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from streamgauge._engine.journal import format as files
from streamgauge.backends import Threads
from streamgauge.errors import CheckpointWarning, FailureWarning, StreamgaugeError
from streamgauge.evaluation import evaluate
from streamgauge.experiments.checkpoints import RunCheckpoints
from streamgauge.experiments.experiment import MADE, Job
from streamgauge.experiments.stream_sources import Opened
from streamgauge.records import Reading
from streamgauge.results import Results
from streamgauge.store import Claim, Store
from streamgauge.streams.true_drifts import min_limit

__all__ = ["Event", "Settings", "perform"]

Kind = Literal["started", "advanced", "finished", "failed", "stopped", "done", "busy", "noted"]


@dataclass(frozen=True)
class Event:
    """What became of a job.

    Parameters
    ----------
    kind
        It started, advanced, finished, failed or was stopped; it was done before; others are busy with it; or there
        is something to be noted.
    place
        Which job of the experiment.
    label
        What it is, for people.
    n_rows
        How many rows are done; when it starts, how many there will be, or 0.
    n_learners, n_failed
        How many learners it evaluates, and how many of them failed.
    text
        Why it failed, or what is to be noted.
    """

    kind: Kind
    place: int
    label: str = ""
    n_rows: int = 0
    n_learners: int = 0
    n_failed: int = 0
    text: str = ""


@dataclass(frozen=True)
class Settings:
    """How jobs are done: where results go, in how many threads, what counts as done, how often it is kept."""

    folder: str
    threads: int = 1
    since: float | None = None
    together: bool = False
    checkpoint_every: int | None = None


def perform(place: int, job: Job, settings: Settings, report: Callable[[Event], None]) -> None:
    """Do what is missing of a job, and report what becomes of it.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge.experiments.experiment import Experiment
    >>> from streamgauge.experiments.stream_sources import Source
    >>> experiment = Experiment("small", {"sea": Source("SEA", rows=100)}, {"last": "NoChange"})
    >>> (job,) = experiment.jobs()
    >>> settings = Settings(tempfile.mkdtemp())
    >>> _ = Store(settings.folder, new=True)
    >>> for _ in range(2):
    ...     perform(0, job, settings, lambda event: event.kind == "advanced" or print(event.kind))
    started
    finished
    done
    """
    store = Store(settings.folder)
    n_learners = len(job.experiment.learners)
    try:
        claim = _claimed(job, settings, store)
    except (StreamgaugeError, OSError) as error:
        report(Event("failed", place, str(job), n_learners=n_learners, n_failed=n_learners, text=str(error)))
        return
    if isinstance(claim, str):
        report(Event("done" if claim == "done" else "busy", place, str(job), n_learners=n_learners))
    else:
        _Work(place, job, settings, store, claim, report).do()


def _claimed(job: Job, settings: Settings, store: Store) -> Claim | str:
    return store.claim(
        job.condition(),
        job.learners(),
        job.asked(),
        experiment=job.experiment.name,
        since=settings.since,
        together=settings.together,
    )


@dataclass(frozen=True)
class _Work:
    """A job that is claimed."""

    place: int
    job: Job
    settings: Settings
    store: Store
    claim: Claim
    report: Callable[[Event], None]

    def do(self) -> None:
        """Evaluate, and keep what was found or why it failed."""
        n_learners = len(self.claim.learners)
        try:
            self._name()
            with self.job.source.opened(self.job.seed) as opened:
                self.tell("started", min_limit(self.claim.condition.rows, opened.stream.n_rows) or 0)
                results = self._gone_on(opened)
        except Exception as error:  # whatever is wrong with one run, the others go on
            reason = _reason(error)
            self.kept.drop()  # what failed is tried again from its first row
            self.store.fail(self.claim, reason)
            self.tell("failed", n_failed=n_learners, text=reason)
            return
        except BaseException:
            self.store.release(self.claim)
            raise
        if not results.complete:
            self.store.release(self.claim)
            self.tell("stopped")
            return
        self.store.finish(self.claim, results)
        self.kept.drop()
        failed = {failure.learner: str(failure) for failure in results.failures}
        self.tell("finished", results.n_rows, n_failed=len(failed), text="; ".join(failed.values()))

    def tell(self, kind: Kind, n_rows: int = 0, n_failed: int = 0, text: str = "") -> None:
        label, n_learners = str(self.claim.condition), len(self.claim.learners)
        self.report(Event(kind, self.place, label, n_rows, n_learners, n_failed, text))

    def _name(self) -> None:
        """Say in the folder of the run what it is of, for those who watch it."""
        folder, claim = self.store.folder_of(self.claim.run), self.claim
        folder.mkdir(parents=True, exist_ok=True)
        named = {"experiment": claim.experiment, "title": str(claim.condition), "learners": list(claim.learners)}
        files.write_json(folder / files.RUN, named)

    @property
    def kept(self) -> RunCheckpoints:
        """Its checkpoints."""
        folder, run = self.store.folder_of(self.claim.run), self.claim.run
        return RunCheckpoints(folder, run, self.settings.checkpoint_every, self.settings.since)

    def _gone_on(self, opened: Opened) -> Results:
        """Evaluate, from a checkpoint where there is one; where that goes wrong, from the first row."""
        if self.kept.is_there:
            try:
                return self._evaluated(opened)
            except Exception as error:  # as of a checkpoint from elsewhere, or of another version
                self.tell("noted", text=f"it begins anew: {_reason(error)}")
                self.kept.drop()
        return self._evaluated(opened)

    def _evaluated(self, opened: Opened) -> Results:
        experiment, condition = self.job.experiment, self.claim.condition
        scheme = MADE["schemes"](self.job.scheme)
        specs = experiment.specs()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FailureWarning)  # the results say it, too
            warnings.simplefilter("ignore", CheckpointWarning)  # the one before it is as good
            results = evaluate(
                opened.stream,
                {name: specs[name] for name in self.claim.learners},
                scheme=opened.scheme(scheme),
                labelling=opened.labelling or MADE["labellings"](self.job.labelling or "AllLabels"),
                score=experiment.score,
                forgetting=experiment.made_forgettings(scheme),
                measures=tuple(experiment.measures),
                detectors=experiment.made_detectors(),
                every=condition.every,
                n_rows=condition.rows,
                time_budget=condition.time_budget,
                seed=condition.seed,
                resources=experiment.resources,
                backend=Threads(self.settings.threads),
                checkpoint=self.kept.checkpointing(opened.stream, self._cannot_go_on),
                journal=self.store.folder_of(self.claim.run),
                on_reading=_Watch(self),
            )
        return replace(results, description=self._description(results, opened))

    def _cannot_go_on(self, reason: str) -> None:
        self.tell("noted", text=f"if it is killed, it begins anew: {reason}")

    def _description(self, results: Results, opened: Opened) -> dict[str, object]:
        """Name stream, scheme and labelling as the experiment does."""
        told, condition = dict(results.description), self.claim.condition
        stream, scheme = told["stream"], told["scheme"]
        training = "" if opened.training is None else "Pretrained on a training set: "
        names = (condition.stream, f"{training}{condition.scheme}")
        for facts, name in zip((stream, scheme), names, strict=True):
            if isinstance(facts, dict):
                facts["name"] = name
        told["labelling"] = condition.labelling
        return {**told, "experiment": self.claim.experiment, "condition": condition.key, "sample": condition.sample}


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, StreamgaugeError) else f"{type(error).__name__}: {error}"


class _Watch:
    """Tells every now and then how far a run is, to its owner and to the catalogue."""

    def __init__(self, work: _Work) -> None:
        self._work, self._row, self._told, self._noted = work, 0, 0.0, time.monotonic()

    def __call__(self, reading: Reading) -> None:
        """Take notice of a reading."""
        if reading.row == self._row:
            return
        self._row, now = reading.row, time.monotonic()
        if now - self._told > 0.1:
            self._told = now
            self._work.tell("advanced", reading.row)
        if now - self._noted > 5.0:
            self._noted = now
            self._work.store.note_progress(self._work.claim, reading.row)
