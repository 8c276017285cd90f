"""Forgettings: how the past fades out of a tally."""

from streamgauge.forgetting.kinds import (
    EWMA,
    AdwinWindow,
    Fading,
    Landmark,
    NativeForgetting,
    NumberSums,
    TimeWindow,
    Tumbling,
    Window,
    count_rows_above,
)

__all__ = [
    "EWMA",
    "AdwinWindow",
    "Fading",
    "Landmark",
    "NativeForgetting",
    "NumberSums",
    "TimeWindow",
    "Tumbling",
    "Window",
    "count_rows_above",
]
