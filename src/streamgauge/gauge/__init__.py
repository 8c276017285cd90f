"""The instrument for other programs: `Gauge`, and `KeyedGauge` for many keys."""

from streamgauge.gauge.gauge import Gauge
from streamgauge.gauge.keyed import KeyedGauge, KeyVerdict
from streamgauge.gauge.reading import GaugeReading
from streamgauge.gauge.waiting import JoinCounts

__all__ = ["Gauge", "GaugeReading", "JoinCounts", "KeyVerdict", "KeyedGauge"]
