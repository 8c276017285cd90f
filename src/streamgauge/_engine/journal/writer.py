"""Writes the journal of a run: some microseconds a batch, in bounded space."""

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from secrets import randbits
from types import TracebackType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.journal.format import (
    ABOUT,
    EVENTS,
    FOLDER,
    READINGS,
    STATUS,
    STOP,
    make_header,
    pack_records,
    read_records,
    to_line,
    write_json,
)
from streamgauge._engine.journal.layout import Layout
from streamgauge.errors import StreamgaugeError
from streamgauge.records import Alarm, Failure, ModelVerdict, Verdict
from streamgauge.records.locks import lock_folder
from streamgauge.records.manifest import RunManifest
from streamgauge.records.readings import name_row
from streamgauge.records.run_data import name_dated_row
from streamgauge.significance.verdict_terms import describe_verdicts

__all__ = ["Journal"]

MAX_RECORDS = 20_000
"""A file with more records is thinned to half."""

MAX_BYTES = 2**26
"""Files larger than this are also thinned."""

MAX_EVENTS = 20_000
"""With more alarms, two neighbours of a kind are merged into one with a count."""

MAX_MOMENTS = 4_000
"""With more readings, every second time of a row is forgotten; verdicts name the rows between at interpolated dates."""

STATUS_SECONDS = 1.0
"""How often the status is written during a run."""


class _Progress(Protocol):
    """The progress of a batch, see `streamgauge._engine.collector.Progress`."""

    @property
    def n_rows(self) -> int: ...
    @property
    def rows(self) -> NDArray[np.int64]: ...
    @property
    def values(self) -> NDArray[np.float64]: ...
    @property
    def costs(self) -> NDArray[np.float64] | None: ...
    @property
    def alarms(self) -> tuple[Alarm, ...]: ...
    @property
    def verdicts(self) -> tuple[Verdict, ...]: ...
    @property
    def model_verdicts(self) -> tuple[ModelVerdict, ...]: ...
    @property
    def times(self) -> NDArray[np.float64] | None: ...
    @property
    def differences(self) -> Mapping[tuple[str, str, str], tuple[float, float, float]]: ...


