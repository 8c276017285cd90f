"""Processes: cells written in Python run side by side, since each process has a GIL of its own."""

import errno
import mmap
import os
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO, ClassVar, cast

from streamgauge._engine.batch_plan import BatchPlan, BatchResult, SavedStates
from streamgauge._engine.executor import Executor
from streamgauge._engine.run_spec import RunSpec
from streamgauge.backends.messages import Buffers, Columns, packed, receive, send, unpacked_answer
from streamgauge.backends.threads import n_cores
from streamgauge.errors import StreamgaugeError, require_at_least

__all__ = ["Processes", "can_travel", "described_by_bytes", "shared_out"]

ALIGNMENT = 64
SHARED_MEMORY = Path("/dev/shm")
"""Not a disk, where there is such a folder; else the usual one for what is temporary is used."""


@dataclass(frozen=True)
class Processes:
    """Run cells in processes of this machine.

    The rows of a batch are laid into memory that all of them see. A process builds its learners itself, so these must
    be values that can be pickled; functions and classes of a script or notebook can.

    Parameters
    ----------
    n
        How many processes; None for as many as there are cores. The results do not depend on it.

    Examples
    --------
    >>> Processes(2)
    Processes(n=2)
    """

    n: int | None = None

    def __post_init__(self) -> None:
        if self.n is not None:
            require_at_least("processes", self.n, 1)

    @contextmanager
    def host(self, run_spec: RunSpec) -> Iterator[Executor]:
        """Start the processes for the length of a run, each with its cells."""
        crews = shared_out(run_spec, self.n or n_cores())
        described = [described_by_bytes(of_worker) for of_worker in crews]
        with ExitStack() as opened:
            slots = [opened.enter_context(_slot()) for _ in range(_Distant.depth)]
            workers = [opened.enter_context(_started(of_worker)) for of_worker in crews]
            for worker, description in zip(workers, described, strict=True):
                worker.send(description)
            for worker in workers:
                worker.receive()
            yield _Distant(workers, slots)


def shared_out(run_spec: RunSpec, n: int, *, with_source: bool = False) -> list[RunSpec]:
    """Share the cells of a crew out to no more than n groups, so that each has as many folds of each learner.

    Examples
    --------
    >>> from streamgauge import SEA, Bootstrap, NaiveBayes
    >>> run_spec = RunSpec(SEA().schema, Bootstrap(5), {"bayes": NaiveBayes()}, (), (), {}, seed=1)
    >>> [part.places for part in shared_out(run_spec, 2)]
    [(0, 2, 4), (1, 3)]
    """
    places = tuple(range(run_spec.n_cells)) if run_spec.places is None else run_spec.places
    parts = [run_spec.part(places[first::n], clock="process") for first in range(min(n, len(places)))]
    return parts if with_source else [replace(part, source=None) for part in parts]


def described_by_bytes(run_spec: RunSpec) -> bytes:
    """Pickle a crew, by value what no other process could import; an error names the part that cannot be pickled."""
    import cloudpickle  # noqa: PLC0415  (slow to import)

    try:
        return cast("bytes", cloudpickle.dumps(run_spec, protocol=5))
    except Exception as error:
        culprit = next((name for name, spec in run_spec.learners.items() if not can_travel(spec)), None)
        what = "the run" if culprit is None else f"learner {culprit!r}"
        msg = f"{what} cannot go into another process: {type(error).__name__}: {error}; run it in Threads()"
        raise StreamgaugeError(msg) from error


def can_travel(thing: object) -> bool:
    """Say whether a thing can go into another process.

    Examples
    --------
    >>> from threading import Lock
    >>> can_travel(lambda: 1), can_travel(Lock())
    (True, False)
    """
    import cloudpickle  # noqa: PLC0415

    try:
        cloudpickle.dumps(thing)
    except Exception:
        return False
    return True


class _Worker:
    """A worker process, seen from here."""

    def __init__(self, process: "subprocess.Popen[bytes]", run_spec: RunSpec) -> None:
        self._process, self._crew = process, run_spec
        self._given, self._told = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
        self._answers: SimpleQueue[Any] = SimpleQueue()
        Thread(target=self._listen, name="streamgauge-listener", daemon=True).start()

    def _listen(self) -> None:
        """Take answers as soon as they are there, so that no worker waits until its answer is wanted."""
        with suppress(EOFError, OSError, ValueError):
            while True:
                self._answers.put(receive(self._told))
        self._answers.put(None)

    def send(self, message: object) -> None:
        with suppress(BrokenPipeError):  # the missing answer will tell
            send(self._given, message)

    def receive(self) -> Any:  # noqa: ANN401
        answer = self._answers.get()
        if answer is None:
            raise StreamgaugeError(self._death())
        kind, content = answer
        if kind == "error":
            raise content
        return content

    def _death(self) -> str:
        code = self._process.wait()
        how = f"ended with status {code}"
        if code < 0:
            how = f"was killed by {signal.Signals(-code).name}"
            how += ", perhaps for want of memory" if -code == getattr(signal, "SIGKILL", 9) else ""
        learners = ", ".join(dict.fromkeys(name for name, _ in self._crew.cells))
        return f"a worker process {how} while it ran {learners}; what came before is lost unless there is a checkpoint"


