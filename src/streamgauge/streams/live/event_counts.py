"""What became of the events of a live stream, and the file of those that were set aside."""

import base64
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from streamgauge.errors import StreamgaugeError

__all__ = ["Counts", "DeadLetters", "Letter"]


@dataclass
class Counts:
    """How many events came to what.

    Parameters
    ----------
    rows
        Rows handed out.
    unlabelled
        Those of them without a label: it did not come in time, or the row says that nobody knows it.
    malformed
        Events that could not be decoded.
    duplicate
        Rows or labels whose key came before.
    late
        Labels that came after their row had been handed out without one.
    unmatched
        Labels whose row never came.

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

    @property
    def n_set_aside(self) -> int:
        """How many events did not become part of a row."""
        return self.malformed + self.duplicate + self.late + self.unmatched

    def __str__(self) -> str:
        told = {"unlabelled": "without a label", "malformed": "malformed", "duplicate": "duplicate", "late": "late"}
        told["unmatched"] = "unmatched"
        parts = [f"{n:,} {told[what]}" for what, n in asdict(self).items() if n and what != "rows"]
        return ", ".join(parts)


@dataclass(frozen=True)
class Letter:
    """An event that was set aside: why, where it stood, and what it was."""

    reason: str
    why: str
    source: str
    place: str
    key: bytes | None
    value: bytes


class DeadLetters:
    """The file of events that were set aside, a JSON object per line; what is no UTF-8 is written in base 64.

    Parameters
    ----------
    path
        Where it is; None for nowhere.
    most_bytes
        A file of this size takes no more events, which are then only counted.

    Examples
    --------
    >>> letters = DeadLetters(None)
    >>> letters.write([Letter("malformed", "it is empty", "rows", "line 1", None, b"")])
    >>> letters.n_bytes
    0
    """

    def __init__(self, path: str | Path | None, most_bytes: int = 1 << 30) -> None:
        self._path = None if path is None else Path(path)
        self._most = most_bytes
        self._file: IO[bytes] | None = None
        self.n_bytes = self._path.stat().st_size if self._path is not None and self._path.exists() else 0

    def write(self, letters: Iterable[Letter]) -> None:
        """Add events."""
        if self._path is None:
            return
        lines = [json.dumps(_as_json(letter), ensure_ascii=False).encode() + b"\n" for letter in letters]
        if not lines:
            return
        try:
            file = self._opened()
            for line in lines:
                if self.n_bytes + len(line) > self._most:
                    break
                file.write(line)
                self.n_bytes += len(line)
            file.flush()
        except OSError as error:
            raise self._fault(error) from None

    def go_back(self, n_bytes: int) -> None:
        """Cut off what was added behind a place: the events come again."""
        if self._path is None:
            return
        self.close()
        try:
            if self._path.exists() and self._path.stat().st_size > n_bytes:
                with self._path.open("rb+") as file:
                    file.truncate(n_bytes)
        except OSError as error:
            raise self._fault(error) from None
        self.n_bytes = n_bytes

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            path = self._path or Path()
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab")
            self.n_bytes = self._file.tell()
        return self._file

    def _fault(self, error: OSError) -> StreamgaugeError:
        return StreamgaugeError(f"cannot write the dead-letter file {self._path}: {error.strerror}")

    def close(self) -> None:
        """Close the file; it can be written to again."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _as_json(letter: Letter) -> dict[str, str]:
    told = {"reason": letter.reason, "why": letter.why, "source": letter.source, "place": letter.place}
    for name, content in (("key", letter.key), ("value", letter.value)):
        if content is None:
            continue
        try:
            told[name] = content.decode()
        except UnicodeDecodeError:
            told[f"{name}_base64"] = base64.b64encode(content).decode()
    return told
