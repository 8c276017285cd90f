"""Jobs side by side in processes, each of which does one job at a time; one that dies takes nothing else with it."""

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from streamgauge.experiments.experiment import Job
from streamgauge.experiments.jobs import Event, Settings, perform

__all__ = ["here", "in_processes"]

FINAL = ("finished", "failed", "stopped", "done", "busy")
"""The events after which a job is over."""


def here(
    jobs: Sequence[tuple[int, Job]], settings: Settings, report: Callable[[Event], None], stopping: Callable[[], bool]
) -> None:
    """Do jobs in this process, one after the other."""
    stopped = False

    def note(event: Event) -> None:
        nonlocal stopped
        stopped = stopped or event.kind == "stopped"
        report(event)

    for place, job in jobs:
        if stopped or stopping():
            return
        perform(place, job, settings, note)


def in_processes(
    jobs: Sequence[tuple[int, Job]],
    settings: Settings,
    report: Callable[[Event], None],
    stopping: Callable[[], bool],
    n: int,
) -> None:
    """Do jobs in `n` processes; a job whose process dies is tried once more, in a new one."""
    pool = _Pool(list(reversed(jobs)), settings, report)
    try:
        for _ in range(min(n, len(jobs))):
            pool.add()
        while pool.is_at_work:
            if stopping():
                pool.todo.clear()
            pool.listen(trying_again=not stopping())
    finally:
        for worker in pool.workers:
            worker.end()


class _Pool:
    """Processes and the jobs that are left for them."""

    def __init__(self, todo: list[tuple[int, Job]], settings: Settings, report: Callable[[Event], None]) -> None:
        self.todo, self._settings, self._report = todo, settings, report
        self.workers: list[_Worker] = []
        self._tried = dict.fromkeys((place for place, _ in todo), 0)

    @property
    def is_at_work(self) -> bool:
        return any(worker.job for worker in self.workers)

    def add(self) -> None:
        """Start a process and give it a job, where there is one left."""
        if self.todo:
            self.workers.append(_Worker.start(self._settings))
            self._give(self.workers[-1])

    def listen(self, *, trying_again: bool) -> None:
        """Hear what the processes have to say; returns after a while where that is nothing."""
        speaking = {worker.connection: worker for worker in self.workers if worker.job}
        for connection in wait(list(speaking), timeout=0.5):
            worker = speaking[connection]  # type: ignore[index]
            event = worker.heard()
            if event is None:
                self._bury(worker, trying_again=trying_again)
                continue
            self._report(event)
            if event.kind in FINAL:
                worker.job = None
                self._give(worker)

    def _give(self, worker: "_Worker") -> None:
        if self.todo:
            worker.job = self.todo.pop()
            self._tried[worker.job[0]] += 1
            worker.connection.send(worker.job)

    def _bury(self, worker: "_Worker", *, trying_again: bool) -> None:
        """Put another in the place of a process that died, and see to its job."""
        self.workers.remove(worker)
        if worker.job is not None:
            place, job = worker.job
            if not trying_again:
                self._report(Event("stopped", place, str(job)))
            elif self._tried[place] < 2:
                self.todo.append(worker.job)
            else:
                n = len(job.experiment.learners)
                self._report(Event("failed", place, str(job), 0, n, n, f"its process died twice, {worker.last_word}"))
        self.add()


@dataclass
class _Worker:
    """A process that does jobs."""

    process: BaseProcess
    connection: Connection
    job: tuple[int, Job] | None = None

    @classmethod
    def start(cls, settings: Settings) -> "_Worker":
        context = multiprocessing.get_context("spawn")  # a fork would copy threads that are at work
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, settings), daemon=True)
        process.start()
        theirs.close()
        return cls(process, ours)

    def heard(self) -> Event | None:
        """Take what it says; None where it is dead."""
        try:
            event: Event = self.connection.recv()
        except (EOFError, ConnectionError):
            self.process.join(timeout=5.0)
            return None
        return event

    @property
    def last_word(self) -> str:
        """Say how it died."""
        code = self.process.exitcode
        return f"by {signal.Signals(-code).name}" if code is not None and code < 0 else f"with status {code}"

    def end(self) -> None:
        """Let it end; it is killed where it does not."""
        self.connection.close()
        self.process.join(timeout=0.0 if self.job else 2.0)
        if self.process.is_alive():
            self.process.terminate()
            self.process.join(timeout=5.0)


def _work(connection: Connection, settings: Settings) -> None:
    """Do jobs until nobody gives any more."""

    def report(event: Event) -> None:
        try:
            connection.send(event)
        except OSError:  # nobody listens any more
            raise SystemExit(0) from None

    with suppress(EOFError, KeyboardInterrupt, ConnectionError):
        while True:
            place, job = connection.recv()
            perform(place, job, settings, report)