@contextmanager
def _started(run_spec: RunSpec) -> Iterator[_Worker]:
    """Start a worker; when the block ends it is ended, whatever it is at."""
    command = [sys.executable, "-m", "streamgauge.backends.worker"]
    # Sets of texts have the same order in every worker; Ctrl-C is for the process that a person has started.
    environment = {"PYTHONHASHSEED": "0", **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True
    )
    worker = _Worker(process, run_spec)
    try:
        worker.send(sys.path)
        yield worker
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                cast("BinaryIO", pipe).close()


class _Slot:
    """Memory that all workers see: a file that is mapped into each of them."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._map: mmap.mmap | None = None
        self._path = Path("nothing")
        self._n_made = 0

    def lay(self, columns: Buffers) -> Columns:
        """Lay columns side by side; say where."""
        spans, stop = [], 0
        for column in columns:
            start = -(-stop // ALIGNMENT) * ALIGNMENT
            stop = start + column.nbytes
            spans.append((start, stop))
        if stop == 0:
            return "", [(0, 0) for _ in spans]
        memory = self._of_size(stop)
        for column, (start, end) in zip(columns, spans, strict=True):
            memory[start:end] = column
        return str(self._path), spans

    def _of_size(self, size: int) -> mmap.mmap:
        if self._map is None or len(self._map) < size:
            self.drop()
            self._map = self._reserved(size + size // 4)
        return self._map

    def _reserved(self, size: int) -> mmap.mmap:
        """Make memory of some size in the first folder that has room for it."""
        self._n_made += 1
        told: list[str] = []
        for folder in self._folders:
            self._path = folder / f"rows-{self._n_made}"
            try:
                with self._path.open("w+b") as file:
                    _reserve(file, size)
                    return mmap.mmap(file.fileno(), size)
            except OSError as error:
                self._path.unlink(missing_ok=True)
                told.append(f"{folder.parent}: {error.strerror or error}")
        why = "; ".join(told) or "no folder can be written to"
        msg = (
            f"processes find no {size:,} bytes of memory to share ({why}): "
            "make room there, name a folder that has some in TMPDIR, give a smaller batch_size, or run in Threads()"
        )
        raise StreamgaugeError(msg)

    def drop(self) -> None:
        """Give the memory back; who still reads it keeps it."""
        if self._map is not None:
            self._map.close()
            self._map = None
            with suppress(OSError):  # Windows, where a worker still has it
                self._path.unlink()


@contextmanager
def _slot() -> Iterator[_Slot]:
    with ExitStack() as opened:
        folders = []
        for place in (SHARED_MEMORY, None):
            with suppress(OSError):  # there is none, or it is closed to us
                made = tempfile.TemporaryDirectory(prefix="streamgauge-", dir=place, ignore_cleanup_errors=True)
                folders.append(Path(opened.enter_context(made)))
        slot = _Slot(folders)
        try:
            yield slot
        finally:
            slot.drop()


def _reserve(file: BinaryIO, size: int) -> None:
    """Make a file so large, and its room sure: a write into mapped memory for which there is none kills a process."""
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except AttributeError:  # not on macOS and Windows
        file.truncate(size)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.EOPNOTSUPP}:
            raise
        file.truncate(size)  # the file system cannot tell


class _Distant:
    """Hosts a group in each of several workers."""

    depth: ClassVar[int] = 2
    reads_ahead: ClassVar[bool] = True

    def __init__(self, workers: Sequence[_Worker], slots: Sequence[_Slot]) -> None:
        self._workers, self._slots = workers, slots
        self._given: deque[BatchPlan] = deque()
        self._n_given = 0

    def give(self, order: BatchPlan) -> None:
        slot = self._n_given % len(self._slots)
        description, columns = packed(order)
        message = ("order", slot, description, self._slots[slot].lay(columns))
        for worker in self._workers:
            worker.send(message)
        self._given.append(order)
        self._n_given += 1

    def load(self, saved: SavedStates, *, trusted: bool) -> None:
        for worker in self._workers:
            worker.send(("load", saved, trusted))
        for worker in self._workers:
            worker.receive()

    def take(self) -> list[BatchResult]:
        order = self._given.popleft()
        return [unpacked_answer(worker.receive(), order) for worker in self._workers]
