"""The bytes of a file: plain or compressed, from disk or standard input."""

import atexit
import bz2
import gzip
import hashlib
import lzma
import os
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache, cached_property
from io import FileIO
from pathlib import Path
from shutil import copyfileobj
from typing import IO, cast

from streamgauge.errors import StreamgaugeError, make_printable, path_exists
from streamgauge.records.locks import open_temporary_folder

__all__ = ["CHUNK_BYTES", "Source"]

CHUNK_BYTES = 1 << 18
"""Size of a read, in bytes."""

MAGIC = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
}


class Source:
    r"""A file that can be read repeatedly, with the same bytes every time.

    Compression is recognised by the first bytes, not by the file name. ``"-"`` is standard input; it is copied to a
    temporary file on first use, so that it too can be read more than once.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "numbers.csv.gz"
    >>> _ = path.write_bytes(gzip.compress(b"1,2\n"))
    >>> source = Source(str(path))
    >>> source.compression, source.suffix, b"".join(source.read_chunks())
    ('gzip', '.csv', b'1,2\n')
    """

    def __init__(self, path: str) -> None:
        self.name = "standard input" if path == "-" else path
        self._argument = path
        self._size_and_time: tuple[int, int] | None = None

    @cached_property
    def path(self) -> Path:
        """Path of the bytes on disk."""
        path = _copy_standard_input() if self._argument == "-" else Path(self._argument)
        if not path.is_file():
            msg = f"{self.name} is a directory, not a file" if path.is_dir() else f"there is no file {self.name}"
            if path_exists(path) and not path.is_dir():
                msg = f"{self.name} is a pipe or a device, which cannot be read twice: read it from standard input, '-'"
            raise StreamgaugeError(msg)
        return path

    @cached_property
    def compression(self) -> str | None:
        """Kind of compression; None if the file is not compressed. A ``.npz`` file counts as uncompressed."""
        with self._open() as file:
            start = file.read(6)
        kind = next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), None)
        return None if kind == "zip" and self.is_npz else kind

    @cached_property
    def is_npz(self) -> bool:
        """Whether the file is an archive of NumPy arrays."""
        if not zipfile.is_zipfile(self.path):
            return False
        try:
            with zipfile.ZipFile(self.path) as archive:
                names = archive.namelist()
        except Exception:  # damaged: whoever reads it says so
            return self.suffix == ".npz"
        return bool(names) and all(name.endswith(".npy") for name in names)

    @property
    def suffix(self) -> str:
        """Suffix of the file name, ignoring that of a compression."""
        suffixes = [suffix.lower() for suffix in Path(self._argument).suffixes]
        compressed = {".gz", ".zip", ".zst", ".zstd", ".bz2", ".xz"}
        return next((suffix for suffix in reversed(suffixes) if suffix not in compressed), "")

    def read_chunks(self, offset: int = 0) -> Iterator[bytes]:
        """Yield the decompressed bytes from `offset` on; skipping is cheap only in an uncompressed file.

        A file that is replaced by another of its name meanwhile is read to its end. One that is written to is refused.
        """
        self.check_unchanged()
        with self.translate_errors(), self._open() as stored, self._decompress(stored) as file:
            if offset:
                file.seek(offset)
            while chunk := file.read(CHUNK_BYTES):
                self._compare(os.fstat(stored.fileno()))
                yield chunk
            self._compare(os.fstat(stored.fileno()))

    def check_unchanged(self) -> None:
        """Raise if the file has changed since the first read."""
        self._compare(self.path.stat())

    def _compare(self, stat: os.stat_result) -> None:
        size_and_time = (stat.st_size, stat.st_mtime_ns)
        if self._size_and_time not in (None, size_and_time):
            msg = f"{self.name} has changed since it was first read"
            raise StreamgaugeError(msg)
        self._size_and_time = size_and_time

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the bytes on disk."""
        self.check_unchanged()
        with self._open() as file:
            return hashlib.file_digest(file, "sha256").digest()

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Turn errors while reading into a `StreamgaugeError` that names the file."""
        try:
            yield
        except StreamgaugeError:
            raise
        except Exception as error:  # decompressors, NumPy and Arrow raise nearly any on damaged bytes
            damaged = f"its {self.compression} compression" if self.compression else "it"
            reason = (
                make_printable(" ".join(str(error).split())) or type(error).__name__
            )  # those of Arrow may have several lines
            msg = f"{self.name} cannot be read: {damaged} is damaged or cut off ({reason})"
            raise StreamgaugeError(msg) from None

    @contextmanager
    def _open(self) -> Iterator[FileIO]:
        try:
            file = self.path.open("rb", buffering=0)
        except OSError as error:
            msg = f"{self.name} cannot be opened: {error.strerror}"
            raise StreamgaugeError(msg) from None
        with file:
            yield file

    @contextmanager
    def _decompress(self, file: FileIO) -> Iterator[IO[bytes]]:
        if self.compression is None:
            yield file
            return
        with OPENERS[self.compression](file) as decompressed:
            yield decompressed


@contextmanager
def _open_zip(file: FileIO) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(file) as archive:
        members = [member for member in archive.namelist() if not member.endswith("/")]
        if len(members) != 1:
            msg = f"{file.name} holds {len(members)} files ({', '.join(members[:5])}); it must hold one"
            raise StreamgaugeError(msg)
        with archive.open(members[0]) as member:
            yield member


def _open_zstd(file: FileIO) -> IO[bytes]:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    return cast("IO[bytes]", pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd"))


OPENERS: dict[str, Callable[[FileIO], AbstractContextManager[IO[bytes]]]] = {
    "gzip": lambda file: cast("AbstractContextManager[IO[bytes]]", gzip.GzipFile(fileobj=file)),
    "zip": _open_zip,
    "zstd": _open_zstd,
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
}


@cache
def _copy_standard_input() -> Path:
    stack = ExitStack()
    path = stack.enter_context(open_temporary_folder()) / "standard-input"
    atexit.register(stack.close)
    with path.open("wb") as copy:
        copyfileobj(sys.stdin.buffer, copy)
    return path
