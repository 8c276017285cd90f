"""Checkpoints: what a run needs to go on after it was killed, in files that are whole or not there at all."""

from streamgauge.checkpoints.folder import Folder
from streamgauge.checkpoints.keeping import Aside, Checkpointing, Restored, checkpointing_of, opened_recorders, same_run

__all__ = ["Aside", "Checkpointing", "Folder", "Restored", "checkpointing_of", "opened_recorders", "same_run"]
