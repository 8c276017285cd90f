"""When a run writes its checkpoints, what they hold, and how it resumes from one."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, cast

from streamgauge._engine.batch_plan import BatchResult, Executor, SavedStates
from streamgauge._engine.checkpoint.container import Checkpoint
from streamgauge._engine.checkpoint.folder import Folder
from streamgauge._engine.checkpoint.history import ProgressHistory
from streamgauge._engine.checkpoint.recorder_log import RecorderContext, RecorderLog
from streamgauge._engine.collector import Collector, Progress
from streamgauge._engine.planner import Planner
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import CellBatch, Recorder
from streamgauge.records.description import RunDescription
from streamgauge.records.manifest import RunManifest
from streamgauge.records.serialise import unpack

__all__ = ["BestEffort", "CheckpointPolicy", "ResumePoint", "as_policy"]

CHECKPOINT_SECONDS = 30.0
"""The time between two checkpoints, unless a number of rows is given."""


@dataclass(frozen=True)
class ResumePoint:
    """The state from which a run resumes.

    Parameters
    ----------
    n_rows
        The number of rows of the stream that are done.
    seconds
        The duration of the run up to there.
    saved
        The states of cells and folds.
    parts
        Further states by name.
    n_recorded
        The length of the recorder log in bytes.
    history
        The progress up to there.
    trusted
        Whether pickles among the states may be loaded.
    """

    n_rows: int
    seconds: float
    saved: SavedStates
    parts: Mapping[str, bytes]
    n_recorded: int
    history: Iterator[Progress]
    trusted: bool

    def load(self, executor: Executor, planner: Planner, collector: Collector) -> None:
        """Restore all states of a run with the same options."""
        executor.load(self.saved, trusted=self.trusted)
        planner.load(self.parts)
        collector.load(self.parts["collector"])


@dataclass(frozen=True)
class BestEffort:
    """Best-effort checkpoints: a failure is reported, ends the checkpoints and never aborts the run.

    There is no checkpoint at the end.

    Parameters
    ----------
    report
        Called with the reason when there are no more checkpoints.
    describe
        Returns the description of the run as its results will have it; a sample, say, is drawn into another folder each
        time.
    """

    report: Callable[[str], object]
    describe: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict


class CheckpointPolicy:
    """Writes the checkpoints of a run into a folder.

    Parameters
    ----------
    folder
        The folder.
    every
        The number of rows between two checkpoints; None for about every 30 seconds.
    resume
        Whether to resume from the latest checkpoint, if there is one.
    trust
        Whether to load pickles from a checkpoint that was written elsewhere.
    best_effort
        If set, a failed checkpoint does not end the run.
    """

    def __init__(
        self,
        folder: Path | str,
        every: int | None,
        *,
        resume: bool,
        trust: bool = False,
        best_effort: BestEffort | None = None,
    ) -> None:
        if every is not None:
            require_at_least("checkpoint_every", every, 1)
        self._folder = Folder(folder)
        self._every, self._resume, self._trust, self._best_effort = every, resume, trust, best_effort
        self._disabled = False
        self._history = ProgressHistory(self._folder.path / "progress.log")
        self._recorder_log = RecorderLog(self._folder.path / "recorder.log")
        self._unsaved: list[Progress] = []
        self._row, self._time = 0, time.monotonic()

    @contextmanager
    def open(self, manifest: Callable[[], RunManifest]) -> Iterator[ResumePoint | None]:
        """Lock the folder for the length of a run; yield the point to resume from, or None for the start."""
        with self._folder.lock():
            run = manifest()
            if self._best_effort is not None:
                run = replace(run, description=cast("RunDescription", self._best_effort.describe(run.description)))
            self._run = run
            self._unsaved, self._disabled = [], False
            point = self._find_resume_point()
            self._row, self._time = 0 if point is None else point.n_rows, time.monotonic()
            yield point

    def _find_resume_point(self) -> ResumePoint | None:
        paths = self._folder.list_newest_first()
        if paths and not self._resume:
            msg = f"{self._folder.path} holds checkpoints of an earlier run: resume it, or use another folder"
            raise StreamgaugeError(msg)
        checkpoint = self._folder.find_newest(self._run, self._check)
        self._history.truncate(0 if checkpoint is None else checkpoint.facts["history"])
        if checkpoint is None:
            return None
        for path in paths:  # later ones that cannot be used
            if path.name > self._folder.format_name(checkpoint.n_rows):
                path.unlink()
        parts = dict(checkpoint.parts)
        cells, folds = (_take_numbered(parts, kind) for kind in ("cell", "fold"))
        return ResumePoint(
            n_rows=checkpoint.n_rows,
            seconds=checkpoint.facts["seconds"],
            saved=SavedStates(cells, folds, scheduler=parts["scheduler"]),
            parts=parts,
            n_recorded=checkpoint.facts["recorded"],
            history=self._history.read(checkpoint.facts["history"]),
            trusted=checkpoint.own or self._trust,
        )

    def _check(self, checkpoint: Checkpoint) -> None:
        """Raise if files that a checkpoint needs are damaged, or, of best-effort ones, another version wrote it."""
        version, written = (run.versions.get("streamgauge") for run in (self._run, checkpoint.run))
        if self._best_effort is not None and written != version:
            msg = f"it was written by streamgauge {written}"
            raise StreamgaugeError(msg)
        self._history.check(checkpoint.facts["history"])
        self._recorder_log.check(checkpoint.facts["recorded"])

    def is_due(self, n_rows: int, n_last: int | None = None) -> bool:
        """Return, once, whether a checkpoint is due after a number of rows, or at the last row."""
        if self._disabled:
            return False
        if n_rows == n_last and self._best_effort is None:
            return True
        if self._every is None:
            due = time.monotonic() - self._time >= CHECKPOINT_SECONDS
        else:
            due = n_rows - self._row >= self._every
        if due:
            self._row, self._time = n_rows, time.monotonic()
        return due

    @property
    def max_batch_rows(self) -> int:
        """The most rows of a batch, so that checkpoints are on time."""
        return self._every or sys.maxsize

    def add(self, progress: Progress) -> None:
        """Keep the progress of a batch for the next checkpoint."""
        if not self._disabled:
            self._unsaved.append(progress)

    @contextmanager
    def open_recorders(
        self, recorders: Sequence[Recorder], context: RecorderContext, resume_point: ResumePoint | None
    ) -> Iterator[Callable[[CellBatch], None]]:
        """Log what recorders need until the run ends; they get it then."""
        n_bytes = 0 if resume_point is None else resume_point.n_recorded
        with self._recorder_log.open(n_bytes, recorders, context) as callback:
            yield callback

    def write(self, seconds: float, results: Sequence[BatchResult], planner: Planner, collector: Collector) -> None:
        """Write a checkpoint of the progress and all states; afterwards a live stream may forget its rows."""
        states = planner.take_states(collector.n_done)
        if self._disabled:  # the progress since the last one is not in the log
            return
        try:
            self._write(collector.n_done, seconds, results, {**states, "collector": collector.save()})
        except StreamgaugeError as error:
            if self._best_effort is None:
                raise
            self._best_effort.report(str(error))
            self._disabled, self._unsaved = True, []
            return
        planner.commit(states)

    def _write(self, n_rows: int, seconds: float, results: Sequence[BatchResult], parts: Mapping[str, bytes]) -> None:
        saved = [result.saved for result in results if result.saved is not None]
        for states in saved:
            if states.refusal:
                raise StreamgaugeError(states.refusal)
        cells = dict(chain.from_iterable(states.cells.items() for states in saved))
        folds = dict(chain.from_iterable(states.folds.items() for states in saved))
        numbered = {f"cell {index}": state for index, state in sorted(cells.items())}
        numbered |= {f"fold {number}": state for number, state in sorted(folds.items())}
        try:
            n_history, n_recorded = self._history.append(self._unsaved), self._recorder_log.flush()
        except OSError as error:
            raise self._folder.make_error(error) from None
        pickled = sorted({kind for state in cells.values() for kind in unpack("cell", state)[0]["pickled"]})
        facts = {"seconds": seconds, "history": n_history, "recorded": n_recorded, "pickled": pickled}
        checkpoint = Checkpoint(n_rows, self._run, facts, {**numbered, **parts})
        self._folder.write(checkpoint, marked=bool(pickled))
        self._unsaved = []


def as_policy(
    folder: Path | str | CheckpointPolicy | None, every: int | None, *, resume: bool, trust: bool
) -> CheckpointPolicy | None:
    """Return the policy for a folder; raise if an option needs a folder and there is none.

    Examples
    --------
    >>> as_policy(None, None, resume=True, trust=False)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: resume needs checkpoint, the folder of the checkpoints
    """
    if isinstance(folder, CheckpointPolicy):
        return folder
    if folder is not None:
        return CheckpointPolicy(folder, every, resume=resume, trust=trust)
    for option, given in (("resume", resume), ("checkpoint_every", every is not None)):
        if given:
            msg = f"{option} needs checkpoint, the folder of the checkpoints"
            raise StreamgaugeError(msg)
    return None


def _take_numbered(parts: dict[str, bytes], kind: str) -> dict[int, bytes]:
    """Remove the parts of a kind; return them by number."""
    names = [name for name in parts if name.startswith(f"{kind} ")]
    return {int(name.split()[1]): parts.pop(name) for name in names}
