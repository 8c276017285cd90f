"""Output shared by all commands: results go to standard output, everything else to standard error."""

import functools
import json
import os
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from streamgauge.errors import CheckpointWarning, DamageWarning, FailureWarning, StreamWarning

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "INVALID_ARGUMENTS",
    "POSITIVE",
    "ROWS",
    "RUN_FAILED",
    "STOPPED",
    "add_options",
    "add_output_options",
    "is_quiet",
    "is_verbose",
    "make_console",
    "print_detail",
    "print_json",
    "print_note",
    "print_warnings_briefly",
]

RUN_FAILED = 1
"""Exit status of a valid request that could not be completed."""

INVALID_ARGUMENTS = 2
"""Exit status of a user error: invalid options or input."""

STOPPED = 130
"""Exit status after Ctrl-C."""

ROWS = ("--rows", "--n-rows", "rows")
"""The names of the option of the number of rows: ours, and that of Python."""

POSITIVE = click.IntRange(min=1)
"""Type of options that count rows, threads and the like."""

_KEY = "streamgauge.output"


def add_options(command: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    """Add click options to a command, in the order in which its help lists them."""
    for option in reversed(options):
        command = option(command)
    return command


def add_output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--json``, passed to the command as `as_json`, ``--quiet`` and ``--verbose``."""

    @functools.wraps(command)
    def run(*arguments: Any, quiet: bool, verbose: bool, **options: Any) -> Any:  # noqa: ANN401
        if quiet and verbose:
            msg = "--quiet and --verbose exclude each other"
            raise click.UsageError(msg)
        click.get_current_context().meta[_KEY] = (quiet or options["as_json"], verbose)
        return command(*arguments, **options)

    return add_options(
        run,
        (
            click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text."),
            click.option("--quiet", is_flag=True, help="Print results only: no progress bar, no notes."),
            click.option("--verbose", is_flag=True, help="Print details and full tracebacks to standard error."),
        ),
    )


def is_quiet() -> bool:
    """Return whether only results are printed."""
    return _get_flags()[0]


def is_verbose() -> bool:
    """Return whether details are printed."""
    return _get_flags()[1]


def print_note(text: str) -> None:
    """Print a note to standard error unless ``--quiet`` is set."""
    if not is_quiet():
        click.echo(text, err=True)


def print_detail(text: str) -> None:
    """Print a note to standard error if ``--verbose`` is set."""
    if is_verbose():
        click.echo(text, err=True)


def _get_flags() -> tuple[bool, bool]:
    """Return whether the running command is quiet, and whether it is verbose."""
    context = click.get_current_context(silent=True)
    flags: tuple[bool, bool] = (False, False) if context is None else context.meta.get(_KEY, (False, False))
    return flags


def print_json(value: object) -> None:
    """Print results as JSON."""
    click.echo(json.dumps(value, indent=2))


def make_console(width: int = 1000) -> "Console":
    """Return the console for results; if it is not a terminal, without colours and `width` characters wide."""
    from rich.console import Console  # noqa: PLC0415  (not needed for JSON)

    console = Console()
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(width=width)


def print_warnings_briefly() -> None:
    """Print each warning of a run once, on one line; failures are part of the results."""
    warnings.simplefilter("ignore", FailureWarning)
    for always in (CheckpointWarning, DamageWarning):
        warnings.simplefilter("always", always)
    warnings.simplefilter("ignore" if is_quiet() else "always", StreamWarning)
    kinds: dict[type[Warning], str] = {CheckpointWarning: "Warning", DamageWarning: "Warning", StreamWarning: "Note"}
    printed = set()

    def print_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        line = f"{kinds.get(category, category.__name__)}: {message}"
        if line not in printed:
            printed.add(line)
            click.echo(line, err=True)

    warnings.showwarning = print_warning
