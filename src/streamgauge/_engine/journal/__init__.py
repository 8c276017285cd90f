"""The journal of a run: its progress, written into its folder, so that any other process can follow it."""

from streamgauge._engine.journal.layout import Layout
from streamgauge._engine.journal.reader import JournalReader
from streamgauge._engine.journal.writer import Journal

__all__ = ["Journal", "JournalReader", "Layout"]
