"""A worker process: builds a group of cells, runs plans, and ends when its pipe is closed.

It is started as ``python -m streamgauge.backends.worker``. Requests arrive on standard input, replies leave on the
original standard output; what learners print goes to standard error.
"""

import mmap
import os
import pickle
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from streamgauge._engine.batch_plan import SavedStates
from streamgauge._engine.cells import CellGroup
from streamgauge.backends.messages import Columns, pack_result, receive, send, unpack_plan

__all__ = ["main"]


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


def _serve(requests: BinaryIO, replies: BinaryIO) -> None:
    import cloudpickle  # noqa: PLC0415, F401  (needed to unpickle what it has pickled)

    sys.path[:] = receive(requests)
    try:
        group = CellGroup(pickle.loads(receive(requests)))
    except Exception as error:
        send(replies, _describe_error(error))
        return
    send(replies, ("ready", None))
    files = [_SharedFile(), _SharedFile()]
    while True:
        request, *arguments = receive(requests)
        try:
            reply = (request, REQUESTS[request](group, files, *arguments))
        except Exception as error:
            reply = _describe_error(error)
        send(replies, reply)


def _load(group: CellGroup, _files: list[_SharedFile], saved: SavedStates, trusted: bool) -> None:  # noqa: FBT001
    group.load(saved, trusted=trusted)


def _run(group: CellGroup, files: list[_SharedFile], slot: int, description: bytes, columns: Columns) -> bytes:
    plan = unpack_plan(description, files[slot].read(columns))
    return pack_result(group.run(plan), plan)


REQUESTS: dict[str, Callable[..., object]] = {"load": _load, "run": _run}
"""What a worker can do, by name."""


def main() -> None:
    """Serve until the pipe is closed."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    try:
        _serve(requests, replies)
    except (EOFError, BrokenPipeError):
        pass  # the driver has ended
    except KeyboardInterrupt:
        pass  # the driver handles it
    os._exit(0)  # without waiting for threads that learners have left running


if __name__ == "__main__":
    main()
