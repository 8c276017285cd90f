"""Real brokers on this machine, for tests and benchmarks: Redis and Apache Kafka.

Redis is the `redis-server` that is installed, or comes from Debian's packages, unpacked into `.cache/redis` without
root. Kafka is one node in KRaft mode, its jars from Maven Central through the `mvn` that is installed, once, into
`.cache/kafka`. `STREAMGAUGE_REDIS_SERVER` and `STREAMGAUGE_KAFKA_JARS` name others.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from pathlib import Path

__all__ = ["BrokerError", "KafkaBroker", "RedisServer", "free_port", "why_no_kafka", "why_no_redis"]

CACHE = Path(__file__).resolve().parent.parent / ".cache"
KAFKA_VERSION = "4.3.1"
DEBIAN_PACKAGES = ("redis-server", "redis-tools", "libjemalloc2", "liblzf1")
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>streamgauge</groupId><artifactId>broker</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{version}</version>
</dependency></dependencies></project>
"""
PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/data
num.partitions=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""


class BrokerError(RuntimeError):
    """A broker cannot be had, or does not start."""


@cache
def why_no_redis() -> str | None:
    """Say why Redis cannot be run here; None where it can."""
    return _why_not(_redis_command)


@cache
def why_no_kafka() -> str | None:
    """Say why Kafka cannot be run here; None where it can."""
    return "Kafka needs Java, which is not installed" if shutil.which("java") is None else _why_not(_kafka_jars)


def _why_not(find: Callable[[], object]) -> str | None:
    try:
        find()
    except BrokerError as error:
        return str(error)
    return None


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        msg = f"{' '.join(command[:2])} failed: {lines[-1] if lines else done.returncode}"
        raise BrokerError(msg)


def _fetched(folder: Path, fetch: Callable[[Path], None]) -> Path:
    """Give a folder of the cache; where it is not there it is filled elsewhere first, so that it is whole or absent."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as new:
            fetch(Path(new))
            try:
                (Path(new) / "content").rename(folder)
            except OSError:
                if not folder.exists():  # or else another process was quicker
                    raise
    return folder


def _redis_command() -> tuple[list[str], dict[str, str]]:
    """Give the command that starts Redis, and what its environment needs more."""
    installed = os.environ.get("STREAMGAUGE_REDIS_SERVER") or shutil.which("redis-server")
    if installed:
        return [installed], {}
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        msg = "redis-server is not installed, and there is no apt-get to fetch it with"
        raise BrokerError(msg)
    unpacked = _fetched(CACHE / "redis", _fetch_redis)
    libraries = {str(path.parent) for path in unpacked.rglob("*.so*")}
    return [str(unpacked / "usr" / "bin" / "redis-server")], {"LD_LIBRARY_PATH": ":".join(sorted(libraries))}


def _fetch_redis(folder: Path) -> None:
    try:
        _run(["apt-get", "download", *DEBIAN_PACKAGES], folder)
    except BrokerError:  # the lists of packages are old or missing: make some of our own, for which nobody needs root
        lists = [f"-oDir::State={folder / 'state'}", f"-oDir::Cache={folder / 'cache'}", "-oAPT::Sandbox::User="]
        for inside in ("state/lists/partial", "cache/archives/partial"):
            (folder / inside).mkdir(parents=True, exist_ok=True)
        _run(["apt-get", "update", *lists], folder)
        _run(["apt-get", "download", *lists, *DEBIAN_PACKAGES], folder)
    for package in folder.glob("*.deb"):
        _run(["dpkg-deb", "-x", str(package), str(folder / "content")], folder)


def _kafka_jars() -> Path:
    given = os.environ.get("STREAMGAUGE_KAFKA_JARS")
    if given:
        return Path(given)
    if shutil.which("mvn") is None:
        msg = "Kafka's jars are fetched with mvn, which is not installed"
        raise BrokerError(msg)
    return _fetched(CACHE / "kafka" / KAFKA_VERSION, _fetch_kafka)


def _fetch_kafka(folder: Path) -> None:
    (folder / "pom.xml").write_text(POM.format(version=KAFKA_VERSION), encoding="utf-8")
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=content"]
    _run(["mvn", "-q", "-B", *goal], folder)


def free_port() -> int:
    """Give a port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


class _Broker(ABC):
    """A process that listens at a port of this machine, and can be killed and started again with what it holds."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="streamgauge-broker-")
        self.folder = Path(self._folder.name)
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def _command(self) -> tuple[list[str], dict[str, str]]:
        """Give the command that starts it, and what its environment needs more."""

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command, environment = self._command()
        log = self.folder / "log"
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                command, stdout=out, stderr=out, cwd=self.folder, env={**os.environ, **environment}
            )
        deadline = time.monotonic() + 180
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                msg = f"{Path(command[0]).name} does not start: {log.read_text(errors='replace')[-500:]}"
                self.stop()
                raise BrokerError(msg)
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def kill(self, how: int = signal.SIGKILL) -> None:
        """End it without a warning."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(30)
            self._process = None

    def stop(self) -> None:
        """End it, and forget what it holds."""
        self.kill()
        self._folder.cleanup()


class RedisServer(_Broker):
    """A Redis server that writes down every entry before it answers, so that a kill loses nothing."""

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"redis://127.0.0.1:{self.port}"

    def _answers(self) -> bool:
        """Say whether it has read what it holds, too."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as asking:
                asking.sendall(b"PING\r\n")
                return asking.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def _command(self) -> tuple[list[str], dict[str, str]]:
        command, environment = _redis_command()
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder)]
        return [*command, *options, "--appendonly", "yes", "--appendfsync", "everysec"], environment


class KafkaBroker(_Broker):
    """A Kafka broker of one node."""

    @property
    def servers(self) -> str:
        """Where it answers."""
        return f"127.0.0.1:{self.port}"

    def _command(self) -> tuple[list[str], dict[str, str]]:
        settings = self.folder / "server.properties"
        java = ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{_kafka_jars()}/*"]
        if not settings.exists():
            text = PROPERTIES.format(port=self.port, controller=free_port(), folder=self.folder)
            settings.write_text(text, encoding="utf-8")
            identity = ["-t", "c3RyZWFtZ2F1Z2UtdGVzdA", "-c", str(settings)]
            _run([*java, "kafka.tools.StorageTool", "format", *identity], self.folder)
        return [*java, "kafka.Kafka", str(settings)], {}
