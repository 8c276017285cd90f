"""When a run writes its checkpoints, what goes into them, and how it goes on from one."""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from streamgauge._engine.batch_plan import BatchResult, SavedStates
from streamgauge._engine.checkpoint.container import Checkpoint
from streamgauge._engine.checkpoint.folder import Folder
from streamgauge._engine.checkpoint.history import ProgressHistory
from streamgauge._engine.checkpoint.recorder_log import Facts, RecorderLog
from streamgauge._engine.collector import Collector, Progress
from streamgauge._engine.executor import Executor
from streamgauge._engine.planner import Planner
from streamgauge._format.text import to_text
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import CellBatch, DetectorSpec, Recorder
from streamgauge.records.serialise import unpack

__all__ = ["BestEffort", "CheckpointPolicy", "ResumePoint", "checkpointing_of", "opened_recorders", "same_run"]

SECONDS = 30.0
"""How often a checkpoint is written where nobody says after how many rows."""


@dataclass(frozen=True)
class ResumePoint:
    """What a run goes on from.

    Parameters
    ----------
    n_rows
        How many rows of the stream are done.
    seconds
        How long the run took up to there.
    saved
        The states of cells and folds.
    parts
        Further states by name.
    spooled
        How many bytes recorders are to be told of.
    told
        What the run told up to there.
    trusted
        Whether pickles among the states may be loaded.
    """

    n_rows: int
    seconds: float
    saved: SavedStates
    parts: Mapping[str, bytes]
    spooled: int
    told: Iterator[Progress]
    trusted: bool

    def load(self, host: Executor, orders: Planner, account: Collector) -> None:
        """Let a run that was built alike take over all states."""
        host.load(self.saved, trusted=self.trusted)
        orders.load(self.n_rows, self.parts)
        account.load(self.parts["account"])


@dataclass(frozen=True)
class BestEffort:
    """Of checkpoints that nobody asked for: they only serve a run that is killed, and so never end one.

    Where one cannot be written, there are no more of them. There is none of the end.

    Parameters
    ----------
    run
        What the run is, in plain words: what must be the same for it to go on.
    tell
        Told why there are no more of them.
    """

    run: Mapping[str, Any]
    tell: Callable[[str], object]


class CheckpointPolicy:
    """Keeps the checkpoints of a run.

    Parameters
    ----------
    folder
        Where they go.
    every
        A checkpoint is written after so many rows, or at the end of the batch then at hand; None for one about every
        30 seconds.
    resume
        Whether to go on from the newest one in the folder.
    trust
        Whether to load pickles from a checkpoint that was written elsewhere.
    aside
        Says that nobody asked for them; None where somebody did.
    """

    def __init__(
        self,
        folder: Path | str,
        every: int | None,
        *,
        resume: bool,
        trust: bool = False,
        aside: BestEffort | None = None,
    ) -> None:
        if every is not None:
            require_at_least("checkpoint_every", every, 1)
        self._folder = Folder(folder)
        self._every, self._resume, self._trust, self._aside = every, resume, trust, aside
        self._given_up = False
        self._log = ProgressHistory(self._folder.path / "progress.log")
        self._spool = RecorderLog(self._folder.path / "passages.log")
        self._told: list[Progress] = []
        self._row, self._time = 0, time.monotonic()

    @contextmanager
    def opened(self, run: Callable[[], Mapping[str, Any]]) -> Iterator[ResumePoint | None]:
        """Hold the folder for the length of a run; it yields what to go on from, or None for the start.

        Parameters
        ----------
        run
            Says what the run is; asked once, where that was not said before.
        """
        with self._folder.locked():
            self._run = dict(run() if self._aside is None else self._aside.run)
            self._told, self._given_up = [], False
            restored = self._restored()
            self._row, self._time = 0 if restored is None else restored.n_rows, time.monotonic()
            yield restored

    def _restored(self) -> ResumePoint | None:
        found = self._folder.newest_first()
        if found and not self._resume:
            msg = f"{self._folder.path} holds checkpoints of an earlier run: resume it, or give another folder"
            raise StreamgaugeError(msg)
        checkpoint = self._folder.newest(self._run, lambda checkpoint: self._log.check(checkpoint.facts["log"]))
        self._log.cut(0 if checkpoint is None else checkpoint.facts["log"])
        if checkpoint is None:
            return None
        for later in found:  # of which nothing can be used, and whose place others will take
            if later.name > self._folder.name_of(checkpoint.n_rows):
                later.unlink()
        parts = dict(checkpoint.parts)
        cells, folds = (_numbered(parts, kind) for kind in ("cell", "fold"))
        facts, told = checkpoint.facts, self._log.read(checkpoint.facts["log"])
        states = (SavedStates(cells, folds), parts, facts["spooled"])
        return ResumePoint(checkpoint.n_rows, facts["seconds"], *states, told, checkpoint.own or self._trust)

    def is_due(self, n_rows: int, n_last: int | None = None) -> bool:
        """Say whether a checkpoint is due after so many rows, or as the last; one that was due is no longer."""
        if self._given_up:
            return False
        if n_rows == n_last and self._aside is None:
            return True
        due = time.monotonic() - self._time >= SECONDS if self._every is None else n_rows - self._row >= self._every
        if due:
            self._row, self._time = n_rows, time.monotonic()
        return due

    @property
    def most_rows(self) -> int:
        """How many rows may go into a batch, so that a checkpoint is in time."""
        return self._every or sys.maxsize

    def tell(self, progress: Progress) -> None:
        """Take note of what a batch brought, for the next checkpoint."""
        if not self._given_up:
            self._told.append(progress)

    def taking(
        self, recorders: Sequence[Recorder], facts: Facts, restored: ResumePoint | None
    ) -> AbstractContextManager[Callable[[CellBatch], None]]:
        """Open what takes the passages for the recorders until the run ends."""
        return self._spool.opened(0 if restored is None else restored.spooled, recorders, facts)

    def write(
        self, seconds: float, results_of_groups: Sequence[BatchResult], orders: Planner, account: Collector
    ) -> None:
        """Write a checkpoint of what was told up to now and of all states; then a live stream may forget the rows."""
        states = orders.states(account.n_done)
        if self._given_up:  # what was told since the last one is lost to it
            return
        try:
            self._write(account.n_done, seconds, results_of_groups, {**states, "account": account.save()})
        except StreamgaugeError as error:
            if self._aside is None:
                raise
            self._aside.tell(str(error))
            self._given_up, self._told = True, []
            return
        orders.committed(states)

    def _write(
        self, n_rows: int, seconds: float, results_of_groups: Sequence[BatchResult], parts: Mapping[str, bytes]
    ) -> None:
        saved = [of_group.saved for of_group in results_of_groups if of_group.saved is not None]
        for of_group in saved:
            if of_group.refusal:
                raise StreamgaugeError(of_group.refusal)
        cells = dict(chain.from_iterable(of_group.cells.items() for of_group in saved))
        folds = dict(chain.from_iterable(of_group.folds.items() for of_group in saved))
        states = {f"cell {place}": state for place, state in sorted(cells.items())}
        states |= {f"fold {number}": state for number, state in sorted(folds.items())}
        try:
            n_bytes, spooled = self._log.append(self._told), self._spool.save()
        except OSError as error:
            raise self._folder.failed(error) from None
        pickled = sorted({kind for state in cells.values() for kind in unpack("cell", state)[0]["pickled"]})
        facts = {"seconds": seconds, "log": n_bytes, "spooled": spooled, "pickled": pickled}
        self._folder.write(Checkpoint(n_rows, self._run, facts, {**states, **parts}), marked=bool(pickled))
        self._told = []


