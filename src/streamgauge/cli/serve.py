"""`streamgauge serve`."""

import os
from pathlib import Path
from typing import Any

import click

from streamgauge.cli.output import add_output_options, is_quiet, print_json
from streamgauge.errors import StreamgaugeError

__all__ = ["command"]


@click.command("serve")
@click.argument("folder", default=".", type=click.Path(path_type=Path))
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; any but this machine needs a token."
)
@click.option("--port", type=int, default=8765, show_default=True, help="Port to listen on; 0 picks a free one.")
@click.option("--token-file", type=click.Path(path_type=Path), help="File whose first line is the token.")
@click.option("--log-file", type=click.Path(path_type=Path), help="File for the log, rotated at 10 MB.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    show_default=True,
    help="Least level of what is logged.",
)
@click.option("--read-only", is_flag=True, help="Do not allow pages to start or stop runs.")
@click.option("--parent", type=int, hidden=True, help="Exit when the process with this id has ended.")
@add_output_options
def command(folder: Path, *, token_file: Path | None, read_only: bool, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Show the runs in FOLDER on a web page: running ones live, and finished ones.

    By default only this machine can connect. Any other --host needs a token, from --token-file or from
    $STREAMGAUGE_TOKEN. Without either, a token is generated and printed with the address. --json prints the address
    as JSON.

    \b
    Examples:
      streamgauge serve results
      streamgauge serve results --port 9000 --read-only
      STREAMGAUGE_TOKEN=... streamgauge serve results --host 0.0.0.0
    """
    from streamgauge.serve import Settings, serve  # noqa: PLC0415

    settings = Settings(token=_read_token(token_file), can_start=not read_only, **options)
    serve(folder, settings, lambda address: _print_address(address, as_json=as_json))


def _print_address(address: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"address": address})
    else:
        click.echo(address if is_quiet() else f"{address}  (Ctrl-C to stop)")


def _read_token(path: Path | None) -> str | None:
    if path is None:
        return os.environ.get("STREAMGAUGE_TOKEN") or None
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        msg = f"cannot read the token in {path}: {error.strerror}"
        raise StreamgaugeError(msg) from None
    return lines[0].strip() if lines else ""
