"""The instrument for other programs: `Gauge`."""

from streamgauge.gauge.gauge import Gauge
from streamgauge.gauge.reading import GaugeReading
from streamgauge.gauge.waiting import JoinCounts

__all__ = ["Gauge", "GaugeReading", "JoinCounts"]
