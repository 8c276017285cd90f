"""Isolation of unit tests: no process, no Java virtual machine, no connection to another machine."""

import platform
import sys
from collections.abc import Callable
from functools import wraps
from multiprocessing.process import BaseProcess
from typing import Any

import numpy.testing  # noqa: F401  (NumPy 2.0 starts a process when this is imported, as SciPy does)
from matplotlib import font_manager

__all__ = ["Isolation", "NotIsolatedError", "is_jvm_started"]

PROCESS_EVENTS = {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"}


class NotIsolatedError(Exception):
    """A unit test or an example of a docstring reached beyond its process."""


class Isolation:
    """Refuses processes and connections while it is on. An audit hook cannot be removed, only switched off."""

    def __init__(self) -> None:
        self.on = False
        platform.processor()  # runs a command the first time, and manifests name the processor
        font_manager.findfont("DejaVu Sans")  # lists the fonts of a new machine with a command
        sys.addaudithook(self._check_event)
        BaseProcess.start = self._check_start(BaseProcess.start)  # type: ignore[assignment, method-assign]

    def _check_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.on and (event in PROCESS_EVENTS or (event == "socket.connect" and not _is_local(arguments[1]))):
            self._refuse(event)

    def _check_start(self, start: Callable[[BaseProcess], None]) -> Callable[[BaseProcess], None]:
        """Wrap the start of a process: the start method "spawn" raises no audit event."""

        @wraps(start)
        def checked(process: BaseProcess) -> None:
            if self.on:
                self._refuse("multiprocessing.Process.start")
            start(process)

        return checked

    def _refuse(self, event: str) -> None:
        msg = f"{event} in a unit test or docstring: move it to tests/oracle or tests/system"
        raise NotIsolatedError(msg)


def _is_local(address: Any) -> bool:
    return not isinstance(address, tuple) or address[0] in {"127.0.0.1", "::1", "localhost"}


def is_jvm_started() -> bool:
    """Return whether JPype runs a Java virtual machine in this process."""
    jpype = sys.modules.get("jpype")
    return jpype is not None and bool(jpype.isJVMStarted())
