"""Growing files, such as logs, as live streams."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from streamgauge.errors import StreamgaugeError
from streamgauge.streams.live.events import MAX_POLL_BYTES, NO_EVENTS, Events, EventSource, Position, read_clock
from streamgauge.streams.live.line_buffer import LineBuffer, find_too_long
from streamgauge.streams.live.stream import LiveStream

__all__ = ["GrowingFile"]

CHUNK_BYTES = 1 << 20
SLEEP_SECONDS = 0.05


@dataclass(frozen=True, repr=False)
class GrowingFile(LiveStream):
    r"""Rows from a file to which lines are appended, such as a log; a line is read once its line end is written.

    A file that is replaced, as in log rotation, is read to its end before the new one is opened.

    Parameters
    ----------
    path
        The file of the rows; `labels` is the file of the labels. It need not exist yet.
    header
        Whether the first line names the columns; it is then skipped.

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
            msg = "a growing file consists of lines, so it cannot hold Avro records: use format='json' or 'csv'"
            raise StreamgaugeError(msg)

    def _open_sources(self, positions: list[Position | None]) -> list[EventSource]:
        paths = [self.path] if self.labels is None else [self.path, self.labels]
        return [_Tail(Path(path), p, header=self.header) for path, p in zip(paths, positions, strict=False)]


class _Tail:
    """Source of the lines that are appended to one file."""

    def __init__(self, path: Path, position: Position | None, *, header: bool) -> None:
        self._path, self._has_header = path, header
        self.name = str(path)
        self.problem = ""
        self._file: IO[bytes] | None = None
        self._lines, self._start = LineBuffer(), 0
        if position is not None and position["file"] is not None:
            self._resume(position)

    def _resume(self, position: Position) -> None:
        self._open()
        if self._file is None or _get_inode(self._file) != position["file"] or self._size < position["offset"]:
            self.close()
            msg = f"{self._path} is not the file that was read before: it was replaced or truncated"
            raise StreamgaugeError(msg)
        self._start = position["offset"]
        self._file.seek(self._start)

    def _open(self) -> None:
        try:
            self._file = self._path.open("rb", buffering=0)
        except FileNotFoundError:
            self.problem = f"{self._path} does not exist yet"
            return
        except OSError as error:
            msg = f"cannot read {self._path}: {error.strerror}"
            raise StreamgaugeError(msg) from None
        self.problem = ""
        self._lines, self._start = LineBuffer(), 0

    def poll(self, limit: int, seconds: float) -> Events:
        """Return up to `limit` lines."""
        deadline = time.monotonic() + seconds
        lines: list[bytes] = []
        n_bytes = 0
        while len(lines) < limit and n_bytes < MAX_POLL_BYTES:
            at_start = self._offset == 0
            new_lines = self._lines.take(limit - len(lines))
            lines += new_lines[1:] if at_start and self._has_header else new_lines
            n_bytes += sum(map(len, new_lines))
            if not new_lines and not self._read_chunk():
                lines += self._follow_rotation()
                if lines or time.monotonic() >= deadline:
                    break
                time.sleep(min(SLEEP_SECONDS, max(0.0, deadline - time.monotonic())))
        if not lines:
            return NO_EVENTS
        now = read_clock()
        end = self._offset
        return Events(
            values=lines,
            received=np.full(len(lines), now),
            locate=lambda _: f"before byte {end}",
            faults=find_too_long(lines),
            watermark=now,
        )

    @property
    def _offset(self) -> int:
        return self._start + self._lines.n_taken

    @property
    def _size(self) -> int:
        return 0 if self._file is None else os.fstat(self._file.fileno()).st_size

    def _read_chunk(self) -> bool:
        """Read a chunk; return whether there was one."""
        if self._file is None:
            self._open()
        chunk = b"" if self._file is None else self._file.read(CHUNK_BYTES)
        self._lines.add(chunk)
        return bool(chunk)

    def _follow_rotation(self) -> list[bytes]:
        """Open the new file if the old one was replaced; return the unterminated last line of the old one."""
        if self._file is None:
            return []
        try:
            current = self._path.stat()
        except OSError:
            return []  # the old file is gone and the new one does not exist yet
        if current.st_ino == _get_inode(self._file) and current.st_size >= self._offset:
            return []
        rest = self._lines.finish()
        self.close()
        self._open()
        return rest

    @property
    def position(self) -> Position:
        """The inode of the file, and the number of bytes handed out."""
        return {"file": None if self._file is None else _get_inode(self._file), "offset": self._offset}

    def commit(self, position: Position) -> None:
        """Do nothing: a file keeps no record of its readers."""

    def lag(self) -> int | None:
        """Return 0 at the end of the file, else None: lines are not counted before they are read."""
        return 0 if self._size <= self._offset else None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _get_inode(file: IO[bytes]) -> int:
    return os.fstat(file.fileno()).st_ino
