"""Files as streams: text, compressed text, tables and archives."""

from streamgauge.streams.files.file import File

__all__ = ["File"]
