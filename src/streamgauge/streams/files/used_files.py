"""Files that a stream reads, which no output may replace."""

from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path

from streamgauge.errors import StreamgaugeError, path_exists
from streamgauge.streams.files.file import File

__all__ = ["refuse_replacing"]


def refuse_replacing(stream: object, output: Path | str, option: str = "") -> None:
    """Raise if a file that is to be written is one that a stream reads.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = path.write_text("a,class")
    >>> refuse_replacing(File(path), path.with_name("other.csv"))
    >>> refuse_replacing(File(path), path)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: ...rows.csv is the file that the rows are read from: write to another one
    """
    output = Path(output)
    if not path_exists(output):
        return
    for file in _find_files(stream):
        path = Path(file.path)
        if path_exists(path) and path.samefile(output):
            msg = f"{option}{' ' * bool(option)}{output} is the file that the rows are read from: write to another one"
            raise StreamgaugeError(msg)


def _find_files(stream: object) -> Iterator[File]:
    """Yield the files of a stream that may be composed of others."""
    if isinstance(stream, File):
        yield stream
    elif isinstance(stream, tuple | list):
        for part in stream:
            yield from _find_files(part)
    elif is_dataclass(stream) and not isinstance(stream, type):
        for part in vars(stream).values():
            yield from _find_files(part)
