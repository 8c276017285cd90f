"""The bytes of a file: plain or compressed, from disk or standard input."""

import atexit
import bz2
import gzip
import hashlib
import lzma
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, cached_property
from io import FileIO
from pathlib import Path
from shutil import copyfileobj
from typing import IO, cast

from streamgauge.errors import StreamgaugeError

__all__ = ["CHUNK", "Source"]

CHUNK = 1 << 18
"""How many bytes are read at a time."""

MAGIC = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
}
DAMAGED = (EOFError, OSError, RuntimeError, ValueError, zlib.error, zipfile.BadZipFile, lzma.LZMAError)
"""What the decompressors, NumPy and Arrow raise on bytes that are damaged, cut off or locked by a password."""


class Source:
    r"""A file that can be read again and again, each time with the same bytes.

    Compression is told by the first bytes, not by the name. ``"-"`` is standard input, which is copied to a temporary
    file when it is first needed, so that it too can be read more than once.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp()) / "numbers.csv.gz"
    >>> _ = path.write_bytes(gzip.compress(b"1,2\n"))
    >>> source = Source(str(path))
    >>> source.compression, source.suffix, b"".join(source.chunks())
    ('gzip', '.csv', b'1,2\n')
    """

    def __init__(self, path: str) -> None:
        self.name = "standard input" if path == "-" else path
        self._given = path
        self._state: tuple[int, int] | None = None

    @cached_property
    def path(self) -> Path:
        """Where the bytes are on disk."""
        path = _spooled_input() if self._given == "-" else Path(self._given)
        if not path.is_file():
            msg = f"{self.name} is a directory, not a file" if path.is_dir() else f"there is no file {self.name}"
            raise StreamgaugeError(msg)
        return path

    @cached_property
    def compression(self) -> str | None:
        """The kind of compression; None where the file is plain. A ``.npz`` file counts as plain."""
        with self._opened(self.path) as file:
            start = file.read(6)
        kind = next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), None)
        return None if kind == "zip" and self.is_npz else kind

    @cached_property
    def is_npz(self) -> bool:
        """Whether it is an archive of NumPy arrays."""
        if not zipfile.is_zipfile(self.path):
            return False
        with zipfile.ZipFile(self.path) as archive:
            names = archive.namelist()
        return bool(names) and all(name.endswith(".npy") for name in names)

    @property
    def suffix(self) -> str:
        """The suffix of its name, without that of a compression."""
        suffixes = [suffix.lower() for suffix in Path(self._given).suffixes]
        packed = {".gz", ".zip", ".zst", ".zstd", ".bz2", ".xz"}
        return next((suffix for suffix in reversed(suffixes) if suffix not in packed), "")

    def chunks(self, offset: int = 0) -> Iterator[bytes]:
        """Give the bytes, decompressed, from an offset on; the offset is cheap where the file is plain."""
        self.check_unchanged()
        with self.translated(), self._decompressed() as file:
            if offset:
                file.seek(offset)
            while chunk := file.read(CHUNK):
                yield chunk

    def check_unchanged(self) -> None:
        """Raise where the file is not the one that was first read."""
        stat = self.path.stat()
        state = (stat.st_size, stat.st_mtime_ns)
        if self._state not in (None, state):
            msg = f"{self.name} has changed since it was first read"
            raise StreamgaugeError(msg)
        self._state = state

    @cached_property
    def digest(self) -> bytes:
        """The SHA-256 of the bytes on disk."""
        self.check_unchanged()
        with self._opened(self.path) as file:
            return hashlib.file_digest(file, "sha256").digest()

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn what goes wrong while reading into an error that names the file."""
        try:
            yield
        except StreamgaugeError:
            raise
        except DAMAGED as error:
            what = f"its {self.compression} compression" if self.compression else "it"
            msg = f"{self.name} cannot be read: {what} is damaged or cut off ({error})"
            raise StreamgaugeError(msg) from None

    @contextmanager
    def _opened(self, path: Path) -> Iterator[FileIO]:
        try:
            file = path.open("rb", buffering=0)
        except OSError as error:
            msg = f"{self.name} cannot be opened: {error.strerror}"
            raise StreamgaugeError(msg) from None
        with file:
            yield file

    @contextmanager
    def _decompressed(self) -> Iterator[IO[bytes]]:
        with self._opened(self.path) as file:
            if self.compression is None:
                yield file
                return
            with OPENERS[self.compression](file) as unpacked:
                yield unpacked


@contextmanager
def _open_zip(file: FileIO) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(file) as archive:
        members = [member for member in archive.namelist() if not member.endswith("/")]
        if len(members) != 1:
            msg = f"{file.name} holds {len(members)} files ({', '.join(members[:5])}); it must hold one: unpack it"
            raise StreamgaugeError(msg)
        with archive.open(members[0]) as member:
            yield member


def _open_zstd(file: FileIO) -> IO[bytes]:
    import pyarrow as pa  # noqa: PLC0415 (slow to import, and seldom needed)

    return cast("IO[bytes]", pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd"))


OPENERS: dict[str, Callable[[FileIO], AbstractContextManager[IO[bytes]]]] = {
    "gzip": lambda file: cast("AbstractContextManager[IO[bytes]]", gzip.GzipFile(fileobj=file)),
    "zip": _open_zip,
    "zstd": _open_zstd,
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
}


@cache
def _spooled_input() -> Path:
    # The name must outlive this call: the file goes when the process does.
    with tempfile.NamedTemporaryFile(prefix="streamgauge-", delete=False) as copy:
        copyfileobj(sys.stdin.buffer, copy)
    path = Path(copy.name)
    atexit.register(path.unlink, missing_ok=True)
    return path
