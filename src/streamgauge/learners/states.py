"""Saved states of learners in Python: facts and columns of bytes, with a name in front and a checksum behind."""

import json
from collections.abc import Sequence
from typing import Any
from zlib import crc32

from streamgauge.errors import StreamgaugeError

__all__ = ["pack", "unpack"]


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
        msg = f"these bytes are not a saved {kind}: they are damaged, or of something else"
        raise StreamgaugeError(msg)
    place = 8 + int.from_bytes(whole[:8], "little")
    head = json.loads(whole[8:place])
    if head["kind"] != kind:
        msg = f"these bytes are not a saved {kind} but a saved {head['kind']}"
        raise StreamgaugeError(msg)
    parts = []
    for size in head["sizes"]:
        parts.append(whole[place : place + size])
        place += size
    return head["facts"], parts