def checkpointing_of(
    folder: Path | str | CheckpointPolicy | None, every: int | None, *, resume: bool, trust: bool
) -> CheckpointPolicy | None:
    """Keep checkpoints where there is a folder for them; raise where an option needs one.

    Examples
    --------
    >>> checkpointing_of(None, None, resume=True, trust=False)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: resume: from where? Give the folder of the checkpoints (checkpoint)
    """
    if isinstance(folder, CheckpointPolicy):
        return folder
    if folder is not None:
        return CheckpointPolicy(folder, every, resume=resume, trust=trust)
    if resume:
        msg = "resume: from where? Give the folder of the checkpoints (checkpoint)"
        raise StreamgaugeError(msg)
    if every is not None:
        msg = "checkpoint_every: where do they go? Give a folder for the checkpoints (checkpoint)"
        raise StreamgaugeError(msg)
    return None


_MAY_DIFFER = {"drifts", "live", "time_limit", "seconds", "ended_by"}


def same_run(
    description: Mapping[str, Any], detectors: Mapping[str, DetectorSpec], recorders: Sequence[Recorder]
) -> dict[str, Any]:
    """Tell of the description of a run what must be the same for it to go on from a checkpoint.

    How many rows are read may differ, so that a run can be prolonged, and so may all that cannot change a reading.

    Examples
    --------
    >>> same_run({"stream": {"name": "SEA()", "n_rows": 100}, "seed": 1, "seconds": 2.5}, {}, ())
    {'stream': {'name': 'SEA()'}, 'seed': 1, 'detectors': {}, 'recorders': []}
    """
    told = {name: value for name, value in description.items() if name not in _MAY_DIFFER}
    told["stream"] = {name: value for name, value in description["stream"].items() if name != "n_rows"}
    told["detectors"] = {name: to_text(detector) for name, detector in detectors.items()}
    told["recorders"] = [to_text(recorder) for recorder in recorders]
    plain: dict[str, Any] = json.loads(json.dumps(told))
    return plain


@contextmanager
def opened_recorders(
    recorders: Sequence[Recorder], facts: Facts, checkpointing: CheckpointPolicy | None, restored: ResumePoint | None
) -> Iterator[list[Callable[[CellBatch], None]]]:
    """Open the recorders of a run; with checkpoints they are told at its end what is kept for them until then."""
    with ExitStack() as opened:
        if checkpointing is None or not recorders:
            yield [opened.enter_context(recorder.open(*facts)) for recorder in recorders]
        else:
            yield [opened.enter_context(checkpointing.taking(recorders, facts, restored))]


def _numbered(parts: dict[str, bytes], kind: str) -> dict[int, bytes]:
    """Take the parts of a kind out, by their numbers."""
    names = [name for name in parts if name.startswith(f"{kind} ")]
    return {int(name.split()[1]): parts.pop(name) for name in names}
