"""Append-only files of records, each with its length and its checksum."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from streamgauge.errors import StreamgaugeError
from streamgauge.records.serialise import Columns, pack_columns, unpack_columns

__all__ = ["check_records", "read_records", "to_record"]


def to_record(kind: str, facts: dict[str, Any], columns: Columns) -> bytes:
    """Return a record as bytes that can be appended to a file.

    Examples
    --------
    >>> len(to_record("progress", {"n_rows": 100}, {}))
    105
    """
    state = pack_columns(kind, facts, columns)
    return len(state).to_bytes(8, "little") + state


def read_records(path: Path, kind: str, n_bytes: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield facts and columns of the records in the first `n_bytes` of a file; raise if they are damaged or missing.

    Examples
    --------
    >>> list(read_records(Path("no such file"), "progress", 0))
    []
    """
    left = n_bytes
    if not left:
        return
    try:
        with path.open("rb") as file:
            while left:
                size = int.from_bytes(file.read(8), "little")
                left -= 8 + size
                if size == 0 or left < 0:
                    raise _make_error(path)
                try:
                    record = unpack_columns(kind, file.read(size))
                except StreamgaugeError:
                    raise _make_error(path) from None
                yield record
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise StreamgaugeError(msg) from None


def check_records(path: Path, kind: str, n_bytes: int) -> None:
    """Raise if a record in the first `n_bytes` of a file is damaged or missing."""
    for _ in read_records(path, kind, n_bytes):
        pass


def _make_error(path: Path) -> StreamgaugeError:
    return StreamgaugeError(f"the file {path.name} beside it is damaged")
