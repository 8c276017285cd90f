"""Streams: rows in memory, files and generators."""

from streamgauge.streams.arrays import ArrayStream, as_stream, in_memory, take
from streamgauge.streams.files import File
from streamgauge.streams.generators import SEA, Hyperplane, RandomRBF

__all__ = ["SEA", "ArrayStream", "File", "Hyperplane", "RandomRBF", "as_stream", "in_memory", "take"]
