"""Streams of stream-learn: its generators, its parsers, and conversion to and from ours."""

from streamgauge.compat.strlearn.streams.chunks import ChunkedStream, DataStream, from_strlearn
from streamgauge.compat.strlearn.streams.generator import StreamGenerator
from streamgauge.compat.strlearn.streams.parsers import ARFFParser, CSVParser, NPYParser

__all__ = [
    "ARFFParser",
    "CSVParser",
    "ChunkedStream",
    "DataStream",
    "NPYParser",
    "StreamGenerator",
    "from_strlearn",
]
