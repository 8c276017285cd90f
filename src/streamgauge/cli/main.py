"""The entry point: `streamgauge`."""

import os
import sys
from importlib import import_module

import click

from streamgauge.errors import EndlessStreamError, StreamgaugeError, unknown_name

__all__ = ["main"]

COMMANDS = {
    "evaluate": "Evaluate learners on a stream.",
    "compare": "Say whether one learner is really better than another.",
    "rank": "Rank learners over many streams, from saved results.",
    "run": "Run what is missing of an experiment: many streams and learners from one file.",
    "results": "List, filter and export the results of experiments.",
    "report": "Report saved results as a page, in Markdown or in LaTeX.",
    "plot": "Draw a figure of saved results.",
    "detect": "Say when a stream has changed.",
    "describe": "Say what a file or a real stream holds.",
    "convert": "Write a file in another format.",
    "shuffle": "Write the rows of a file in random order.",
    "sample": "Draw a training and a test set from a file.",
    "serve": "Show runs, also those that go on, on a web page.",
    "reproduce": "Do tables and figures of papers again, beside what was published.",
    "list": "List streams, learners, schemes, labellings, forgettings, measures and detectors, and datasets.",
    "doctor": "Say what is installed, and what each missing extra would add.",
    "completion": "Print what lets a shell complete commands, options and names.",
}


LAST_WORDS = """\b
Every command tells its options and examples with --help, prints JSON with --json, and nothing but results with --quiet.
Exit status: 0 done; 1 something failed on the way; 2 a mistake in what was asked for; 130 stopped by Ctrl-C."""


class _LazyGroup(click.Group):
    """Imports a command only when it is asked for, so that help is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            if ctx.resilient_parsing:  # a shell asks what could be completed
                return None
            raise unknown_name(kind="command", name=cmd_name, known=COMMANDS)
        command = import_module(f"streamgauge.cli.{cmd_name}").command
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, epilog=LAST_WORDS)
@click.version_option(package_name="streamgauge", prog_name="streamgauge")
def cli() -> None:
    """Tell how good a data-stream classifier is, and whether one is really better than another."""


def main() -> None:
    """Run the command line; mistakes are told in a line and end with status 2, work that failed with 1."""
    try:
        status = cli.main(standalone_mode=False)
    except StreamgaugeError as error:
        endless = isinstance(error, EndlessStreamError)
        _fail("the stream never ends: say with --rows how many rows to read" if endless else str(error), 2)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except click.Abort:
        _fail("stopped", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except Exception as error:  # the last resort: no traceback for a person who did not ask for one
        if os.environ.get("STREAMGAUGE_DEBUG") or "--verbose" in sys.argv:
            raise
        _fail(f"unexpected {type(error).__name__}: {error} (--verbose, or STREAMGAUGE_DEBUG=1, tells all)", 1)
    else:
        sys.exit(status if isinstance(status, int) else 0)


def _fail(message: str, status: int) -> None:
    click.echo(f"Error: {message}", err=True)
    sys.exit(status)
