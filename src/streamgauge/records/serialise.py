"""Saved states in Python: facts, and parts or columns of bytes, with a name in front and a checksum behind."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError

__all__ = ["loading", "pack", "pack_columns", "unpack", "unpack_columns"]

Columns = Mapping[str, NDArray[Any] | None]


def pack(kind: str, facts: dict[str, Any], parts: Sequence[bytes] = ()) -> bytes:
    """Put facts (what JSON can tell; numbers keep every bit) and parts of any bytes together.

    Examples
    --------
    >>> unpack("thing", pack("thing", {"n": 3}, [b"abc"]))
    ({'n': 3}, [b'abc'])
    """
    head = json.dumps({"kind": kind, "sizes": [len(part) for part in parts], "facts": facts}).encode()
    state = b"".join([len(head).to_bytes(8, "little"), head, *parts])
    return state + crc32(state).to_bytes(4, "little")


def unpack(kind: str, state: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Take apart what `pack` has put together; raise where the bytes are damaged or of something else.

    Examples
    --------
    >>> unpack("thing", b"nonsense")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: these bytes are not a saved thing: they are damaged, or of something else
    """
    whole, checksum = state[:-4], state[-4:]
    if len(state) < 12 or crc32(whole).to_bytes(4, "little") != checksum:
        raise _not_a(kind)
    place = 8 + int.from_bytes(whole[:8], "little")
    try:
        head = json.loads(whole[8:place])
        found, sizes, facts = head["kind"], head["sizes"], head["facts"]
    except (ValueError, KeyError, TypeError):
        raise _not_a(kind) from None
    if found != kind:
        msg = f"these bytes are not a saved {kind} but a saved {found}"
        raise StreamgaugeError(msg)
    parts = []
    for size in sizes:
        parts.append(whole[place : place + size])
        place += size
    return facts, parts


def pack_columns(kind: str, facts: dict[str, Any], columns: Columns) -> bytes:
    """Put facts and columns together; a column may be None.

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
    """Take apart what `pack_columns` has put together; the columns are new and can be written to.

    Examples
    --------
    >>> unpack_columns("rows", pack_columns("row", {}, {}))
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: these bytes are not a saved rows but a saved row
    """
    about, parts = unpack(kind, state)
    left = iter(parts)
    columns = {
        name: None if shape is None else np.frombuffer(next(left), dtype=shape[0]).reshape(shape[1]).copy()
        for name, shape in about["columns"].items()
    }
    return about["facts"], columns


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Tell a state that does not fit as such: one saved by something built otherwise has other facts.

    Examples
    --------
    >>> with loading("meter"):
    ...     {}["cpu"]
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: this is not a saved meter, or one built otherwise: 'cpu'
    """
    try:
        yield
    except StreamgaugeError:
        raise
    except (ValueError, KeyError, TypeError, IndexError) as error:
        msg = f"this is not a saved {what}, or one built otherwise: {error}"
        raise StreamgaugeError(msg) from None


def _not_a(kind: str) -> StreamgaugeError:
    return StreamgaugeError(f"these bytes are not a saved {kind}: they are damaged, or of something else")
