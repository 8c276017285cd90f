"""The journal of a run: what it reads, written into its folder as it runs, so that any other process can follow it."""

from streamgauge._engine.journal.layout import Layout
from streamgauge._engine.journal.reader import JournalView
from streamgauge._engine.journal.writer import Journal

__all__ = ["Journal", "JournalView", "Layout"]
