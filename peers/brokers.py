"""Real brokers on this machine, for tests and benchmarks: Redis and Apache Kafka.

Redis is the installed `redis-server`, or Debian's packages unpacked into `.cache/redis` without root. Kafka is one node
in KRaft mode; the installed `mvn` fetches its jars from Maven Central into `.cache/kafka`, once.
`STREAMGAUGE_REDIS_SERVER` and `STREAMGAUGE_KAFKA_JARS` select others.
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

__all__ = [
    "BrokerError",
    "KafkaBroker",
    "RedisServer",
    "explain_missing_kafka",
    "explain_missing_redis",
    "find_free_port",
]

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
    """A broker is not available, or does not start."""


@cache
def explain_missing_redis() -> str | None:
    """Return why Redis cannot run here; None if it can."""
    return _explain_failure(_find_redis)


@cache
def explain_missing_kafka() -> str | None:
    """Return why Kafka cannot run here; None if it can."""
    if shutil.which("java") is None:
        return "Kafka needs Java, which is not installed"
    return _explain_failure(_find_kafka_jars)


def _explain_failure(find: Callable[[], object]) -> str | None:
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


def _fetch_once(folder: Path, fetch: Callable[[Path], None]) -> Path:
    """Return a folder of the cache; a missing one is filled elsewhere and renamed, so that it is never partial."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as new:
            fetch(Path(new))
            try:
                (Path(new) / "content").rename(folder)
            except OSError:
                if not folder.exists():  # otherwise another process was faster
                    raise
    return folder


def _find_redis() -> tuple[list[str], dict[str, str]]:
    """Return the command that starts Redis, and the environment variables it needs."""
    installed = os.environ.get("STREAMGAUGE_REDIS_SERVER") or shutil.which("redis-server")
    if installed:
        return [installed], {}
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        msg = "redis-server is not installed, and there is no apt-get to fetch it"
        raise BrokerError(msg)
    unpacked = _fetch_once(CACHE / "redis", _fetch_redis)
    libraries = {str(path.parent) for path in unpacked.rglob("*.so*")}
    return [str(unpacked / "usr" / "bin" / "redis-server")], {"LD_LIBRARY_PATH": ":".join(sorted(libraries))}


def _fetch_redis(folder: Path) -> None:
    try:
        _run(["apt-get", "download", *DEBIAN_PACKAGES], folder)
    except BrokerError:  # the package lists are outdated or missing: download them into our folder, without root
        lists = [f"-oDir::State={folder / 'state'}", f"-oDir::Cache={folder / 'cache'}", "-oAPT::Sandbox::User="]
        for inside in ("state/lists/partial", "cache/archives/partial"):
            (folder / inside).mkdir(parents=True, exist_ok=True)
        _run(["apt-get", "update", *lists], folder)
        _run(["apt-get", "download", *lists, *DEBIAN_PACKAGES], folder)
    for package in folder.glob("*.deb"):
        _run(["dpkg-deb", "-x", str(package), str(folder / "content")], folder)


def _find_kafka_jars() -> Path:
    folder = os.environ.get("STREAMGAUGE_KAFKA_JARS")
    if folder:
        return Path(folder)
    if shutil.which("mvn") is None:
        msg = "fetching Kafka's jars needs mvn, which is not installed"
        raise BrokerError(msg)
    return _fetch_once(CACHE / "kafka" / KAFKA_VERSION, _fetch_kafka)


def _fetch_kafka(folder: Path) -> None:
    (folder / "pom.xml").write_text(POM.format(version=KAFKA_VERSION), encoding="utf-8")
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=content"]
    _run(["mvn", "-q", "-B", *goal], folder)


def find_free_port() -> int:
    """Return a port that is not in use."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


class _Broker(ABC):
    """A process that listens on a local port and can be killed and restarted with its data."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="streamgauge-broker-")
        self.folder = Path(self._folder.name)
        self.port = find_free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def _build_command(self) -> tuple[list[str], dict[str, str]]:
        """Return the command that starts it, and the environment variables it needs."""

    def start(self) -> None:
        """Start it and wait until it answers."""
        command, environment = self._build_command()
        log = self.folder / "log"
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                command, stdout=out, stderr=out, cwd=self.folder, env={**os.environ, **environment}
            )
        deadline = time.monotonic() + 180
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                msg = f"{Path(command[0]).name} does not start: {log.read_text(errors='replace')[-500:]}"
                self.stop()
                raise BrokerError(msg)
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def kill(self, how: int = signal.SIGKILL) -> None:
        """Kill it with a signal."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(30)
            self._process = None

    def stop(self) -> None:
        """Kill it and delete its data."""
        self.kill()
        self._folder.cleanup()


class RedisServer(_Broker):
    """A Redis server that logs every entry before it answers, so that a kill loses nothing."""

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"redis://127.0.0.1:{self.port}"

    def _is_ready(self) -> bool:
        """Return whether it has loaded its data as well."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def _build_command(self) -> tuple[list[str], dict[str, str]]:
        command, environment = _find_redis()
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder)]
        return [*command, *options, "--appendonly", "yes", "--appendfsync", "everysec"], environment


class KafkaBroker(_Broker):
    """A single-node Kafka broker."""

    @property
    def servers(self) -> str:
        """The address of the broker."""
        return f"127.0.0.1:{self.port}"

    def _build_command(self) -> tuple[list[str], dict[str, str]]:
        settings = self.folder / "server.properties"
        java = ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{_find_kafka_jars()}/*"]
        if not settings.exists():
            text = PROPERTIES.format(port=self.port, controller=find_free_port(), folder=self.folder)
            settings.write_text(text, encoding="utf-8")
            identity = ["-t", "c3RyZWFtZ2F1Z2UtdGVzdA", "-c", str(settings)]
            _run([*java, "kafka.tools.StorageTool", "format", *identity], self.folder)
        return [*java, "kafka.Kafka", str(settings)], {}
