"""Clean stops: the first Ctrl-C ends a run after the current batch, the second one at once."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Terminated", "catch_stop_signals", "leave_if_terminated"]

_received: list[int] = []
"""The signals that are to end this process, once what catches them has ended."""


class Terminated(KeyboardInterrupt):
    """A signal is to end the process, and the rest of its work can be done by a resumed run."""


def leave_if_terminated() -> None:
    """Raise `Terminated` if a signal that was caught is to end this process.

    Examples
    --------
    >>> leave_if_terminated()
    """
    if _received:
        raise Terminated


@contextmanager
def catch_stop_signals(*, terminate: bool = False) -> Iterator[Callable[[], bool]]:
    """Catch Ctrl-C while the block runs; yield a function that returns whether it was pressed.

    Outside the main thread no signal can be caught, so it always returns False.

    Parameters
    ----------
    terminate
        Whether to catch SIGTERM and SIGHUP, too; the signal is raised again when the block has ended. A SIGHUP that is
        ignored, as under nohup, stays ignored.

    Examples
    --------
    >>> with catch_stop_signals() as should_stop:
    ...     should_stop()
    False
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    asked = threading.Event()

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    def stop(number: int, _frame: FrameType | None) -> None:
        asked.set()
        _received.append(number)

    numbers = [signal.SIGTERM] if sys.platform == "win32" else [signal.SIGTERM, signal.SIGHUP]
    caught = [number for number in numbers if terminate and signal.getsignal(number) != signal.SIG_IGN]
    handlers = {signal.SIGINT: interrupt, **dict.fromkeys(caught, stop)}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        received = _received.copy()
        _received.clear()
        if received:
            signal.raise_signal(received[0])
