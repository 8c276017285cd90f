"""A log of what recorders need, so that a killed run loses none of it.

A file such as a Parquet table cannot be continued by another process. So with checkpoints the batches of all cells are
logged, and recorders get them at the end of the run.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO

from streamgauge._engine.checkpoint.record_file import check_records, read_records, to_record
from streamgauge._engine.signals import leave_if_terminated
from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import CellBatch, Recorder, Stream
from streamgauge.records import Batch, Schema, Step, Tallies, Trace

__all__ = ["RecorderContext", "RecorderLog"]

KIND = "cell_batch"

RecorderContext = tuple[Stream, Schema, Sequence[str], Sequence[str]]
"""What a recorder is opened with: stream, schema, the names of learners and of forgettings."""


class RecorderLog:
    """Logs the batches of all cells, and replays them to recorders when the run ends.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._previous: dict[str, Any] = {}

    @contextmanager
    def open(
        self, n_bytes: int, recorders: Sequence[Recorder], context: RecorderContext
    ) -> Iterator[Callable[[CellBatch], None]]:
        """Continue after the first `n_bytes`; when the block ends without an error, replay the log to the recorders.

        A signal that ends the process ends the replay; a resumed run replays the log again.
        """
        try:
            with self._path.open("r+b" if n_bytes else "wb") as self._file:
                self._file.truncate(n_bytes)
                self._file.seek(n_bytes)
                self._previous = {}
                yield self.append
                n_bytes = self._file.tell()
        except OSError as error:
            msg = f"cannot write {self._path}: {error.strerror or error}"
            raise StreamgaugeError(msg) from None
        with ExitStack() as stack:
            callbacks = [stack.enter_context(recorder.open(*context)) for recorder in recorders]
            for cell_batch in self.read(n_bytes):
                leave_if_terminated()
                for callback in callbacks:
                    callback(cell_batch)

    def append(self, cell_batch: CellBatch) -> None:
        """Append the batch of a cell."""
        if self._file is None:
            return
        columns = _to_columns(cell_batch)
        # The cells of a batch share its rows, which are written once.
        same = [name for name, column in columns.items() if self._previous.get(name, self) is column]
        facts = {
            "learner": cell_batch.learner,
            "fold": cell_batch.fold,
            "reading_rows": [int(row) for row in cell_batch.reading_rows],
            "start": cell_batch.step.batch.start,
            "n_tallies": len(cell_batch.tallies),
            "same": same,
        }
        new = {name: column for name, column in columns.items() if name not in same}
        self._file.write(to_record(KIND, facts, new))
        self._previous = columns

    def flush(self) -> int:
        """Make the log durable; return its length in bytes."""
        if self._file is None:
            return 0
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def read(self, n_bytes: int) -> Iterator[CellBatch]:
        """Yield the batches in the first `n_bytes`."""
        previous: dict[str, Any] = {}
        for facts, columns in read_records(self._path, KIND, n_bytes):
            previous = {**{name: previous[name] for name in facts["same"]}, **columns}
            yield _from_columns(facts, previous)

    def check(self, n_bytes: int) -> None:
        """Raise if the first `n_bytes` are damaged or missing."""
        check_records(self._path, KIND, n_bytes)


_RECORDS = {"batch": Batch, "step": Step, "trace": Trace, "unlabelled": Trace}


def _list_columns(record: type) -> list[str]:
    return [field.name for field in fields(record) if field.name not in {"start", "batch"}]


def _to_columns(cell_batch: CellBatch) -> dict[str, Any]:
    """Return all columns of the batch of a cell by name."""
    records = {"batch": cell_batch.step.batch, "step": cell_batch.step, "trace": cell_batch.trace}
    if cell_batch.unlabelled is not None:
        records["unlabelled"] = cell_batch.unlabelled
    columns = {
        f"{part} {name}": getattr(record, name)
        for part, record in records.items()
        for name in _list_columns(_RECORDS[part])
    }
    for index, tallies in enumerate(cell_batch.tallies):
        if len(tallies):
            stacked = tallies if isinstance(tallies, Tallies) else Tallies.stack(tallies)
            columns |= {f"tallies {index} {name}": getattr(stacked, name) for name in _list_columns(Tallies)}
    return columns


def _from_columns(facts: dict[str, Any], columns: dict[str, Any]) -> CellBatch:
    def select(record: type, part: str) -> Any:  # noqa: ANN401
        return {name: columns[f"{part} {name}"] for name in _list_columns(record)}

    batch = Batch(facts["start"], **select(Batch, "batch"))
    return CellBatch(
        learner=facts["learner"],
        fold=facts["fold"],
        step=Step(batch, **select(Step, "step")),
        trace=Trace(**select(Trace, "trace")),
        unlabelled=Trace(**select(Trace, "unlabelled")) if "unlabelled row" in columns else None,
        reading_rows=facts["reading_rows"],
        tallies=[
            Tallies(**select(Tallies, f"tallies {index}")) if f"tallies {index} confusion" in columns else ()
            for index in range(facts["n_tallies"])
        ],
    )
