"""A file that grows."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from streamgauge.errors import StreamgaugeError
from streamgauge.streams.live.events import ENOUGH, NOTHING, Events, Position, Source
from streamgauge.streams.live.line_buffer import Lines, too_long
from streamgauge.streams.live.stream import LiveStream

__all__ = ["GrowingFile"]

CHUNK = 1 << 20
NAP = 0.05


@dataclass(frozen=True, repr=False)
class GrowingFile(LiveStream):
    r"""Rows from a file to which lines are added, as a log is; a line counts once its end is there.

    A file that is replaced, as logs are rotated, is read to its end before the new one is.

    Parameters
    ----------
    path
        The file of the rows; `labels` is the file of the labels. It need not be there yet.
    header
        Whether the first line names columns: it is then passed over.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "trades.jsonl"
    >>> _ = path.write_text('{"price": 1.5, "class": "up"}\n{"price": 2')
    >>> schema = {"attributes": {"price": None}, "classes": ["up", "down"]}
    >>> batch = next(GrowingFile(path, schema=schema, max_wait=0.01).batches(100))
    >>> batch.x.tolist(), batch.y.tolist()
    ([[1.5]], [0])
    """

    path: str | Path
    header: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.format == "avro":
            msg = "a growing file has lines, which Avro records are not: give format='json' or 'csv'"
            raise StreamgaugeError(msg)

    def _sources(self, positions: list[Position | None]) -> list[Source]:
        paths = [self.path] if self.labels is None else [self.path, self.labels]
        return [_Tail(Path(path), p, header=self.header) for path, p in zip(paths, positions, strict=False)]


class _Tail:
    """The end of one file."""

    def __init__(self, path: Path, position: Position | None, *, header: bool) -> None:
        self._path, self._header = path, header
        self.name = str(path)
        self.trouble = ""
        self._file: IO[bytes] | None = None
        self._lines, self._start = Lines(), 0
        if position is not None and position["file"] is not None:
            self._go_on(position)

    def _go_on(self, position: Position) -> None:
        self._open()
        if self._file is None or self._number(self._file) != position["file"] or self._size() < position["offset"]:
            self.close()
            msg = f"{self._path} is not the file that was read before: it was replaced or cut"
            raise StreamgaugeError(msg)
        self._start = position["offset"]
        self._file.seek(self._start)

    def _open(self) -> None:
        try:
            self._file = self._path.open("rb", buffering=0)
        except FileNotFoundError:
            self.trouble = f"{self._path} is not there yet"
            return
        except OSError as error:
            msg = f"cannot read {self._path}: {error.strerror}"
            raise StreamgaugeError(msg) from None
        self.trouble = ""
        self._lines, self._start = Lines(), 0

    @staticmethod
    def _number(file: IO[bytes]) -> int:
        return os.fstat(file.fileno()).st_ino

    def _size(self) -> int:
        return 0 if self._file is None else os.fstat(self._file.fileno()).st_size

    def poll(self, most: int, seconds: float) -> Events:
        """Give up to `most` lines."""
        deadline = time.monotonic() + seconds
        lines: list[bytes] = []
        n_bytes = 0
        while len(lines) < most and n_bytes < ENOUGH:
            at_start = self._offset == 0
            fresh = self._lines.take(most - len(lines))
            lines += fresh[1:] if at_start and self._header else fresh
            n_bytes += sum(map(len, fresh))
            if not fresh and not self._read_on():
                lines += self._replaced()
                if lines or time.monotonic() >= deadline:
                    break
                time.sleep(min(NAP, max(0.0, deadline - time.monotonic())))
        if not lines:
            return NOTHING
        now = time.time()
        end = self._offset
        faults = too_long(lines)
        return Events(lines, np.full(len(lines), now), lambda _: f"before byte {end}", faults=faults, until=now)

    @property
    def _offset(self) -> int:
        return self._start + self._lines.n_taken

    def _read_on(self) -> bool:
        """Read a chunk; says whether there was one."""
        if self._file is None:
            self._open()
        chunk = b"" if self._file is None else self._file.read(CHUNK)
        self._lines.add(chunk)
        return bool(chunk)

    def _replaced(self) -> list[bytes]:
        """Begin with a new file where there is one; gives what the old one held behind its last end of a line."""
        if self._file is None:
            return []
        try:
            now = self._path.stat()
        except OSError:
            return []  # it is between the old file and the new one
        if now.st_ino == self._number(self._file) and now.st_size >= self._offset:
            return []
        rest = self._lines.finish()
        self.close()
        self._open()
        return rest

    @property
    def position(self) -> Position:
        """The file, and how many bytes of it were handed out."""
        return {"file": None if self._file is None else self._number(self._file), "offset": self._offset}

    def commit(self, position: Position) -> None:
        """Do nothing: a file keeps no record of its readers."""

    def lag(self) -> int | None:
        """Say that nobody knows: lines are not counted before they are read."""
        return 0 if self._size() <= self._offset else None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
