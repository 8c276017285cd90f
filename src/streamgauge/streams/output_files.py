"""Files that appear whole or not at all, compressed as their names say."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from streamgauge.errors import StreamgaugeError

__all__ = ["Output", "file_kind", "replacing", "writing_bytes"]

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_KINDS = {".arff": "arff", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}


class Output(Protocol):
    """Takes bytes."""

    def write(self, data: bytes, /) -> object:
        """Take some more."""
        ...


def file_kind(path: Path) -> tuple[str, str | None]:
    """Say what a file is written as (arff, csv, tsv or parquet) and how it is compressed, by its name.

    Examples
    --------
    >>> file_kind(Path("electricity.arff.gz"))
    ('arff', 'gzip')
    """
    compression = _COMPRESSIONS.get(path.suffix.lower())
    suffix = (Path(path.stem).suffix if compression else path.suffix).lower()
    if suffix not in _KINDS or (suffix == ".parquet" and compression):
        msg = f"{path}: write to a file that ends in .arff, .csv or .tsv (also with .gz or .zst behind), or in .parquet"
        raise StreamgaugeError(msg)
    return _KINDS[suffix], compression


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`, which takes its place when the block ends well and vanishes otherwise.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "new.txt"
    >>> with replacing(target) as temporary:
    ...     _ = temporary.write_text("all of it")
    >>> target.read_text()
    'all of it'
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise StreamgaugeError(msg) from None
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def writing_bytes(path: Path, compression: str | None = None) -> Iterator[Output]:
    """Open a file for writing that appears under its name when the block ends well.

    Examples
    --------
    >>> import gzip, tempfile
    >>> target = Path(tempfile.mkdtemp()) / "rows.csv.gz"
    >>> with writing_bytes(target, "gzip") as out:
    ...     _ = out.write(b"1,2")
    >>> gzip.decompress(target.read_bytes())
    b'1,2'
    """
    with replacing(path) as temporary, _opened(temporary, compression) as file:
        yield file


def _opened(path: Path, compression: str | None) -> Any:  # noqa: ANN401  (a file of Python or of Arrow)
    if compression is None:
        return path.open("wb")
    import pyarrow as pa  # noqa: PLC0415  (slow to import)

    return pa.CompressedOutputStream(str(path), compression)
