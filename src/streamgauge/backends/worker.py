"""A worker process: builds a group of cells, carries out orders, and ends when its pipe does.

It is run as ``python -m streamgauge.backends.worker``. Messages come through standard input and go through what was
standard output; what learners print goes to standard error.
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
from streamgauge._engine.cell_group import CellGroup
from streamgauge.backends.messages import Columns, packed_answer, receive, send, unpacked

__all__ = ["main"]


class _Shared:
    """The file in which columns lie, opened once."""

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


def _error(error: BaseException) -> tuple[str, Any]:
    """Tell of an error, as itself where it can travel."""
    told = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return "error", RuntimeError(told)
    error.add_note(f"in a worker process:\n{told}")
    return "error", error


def _serve(given: BinaryIO, answers: BinaryIO) -> None:
    import cloudpickle  # noqa: PLC0415, F401  (what it has packed needs it to be unpacked)

    sys.path[:] = receive(given)
    try:
        group = CellGroup(pickle.loads(receive(given)))
    except Exception as error:
        send(answers, _error(error))
        return
    send(answers, ("ready", None))
    shared = [_Shared(), _Shared()]
    while True:
        task, *facts = receive(given)
        try:
            answer = (task, TASKS[task](group, shared, *facts))
        except Exception as error:
            answer = _error(error)
        send(answers, answer)


def _loaded(group: CellGroup, _shared: list[_Shared], saved: SavedStates, trusted: bool) -> None:  # noqa: FBT001
    group.load(saved, trusted=trusted)


def _carried_out(group: CellGroup, shared: list[_Shared], slot: int, description: bytes, columns: Columns) -> bytes:
    order = unpacked(description, shared[slot].read(columns))
    return packed_answer(group.run_plan(order), order)


TASKS: dict[str, Callable[..., object]] = {"load": _loaded, "order": _carried_out}
"""What a worker can do, by name."""


def main() -> None:
    """Serve until the pipe ends."""
    given, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    try:
        _serve(given, answers)
    except (EOFError, BrokenPipeError):
        pass  # nobody wants more
    except KeyboardInterrupt:
        pass  # of which whoever started it knows
    os._exit(0)  # without waiting for what learners have left running


if __name__ == "__main__":
    main()