class Journal:
    """Writes the progress of a run into its folder, for others to follow; a context manager for the length of the run.

    A write error, such as a full disk, never ends a run: the journal then stops, and `error` holds the reason.

    Parameters
    ----------
    folder
        The folder of the run; the journal is the folder ``journal`` in it. An earlier one is replaced.
    layout
        The names along the axes.
    description
        What the run is; what a checkpoint has of its progress is written first.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> from streamgauge._engine.journal import JournalReader
    >>> folder = tempfile.mkdtemp()
    >>> _ = evaluate(SEA(n_rows=1000), NaiveBayes(), every=250, journal=folder)
    >>> view = JournalReader(folder)
    >>> view.layout.rows(view.records()[1]).tolist(), view.state
    ([250, 500, 750, 1000], 'complete')
    """

    def __init__(self, folder: Path | str, layout: Layout, description: Mapping[str, object] | None = None) -> None:
        self.folder, self.layout, self.error = Path(folder) / FOLDER, layout, ""
        self._limit = max(400, min(MAX_RECORDS, MAX_BYTES // (8 * layout.width)))
        self._generation = self._n_records = self._events_generation = 0
        self._events: list[dict[str, Any]] = []
        self._status: dict[str, Any] = {"state": "running", "n_rows": 0}
        self._verdicts: tuple[Verdict, ...] = ()
        self._model_verdicts: tuple[ModelVerdict, ...] = ()
        self._describe: Callable[[], Mapping[str, object]] = dict
        self._failures: Sequence[Failure] = ()
        self._moments: NDArray[np.float64] = np.empty((2, 0))  # rows, and their times
        self._began, self._written = time.monotonic(), -np.inf
        with ExitStack() as stack:
            stack.enter_context(lock_folder(self.folder, "journal"))
            try:
                self._open(description or {})
            except OSError as error:
                msg = f"cannot write the journal into {self.folder}: {error.strerror or error}"
                raise StreamgaugeError(msg) from None
            self._release = stack.pop_all().close

    def _open(self, description: Mapping[str, object]) -> None:
        layout = self.layout
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in (STOP, STATUS):
            (self.folder / name).unlink(missing_ok=True)
        run = RunManifest.here(layout.learners, layout.forgettings, layout.measures, description)
        process = {"pid": os.getpid(), "host": platform.node(), "started": time.time()}
        write_json(self.folder / ABOUT, {**run.to_json(), "layout": layout.facts, "process": process})
        # A generation that no earlier run in this folder had, so that readers start again, too.
        self._generation = self._events_generation = randbits(50)  # JavaScript has whole numbers of 53 bits
        self._rewrite(np.empty((0, layout.width)))
        self._rewrite_events([])
        self._write_status()

    @property
    def is_stop_requested(self) -> bool:
        """Whether somebody created the file ``stop``."""
        return (self.folder / STOP).exists()

    def write_progress(
        self,
        progress: _Progress,
        failures: Sequence[Failure] = (),
        describe: Callable[[], Mapping[str, object]] = dict,
    ) -> None:
        """Write the progress of a batch; `describe` is called about once a second for further facts of the status."""
        if self.error:
            return
        self._describe, self._failures = describe, failures
        try:
            self._note(progress)
        except (OSError, StreamgaugeError) as error:
            self.error = f"the journal in {self.folder} ends here: {error}"

    def _note(self, progress: _Progress) -> None:
        self._verdicts = progress.verdicts or self._verdicts
        self._model_verdicts = progress.model_verdicts or self._model_verdicts
        if len(progress.rows):
            costs, times = progress.costs, progress.times
            differences = progress.differences
            if times is not None:
                moments = np.hstack((self._moments, np.array((progress.rows, times), dtype=np.float64)))
                n = moments.shape[1]
                self._moments = moments if n <= MAX_MOMENTS else moments[:, [*range(0, n - 1, 2), n - 1]]
            self._append(self.layout.pack(progress.rows, time.time(), progress.values, costs, differences, times))
        if progress.alarms:
            self._append_events([{**asdict(alarm), "n": 1} for alarm in progress.alarms])
        self._status["n_rows"] = max(self._status["n_rows"], progress.n_rows)
        if time.monotonic() - self._written >= STATUS_SECONDS:
            self._write_status()

    def _append(self, records: NDArray[np.float64]) -> None:
        self._n_records += len(records)
        if self._n_records > self._limit:
            _, before = read_records(self.folder / READINGS, self.layout.width)
            self._generation += 1
            self._rewrite(self.layout.thin(np.concatenate((before, records)), self._limit // 2))
        else:
            with (self.folder / READINGS).open("ab") as file:
                file.write(pack_records(records))

    def _rewrite(self, records: NDArray[np.float64]) -> None:
        data = make_header(self._generation, self.layout.width) + pack_records(records)
        self._replace(READINGS, lambda path: path.write_bytes(data))
        self._n_records = len(records)

    def _append_events(self, events: list[dict[str, Any]]) -> None:
        self._events += events
        if len(self._events) > MAX_EVENTS:
            self._events_generation += 1
            self._rewrite_events(_merge(self._events))
        else:
            with (self.folder / EVENTS).open("a", encoding="utf-8") as file:
                file.writelines(map(to_line, events))

    def _rewrite_events(self, events: list[dict[str, Any]]) -> None:
        lines = [{"generation": self._events_generation}, *events]
        text = "".join(map(to_line, lines))
        self._replace(EVENTS, lambda path: path.write_text(text, encoding="utf-8"))
        self._events = events

    def _replace(self, name: str, write: Callable[[Path], object]) -> None:
        temporary = self.folder / f".{name}.tmp"
        write(temporary)
        temporary.replace(self.folder / name)

    def _write_status(self) -> None:
        self._written = time.monotonic()
        times = {"seconds": self._written - self._began, "updated": time.time()}
        failures = {"failures": [asdict(failure) for failure in self._failures]}
        write_json(
            self.folder / STATUS, {**self._status, **self._list_verdicts(), **self._describe(), **times, **failures}
        )

    def _list_verdicts(self) -> dict[str, Any]:
        """Return what holds now, in facts and sentences, and what all verdicts of a kind have in common."""
        pairs, models = (
            describe_verdicts(verdicts, self._name_row) for verdicts in (self._verdicts, self._model_verdicts)
        )
        return {
            "verdicts": pairs.facts,
            "verdict_terms": list(pairs.terms),
            "model_verdicts": models.facts,
            "model_verdict_terms": list(models.terms),
        }

    def _name_row(self, row: int) -> str:
        return name_dated_row(row, *self._moments) if self._moments.size else name_row(row)

    def close(self, state: str, reason: str = "") -> None:
        """Write how the run ended: ``complete``, ``cut short`` or ``failed``, and why."""
        self._status |= {"state": state, "reason": reason}
        try:
            self._write_status()
            (self.folder / STOP).unlink(missing_ok=True)
        except (OSError, StreamgaugeError) as error:
            self.error = f"the journal in {self.folder} has no end: {error}"
        self._release()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status["state"] != "running":
            return
        if kind is None or issubclass(kind, GeneratorExit | KeyboardInterrupt):
            self.close("cut short", "the iteration was abandoned")
        else:
            self.close("failed", f"{kind.__name__}: {error}")


def _merge(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge each two neighbouring events of a learner, a detector and a kind; their counts add up."""
    merged: list[dict[str, Any]] = []
    waiting: dict[tuple[str, str, str], dict[str, Any]] = {}
    for event in events:
        kind = (event["learner"], event["detector"], event["kind"])
        if kind in waiting:
            waiting.pop(kind)["n"] += event["n"]
        else:
            waiting[kind] = dict(event)
            merged.append(waiting[kind])
    return merged
