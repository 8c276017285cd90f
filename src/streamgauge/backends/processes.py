"""Processes: cells written in Python run in parallel, since each process has its own GIL."""

import errno
import mmap
import os
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO, ClassVar

from streamgauge._engine.batch_plan import BatchPlan, BatchResult, Executor, RunSpec, SavedStates
from streamgauge.backends.child_process import ChildProcess, pickle_by_value
from streamgauge.backends.messages import RUNNING, Buffers, Columns, pack_plan, unpack_result
from streamgauge.backends.threads import count_cores
from streamgauge.backends.worker import serve_cells
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.records.locks import open_temporary_folder

__all__ = ["Processes", "is_picklable", "pickle_spec", "split_cells"]

ALIGNMENT = 64
SHARED_MEMORY = Path("/dev/shm")
"""A folder in memory; where it is missing, the default folder for temporary files is used."""


@dataclass(frozen=True)
class Processes:
    """Run cells in processes of this machine.

    The rows of a batch are written once into shared memory. A process builds its learners itself, so these must be
    picklable; functions and classes of a script or notebook are.

    Parameters
    ----------
    n
        The number of processes; None for one per core. The results do not depend on it.

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
    def open(self, run_spec: RunSpec) -> Iterator[Executor]:
        """Start the processes for the length of a run, each with its cells."""
        specs = split_cells(run_spec, self.n or count_cores())
        pickles = [pickle_spec(spec) for spec in specs]
        with ExitStack() as stack:
            slots = [stack.enter_context(_open_slot()) for _ in range(_ProcessExecutor.depth)]
            workers = [stack.enter_context(closing(_Worker(spec))) for spec in specs]
            for worker, pickled in zip(workers, pickles, strict=True):
                worker.send(pickled)
            for worker in workers:
                worker.receive()
            yield _ProcessExecutor(workers, slots)


def split_cells(run_spec: RunSpec, n: int, *, with_rows: bool = False) -> list[RunSpec]:
    """Split the cells of a run into at most n groups, with as many folds of each learner in each.

    Examples
    --------
    >>> from streamgauge import SEA, Bootstrap, NaiveBayes
    >>> run_spec = RunSpec(SEA().schema, Bootstrap(5), {"bayes": NaiveBayes()}, (), (), {}, seed=1)
    >>> [part.selected for part in split_cells(run_spec, 2)]
    [(0, 2, 4), (1, 3)]
    """
    indices = run_spec.indices
    parts = [run_spec.select(indices[first::n], clock="process") for first in range(min(n, len(indices)))]
    return parts if with_rows else [replace(part, rows=None) for part in parts]


def pickle_spec(run_spec: RunSpec) -> bytes:
    """Pickle the description of a group, by value what no other process could import; an error names the culprit."""

    def find_culprit() -> str:
        culprit = next((name for name, spec in run_spec.learners.items() if not is_picklable(spec)), None)
        return "the run" if culprit is None else f"learner {culprit!r}"

    return pickle_by_value(run_spec, find_culprit, "run it in Threads()")


def is_picklable(thing: object) -> bool:
    """Return whether a thing can be sent to another process.

    Examples
    --------
    >>> from threading import Lock
    >>> is_picklable(lambda: 1), is_picklable(Lock())
    (True, False)
    """
    import cloudpickle  # noqa: PLC0415

    try:
        cloudpickle.dumps(thing)
    except Exception:
        return False
    return True


class _Worker:
    """A child process with a group of cells."""

    def __init__(self, run_spec: RunSpec) -> None:
        self._received: SimpleQueue[Any] = SimpleQueue()
        self._running = ", ".join(dict.fromkeys(name for name, _ in run_spec.cells))
        self._child = ChildProcess(serve_cells, self._note)
        self.send, self.close = self._child.send, self._child.close

    def _note(self, reply: Any) -> None:  # noqa: ANN401
        if reply is not None and reply[0] == RUNNING:
            self._running = reply[1]
        else:
            self._received.put(reply)

    def receive(self) -> Any:  # noqa: ANN401
        reply = self._received.get()
        if reply is None:
            raise StreamgaugeError(self._explain_death())
        kind, content = reply
        if kind == "error":
            raise content
        return content

    def _explain_death(self) -> str:
        how = self._child.describe_death()
        how += ", perhaps because memory ran out" if how.endswith("SIGKILL") else ""
        return f"a worker process {how} while it ran {self._running}; use a checkpoint to resume such a run"


class _Slot:
    """Shared memory: a file that is mapped into all workers."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._map: mmap.mmap | None = None
        self._path = Path("nothing")
        self._n_files = 0

    def write(self, columns: Buffers) -> Columns:
        """Write columns one after the other; return where they are."""
        spans, stop = [], 0
        for column in columns:
            start = -(-stop // ALIGNMENT) * ALIGNMENT
            stop = start + column.nbytes
            spans.append((start, stop))
        if stop == 0:
            return "", [(0, 0) for _ in spans]
        memory = self._map_memory(stop)
        for column, (start, end) in zip(columns, spans, strict=True):
            memory[start:end] = column
        return str(self._path), spans

    def _map_memory(self, size: int) -> mmap.mmap:
        if self._map is None or len(self._map) < size:
            self.close()
            self._map = self._reserve(size + size // 4)
        return self._map

    def _reserve(self, size: int) -> mmap.mmap:
        """Map memory in the first folder that has enough space."""
        self._n_files += 1
        reasons: list[str] = []
        for folder in self._folders:
            self._path = folder / f"rows-{self._n_files}"
            try:
                with self._path.open("w+b") as file:
                    _allocate(file, size)
                    return mmap.mmap(file.fileno(), size)
            except OSError as error:
                self._path.unlink(missing_ok=True)
                reasons.append(f"{folder.parent}: {error.strerror or error}")
        why = "; ".join(reasons) or "no folder is writable"
        msg = (
            f"no {size:,} bytes of shared memory for processes ({why}): "
            "free some space, set TMPDIR to a folder with space, use a smaller batch_size, or run in Threads()"
        )
        raise StreamgaugeError(msg)

    def close(self) -> None:
        """Release the memory; workers that still read it keep it."""
        if self._map is not None:
            self._map.close()
            self._map = None
            with suppress(OSError):  # on Windows, while a worker has it open
                self._path.unlink()


@contextmanager
def _open_slot() -> Iterator[_Slot]:
    with ExitStack() as stack:
        folders = []
        for parent in (SHARED_MEMORY, None):
            with suppress(OSError):  # missing, or not writable
                folders.append(stack.enter_context(open_temporary_folder(parent)))
        slot = _Slot(folders)
        try:
            yield slot
        finally:
            slot.close()


def _allocate(file: BinaryIO, size: int) -> None:
    """Allocate the space of a file: a write into mapped memory without space would kill the process."""
    if sys.platform == "linux":
        try:
            os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            if error.errno not in {errno.EINVAL, errno.EOPNOTSUPP}:
                raise  # else the file system does not support it
        else:
            return
    file.truncate(size)


class _ProcessExecutor:
    """Runs plans in a group of cells in each of several workers."""

    depth: ClassVar[int] = 2
    reads_ahead: ClassVar[bool] = True
    makes_rows: ClassVar[bool] = False

    def __init__(self, workers: Sequence[_Worker], slots: Sequence[_Slot]) -> None:
        self._workers, self._slots = workers, slots
        self._pending: deque[BatchPlan] = deque()
        self._n_submitted = 0

    def submit(self, plan: BatchPlan) -> None:
        slot = self._n_submitted % len(self._slots)
        description, columns = pack_plan(plan)
        message = ("run", slot, description, self._slots[slot].write(columns))
        for worker in self._workers:
            worker.send(message)
        self._pending.append(plan)
        self._n_submitted += 1

    def withdraw(self) -> int:
        return 0

    def load(self, saved: SavedStates, *, trusted: bool) -> None:
        for worker in self._workers:
            worker.send(("load", saved, trusted))
        for worker in self._workers:
            worker.receive()

    def collect(self) -> list[BatchResult]:
        plan = self._pending.popleft()
        return [unpack_result(worker.receive(), plan) for worker in self._workers]
