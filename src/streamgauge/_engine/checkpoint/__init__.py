"""Checkpoints: what a run needs to resume after it was stopped or killed, in files that are complete or absent."""

from streamgauge._engine.checkpoint.folder import Folder
from streamgauge._engine.checkpoint.policy import BestEffort, CheckpointPolicy

__all__ = ["BestEffort", "CheckpointPolicy", "Folder"]
