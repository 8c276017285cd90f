"""What tests share: one JVM, Redis, Kafka and browser a session, and real streams where they can be found.

Where something is not installed, the tests that need it are skipped with one reason. Tests that share a server lie in
one folder and run in one worker of pytest-xdist, so that it is started once.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from peers import moa as moa_peer
from peers.brokers import KafkaBroker, RedisServer, explain_missing_kafka, explain_missing_redis
from peers.mock_kafka import MockCluster, explain_missing_mock_cluster, run_mock_cluster
from streamgauge.errors import StreamgaugeError
from streamgauge.streams import File, load
from tests.support.chromium import start_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

settings.register_profile("streamgauge", deadline=None)  # a busy machine is no fault
settings.load_profile("streamgauge")

SHARED = ("tests/oracle/moa/", "tests/system/brokers/", "tests/system/browser/")
"""Folders whose tests share a server."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run the tests of a file in one worker, and those of a folder that shares a server."""
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]  # noqa: PLC0415

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return next((folder for folder in SHARED if nodeid.startswith(folder)), nodeid.partition("::")[0])

    return Scheduling(config, log)


def _skip_because(reason: str | None) -> None:
    if reason is not None:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def moa() -> Iterator[None]:
    """Run everything of `peers.moa` in one Java virtual machine, where there is a JDK."""
    _skip_because(moa_peer.explain_missing())
    if moa_peer.explain_missing_jdk() is None:
        with moa_peer.share_machine():
            yield
    else:
        yield


@pytest.fixture(scope="session")
def moa_programs(moa: None) -> None:  # noqa: ARG001
    """Skip where no program around MOA can be compiled."""
    _skip_because(moa_peer.explain_missing_jdk())


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """A Redis server; a test that kills it starts it again."""
    _skip_because(explain_missing_redis())
    server = RedisServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def kafka_broker() -> Iterator[KafkaBroker]:
    """A Kafka broker of one node; a test that kills it starts it again."""
    _skip_because(explain_missing_kafka())
    broker = KafkaBroker()
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture(scope="session")
def mock_kafka() -> Iterator[MockCluster]:
    """A mock cluster of three brokers in this process; a test that takes them down takes them up again."""
    _skip_because(explain_missing_mock_cluster())
    with run_mock_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """A headless Chromium that resolves no name."""
    pytest.importorskip("playwright", reason="Playwright, which drives a browser, is not installed")
    with ExitStack() as stack:
        try:
            started = stack.enter_context(start_chromium())
        except LookupError as error:
            pytest.skip(str(error))
        yield started


@pytest.fixture(scope="session")
def real_stream() -> Callable[[str], File]:
    """Return a function that opens a real stream of the registry; the test is skipped where it is absent."""

    def open_stream(name: str) -> File:
        try:
            return load(name, offline=True)
        except StreamgaugeError:
            pytest.skip("real streams are absent: set STREAMGAUGE_DATA to a folder of them, or download them once")

    return open_stream
