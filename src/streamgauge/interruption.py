"""A clean stop: the first Ctrl-C asks a run to end after the batch at hand, the second ends it at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["asked_to_stop"]


@contextmanager
def asked_to_stop() -> Iterator[Callable[[], bool]]:
    """Catch Ctrl-C while the block runs; it yields a function that says whether it was pressed.

    Outside the main thread, where no signal can be caught, it never was.

    Examples
    --------
    >>> with asked_to_stop() as stopping:
    ...     stopping()
    False
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    asked = threading.Event()

    def ask(_signal: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)
