"""Checkpoints of the runs of an experiment, in the folder of the run until its results are saved."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamgauge._engine.checkpoint import BestEffort, CheckpointPolicy, Folder
from streamgauge._foreign import adopt_stream
from streamgauge.protocols import LiveStreamBase, Stream

__all__ = ["RunCheckpoints"]

NAME = "checkpoints"


@dataclass(frozen=True)
class RunCheckpoints:
    """The checkpoints of one run.

    Parameters
    ----------
    folder
        Folder of the run.
    every
        Rows between checkpoints; None for about every 30 seconds, 0 for none.
    ignore_before
        Ignore checkpoints written before this time, in seconds of `time.time`; None ignores none.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge import SEA
    >>> checkpoints = RunCheckpoints(Path(tempfile.mkdtemp()))
    >>> checkpoints.exist, checkpoints.make_policy(SEA(), print) is None
    (False, False)
    """

    folder: Path
    every: int | None = None
    ignore_before: float | None = None

    @property
    def exist(self) -> bool:
        """Whether an earlier attempt left a checkpoint to resume from."""
        newest = self._folder.list_newest_first()[:1]
        return self.every != 0 and any(
            self.ignore_before is None or path.stat().st_mtime >= self.ignore_before for path in newest
        )

    def make_policy(
        self,
        stream: Stream,
        warn: Callable[[str], object],
        describe: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict,
    ) -> CheckpointPolicy | None:
        """Return how checkpoints are written; None for a live stream, which drops its rows at each checkpoint.

        Parameters
        ----------
        stream
            The stream of the run.
        warn
            Called with the reason if the run could not be resumed after a kill.
        describe
            Returns the description of the run as its results will have it.
        """
        if self.every == 0 or isinstance(adopt_stream(stream), LiveStreamBase):
            return None
        if not self.exist:
            self.drop()
        return CheckpointPolicy(self._folder.path, self.every, resume=True, best_effort=BestEffort(warn, describe))

    def drop(self) -> None:
        """Remove all checkpoints."""
        shutil.rmtree(self._folder.path, ignore_errors=True)

    @property
    def _folder(self) -> Folder:
        return Folder(self.folder / NAME)
