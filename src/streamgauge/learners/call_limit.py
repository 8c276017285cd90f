"""A limit on the time of each call of a learner: one that takes longer is interrupted, where Python can do that.

Python code is interrupted between two instructions. A native call is not: the limit takes effect when it returns. In a
worker process a call that waits, for the network or in `time.sleep`, is interrupted as well.
"""

import ctypes
import signal
import sys
import threading
from collections.abc import Callable
from time import perf_counter_ns, sleep
from types import FrameType
from typing import TypeVar

from streamgauge.errors import CallTimeoutError

__all__ = ["CallWatch", "begin_call", "interrupt_waits"]

Outcome = TypeVar("Outcome")

POLLS = 10
"""How often a call is checked within its limit."""

SLOWEST_POLL, QUICKEST_POLL = 0.5, 0.005
AGAIN_NS = 1_000_000_000
"""Nanoseconds after which a call that has swallowed the interruption is interrupted again."""


class _Thread(threading.local):
    """What the current thread runs."""

    watch: "CallWatch | None" = None


_thread = _Thread()
_active: dict[int, "CallWatch"] = {}
"""The watches of calls that run, by thread."""

_lock = threading.Lock()
_has_active = threading.Event()
_watchdog: threading.Thread | None = None
_interrupts_waits = False


class _InterruptionError(CallTimeoutError):
    """Raised from outside in the thread of a call; Python builds it there, without arguments."""

    def __init__(self) -> None:
        super().__init__(float("nan") if _thread.watch is None else _thread.watch.seconds)


class CallWatch:
    """The limit of one learner.

    Parameters
    ----------
    seconds
        The most seconds of a call.

    Examples
    --------
    >>> watch = CallWatch(0.05)
    >>> watch.run(lambda: 42)
    42
    >>> def hang():
    ...     while True:
    ...         pass
    >>> try:
    ...     watch.run(hang)
    ... except CallTimeoutError as error:
    ...     print(error)
    a call took longer than call_limit = 0.05 s
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.limit_ns = round(seconds * 1e9)
        self.started = self.interrupted = 0

    def begin_call(self) -> None:
        """Note that the next call begins; raise if the previous one took too long."""
        now = perf_counter_ns()
        if now - self.started > self.limit_ns:
            raise CallTimeoutError(self.seconds)
        self.started = now

    def run(self, function: Callable[[], Outcome]) -> Outcome:
        """Run a function in which a learner is called; raise if a call takes too long."""
        self._enter()
        try:
            try:
                result = function()
                self.begin_call()
            finally:
                self._leave()
        except CallTimeoutError:
            self._leave()  # the interruption may have hit the line before
            raise CallTimeoutError(self.seconds) from None
        return result

    def _enter(self) -> None:
        _start_watchdog()
        with _lock:
            self.started, self.interrupted = perf_counter_ns(), 0
            _active[threading.get_ident()] = self
            _thread.watch = self
            _has_active.set()

    def _leave(self) -> None:
        """End watching this thread, and withdraw an interruption that has not arrived."""
        with _lock:
            _active.pop(threading.get_ident(), None)
            _thread.watch = None
            if self.interrupted:
                _raise_in(threading.get_ident(), None)
                self.interrupted = 0


def begin_call() -> None:
    """Note that the current thread begins to call a learner; costs nothing where calls have no limit."""
    if _thread.watch is not None:
        _thread.watch.begin_call()


def interrupt_waits() -> None:
    """Interrupt calls in the main thread of this process also while they wait; for worker processes."""
    global _interrupts_waits  # noqa: PLW0603
    if sys.platform != "win32":
        signal.signal(signal.SIGURG, _interrupt_main)
        _interrupts_waits = True


def _interrupt_main(_signal: int, _frame: FrameType | None) -> None:
    if _thread.watch is not None:
        _thread.watch.begin_call()


def _start_watchdog() -> None:
    global _watchdog  # noqa: PLW0603
    if _watchdog is None or not _watchdog.is_alive():
        _watchdog = threading.Thread(target=_watch_calls, name="streamgauge-call-limit", daemon=True)
        _watchdog.start()


def _watch_calls() -> None:
    """Interrupt all calls that take too long, for as long as the process runs."""
    while True:
        _has_active.wait()
        with _lock:
            now = perf_counter_ns()
            for thread, watch in _active.items():
                if now - watch.started > watch.limit_ns and now - watch.interrupted > AGAIN_NS:
                    watch.interrupted = now
                    _interrupt(thread)
            if not _active:
                _has_active.clear()
                continue
            shortest = min(watch.seconds for watch in _active.values())
        sleep(min(max(shortest / POLLS, QUICKEST_POLL), SLOWEST_POLL))


def _interrupt(thread: int) -> None:
    if _interrupts_waits and thread == threading.main_thread().ident and sys.platform != "win32":
        signal.pthread_kill(thread, signal.SIGURG)
    else:
        _raise_in(thread, _InterruptionError)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raise an error in a thread at its next instruction; None withdraws one."""
    value = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), value)
