"""The input of commands that read files: a path or the name of a data set, and the options of reading it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from streamgauge.cli.output import add_options
from streamgauge.errors import nearest, unknown_name
from streamgauge.streams import DATASETS, File, load

__all__ = [
    "add_file_options",
    "add_input_options",
    "add_optional_input_options",
    "open_input",
    "parse_column",
    "take_file_options",
]

_OPTIONS = (
    click.option("--target", help="Class column of a file, by name or position (-1 is the last).  [default: the last]"),
    click.option("--time", help="Column with the time of each row.  [default: the only column of ISO 8601 times]"),
    click.option(
        "--time-format",
        help="How times are written: s, ms, us, ns since 1970, or such as '%d/%m/%Y %H:%M'.  [default: ISO 8601]",
    ),
    click.option("--weight", help="Column with the weight of each row."),
    click.option("--drop", multiple=True, help="Column to leave out; repeatable."),
    click.option("--keep", multiple=True, help="Column to keep as an attribute, and no others; repeatable."),
    click.option("--nominal", multiple=True, help="Column to read as names; repeatable."),
    click.option(
        "--numeric",
        multiple=True,
        help="Column to read as numbers, or times as seconds; of the target, to predict numbers; repeatable.",
    ),
    click.option(
        "--missing", multiple=True, help="Text that stands for a missing value; repeatable.  [default: ? and empty]"
    ),
    click.option("--header/--no-header", default=None, help="Whether the first line of a CSV file names its columns."),
    click.option("--delimiter", help="Character that separates values.  [default: detected]"),
)
_COLUMNS = ("target", "time", "weight")
_LISTS = ("drop", "keep", "nominal", "numeric")
_NAMES = (*_COLUMNS, *_LISTS, "time_format", "missing", "header", "delimiter")


def add_file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of reading a file to a command."""
    return add_options(command, _OPTIONS)


def add_input_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add a required INPUT and the options of reading it to a command."""
    return click.argument("source", metavar="INPUT")(add_file_options(command))


def add_optional_input_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an optional INPUT and the options of reading it to a command."""
    return click.argument("source", metavar="[INPUT]", required=False)(add_file_options(command))


def take_file_options(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of reading a file from those of a command; return those that were given."""
    given: dict[str, Any] = {}
    for name in _NAMES:
        value = options.pop(name)
        if value is not None and value != ():
            given[name] = value
    given |= {name: parse_column(given[name]) for name in _COLUMNS if name in given}
    given |= {name: tuple(map(parse_column, given[name])) for name in _LISTS if name in given}
    return given


def open_input(source: str, options: dict[str, Any]) -> File:
    """Open a file by its path or a data set by its name; removes the options of reading it from `options`."""
    return _open(source, take_file_options(options))


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
