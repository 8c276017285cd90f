"""Checksums of files, of JSON texts that hold their own, and of records in a log.

They detect damage, not forgery: CRC-32 finds every flipped bit and every damaged run of up to 32 bits.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

__all__ = ["compute_checksum", "compute_file_checksum", "read_limited", "read_rest", "seal_json", "unseal_json"]

_SEAL = re.compile(rb'"checksum": "([0-9a-f]{8})"(\s*\})\n?\Z')
_BLOCK_BYTES = 1 << 20
_MAX_BYTES = 1 << 28
"""The most bytes of a file that is read at once; a longer one is damaged, or an attack."""


def compute_checksum(data: bytes) -> str:
    """Return the CRC-32 of bytes as eight hexadecimal digits.

    Examples
    --------
    >>> compute_checksum(b"123456789")
    'cbf43926'
    """
    return f"{crc32(data):08x}"


def compute_file_checksum(path: Path) -> str:
    """Return the checksum of a file, read in blocks.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "digits"
    >>> _ = path.write_bytes(b"123456789")
    >>> compute_file_checksum(path)
    'cbf43926'
    """
    value = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            value = crc32(block, value)
    return f"{value:08x}"


def read_limited(path: Path) -> bytes:
    """Return the bytes of a file; raise ValueError if there are very many.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "digits"
    >>> _ = path.write_bytes(b"123456789")
    >>> read_limited(path)
    b'123456789'
    """
    with path.open("rb") as file:
        return read_rest(file)


def read_rest(file: BinaryIO) -> bytes:
    """Return the bytes of an open file from its position on; raise ValueError if there are very many.

    Examples
    --------
    >>> from io import BytesIO
    >>> read_rest(BytesIO(b"123"))
    b'123'
    """
    data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        msg = f"it has more than {_MAX_BYTES:,} bytes"
        raise ValueError(msg)
    return data


def seal_json(facts: Mapping[str, Any], *, indent: int | None = None) -> str:
    """Return facts as a JSON text that ends with its own checksum.

    Examples
    --------
    >>> seal_json({"row": 7})
    '{"row": 7, "checksum": "2edde75c"}'
    """
    text = json.dumps({**facts, "checksum": ""}, indent=indent)
    position = text.rindex('"checksum": "') + len('"checksum": "')
    before, after = text[:position], text[position:]
    return before + compute_checksum((before + after).encode()) + after


def unseal_json(data: bytes, *, by_hand: bool = False) -> dict[str, Any]:
    """Return the facts of `seal_json`; raise ValueError if the text does not match its checksum.

    With `by_hand` a text without a checksum is accepted, too.

    Examples
    --------
    >>> unseal_json(seal_json({"row": 7}).encode())
    {'row': 7}
    >>> unseal_json(seal_json({"row": 7}).encode().replace(b"7", b"6"))
    Traceback (most recent call last):
    ...
    ValueError: it does not match its checksum
    """
    seal = _SEAL.search(data, max(0, len(data) - 64))
    is_whole = seal is not None and crc32(data[: seal.start(1)] + b'"' + seal[2]) == int(seal[1], 16)
    if not is_whole and not (by_hand and b'"checksum"' not in data):
        msg = "it does not match its checksum"
        raise ValueError(msg)
    try:
        facts: object = json.loads(data)
    except RecursionError as error:
        raise ValueError(str(error)) from None
    if not isinstance(facts, dict):
        msg = "it holds no facts"
        raise ValueError(msg)  # noqa: TRY004  (of the text, not of an argument)
    facts.pop("checksum", None)
    return facts
