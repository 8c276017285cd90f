"""The page beside a run, for ``--watch``."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from streamgauge.errors import StreamgaugeError

__all__ = ["watch_option", "watched"]

watch_option = click.option("--watch", is_flag=True, help="Show the run on a web page while it goes on.")

_START = "from streamgauge.cli.main import main; main()"


@contextmanager
def watched(folder: Path | None, *, wanted: bool) -> Iterator[Path | None]:
    """Serve the page of a run's folder while the block runs; it yields the folder for the journal, if any.

    The page is served by a process of its own, so that it costs the learners that are measured nothing. On a terminal
    it stays after the run until Ctrl-C.

    Parameters
    ----------
    folder
        The folder of the run, or of many; None for one that is thrown away.
    wanted
        Whether there is to be a page.

    Examples
    --------
    >>> with watched(Path("results"), wanted=False) as journal:
    ...     print(journal)
    results
    """
    if not wanted:
        yield folder
        return
    with ExitStack() as left:
        shown = folder or Path(left.enter_context(tempfile.TemporaryDirectory(prefix="streamgauge-")))
        shown.mkdir(parents=True, exist_ok=True)
        server, address = _started(shown)
        left.callback(_ended, server)
        click.echo(f"watch it at {address}", err=True)
        yield shown
        if sys.stderr.isatty():
            click.echo(f"the page stays at {address} until Ctrl-C", err=True)
            try:
                server.wait()
            except KeyboardInterrupt:
                return


def _started(folder: Path) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-c", _START, "serve", str(folder), "--port", "0", "--parent", str(os.getpid())]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout is not None
    assert server.stderr is not None
    line = server.stdout.readline()
    if not line:
        _, told = server.communicate()
        raise StreamgaugeError(told.strip().removeprefix("Error: ") or "the page of --watch could not be served")
    return server, line.split()[0]


def _ended(server: "subprocess.Popen[str]") -> None:
    server.terminate()
    server.communicate()
