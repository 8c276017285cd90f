"""What recorders are to be told, kept in a file until the run ends, so that a run that is killed loses none of it.

A file such as a Parquet table cannot be gone on with once its writer is gone. So with checkpoints passages are kept as
they come, and recorders are told all of them at the end; any recorder will do.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO

from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import CellBatch, Recorder, Stream
from streamgauge.records import Batch, Schema, Step, Tallies, Trace
from streamgauge.records.serialise import pack_columns, unpack_columns

__all__ = ["Facts", "RecorderLog"]

Facts = tuple[Stream, Schema, Sequence[str], Sequence[str]]
"""What a recorder is opened with: stream, schema, the names of learners and of forgettings."""


class RecorderLog:
    """Takes passages, and tells them to recorders when the run ends.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._before: dict[str, Any] = {}

    @contextmanager
    def opened(
        self, n_bytes: int, recorders: Sequence[Recorder], facts: Facts
    ) -> Iterator[Callable[[CellBatch], None]]:
        """Go on after the first so many bytes; the recorders are told all passages when the block ends well."""
        try:
            if n_bytes and (not self._path.exists() or self._path.stat().st_size < n_bytes):
                msg = f"{self._path} is missing or too short: it holds what the recorders are to be told"
                raise StreamgaugeError(msg)
            with self._path.open("r+b" if n_bytes else "wb") as self._file:
                self._file.truncate(n_bytes)
                self._file.seek(n_bytes)
                self._before = {}
                yield self
                self._file.flush()
        except OSError as error:
            msg = f"cannot write {self._path}: {error.strerror or error}"
            raise StreamgaugeError(msg) from None
        with ExitStack() as opened:
            takers = [opened.enter_context(recorder.open(*facts)) for recorder in recorders]
            for passage in self.passages():
                for take in takers:
                    take(passage)

    def __call__(self, passage: CellBatch) -> None:
        """Take a passage."""
        if self._file is not None:
            columns = _columns_of(passage)
            # The cells of a batch have the rows in common, which are written once.
            same = [name for name, column in columns.items() if name in self._before and self._before[name] is column]
            new = {name: column for name, column in columns.items() if name not in same}
            told = {
                "learner": passage.learner,
                "fold": passage.fold,
                "stops": [int(stop) for stop in passage.reading_rows],
            }
            about = {**told, "start": passage.step.batch.start, "n_tallies": len(passage.tallies), "same": same}
            record = pack_columns("passage", about, new)
            self._file.write(len(record).to_bytes(8, "little") + record)
            self._before = columns

    def save(self) -> int:
        """Make safe what was taken; gives how many bytes that is."""
        if self._file is None:
            return 0
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def passages(self) -> Iterator[CellBatch]:
        """Give all passages again."""
        before: dict[str, Any] = {}
        with self._path.open("rb") as file:
            while size := file.read(8):
                about, columns = unpack_columns("passage", file.read(int.from_bytes(size, "little")))
                before = {**{name: before[name] for name in about["same"]}, **columns}
                yield _passage(about, before)


_COLUMNS = {"batch": Batch, "step": Step, "trace": Trace}


def _names_of(kind: type) -> list[str]:
    return [field.name for field in fields(kind) if field.name not in {"start", "batch"}]


def _columns_of(passage: CellBatch) -> dict[str, Any]:
    """Give all columns of a passage by name."""
    whole = {"batch": passage.step.batch, "step": passage.step, "trace": passage.trace}
    columns = {
        f"{part} {name}": getattr(whole[part], name) for part, kind in _COLUMNS.items() for name in _names_of(kind)
    }
    for place, tallies in enumerate(passage.tallies):
        if len(tallies):
            stacked = tallies if isinstance(tallies, Tallies) else Tallies.stacked(tallies)
            columns |= {f"tallies {place} {name}": getattr(stacked, name) for name in _names_of(Tallies)}
    return columns


def _passage(about: dict[str, Any], columns: dict[str, Any]) -> CellBatch:
    def built(kind: type, part: str) -> Any:  # noqa: ANN401
        return {name: columns[f"{part} {name}"] for name in _names_of(kind)}

    batch = Batch(about["start"], **built(Batch, "batch"))
    step, trace = Step(batch, **built(Step, "step")), Trace(**built(Trace, "trace"))
    tallies = [
        Tallies(**built(Tallies, f"tallies {place}")) if f"tallies {place} confusion" in columns else ()
        for place in range(about["n_tallies"])
    ]
    return CellBatch(about["learner"], about["fold"], step, trace, about["stops"], tallies)
