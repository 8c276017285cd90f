"""Jobs in parallel processes, one job at a time in each; a process that dies does not affect the others."""

import pickle
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import BinaryIO

from streamgauge.backends.child_process import ChildProcess, pickle_by_value
from streamgauge.backends.messages import receive, send
from streamgauge.experiments.experiment import Job
from streamgauge.experiments.jobs import Event, Settings, run_job

__all__ = ["run_here", "run_in_processes", "serve_jobs"]

FINAL = ("finished", "failed", "stopped", "done", "busy")
"""The kinds of events that end a job."""


def run_here(
    jobs: Sequence[tuple[int, Job]], settings: Settings, report: Callable[[Event], None], stopping: Callable[[], bool]
) -> None:
    """Run jobs in this process, one after the other."""
    stopped = False

    def note(event: Event) -> None:
        nonlocal stopped
        stopped = stopped or event.kind == "stopped"
        report(event)

    for index, job in jobs:
        if stopped or stopping():
            return
        run_job(index, job, settings, note)


def run_in_processes(
    jobs: Sequence[tuple[int, Job]],
    settings: Settings,
    report: Callable[[Event], None],
    stopping: Callable[[], bool],
    n: int,
) -> None:
    """Run jobs in `n` processes; a job whose process dies is retried once, in a new process."""
    pool = _Pool(list(reversed(jobs)), settings, report)
    try:
        for _ in range(min(n, len(jobs))):
            pool.add_worker()
        while pool.is_working:
            if stopping():
                pool.stop()
            pool.receive()
    finally:
        for worker in pool.workers:
            worker.child.close()


class _Pool:
    """Worker processes and the queue of their jobs."""

    def __init__(self, queue: list[tuple[int, Job]], settings: Settings, report: Callable[[Event], None]) -> None:
        self.queue, self._settings, self._report = queue, settings, report
        self.workers: list[_Worker] = []
        self._events: SimpleQueue[tuple[_Worker, Event | None]] = SimpleQueue()
        self._is_stopping = False
        self._n_attempts = dict.fromkeys((index for index, _ in queue), 0)

    @property
    def is_working(self) -> bool:
        return any(worker.job for worker in self.workers)

    def add_worker(self) -> None:
        """Start a worker with a job of the queue, if there is one."""
        if self.queue:
            self.workers.append(_Worker(self._settings, self._events))
            self._assign(self.workers[-1])

    def stop(self) -> None:
        """Begin no further job, and stop those that run."""
        self.queue.clear()
        if not self._is_stopping:
            self._is_stopping = True
            for worker in self.workers:
                worker.child.interrupt()

    def receive(self) -> None:
        """Report the next event of a worker; returns after half a second without any."""
        try:
            worker, event = self._events.get(timeout=0.5)
        except Empty:
            return
        if event is None:
            self._replace(worker)
            return
        self._report(event)
        if event.kind in FINAL:
            worker.job = None
            self._assign(worker)

    def _assign(self, worker: "_Worker") -> None:
        if self.queue:
            index, job = self.queue.pop()
            pickled = pickle_by_value((index, job), lambda: f"the experiment {job.experiment.name!r}", "use n_jobs=1")
            self._n_attempts[index] += 1
            worker.assign((index, job), pickled)

    def _replace(self, worker: "_Worker") -> None:
        """Replace a worker that died, and retry its job or report its end."""
        self.workers.remove(worker)
        worker.child.close()
        if worker.job is not None:
            index, job = worker.job
            n = len(job.experiment.learners)
            if self._is_stopping:
                self._report(Event("stopped", index, label=str(job)))
            elif self._n_attempts[index] < 2:
                self.queue.append(worker.job)
            else:
                reason = f"its process died twice: it {worker.child.describe_death()}"
                self._report(Event("failed", index, label=str(job), n_learners=n, n_failed=n, text=reason))
        self.add_worker()


class _Worker:
    """A child process that runs jobs, one at a time."""

    def __init__(self, settings: Settings, events: "SimpleQueue[tuple[_Worker, Event | None]]") -> None:
        self.job: tuple[int, Job] | None = None
        self.child = ChildProcess(serve_jobs, lambda event: events.put((self, event)))
        self.child.send(settings)

    def assign(self, job: tuple[int, Job], pickled: bytes) -> None:
        self.job = job
        self.child.send(pickled)


def serve_jobs(requests: BinaryIO, replies: BinaryIO) -> None:
    """Run jobs in a child process until its pipe is closed."""
    settings: Settings = receive(requests)

    def report(event: Event) -> None:
        try:
            send(replies, event)
        except OSError:  # the parent is gone
            raise SystemExit(0) from None

    while True:
        index, job = pickle.loads(receive(requests))
        run_job(index, job, settings, report)
