"""Arrays of NumPy in a ``.npy`` file or in a member of an archive, read block by block without loading them.

The header of an array is data, not code: nothing is evaluated or unpickled, and its shape and type must account for
every byte that follows.
"""

import ast
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.streams.files.source import CHUNK_BYTES, Source

__all__ = ["StoredArray", "read_array"]

MAX_HEADER_BYTES = 10_000
"""NumPy itself refuses a longer header."""

MAX_ROW_BYTES = 1 << 26
"""The longest row that is read, in bytes; a longer one is a mistake or an attack."""


@dataclass(frozen=True)
class StoredArray:
    """An array in a file: its position, shape and type.

    Parameters
    ----------
    source
        The file.
    member
        The name of the array in an archive; None if the file is the array.
    shape, dtype
        Its shape and type.
    by_column
        Whether it is stored column by column.
    offset
        The position of its first byte.
    """

    source: Source
    member: str | None
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_column: bool
    offset: int

    @property
    def row_bytes(self) -> int:
        """Size of a row in bytes."""
        return prod(self.shape[1:]) * self.dtype.itemsize

    def read_parts(self, start: int, n: int | None = None) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` on, `n` at a time; None for as many as fit in a chunk."""
        self.source.check_unchanged()
        n = n or max(1, CHUNK_BYTES // max(1, self.row_bytes))
        with self.source.translate_errors(), _open(self.source, self.member) as file:
            if start and not self.by_column:
                file.seek(self.offset + start * self.row_bytes)
            else:
                file.read(self.offset)  # not skipped: an archive compares the checksum of what was read from its start
            for row in range(start, self.shape[0], n):
                block = self._read_block(file, row, min(n, self.shape[0] - row))
                self.source.check_unchanged()
                yield block

    def _read_block(self, file: IO[bytes], row: int, n: int) -> NDArray[Any]:
        if not self.by_column:
            return self._read_values(file, row, n * self.row_bytes).reshape(n, *self.shape[1:])
        columns = []
        for column in range(prod(self.shape[1:])):
            file.seek(self.offset + (column * self.shape[0] + row) * self.dtype.itemsize)
            columns.append(self._read_values(file, row, n * self.dtype.itemsize))
        return np.stack(columns, axis=1)

    def _read_values(self, file: IO[bytes], row: int, n_bytes: int) -> NDArray[Any]:
        values = file.read(n_bytes)
        if len(values) < n_bytes:
            msg = f"{self.member or 'the array'} ends in the rows from {row} on of {self.shape[0]}"
            raise EOFError(msg)
        return np.frombuffer(values, dtype=self.dtype)


@contextmanager
def _open(source: Source, member: str | None) -> Iterator[IO[bytes]]:
    if member is None:
        with source.path.open("rb") as file:
            yield file
    else:
        with zipfile.ZipFile(source.path) as archive, archive.open(member) as stored:
            yield stored


def read_array(source: Source, member: str | None = None) -> StoredArray:
    """Return the array of a ``.npy`` file, or of a member of an archive, after checking its header.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "array.npy"
    >>> np.save(path, np.array([[1, 2], [3, 4]]))
    >>> array = read_array(Source(str(path)))
    >>> array.shape, [part.tolist() for part in array.read_parts(0)]
    ((2, 2), [[[1, 2], [3, 4]]])
    """
    label = source.name if member is None else f"{source.name}: {member}"
    with source.translate_errors(), _open(source, member) as file:
        header = _read_header(file)
        shape, dtype = header["shape"], npy.descr_to_dtype(header["descr"])
        if not isinstance(shape, tuple) or any(type(n) is not int or n < 0 for n in shape) or not dtype.itemsize:
            msg = f"the shape of the array is {shape} of {dtype}"
            raise ValueError(msg)
        array = StoredArray(source, member, shape, dtype, bool(header["fortran_order"]) and len(shape) > 1, file.tell())
        if dtype.hasobject:
            msg = f"{label} holds Python objects, which are never loaded: save numbers, strings or a structured array"
            raise StreamgaugeError(msg)
        expected = prod(shape) * dtype.itemsize
        found = _find_size(source, member) - array.offset
        if expected != found:
            msg = f"it has {found} bytes of values instead of {expected} for the shape {shape} of {dtype}"
            raise ValueError(msg)
        if array.row_bytes > MAX_ROW_BYTES:
            msg = f"{label} has rows of {array.row_bytes} bytes; at most {MAX_ROW_BYTES} are supported"
            raise StreamgaugeError(msg)
    return array


def _find_size(source: Source, member: str | None) -> int:
    if member is None:
        return source.path.stat().st_size
    with zipfile.ZipFile(source.path) as archive:
        return archive.getinfo(member).file_size


def _read_header(file: IO[bytes]) -> dict[str, Any]:
    """Read the header of an array; see the NumPy enhancement proposal 1."""
    start = file.read(8)
    if start[:6] != b"\x93NUMPY" or start[6:] not in (b"\1\0", b"\2\0", b"\3\0"):
        msg = "it does not begin with the header of a NumPy array"
        raise ValueError(msg)
    length = int.from_bytes(file.read(2 if start[6] == 1 else 4), "little")
    if length > MAX_HEADER_BYTES:
        msg = f"the header of the array has {length} bytes"
        raise ValueError(msg)
    header = ast.literal_eval(file.read(length).decode("utf-8" if start[6] == 3 else "latin-1").strip())
    if not isinstance(header, dict) or set(header) != {"descr", "fortran_order", "shape"}:
        msg = f"the header of the array is {header}"
        raise ValueError(msg)
    return header
