"""Clean stops: the first Ctrl-C ends a run after the current batch, the second one at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["catch_stop_signals"]


@contextmanager
def catch_stop_signals(*, terminate: bool = False) -> Iterator[Callable[[], bool]]:
    """Catch Ctrl-C while the block runs; yield a function that returns whether it was pressed.

    Outside the main thread no signal can be caught, so it always returns False.

    Parameters
    ----------
    terminate
        Whether to catch SIGTERM, too; the signal is raised again when the block has ended.

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

    terminated = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        asked.set()
        terminated.set()

    handlers = {signal.SIGINT: interrupt, **({signal.SIGTERM: stop} if terminate else {})}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if terminated.is_set():
            signal.raise_signal(signal.SIGTERM)
