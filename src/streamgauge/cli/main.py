"""The entry point: `streamgauge`."""

import os
import sys
from importlib import import_module
from importlib.metadata import version

import click

from streamgauge.errors import StreamgaugeError

__all__ = ["main"]

COMMANDS = {
    "evaluate": "Evaluate learners on a stream.",
    "compare": "Say whether one learner is really better than another.",
    "rank": "Rank learners over many streams, from saved results.",
    "detect": "Say when a stream has changed.",
    "describe": "Say what a file or a real stream holds.",
    "convert": "Write a file in another format.",
    "shuffle": "Write the rows of a file in random order.",
    "sample": "Draw a training and a test set from a file.",
    "reproduce": "Do tables and figures of papers again, beside what was published.",
    "list": "List streams, learners, schemes, labellings, forgettings, measures and detectors, and datasets.",
}


class _LazyGroup(click.Group):
    """Imports a command only when it is asked for, so that help is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"streamgauge.cli.{cmd_name}").command
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("streamgauge"), prog_name="streamgauge")
def cli() -> None:
    """Tell how good a data-stream classifier is, and whether one is really better than another."""


def main() -> None:
    """Run the command line; mistakes are told in one line and end with status 2."""
    try:
        status = cli.main(standalone_mode=False)
    except StreamgaugeError as error:
        _fail(str(error), 2)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except click.Abort:
        _fail("stopped", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except Exception as error:  # the last resort: no traceback for a person who did not ask for one
        if os.environ.get("STREAMGAUGE_DEBUG"):
            raise
        _fail(f"unexpected {type(error).__name__}: {error} (set STREAMGAUGE_DEBUG=1 for the details)", 1)
    else:
        sys.exit(status if isinstance(status, int) else 0)


def _fail(message: str, status: int) -> None:
    click.echo(f"Error: {message}", err=True)
    sys.exit(status)
