"""Streams: rows in memory and generators."""

from streamgauge.streams.arrays import ArrayStream, as_stream, in_memory, take
from streamgauge.streams.generators import SEA, Hyperplane, RandomRBF

__all__ = ["SEA", "ArrayStream", "Hyperplane", "RandomRBF", "as_stream", "in_memory", "take"]
