"""Backends: where the cells of an evaluation run."""

from streamgauge.backends.threads import Threads

__all__ = ["Threads"]
