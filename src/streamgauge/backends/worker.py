"""What a child process does for a run: it builds a group of cells and runs plans."""

import mmap
import pickle
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from streamgauge._engine.batch_plan import SavedStates
from streamgauge._engine.cells import Cell, CellGroup
from streamgauge.backends.messages import RUNNING, Columns, pack_result, receive, send, unpack_plan

__all__ = ["serve_cells"]


class _SharedFile:
    """The file with the columns of plans, mapped once."""

    def __init__(self) -> None:
        self._path = ""
        self._map: mmap.mmap | bytes = b""

    def read(self, columns: Columns) -> list[memoryview]:
        path, spans = columns
        if not path:  # all columns are empty
            return [memoryview(b"") for _ in spans]
        if path != self._path:
            with Path(path).open("rb") as file:
                self._path, self._map = path, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        whole = memoryview(self._map)
        return [whole[start:stop] for start, stop in spans]


def _describe_error(error: BaseException) -> tuple[str, Any]:
    """Return the reply for an error: the error itself if it can be pickled."""
    text = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return "error", RuntimeError(text)
    error.add_note(f"in a worker process:\n{text}")
    return "error", error


def serve_cells(requests: BinaryIO, replies: BinaryIO) -> None:
    """Build a group of cells, then answer requests."""
    try:
        group = CellGroup(pickle.loads(receive(requests)))
    except Exception as error:
        send(replies, _describe_error(error))
        return
    send(replies, ("ready", None))
    worker = _Worker(group, [_SharedFile(), _SharedFile()], replies)
    while True:
        request, *arguments = receive(requests)
        try:
            reply = (request, REQUESTS[request](worker, *arguments))
        except Exception as error:
            reply = _describe_error(error)
        send(replies, reply)


@dataclass(frozen=True)
class _Worker:
    """What the requests act on."""

    group: CellGroup
    files: list[_SharedFile]
    replies: BinaryIO

    def load(self, saved: SavedStates, trusted: bool) -> None:  # noqa: FBT001
        self.group.load(saved, trusted=trusted)

    def run(self, slot: int, description: bytes, columns: Columns) -> bytes:
        plan = unpack_plan(description, self.files[slot].read(columns))
        return pack_result(self.group.run(plan, self._announce_and_run), plan)

    def _announce_and_run(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Name each learner to the driver before it runs: if the process ends in it, the driver knows which it was."""
        outcomes = []
        for item in items:
            if isinstance(item, Cell):
                send(self.replies, (RUNNING, item.name))
            outcomes.append(function(item))
        return outcomes


REQUESTS: dict[str, Callable[..., object]] = {"load": _Worker.load, "run": _Worker.run}
"""What a worker can do, by name."""
