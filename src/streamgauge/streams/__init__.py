"""Streams: what the rows are."""

from streamgauge.streams.files import File

__all__ = ["File"]
