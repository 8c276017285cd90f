"""The mock cluster of librdkafka, whose brokers can be taken down and up; the library comes with confluent-kafka."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

__all__ = ["MockCluster", "explain_missing_mock_cluster", "run_mock_cluster"]


@cache
def _load_library() -> ctypes.CDLL:
    spec = find_spec("confluent_kafka")
    if spec is None or spec.origin is None:
        msg = "confluent-kafka is not installed"
        raise OSError(msg)
    folder = Path(spec.origin).resolve().parent.parent
    paths = sorted(folder.glob("confluent_kafka*.libs/librdkafka*"))
    if not paths:
        msg = "confluent-kafka is installed without librdkafka"
        raise OSError(msg)
    library = ctypes.CDLL(str(paths[0]))
    pointer, number = ctypes.c_void_p, ctypes.c_int
    for name, result, arguments in (
        ("rd_kafka_conf_new", pointer, []),
        ("rd_kafka_new", pointer, [number, pointer, ctypes.c_char_p, ctypes.c_size_t]),
        ("rd_kafka_destroy", None, [pointer]),
        ("rd_kafka_mock_cluster_new", pointer, [pointer, number]),
        ("rd_kafka_mock_cluster_destroy", None, [pointer]),
        ("rd_kafka_mock_cluster_bootstraps", ctypes.c_char_p, [pointer]),
        ("rd_kafka_mock_topic_create", number, [pointer, ctypes.c_char_p, number, number]),
        ("rd_kafka_mock_broker_set_down", number, [pointer, ctypes.c_int32]),
        ("rd_kafka_mock_broker_set_up", number, [pointer, ctypes.c_int32]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


@cache
def explain_missing_mock_cluster() -> str | None:
    """Return why the mock cluster cannot run here; None if it can."""
    try:
        _load_library()
    except (OSError, AttributeError) as error:
        return f"librdkafka's mock cluster is not available: {error}"
    return None


class MockCluster:
    """Brokers that hold a few megabytes in memory."""

    def __init__(self, handle: int, n: int) -> None:
        self._handle, self._n = handle, n
        self.servers = _load_library().rd_kafka_mock_cluster_bootstraps(handle).decode()

    def create(self, topic: str, partitions: int = 1) -> None:
        """Create a topic."""
        _load_library().rd_kafka_mock_topic_create(self._handle, topic.encode(), partitions, 1)

    def down(self) -> None:
        """Take all brokers down."""
        for broker in range(1, self._n + 1):
            _load_library().rd_kafka_mock_broker_set_down(self._handle, broker)

    def up(self) -> None:
        """Take all brokers up; they have kept their data."""
        for broker in range(1, self._n + 1):
            _load_library().rd_kafka_mock_broker_set_up(self._handle, broker)


@contextmanager
def run_mock_cluster(n: int = 3) -> Iterator[MockCluster]:
    """Run a cluster of `n` brokers during the block."""
    library = _load_library()
    message = ctypes.create_string_buffer(200)
    client = library.rd_kafka_new(0, library.rd_kafka_conf_new(), message, len(message))
    cluster = library.rd_kafka_mock_cluster_new(client, n)
    try:
        yield MockCluster(cluster, n)
    finally:
        library.rd_kafka_mock_cluster_destroy(cluster)
        library.rd_kafka_destroy(client)
