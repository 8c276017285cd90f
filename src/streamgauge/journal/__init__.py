"""The journal of a run: what it reads, written into its folder as it runs, so that any other process can follow it."""

from streamgauge.journal.layout import Layout
from streamgauge.journal.reading import JournalView
from streamgauge.journal.writing import Journal

__all__ = ["Journal", "JournalView", "Layout"]
