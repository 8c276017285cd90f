"""Forgettings: how the past fades out of a tally."""

from streamgauge.forgetting.kinds import (
    EWMA,
    AdwinWindow,
    Fading,
    Landmark,
    NativeForgetting,
    TimeWindow,
    Tumbling,
    Window,
)

__all__ = ["EWMA", "AdwinWindow", "Fading", "Landmark", "NativeForgetting", "TimeWindow", "Tumbling", "Window"]
