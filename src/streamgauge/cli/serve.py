"""`streamgauge serve`."""

import os
from pathlib import Path

import click

from streamgauge.cli.output import is_quiet, output_options, print_json

__all__ = ["command"]


@click.command("serve")
@click.argument("folder", default=".", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at; others need a token.")
@click.option("--port", type=int, default=8765, show_default=True, help="The port; 0 for any that is free.")
@click.option("--token-file", type=click.Path(path_type=Path), help="A file whose first line is the token.")
@click.option("--read-only", is_flag=True, help="Let no page start or stop runs.")
@click.option("--parent", type=int, hidden=True, help="End when the process of this id has ended.")
@output_options
def command(
    folder: Path,
    *,
    host: str,
    port: int,
    token_file: Path | None,
    read_only: bool,
    parent: int | None,
    as_json: bool,
) -> None:
    """Show the runs in FOLDER on a web page: those that go on, live, and finished ones.

    It listens to this machine alone. At another --host a token is needed: that of --token-file or of the variable
    STREAMGAUGE_TOKEN, or else one that is made up and printed with the address.

    \b
    Examples:
      streamgauge serve results
      streamgauge serve results --port 9000 --read-only
      STREAMGAUGE_TOKEN=... streamgauge serve results --host 0.0.0.0
    """
    from streamgauge.serve import Settings, serve  # noqa: PLC0415

    token = _token(token_file)
    settings = Settings(host, port, token, can_start=not read_only, parent=parent)
    serve(folder, settings, lambda address: _tell(address, as_json=as_json))


def _tell(address: str, *, as_json: bool) -> None:
    """Tell the address of the page, at once even where it goes into a pipe."""
    if as_json:
        print_json({"address": address})
    else:
        click.echo(address if is_quiet() else f"{address}  (Ctrl-C ends it)")


def _token(path: Path | None) -> str | None:
    from streamgauge.errors import StreamgaugeError  # noqa: PLC0415

    if path is None:
        return os.environ.get("STREAMGAUGE_TOKEN") or None
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        msg = f"cannot read the token in {path}: {error.strerror}"
        raise StreamgaugeError(msg) from None
    return lines[0].strip() if lines else ""
