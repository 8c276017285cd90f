"""Keep unit tests and the examples of docstrings within their process and this machine.

`make test` answers within two minutes because nothing in it starts a process or a Java virtual machine, or connects to
another machine. Tests that need one of them belong in tests/oracle or tests/system.
"""

import platform
import sys
from collections.abc import Callable, Generator
from functools import wraps
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent
ISOLATED = (ROOT / "tests" / "unit", ROOT / "src")
UNIT_TIMEOUT = 60
"""Seconds; other tests have the limit of pyproject.toml."""
PROCESS_EVENTS = {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"}


class NotIsolatedError(Exception):
    """A unit test or an example of a docstring reached beyond its process."""


class Isolation:
    """Refuses processes and connections while it is on. An audit hook cannot be removed, only switched off."""

    def __init__(self) -> None:
        self.on = False
        sys.addaudithook(self._check_event)
        BaseProcess.start = self._check_start(BaseProcess.start)  # type: ignore[method-assign]

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


def _is_local(address: Any) -> bool:  # noqa: ANN401
    return not isinstance(address, tuple) or address[0] in {"127.0.0.1", "::1", "localhost"}


def _is_jvm_started() -> bool:
    jpype = sys.modules.get("jpype")
    return jpype is not None and jpype.isJVMStarted()


def _is_isolated(item: pytest.Item) -> bool:
    return any(item.path.is_relative_to(folder) for folder in ISOLATED)


_ISOLATION = Isolation()
platform.platform()  # runs uname once, before isolation is on; later calls use the cached value


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give isolated tests less time than others."""
    for item in items:
        if _is_isolated(item) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(UNIT_TIMEOUT))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Isolate the tests that have to be, their fixtures included."""
    _ISOLATION.on = _is_isolated(item)
    try:
        return (yield)
    finally:
        _ISOLATION.on = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail an isolated test that starts a Java virtual machine."""
    before = _is_jvm_started()
    outcome = yield
    if _is_isolated(item) and _is_jvm_started() and not before:
        msg = "a unit test or docstring started a Java virtual machine: move it to tests/oracle or tests/system"
        raise NotIsolatedError(msg)
    return outcome
