"""Counts of the events of a live stream, and the file of rejected events."""

import base64
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from streamgauge.errors import StreamgaugeError

__all__ = ["Counts", "DeadLetter", "DeadLetterFile"]


@dataclass
class Counts:
    """Numbers of events by outcome.

    Parameters
    ----------
    rows
        Rows handed out.
    unlabelled
        Rows handed out without a label: it did not arrive in time, or the row states that it is unknown.
    malformed
        Events that could not be decoded.
    duplicate
        Rows or labels whose key had been seen before.
    late
        Labels that arrived after their row had been handed out without one.
    unmatched
        Labels whose row never arrived.
    out_of_order
        Rows handed out whose time was before that of an earlier row; they count at the latest time so far.

    Examples
    --------
    >>> Counts(rows=10, late=1).n_set_aside
    1
    """

    rows: int = 0
    unlabelled: int = 0
    malformed: int = 0
    duplicate: int = 0
    late: int = 0
    unmatched: int = 0
    out_of_order: int = 0

    @property
    def n_set_aside(self) -> int:
        """Number of events that did not become part of a row."""
        return self.malformed + self.duplicate + self.late + self.unmatched

    def __str__(self) -> str:
        counts = asdict(self)
        del counts["rows"]
        return ", ".join(f"{n:,} {outcome.replace('_', ' ')}" for outcome, n in counts.items() if n)


@dataclass(frozen=True)
class DeadLetter:
    """A rejected event: the reason, in one word and in detail, its location, key and content."""

    reason: str
    why: str
    source: str
    place: str
    key: bytes | None
    value: bytes


class DeadLetterFile:
    """A file of rejected events, one JSON object per line; bytes that are not UTF-8 are written in base 64.

    Parameters
    ----------
    path
        Path of the file; None writes nothing.
    max_bytes
        Size from which on events are no longer written.

    Examples
    --------
    >>> letters = DeadLetterFile(None)
    >>> letter = DeadLetter(reason="malformed", why="it is empty", source="rows", place="line 1", key=None, value=b"")
    >>> letters.write([letter])
    >>> letters.n_bytes
    0
    """

    def __init__(self, path: str | Path | None, max_bytes: int = 1 << 30) -> None:
        self._path = None if path is None else Path(path)
        self._max_bytes = max_bytes
        self._file: IO[bytes] | None = None
        self.n_bytes = self._path.stat().st_size if self._path is not None and self._path.exists() else 0

    def write(self, letters: Iterable[DeadLetter]) -> None:
        """Append events."""
        if self._path is None:
            return
        lines = [json.dumps(_as_json(letter), ensure_ascii=False).encode() + b"\n" for letter in letters]
        if not lines:
            return
        try:
            file = self._open(self._path)
            for line in lines:
                if self.n_bytes + len(line) > self._max_bytes:
                    break
                file.write(line)
                self.n_bytes += len(line)
            file.flush()
        except OSError as error:
            raise self._error(error) from None

    def truncate(self, n_bytes: int) -> None:
        """Cut the file to `n_bytes`, since the events behind them will be read again."""
        if self._path is None:
            return
        self.close()
        try:
            if self._path.exists() and self._path.stat().st_size > n_bytes:
                with self._path.open("rb+") as file:
                    file.truncate(n_bytes)
        except OSError as error:
            raise self._error(error) from None
        self.n_bytes = n_bytes

    def _open(self, path: Path) -> IO[bytes]:
        if self._file is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab")
            self.n_bytes = self._file.tell()
        return self._file

    def _error(self, error: OSError) -> StreamgaugeError:
        return StreamgaugeError(f"cannot write the dead-letter file {self._path}: {error.strerror}")

    def close(self) -> None:
        """Close the file; `write` opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _as_json(letter: DeadLetter) -> dict[str, str]:
    fields = {"reason": letter.reason, "why": letter.why, "source": letter.source, "place": letter.place}
    for name, content in (("key", letter.key), ("value", letter.value)):
        if content is None:
            continue
        try:
            fields[name] = content.decode()
        except UnicodeDecodeError:
            fields[f"{name}_base64"] = base64.b64encode(content).decode()
    return fields
