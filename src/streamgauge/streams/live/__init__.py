"""Live sources: rows as they come, with or apart from their labels."""

from streamgauge.streams.live.event_counts import Counts
from streamgauge.streams.live.growing import GrowingFile
from streamgauge.streams.live.kafka import Kafka
from streamgauge.streams.live.push import HttpPush
from streamgauge.streams.live.redis import Redis
from streamgauge.streams.live.sockets import Socket
from streamgauge.streams.live.stream import LiveStream

__all__ = ["Counts", "GrowingFile", "HttpPush", "Kafka", "LiveStream", "Redis", "Socket"]
