"""Running what is missing of an experiment."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from streamgauge._engine.signals import asked_to_stop
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.experiments.display import shown_progress
from streamgauge.experiments.experiment import Experiment, Job
from streamgauge.experiments.jobs import Event, Settings
from streamgauge.experiments.toml_reader import out_of, read
from streamgauge.experiments.workers import here, in_processes
from streamgauge.store import Condition, Store, is_store

__all__ = ["ExperimentOutcome", "missing", "run"]

PATIENCE = 1.0
"""So many seconds pass before a look whether others are done with what they have claimed."""


@dataclass
class ExperimentOutcome:
    """What became of an experiment.

    Parameters
    ----------
    folder
        Where the results are.
    n_cells
        How many evaluations of a learner the experiment has.
    n_done
        How many of them were there before, or were done by others meanwhile.
    n_finished, n_failed
        How many were done now, and how many failed.
    failures
        Why, one text a run.
    interrupted
        Whether it was stopped before its end.

    Examples
    --------
    >>> ExperimentOutcome(Path("results"), n_cells=4, n_done=1, n_finished=3).complete
    True
    """

    folder: Path
    n_cells: int = 0
    n_done: int = 0
    n_finished: int = 0
    n_failed: int = 0
    failures: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Whether everything that was asked for is there."""
        return self.n_done + self.n_finished == self.n_cells

    def note(self, event: Event) -> None:
        """Count what became of a job."""
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
    """Run what is missing of an experiment; what is in the folder already is not run again.

    Several processes may run experiments on one folder: each does what no other has claimed, and waits at the end for
    what others are at. What a process leaves undone when it dies is done by the next.

    Ctrl-C ends it after the batches at hand. Runs that were not finished, also those that were killed, go on from their
    last checkpoint the next time, and their results are those of runs that were never stopped.

    Parameters
    ----------
    experiment
        What to run, or the TOML file that says it.
    folder
        The folder of the `Store` that the results go into; made where it is missing. None for that which the file
        names, or else ``results/NAME``.
    n_jobs
        How many runs side by side, each in a process of its own; None for as many as there are cores. With 1, runs are
        done in this process, and in as many threads as there are cores.
    again
        Whether to run what is there already, too.
    together
        Whether all learners of a run are to be evaluated in one pass, so that each pair can be compared row by row:
        where one is missing, the others are run again.
    checkpoint_every
        A run writes a checkpoint after so many rows; 0 for never, None for as often as the experiment says.
    progress
        Whether to show how far it is; None for bars where standard error is a terminal, and lines where it is not.
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
    experiment, folder = _found(experiment, folder)
    every = experiment.checkpoint_every if checkpoint_every is None else checkpoint_every
    store = Store(folder, new=True)
    since = time.time() if again else None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    outcome = ExperimentOutcome(folder, n_cells=experiment.n_cells)
    with shown_progress(experiment, shown=progress) as show, asked_to_stop() as stopping:
        tell = (show, on_event or _ignore)
        jobs = []
        for place, job in enumerate(_fingerprinted(experiment.jobs())):
            if _is_missing(job, store, since):
                jobs.append((place, job))
            else:
                outcome.n_done += len(experiment.learners)
                for listener in tell:
                    listener(Event("done", place, str(job), n_learners=len(experiment.learners)))
        n = min(n_jobs or cores, max(1, len(jobs)))
        settings = Settings(str(folder), max(1, cores // n), since, together, every)
        rounds = _Rounds(experiment, settings, n, outcome, tell, stopping)
        while jobs and not outcome.interrupted:
            jobs = rounds.go(jobs)
    return outcome


def _found(experiment: Experiment | Path | str, folder: Path | str | None) -> tuple[Experiment, Path]:
    """Give an experiment and the folder of its results."""
    if not isinstance(experiment, Experiment):
        folder = folder or out_of(experiment)
        experiment = read(experiment)
    return experiment, Path(folder or Path("results") / experiment.name)


def missing(experiment: Experiment, folder: Path | str) -> list[tuple[Condition, list[str]]]:
    """Say what `run` would run: conditions, each with the learners whose evaluation is not in the folder.

    Examples
    --------
    >>> from streamgauge.experiments import Experiment, Source
    >>> experiment = Experiment("small", {"sea": Source("SEA", rows=1000)}, {"last": "NoChange"})
    >>> [(str(condition), learners) for condition, learners in missing(experiment, "no such folder")]
    [('sea, seed 1', ['last'])]
    """
    store = Store(folder) if is_store(folder) else None
    found = []
    for job in _fingerprinted(experiment.jobs()):
        condition, learners = job.condition(), job.learners()
        left = list(learners) if store is None else store.missing(condition, learners, job.asked())
        if left:
            found.append((condition, left))
    return found


def _fingerprinted(jobs: Iterable[Job]) -> Iterator[Job]:
    """Look once at the rows of each stream; what cannot be opened fails when its turn comes."""
    known: dict[tuple[str, int], str] = {}
    for job in jobs:
        place = (job.name, job.seed)
        if place not in known:
            try:
                known[place] = job.source.fingerprint(job.seed)
            except (StreamgaugeError, OSError):
                known[place] = ""
        yield replace(job, fingerprint=known[place])


def _is_missing(job: Job, store: Store, since: float | None) -> bool:
    return not job.fingerprint or bool(store.missing(job.condition(), job.learners(), job.asked(), since))


def _ignore(_event: Event) -> None:
    """Do nothing."""


class _Rounds:
    """Goes over the jobs until each is settled: those that others are at are looked at again."""

    def __init__(
        self,
        experiment: Experiment,
        settings: Settings,
        n_jobs: int,
        outcome: ExperimentOutcome,
        listeners: Sequence[Callable[[Event], object]],
        stopping: Callable[[], bool],
    ) -> None:
        self._n_learners, self._settings, self._n_jobs = len(experiment.learners), settings, n_jobs
        self._outcome, self._listeners, self._stopping = outcome, listeners, stopping
        self._n_by_us: dict[int, int] = {}
        self._again: set[int] = set()
        self._busy: set[int] = set()

    def go(self, jobs: list[tuple[int, Job]]) -> list[tuple[int, Job]]:
        """Do jobs; give those that are not settled yet, after a pause where others are at them."""
        self._again, self._busy = set(), set()
        if self._n_jobs == 1:
            here(jobs, self._settings, self._take, self._stopping)
        else:
            in_processes(jobs, self._settings, self._take, self._stopping, self._n_jobs)
        waited = 0.0
        while self._busy and waited < PATIENCE and not self._stopping():
            time.sleep(0.1)
            waited += 0.1
        self._outcome.interrupted = self._outcome.interrupted or self._stopping()
        return [(place, job) for place, job in jobs if place in self._again]

    def _take(self, event: Event) -> None:
        """Count what became of a job, and tell it."""
        if event.kind == "busy":
            self._busy.add(event.place)
            self._again.add(event.place)
        elif event.kind in ("finished", "failed"):
            self._settle(event)
        elif event.kind == "done":
            self._outcome.n_done += self._n_learners - self._n_by_us.get(event.place, 0)
        self._outcome.note(event)
        for tell in self._listeners:
            tell(event)

    def _settle(self, event: Event) -> None:
        """See to the learners that were not ours to evaluate: they are done, or others are at them."""
        self._n_by_us[event.place] = self._n_by_us.get(event.place, 0) + event.n_learners
        n_left = self._n_learners - self._n_by_us[event.place]
        if n_left and not event.n_failed:
            self._again.add(event.place)
        else:
            self._outcome.n_done += n_left
