"""Backends: where the cells of an evaluation run."""

from streamgauge.backends.auto import Auto
from streamgauge.backends.processes import Processes
from streamgauge.backends.ray import Ray
from streamgauge.backends.threads import Threads

__all__ = ["Auto", "Processes", "Ray", "Threads"]
