"""Jobs in parallel processes, one job at a time in each; a process that dies does not affect the others."""

import multiprocessing
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess

from streamgauge.experiments.experiment import Job
from streamgauge.experiments.jobs import Event, Settings, run_job

if sys.platform == "win32":
    from multiprocessing.connection import PipeConnection as Connection
else:
    from multiprocessing.connection import Connection

__all__ = ["run_here", "run_in_processes"]

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
                pool.queue.clear()
            pool.receive(retrying=not stopping())
    finally:
        for worker in pool.workers:
            worker.stop()


class _Pool:
    """Worker processes and the queue of their jobs."""

    def __init__(self, queue: list[tuple[int, Job]], settings: Settings, report: Callable[[Event], None]) -> None:
        self.queue, self._settings, self._report = queue, settings, report
        self.workers: list[_Worker] = []
        self._n_attempts = dict.fromkeys((index for index, _ in queue), 0)

    @property
    def is_working(self) -> bool:
        return any(worker.job for worker in self.workers)

    def add_worker(self) -> None:
        """Start a worker with a job of the queue, if there is one."""
        if self.queue:
            self.workers.append(_Worker.start(self._settings))
            self._assign(self.workers[-1])

    def receive(self, *, retrying: bool) -> None:
        """Report the events of the workers; returns after half a second without any."""
        active = {worker.connection: worker for worker in self.workers if worker.job}
        for connection in wait(list(active), timeout=0.5):
            worker = active[connection]  # type: ignore[index]
            event = worker.receive()
            if event is None:
                self._replace(worker, retrying=retrying)
                continue
            self._report(event)
            if event.kind in FINAL:
                worker.job = None
                self._assign(worker)

    def _assign(self, worker: "_Worker") -> None:
        if self.queue:
            worker.job = self.queue.pop()
            self._n_attempts[worker.job[0]] += 1
            worker.connection.send(worker.job)

    def _replace(self, worker: "_Worker", *, retrying: bool) -> None:
        """Replace a worker that died, and retry its job or report its end."""
        self.workers.remove(worker)
        if worker.job is not None:
            index, job = worker.job
            n = len(job.experiment.learners)
            if not retrying:
                self._report(Event("stopped", index, label=str(job)))
            elif self._n_attempts[index] < 2:
                self.queue.append(worker.job)
            else:
                reason = f"its process died twice, {worker.describe_exit()}"
                self._report(Event("failed", index, label=str(job), n_learners=n, n_failed=n, text=reason))
        self.add_worker()


@dataclass
class _Worker:
    """A process that runs jobs."""

    process: BaseProcess
    connection: Connection
    job: tuple[int, Job] | None = None

    @classmethod
    def start(cls, settings: Settings) -> "_Worker":
        context = multiprocessing.get_context("spawn")  # a fork would copy running threads
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, settings), daemon=True)
        process.start()
        theirs.close()
        return cls(process, ours)

    def receive(self) -> Event | None:
        """Return the next event; None if the process is dead."""
        try:
            event: Event = self.connection.recv()
        except (EOFError, ConnectionError):
            self.process.join(timeout=5.0)
            return None
        return event

    def describe_exit(self) -> str:
        """Return how the process died."""
        code = self.process.exitcode
        return f"by {signal.Signals(-code).name}" if code is not None and code < 0 else f"with status {code}"

    def stop(self) -> None:
        """Close the connection, so that the process ends; terminate it if it does not."""
        self.connection.close()
        self.process.join(timeout=0.0 if self.job else 2.0)
        if self.process.is_alive():
            self.process.terminate()
            self.process.join(timeout=5.0)


def _work(connection: Connection, settings: Settings) -> None:
    """Run jobs until the connection is closed."""

    def report(event: Event) -> None:
        try:
            connection.send(event)
        except OSError:  # the parent is gone
            raise SystemExit(0) from None

    with suppress(EOFError, KeyboardInterrupt, ConnectionError):
        while True:
            index, job = connection.recv()
            run_job(index, job, settings, report)
