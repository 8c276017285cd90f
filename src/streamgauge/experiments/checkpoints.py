"""The checkpoints of the runs of an experiment, each beside the place of its results until these are there."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from streamgauge._engine.checkpoint import BestEffort, CheckpointPolicy, Folder
from streamgauge.protocols import Resumable, Stream

__all__ = ["RunCheckpoints"]

NAME = "checkpoints"


@dataclass(frozen=True)
class RunCheckpoints:
    """The checkpoints of one run.

    Parameters
    ----------
    folder
        The folder of the run.
    run
        Its name, which says what is done.
    every
        A checkpoint is written after so many rows; None for about every 30 seconds, 0 for never.
    since
        Take only what was written after this moment, in seconds of `time.time`; None for all.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge import SEA
    >>> kept = RunCheckpoints(Path(tempfile.mkdtemp()), "1f")
    >>> kept.is_there, kept.checkpointing(SEA(), print) is None
    (False, False)
    """

    folder: Path
    run: str
    every: int | None = None
    since: float | None = None

    @property
    def is_there(self) -> bool:
        """Whether an earlier try has left a checkpoint to go on from."""
        newest = self._found.newest_first()[:1]
        return self.every != 0 and any(self.since is None or path.stat().st_mtime >= self.since for path in newest)

    def checkpointing(self, stream: Stream, tell: Callable[[str], object]) -> CheckpointPolicy | None:
        """Say how checkpoints are kept; not at all of a live stream, which would forget rows with each of them.

        Parameters
        ----------
        stream
            Where the rows come from.
        tell
            Told why a run that is killed could not go on.
        """
        if self.every == 0 or isinstance(stream, Resumable):
            return None
        if not self.is_there:
            self.drop()
        # Paths are left out: a sample is drawn into another folder each time.
        run = {"run": self.run, "version": version("streamgauge")}
        return CheckpointPolicy(self._found.path, self.every, resume=True, aside=BestEffort(run, tell))

    def drop(self) -> None:
        """Remove them all."""
        shutil.rmtree(self._found.path, ignore_errors=True)

    @property
    def _found(self) -> Folder:
        return Folder(self.folder / NAME)
