"""Keep unit tests and the examples of docstrings within their process and this machine.

`make test` answers within two minutes because nothing in it starts a process or a Java virtual machine, or connects to
another machine. Tests that need one of them belong in tests/oracle or tests/system.
"""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support.isolation import Isolation, NotIsolatedError, is_jvm_started

ROOT = Path(__file__).parent
ISOLATED = (ROOT / "tests" / "unit", ROOT / "src")
UNIT_TIMEOUT = 60
"""Seconds; other tests have the limit of pyproject.toml."""

_ISOLATION = Isolation()


def _is_isolated(item: pytest.Item) -> bool:
    return any(item.path.is_relative_to(folder) for folder in ISOLATED)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Limit isolated tests to less time than others."""
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
    before = is_jvm_started()
    outcome = yield
    if _is_isolated(item) and is_jvm_started() and not before:
        msg = "a unit test or docstring started a Java virtual machine: move it to tests/oracle or tests/system"
        raise NotIsolatedError(msg)
    return outcome
