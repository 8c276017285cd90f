"""The input of commands that read files: a path or the name of a data set, and the options of reading it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from streamgauge.cli.output import add_options
from streamgauge.errors import nearest, unknown_name
from streamgauge.streams import DATASETS, File, load

__all__ = ["add_input_options", "add_optional_input_options", "open_input", "parse_column"]

_OPTIONS = (
    click.option("--target", help="Class column, by name or position (-1 is the last).  [default: the last]"),
    click.option("--header/--no-header", default=None, help="Whether the first line of a CSV file names its columns."),
    click.option("--delimiter", help="Character that separates values.  [default: detected]"),
    click.option("--nominal", multiple=True, help="Column of numbers to read as nominal values; repeatable."),
    click.option(
        "--missing", multiple=True, help="Text that stands for a missing value; repeatable.  [default: ? and empty]"
    ),
    click.option("--weight", help="Column with the weight of each row."),
    click.option("--drop", multiple=True, help="Column to leave out; repeatable."),
    click.option("--drop-text", is_flag=True, help="Leave out columns of free text."),
)
_NAMES = ("target", "header", "delimiter", "nominal", "missing", "weight", "drop", "drop_text")


def add_input_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add a required INPUT and the options of reading it to a command."""
    return click.argument("source", metavar="INPUT")(add_options(command, _OPTIONS))


def add_optional_input_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add an optional INPUT and the options of reading it to a command."""
    return click.argument("source", metavar="[INPUT]", required=False)(add_options(command, _OPTIONS))


def open_input(source: str, options: dict[str, Any]) -> File:
    """Open a file by its path or a data set by its name; removes the options of reading it from `options`."""
    given: dict[str, Any] = {}
    for name in _NAMES:
        value = options.pop(name)
        if value not in (None, (), False) or (name == "header" and value is False):
            given[name] = value
    for name in ("target", "weight"):
        if name in given:
            given[name] = parse_column(given[name])
    for name in ("nominal", "drop"):
        if name in given:
            given[name] = tuple(map(parse_column, given[name]))
    return _open(source, given)


def _open(source: str, given: dict[str, Any]) -> File:
    path = Path(source)
    if source in DATASETS and not path.exists():
        return load(source, **given)
    if not (path.exists() or path.suffix or source == "-") and nearest(source, DATASETS):
        raise unknown_name(kind="file or data set", name=source, known=DATASETS)
    return File(source, **given)


def parse_column(text: str) -> str | int:
    """Return a column as an option names it: a whole number is a position.

    Examples
    --------
    >>> parse_column("-1"), parse_column("price")
    (-1, 'price')
    """
    return int(text) if text.removeprefix("-").isdigit() else text
