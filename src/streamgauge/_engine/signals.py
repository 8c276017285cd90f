"""A clean stop: the first Ctrl-C asks a run to end after the batch at hand, the second ends it at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["asked_to_stop"]


@contextmanager
def asked_to_stop(*, also_terminated: bool = False) -> Iterator[Callable[[], bool]]:
    """Catch Ctrl-C while the block runs; it yields a function that says whether it was pressed.

    Outside the main thread, where no signal can be caught, it never was.

    Parameters
    ----------
    also_terminated
        Whether to catch the signal by which a system ends a process (SIGTERM), too; when the block has ended in good
        order, the process then ends as it was told to.

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

    terminated = threading.Event()

    def terminate(_signal: int, _frame: FrameType | None) -> None:
        asked.set()
        terminated.set()

    handlers = {signal.SIGINT: ask, **({signal.SIGTERM: terminate} if also_terminated else {})}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if terminated.is_set():
            signal.raise_signal(signal.SIGTERM)
