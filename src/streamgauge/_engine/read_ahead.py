"""Reading ahead: the next rows are read while others are learnt."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, Full, Queue
from typing import Generic, TypeVar

__all__ = ["read_ahead"]

T = TypeVar("T")

PATIENCE = 0.05
"""So many seconds pass before a reader that waits looks whether it is still wanted."""


@contextmanager
def read_ahead(items: Iterator[T]) -> Iterator[Iterator[T]]:
    """Read items in a thread of their own while the block runs, at most two before they are asked for.

    They come in their order, and an error where it occurred. When the block ends the thread does, too.

    Examples
    --------
    >>> with read_ahead(iter([1, 2, 3])) as ahead:
    ...     list(ahead)
    [1, 2, 3]
    """
    read: Queue[_Item[T] | _End] = Queue(maxsize=1)  # and one more waits in the hands of the reader
    wanted = threading.Event()
    wanted.set()
    reader = threading.Thread(target=_read, args=(items, read, wanted), name="streamgauge-reader", daemon=True)
    reader.start()
    try:
        yield _taken(read)
    finally:
        wanted.clear()
        _emptied(read)
        reader.join()


@dataclass(frozen=True)
class _Item(Generic[T]):
    value: T


@dataclass(frozen=True)
class _End:
    error: BaseException | None = None


def _read(items: Iterator[T], read: "Queue[_Item[T] | _End]", wanted: threading.Event) -> None:
    end = _End()
    try:
        for value in items:
            if not _put(_Item(value), read, wanted):
                break
    except BaseException as error:
        end = _End(error)
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            close()
    _put(end, read, wanted)


def _put(item: "_Item[T] | _End", read: "Queue[_Item[T] | _End]", wanted: threading.Event) -> bool:
    while wanted.is_set():
        try:
            read.put(item, timeout=PATIENCE)
        except Full:
            continue
        return True
    return False


def _taken(read: "Queue[_Item[T] | _End]") -> Iterator[T]:
    while True:
        item = read.get()
        if isinstance(item, _Item):
            yield item.value
        elif item.error is not None:
            raise item.error
        else:
            return


def _emptied(read: "Queue[_Item[T] | _End]") -> None:
    """Make room, so that a reader that waits sees at once that it is not wanted."""
    try:
        while True:
            read.get_nowait()
    except Empty:
        return
