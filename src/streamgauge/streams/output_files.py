"""Atomic output files: a file appears complete or not at all, compressed according to its name."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Protocol

from streamgauge.errors import StreamgaugeError
from streamgauge.records.locks import remove_leftovers, try_lock

__all__ = ["TABLE_KINDS", "Output", "detect_format", "open_output", "replace_atomically"]

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_KINDS = {".arff": "arff", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow"}
TABLE_KINDS = ("parquet", "arrow")
"""The formats that are written by pyarrow, and compressed by themselves."""


class Output(Protocol):
    """A binary file that can be written to."""

    def write(self, data: bytes, /) -> object:
        """Append bytes."""
        ...


def detect_format(path: Path) -> tuple[str, str | None]:
    """Return format (arff, csv, tsv, parquet or arrow) and compression (gzip, zstd or None) of a file, given its name.

    Examples
    --------
    >>> detect_format(Path("electricity.arff.gz"))
    ('arff', 'gzip')
    """
    compression = _COMPRESSIONS.get(path.suffix.lower())
    suffix = (Path(path.stem).suffix if compression else path.suffix).lower()
    if suffix not in _KINDS or (_KINDS[suffix] in TABLE_KINDS and compression):
        msg = (
            f"{path}: write to a file that ends in .arff, .csv or .tsv (optionally with .gz or .zst), or in .parquet, "
        )
        msg += ".arrow or .feather"
        raise StreamgaugeError(msg)
    return _KINDS[suffix], compression


@contextmanager
def replace_atomically(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` when the block succeeds and is removed when it fails.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "new.txt"
    >>> with replace_atomically(target) as temporary:
    ...     _ = temporary.write_text("all of it")
    >>> target.read_text()
    'all of it'
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(path.parent, f"{path.name}.")
        with _hold_temporary(temporary):
            yield temporary
            temporary.replace(path)
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise StreamgaugeError(msg) from None
    finally:
        with suppress(OSError):  # it is missing, or its folder has become read-only or a file
            temporary.unlink()


@contextmanager
def _hold_temporary(temporary: Path) -> Iterator[None]:
    """Lock a temporary file, so that it counts as left behind once its process is dead."""
    if sys.platform == "win32":  # where a file that is open cannot be renamed
        yield
        return
    with try_lock(temporary) or nullcontext():
        yield


@contextmanager
def open_output(path: Path, compression: str | None = None) -> Iterator[Output]:
    """Open a file for writing that appears under its name when the block succeeds.

    Examples
    --------
    >>> import gzip, tempfile
    >>> target = Path(tempfile.mkdtemp()) / "rows.csv.gz"
    >>> with open_output(target, "gzip") as out:
    ...     _ = out.write(b"1,2")
    >>> gzip.decompress(target.read_bytes())
    b'1,2'
    """
    with replace_atomically(path) as temporary, _open_binary(temporary, compression) as file:
        yield file


def _open_binary(path: Path, compression: str | None) -> Any:  # noqa: ANN401  (a file of Python or of Arrow)
    if compression is None:
        return path.open("wb")
    import pyarrow as pa  # noqa: PLC0415  (slow to import)

    return pa.CompressedOutputStream(str(path), compression)
