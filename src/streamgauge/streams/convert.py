"""Conversion of files between formats."""

from pathlib import Path

from streamgauge.streams.files import File
from streamgauge.streams.text_lines import open_raw
from streamgauge.streams.writers import write

__all__ = ["convert"]


def convert(source: File | str | Path, path: str | Path, *, weight: str | None = None) -> int:
    r"""Write the rows of a file to another, in the format that its name implies, and return their number.

    Parameters
    ----------
    source
        The file, or its path.
    path
        Path of the output; see `write`.
    weight
        Name of the column of instance weights; see `write`.

    Examples
    --------
    >>> import tempfile
    >>> here = Path(tempfile.mkdtemp())
    >>> _ = (here / "a.csv").write_text("price,day,move\n0.5,mo,up\n?,tu,down\n")
    >>> convert(here / "a.csv", here / "a.arff")
    2
    >>> print((here / "a.arff").read_text())
    @relation a
    <BLANKLINE>
    @attribute price numeric
    @attribute day {mo,tu}
    @attribute move {down,up}
    <BLANKLINE>
    @data
    0.5,mo,up
    ?,tu,down
    <BLANKLINE>
    """
    file = source if isinstance(source, File) else File(source)
    time = file.time if isinstance(file.time, str) else None
    return write(file, path, target=_name_target(file), weight=weight, time=time)


def _name_target(file: File) -> str:
    """Return the name of the class column in the file, or "class" if it has no names."""
    if isinstance(file.target, str):
        return file.target
    raw = open_raw(file)
    if raw is None or (raw.start is not None and not raw.start.has_header):
        return "class"
    return raw.names[raw.class_index]
