"""Saved states as bytes: a kind, facts, parts or columns, and a checksum."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError

__all__ = ["Columns", "loading", "pack", "pack_columns", "unpack", "unpack_columns"]

Columns = Mapping[str, NDArray[Any] | None]


def pack(kind: str, facts: dict[str, Any], parts: Sequence[bytes] = ()) -> bytes:
    """Pack facts (JSON values; numbers keep every bit) and parts of any bytes.

    Examples
    --------
    >>> unpack("thing", pack("thing", {"n": 3}, [b"abc"]))
    ({'n': 3}, [b'abc'])
    """
    head = json.dumps({"kind": kind, "sizes": [len(part) for part in parts], "facts": facts}).encode()
    state = b"".join([len(head).to_bytes(8, "little"), head, *parts])
    return state + crc32(state).to_bytes(4, "little")


def unpack(kind: str, state: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Unpack the result of `pack`; raise if the bytes are damaged or of another kind.

    Examples
    --------
    >>> unpack("thing", b"nonsense")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: these bytes are not a saved thing: they are damaged, or of another kind
    """
    whole, checksum = state[:-4], state[-4:]
    if len(state) < 12 or crc32(whole).to_bytes(4, "little") != checksum:
        raise _make_error(kind)
    position = 8 + int.from_bytes(whole[:8], "little")
    try:
        head = json.loads(whole[8:position])
        saved_kind, sizes, facts = head["kind"], head["sizes"], head["facts"]
    except (ValueError, KeyError, TypeError):
        raise _make_error(kind) from None
    if saved_kind != kind:
        msg = f"these bytes are not a saved {kind} but a saved {saved_kind}"
        raise StreamgaugeError(msg)
    parts = []
    for size in sizes:
        parts.append(whole[position : position + size])
        position += size
    return facts, parts


def pack_columns(kind: str, facts: dict[str, Any], columns: Columns) -> bytes:
    """Pack facts and columns; a column may be None.

    Examples
    --------
    >>> state = pack_columns("rows", {"n": 2}, {"weight": None, "row": np.array([7, 9])})
    >>> unpack_columns("rows", state)
    ({'n': 2}, {'weight': None, 'row': array([7, 9])})
    """
    shapes = {name: None if column is None else (column.dtype.str, column.shape) for name, column in columns.items()}
    parts = [np.ascontiguousarray(column).tobytes() for column in columns.values() if column is not None]
    return pack(kind, {"facts": facts, "columns": shapes}, parts)


def unpack_columns(kind: str, state: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Unpack the result of `pack_columns`; the columns are new and writable.

    Examples
    --------
    >>> unpack_columns("rows", pack_columns("row", {}, {}))
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: these bytes are not a saved rows but a saved row
    """
    header, parts = unpack(kind, state)
    remaining = iter(parts)
    columns = {
        name: None if shape is None else np.frombuffer(next(remaining), dtype=shape[0]).reshape(shape[1]).copy()
        for name, shape in header["columns"].items()
    }
    return header["facts"], columns


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Convert errors while loading a state: one saved with other options has other facts.

    Examples
    --------
    >>> with loading("meter"):
    ...     {}["cpu"]
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: this is not a saved meter, or one with other options: 'cpu'
    """
    try:
        yield
    except StreamgaugeError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        msg = f"this is not a saved {what}, or one with other options: {error}"
        raise StreamgaugeError(msg) from None


def _make_error(kind: str) -> StreamgaugeError:
    return StreamgaugeError(f"these bytes are not a saved {kind}: they are damaged, or of another kind")
