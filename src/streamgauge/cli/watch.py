"""The web page of a run, for ``--watch``."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from streamgauge.errors import StreamgaugeError
from streamgauge.records.locks import open_temporary_folder

__all__ = ["serve_page", "watch_option"]

watch_option = click.option("--watch", is_flag=True, help="Show the run live on a web page.")

_START = "from streamgauge.cli.main import main; main()"


@contextmanager
def serve_page(folder: Path | None, *, enabled: bool) -> Iterator[Path | None]:
    """Serve the page of a run's folder while the block runs; yields the folder for the journal, if any.

    The page is served by another process, so that it does not slow the learners that are measured. On a terminal it
    stays up after the run until Ctrl-C.

    Parameters
    ----------
    folder
        Folder of the run, or of many; None for a temporary one.
    enabled
        Whether to serve a page.

    Examples
    --------
    >>> with serve_page(Path("results"), enabled=False) as journal:
    ...     print(journal)
    results
    """
    if not enabled:
        yield folder
        return
    with ExitStack() as stack:
        served = folder or stack.enter_context(open_temporary_folder())
        served.mkdir(parents=True, exist_ok=True)
        server, address = _start_server(served)
        stack.callback(_stop_server, server)
        click.echo(f"watch it at {address}", err=True)
        yield served
        if sys.stderr.isatty():
            click.echo(f"the page stays at {address} until Ctrl-C", err=True)
            try:
                server.wait()
            except KeyboardInterrupt:
                return


def _start_server(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start the server; return its process and the address of the page."""
    command = [sys.executable, "-c", _START, "serve", str(folder), "--port", "0", "--parent", str(os.getpid())]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout is not None
    line = server.stdout.readline()
    if not line:
        _, errors = server.communicate()
        raise StreamgaugeError(errors.strip().removeprefix("Error: ") or "the page of --watch could not be served")
    return server, line.split()[0]


def _stop_server(server: "subprocess.Popen[str]") -> None:
    server.terminate()
    server.communicate()
