"""Backends: where the cells of a run are computed. The results are the same to the last bit."""

from streamgauge._engine.batch_plan import Backend
from streamgauge.backends.auto import Auto
from streamgauge.backends.processes import Processes
from streamgauge.backends.ray import Ray
from streamgauge.backends.threads import Threads

__all__ = ["Auto", "Backend", "Processes", "Ray", "Threads"]
