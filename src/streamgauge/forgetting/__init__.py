"""Forgettings: how the past fades in a tally."""

from streamgauge.forgetting.kinds import EWMA, Adwin, Fading, Landmark, NativeForgetting, TimeWindow, Tumbling, Window

__all__ = ["EWMA", "Adwin", "Fading", "Landmark", "NativeForgetting", "TimeWindow", "Tumbling", "Window"]
