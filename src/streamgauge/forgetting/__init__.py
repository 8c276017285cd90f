"""Forgettings: how the past fades out of a tally."""

from streamgauge.forgetting.base import NativeForgetting
from streamgauge.forgetting.kinds import EWMA, AdwinWindow, Fading, Landmark, TimeWindow, Tumbling, Window

__all__ = ["EWMA", "AdwinWindow", "Fading", "Landmark", "NativeForgetting", "TimeWindow", "Tumbling", "Window"]
