"""Checkpoints: what a run needs to go on after it was killed, in files that are whole or not there at all."""

from streamgauge._engine.checkpoint.folder import Folder
from streamgauge._engine.checkpoint.policy import (
    BestEffort,
    CheckpointPolicy,
    ResumePoint,
    checkpointing_of,
    opened_recorders,
    same_run,
)

__all__ = [
    "BestEffort",
    "CheckpointPolicy",
    "Folder",
    "ResumePoint",
    "checkpointing_of",
    "opened_recorders",
    "same_run",
]
