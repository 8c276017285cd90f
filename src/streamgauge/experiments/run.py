"""Running the missing part of an experiment."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from streamgauge._engine.signals import catch_stop_signals
from streamgauge.backends.threads import count_cores
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.experiments.checkpoints import RunCheckpoints
from streamgauge.experiments.display import show_progress
from streamgauge.experiments.experiment import Experiment, Job
from streamgauge.experiments.jobs import Event, Settings
from streamgauge.experiments.plan import note_plan
from streamgauge.experiments.toml_reader import read, read_out_folder
from streamgauge.experiments.workers import run_here, run_in_processes
from streamgauge.store import Condition, Store, is_store

__all__ = ["ExperimentOutcome", "find_missing", "run"]

POLL_SECONDS = 1.0
"""Seconds between two checks whether other processes have finished what they claimed."""


@dataclass
class ExperimentOutcome:
    """The outcome of running an experiment.

    Parameters
    ----------
    folder
        Folder of the results.
    n_evaluations
        Number of evaluations of a learner in the experiment.
    n_done
        How many of them were done before, or by other processes meanwhile.
    n_finished, n_failed
        How many finished now, and how many failed.
    failures
        Reasons of the failures, one text per run.
    interrupted
        Whether it was stopped before its end.

    Examples
    --------
    >>> ExperimentOutcome(Path("results"), n_evaluations=4, n_done=1, n_finished=3).complete
    True
    """

    folder: Path
    n_evaluations: int = 0
    n_done: int = 0
    n_finished: int = 0
    n_failed: int = 0
    failures: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Whether all evaluations are done."""
        return self.n_done + self.n_finished == self.n_evaluations

    def note(self, event: Event) -> None:
        """Count the evaluations of a job that ended."""
        if event.kind == "finished":
            self.n_finished += event.n_learners - event.n_failed
        if event.n_failed:
            self.n_failed += event.n_failed
            self.failures.append(f"{event.label}: {event.text}")
        self.interrupted = self.interrupted or event.kind == "stopped"


