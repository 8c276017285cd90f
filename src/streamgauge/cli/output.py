"""What all commands share in how they speak: results on standard output, all else on standard error."""

import functools
import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "POSITIVE",
    "STOPPED",
    "WORK_FAILED",
    "console",
    "detail",
    "is_quiet",
    "note",
    "output_options",
    "print_json",
]

WORK_FAILED = 1
"""The exit status where something asked for could not be done, though it was asked for rightly."""

STOPPED = 130
"""The exit status after Ctrl-C."""

POSITIVE = click.IntRange(min=1)
"""What an option takes that is a number of rows, threads or the like."""

_KEY = "streamgauge.output"


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--json``, which it takes as `as_json`, and ``--quiet`` and ``--verbose``."""

    @functools.wraps(command)
    def speaking(*arguments: Any, quiet: bool, verbose: bool, **options: Any) -> Any:  # noqa: ANN401
        if quiet and verbose:
            msg = "--quiet and --verbose exclude each other"
            raise click.UsageError(msg)
        click.get_current_context().meta[_KEY] = (quiet or options["as_json"], verbose)
        return command(*arguments, **options)

    for option in (
        click.option("--verbose", is_flag=True, help="Tell more on standard error; unexpected errors in full."),
        click.option("--quiet", is_flag=True, help="Print the results alone: no progress, no notes."),
        click.option("--json", "as_json", is_flag=True, help="Print the results as JSON."),
    ):
        speaking = option(speaking)
    return speaking


def is_quiet() -> bool:
    """Say whether nothing but results is wanted."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(_KEY, (False, False))[0])


def note(text: str) -> None:
    """Tell something beside the results, unless quiet was asked for."""
    if not is_quiet():
        click.echo(text, err=True)


def detail(text: str) -> None:
    """Tell something only where more was asked for."""
    context = click.get_current_context(silent=True)
    if context and context.meta.get(_KEY, (False, False))[1]:
        click.echo(text, err=True)


def print_json(told: object) -> None:
    """Print results as JSON."""
    click.echo(json.dumps(told, indent=2))


def console(width: int = 1000) -> "Console":
    """Give the console for results; elsewhere than on a terminal it has no colours, and lines of `width`."""
    from rich.console import Console  # noqa: PLC0415  (only people need it)

    found = Console()
    return found if found.is_terminal or "COLUMNS" in os.environ else Console(width=width)
