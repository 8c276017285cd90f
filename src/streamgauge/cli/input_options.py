"""What the commands that read files share: the input, by path or by name, and how it is read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from streamgauge.errors import nearest, unknown_name
from streamgauge.streams import DATASETS, File, load

__all__ = ["input_options", "key", "open_input", "optional_input_options"]

_OPTIONS = (
    click.option("--target", help="The class column, by name or position (-1 is the last).  [default: the last]"),
    click.option("--header/--no-header", default=None, help="Whether the first line of a CSV file names its columns."),
    click.option("--delimiter", help="What separates values.  [default: found out]"),
    click.option(
        "--nominal", multiple=True, help="A column to be read as names although it holds numbers; repeatable."
    ),
    click.option("--missing", multiple=True, help="A text for a missing value; repeatable.  [default: ? and nothing]"),
    click.option("--weight", help="The column that holds the weight of each row."),
    click.option("--drop", multiple=True, help="A column to leave out; repeatable."),
    click.option("--drop-text", is_flag=True, help="Leave out columns of text."),
)
_NAMES = ("target", "header", "delimiter", "nominal", "missing", "weight", "drop", "drop_text")


def input_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command its input and the options of reading it."""
    return click.argument("source", metavar="INPUT")(_with_options(command))


def optional_input_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an input that may be left out, and the options of reading it."""
    return click.argument("source", metavar="[INPUT]", required=False)(_with_options(command))


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def open_input(source: str, options: dict[str, Any]) -> File:
    """Open a file by its path, or a real stream by its name; takes the options of reading it out of `options`."""
    given: dict[str, Any] = {}
    for name in _NAMES:
        value = options.pop(name)
        if value not in (None, (), False) or (name == "header" and value is False):
            given[name] = value
    for name in ("target", "weight"):
        if name in given:
            given[name] = key(given[name])
    for name in ("nominal", "drop"):
        if name in given:
            given[name] = tuple(map(key, given[name]))
    return _found(source, given)


def _found(source: str, given: dict[str, Any]) -> File:
    path = Path(source)
    if source in DATASETS and not path.exists():
        return load(source, **given)
    if not (path.exists() or path.suffix or source == "-") and nearest(source, DATASETS):
        raise unknown_name(kind="file or real stream", name=source, known=DATASETS)
    return File(source, **given)


def key(text: str) -> str | int:
    """Give a column as an option names it: a whole number is a position.

    Examples
    --------
    >>> key("-1"), key("price")
    (-1, 'price')
    """
    return int(text) if text.removeprefix("-").isdigit() else text