def run(
    experiment: Experiment | Path | str,
    folder: Path | str | None = None,
    *,
    n_jobs: int | None = None,
    again: bool = False,
    together: bool = False,
    checkpoint_every: int | None = None,
    progress: bool | None = False,
    on_event: Callable[[Event], object] | None = None,
) -> ExperimentOutcome:
    """Run the missing part of an experiment; results that are in the folder are not computed again.

    Several processes may run experiments on one folder: each does what no other has claimed, and waits at the end for
    the others. Work that a process leaves unfinished when it dies is done by the next.

    Ctrl-C stops after the current batches. Unfinished runs, also those that were killed, resume from their latest
    checkpoint the next time, with the same results as without a stop.

    Parameters
    ----------
    experiment
        The experiment, or its TOML file.
    folder
        Folder of the `Store` for the results, created if missing. None for the folder named in the file, or else
        ``results/NAME``.
    n_jobs
        Number of runs in parallel, each in its own process; None for one per core. With 1, runs are done in this
        process, with one thread per core.
    again
        Whether to repeat finished runs.
    together
        Whether to evaluate all learners of a run in one pass, so that each pair can be compared row by row: if one is
        missing, the others are run again.
    checkpoint_every
        Rows between the checkpoints of a run; 0 for none, None for the setting of the experiment.
    progress
        Whether to show progress; None shows bars on a terminal, and lines elsewhere.
    on_event
        Called with every `Event`.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge.experiments import Experiment, Source, run
    >>> experiment = Experiment("small", {"sea": Source("SEA", rows=1000)}, {"bayes": "NaiveBayes", "last": "NoChange"})
    >>> folder = tempfile.mkdtemp()
    >>> run(experiment, folder, n_jobs=1).n_finished
    2
    >>> run(experiment, folder, n_jobs=1).n_done
    2
    """
    if n_jobs is not None:
        require_at_least("n_jobs", n_jobs, 1)
    if checkpoint_every is not None:
        require_at_least("checkpoint_every", checkpoint_every, 0)
    experiment, folder = _resolve(experiment, folder)
    experiment.check_classes()
    n_learners = len(experiment.learners)
    store = Store(folder, new=True)
    _remove_leftovers(store)
    all_jobs = list(experiment.list_jobs())
    note_plan(folder, experiment.name, len(all_jobs))
    store.note_streams([*experiment.streams, *(sample.name for sample in experiment.samples)])
    ignore_results_before = store.find_next_time() if again else None
    cores = count_cores()
    outcome = ExperimentOutcome(folder, n_evaluations=experiment.n_evaluations)
    with show_progress(experiment, shown=progress) as show, catch_stop_signals() as stopping:
        listeners: tuple[Callable[[Event], object], ...] = (show,) if on_event is None else (show, on_event)
        jobs = []
        for index, job in enumerate(_add_fingerprints(all_jobs)):
            if _is_missing(job, store, ignore_results_before):
                jobs.append((index, job))
                continue
            outcome.n_done += n_learners
            for listener in listeners:
                listener(Event("done", index, str(job), n_learners=n_learners))
        n = min(n_jobs or cores, max(1, len(jobs)))
        settings = Settings(
            folder=str(folder),
            threads=max(1, cores // n),
            ignore_results_before=ignore_results_before,
            ignore_checkpoints_before=time.time() if again else None,
            together=together,
            checkpoint_every=experiment.checkpoint_every if checkpoint_every is None else checkpoint_every,
        )
        runner = _Runner(
            n_learners=n_learners,
            settings=settings,
            n_jobs=n,
            outcome=outcome,
            listeners=listeners,
            stopping=stopping,
        )
        while jobs and not outcome.interrupted:
            jobs = runner.run(jobs)
    return outcome


def _remove_leftovers(store: Store) -> None:
    """Remove the checkpoints of finished runs: those of processes that were killed just before they did so."""
    busy = {run["run"] for run in store.running()}
    for run in store.runs():
        if run["status"] == "finished" and run["run"] not in busy:
            RunCheckpoints(store.get_folder(run["run"])).drop()


def _resolve(experiment: Experiment | Path | str, folder: Path | str | None) -> tuple[Experiment, Path]:
    """Return an experiment and the folder of its results."""
    if not isinstance(experiment, Experiment):
        folder = folder or read_out_folder(experiment)
        experiment = read(experiment)
    return experiment, Path(folder or Path("results") / experiment.name)


def find_missing(experiment: Experiment, folder: Path | str) -> list[tuple[Condition, list[str]]]:
    """Return what `run` would run: conditions, each with the learners whose evaluation is not in the folder.

    Examples
    --------
    >>> from streamgauge.experiments import Experiment, Source
    >>> experiment = Experiment("small", {"sea": Source("SEA", rows=1000)}, {"last": "NoChange"})
    >>> [(str(condition), learners) for condition, learners in find_missing(experiment, "no such folder")]
    [('sea, seed 1', ['last'])]
    """
    store = Store(folder) if is_store(folder) else None
    missing = []
    for job in _add_fingerprints(experiment.list_jobs()):
        condition, learners = job.make_condition(), job.describe_learners()
        names = list(learners) if store is None else store.find_missing(condition, learners, job.make_request())
        if names:
            missing.append((condition, names))
    return missing


def _add_fingerprints(jobs: Iterable[Job]) -> Iterator[Job]:
    """Compute each fingerprint once; a stream that cannot be opened has none, and fails when its job runs."""
    fingerprints: dict[tuple[str, int], str] = {}
    for job in jobs:
        key = (job.name, job.seed)
        if key not in fingerprints:
            try:
                fingerprints[key] = job.source.compute_fingerprint(job.seed)
            except (StreamgaugeError, OSError):
                fingerprints[key] = ""
        yield replace(job, fingerprint=fingerprints[key])


def _is_missing(job: Job, store: Store, ignore_results_before: float | None) -> bool:
    if not job.fingerprint:
        return True
    return bool(
        store.find_missing(job.make_condition(), job.describe_learners(), job.make_request(), ignore_results_before)
    )


class _Runner:
    """Runs jobs until all are settled: those that other processes have claimed are tried again."""

    def __init__(
        self,
        *,
        n_learners: int,
        settings: Settings,
        n_jobs: int,
        outcome: ExperimentOutcome,
        listeners: Sequence[Callable[[Event], object]],
        stopping: Callable[[], bool],
    ) -> None:
        self._n_learners, self._settings, self._n_jobs = n_learners, settings, n_jobs
        self._outcome, self._listeners, self._stopping = outcome, listeners, stopping
        self._n_evaluated: dict[int, int] = {}
        self._unsettled: set[int] = set()
        self._busy: set[int] = set()

    def run(self, jobs: list[tuple[int, Job]]) -> list[tuple[int, Job]]:
        """Run jobs; return those that are not settled yet, after a pause if other processes are busy with them."""
        self._unsettled, self._busy = set(), set()
        if self._n_jobs == 1:
            run_here(jobs, self._settings, self._receive, self._stopping)
        else:
            run_in_processes(jobs, self._settings, self._receive, self._stopping, self._n_jobs)
        waited = 0.0
        while self._busy and waited < POLL_SECONDS and not self._stopping():
            time.sleep(0.1)
            waited += 0.1
        self._outcome.interrupted = self._outcome.interrupted or self._stopping()
        return [(index, job) for index, job in jobs if index in self._unsettled]

    def _receive(self, event: Event) -> None:
        """Count the evaluations of a job, and pass the event on."""
        if event.kind == "busy":
            self._busy.add(event.index)
            self._unsettled.add(event.index)
        elif event.kind in ("finished", "failed"):
            self._settle(event)
        elif event.kind == "done":
            self._outcome.n_done += self._n_learners - self._n_evaluated.get(event.index, 0)
        self._outcome.note(event)
        for listener in self._listeners:
            listener(event)

    def _settle(self, event: Event) -> None:
        """Account for the learners that were not evaluated here: they are done, or other processes have them."""
        self._n_evaluated[event.index] = self._n_evaluated.get(event.index, 0) + event.n_learners
        n_left = self._n_learners - self._n_evaluated[event.index]
        if n_left and not event.n_failed:
            self._unsettled.add(event.index)
        else:
            self._outcome.n_done += n_left
