"""The entry point: `streamgauge`."""

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from streamgauge.cli.output import INVALID_ARGUMENTS, RUN_FAILED, STOPPED
from streamgauge.errors import (
    EndlessStreamError,
    FileFaultsError,
    StreamgaugeError,
    make_printable,
    shorten,
    unknown_name,
)

__all__ = ["main"]

COMMANDS = {
    "evaluate": "Evaluate learners on a stream.",
    "compare": "Evaluate learners on a stream, and test every pair.",
    "sample-size": "Estimate how many rows, labels or folds it takes to tell a difference.",
    "rerun": "Run saved results again from their manifest, and compare bit for bit.",
    "rank": "Rank learners over many streams, from saved results.",
    "run": "Run an experiment: many streams and learners from one file. Finished runs are skipped.",
    "results": "List, filter and export the results of experiments.",
    "report": "Write a report of saved results in HTML, Markdown or LaTeX.",
    "plot": "Draw a figure of saved results.",
    "detect": "Detect drift in a stream, a column or the errors of a learner.",
    "describe": "Summarise a file or a data set.",
    "convert": "Convert a file to another format.",
    "shuffle": "Write the rows of a file in random order.",
    "sample": "Draw a training set and a test set from a file.",
    "serve": "Show running and finished evaluations on a web page.",
    "reproduce": "Reproduce tables and figures from papers next to the published values.",
    "list": "List learners, streams, schemes, labellings, forgettings, measures, tests, detectors or datasets.",
    "doctor": "Check the installation and list the optional extras.",
    "completion": "Print a shell completion script.",
}


MAX_ERROR = 2_000
"""The most characters of an error, which may quote an argument."""

EPILOGUE = """\b
Every command explains its options, with examples, under --help. --json prints JSON, --quiet prints results only.
Exit status: 0 success; 1 something failed during the run; 2 invalid arguments; 130 stopped by Ctrl-C."""


class _LazyGroup(click.Group):
    """A group that imports a command only when it is used, so that help is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            if ctx.resilient_parsing:  # shell completion
                return None
            raise unknown_name(kind="command", name=cmd_name, known=COMMANDS)
        command = import_module(f"streamgauge.cli.{cmd_name.replace('-', '_')}").command
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EPILOGUE)
@click.version_option(package_name="streamgauge", prog_name="streamgauge")
def cli() -> None:
    """Evaluate data-stream classifiers, and test whether one is really better than another."""


def main() -> None:
    """Run the command line; a user error ends with one line and status 2, any other failure with 1."""
    try:
        status = cli.main(standalone_mode=False)
    except StreamgaugeError as error:
        _fail(_list_faults(error), INVALID_ARGUMENTS)
    except click.ClickException as error:
        error.show()
        sys.exit(INVALID_ARGUMENTS)
    except click.Abort:
        _fail(["stopped"], STOPPED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except Exception as error:  # last resort
        _fail_unexpectedly(error)
    else:
        sys.exit(status if isinstance(status, int) else 0)


def _list_faults(error: StreamgaugeError) -> Sequence[str]:
    """Return what an error says is wrong."""
    if isinstance(error, EndlessStreamError):
        return ["the stream never ends: set the number of rows with --rows"]
    return error.faults if isinstance(error, FileFaultsError) else [str(error)]


def _fail_unexpectedly(error: Exception) -> None:
    """Show an error that no command explains, with a traceback only on request."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        _fail([f"the system cannot have the path {shorten(repr(error.filename), 40)}"], INVALID_ARGUMENTS)
    if os.environ.get("STREAMGAUGE_DEBUG") or "--verbose" in sys.argv:
        raise error
    hint = "--verbose or STREAMGAUGE_DEBUG=1 shows the traceback"
    _fail([f"unexpected {type(error).__name__}: {shorten(str(error))} ({hint})"], RUN_FAILED)


def _fail(faults: Sequence[str], status: int) -> None:
    """Show what is wrong, a line each, and exit."""
    text = "\n".join(make_printable(fault) for fault in faults)
    click.echo(f"Error: {shorten(text, MAX_ERROR)}", err=True)
    sys.exit(status)
