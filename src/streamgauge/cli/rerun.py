"""`streamgauge rerun`: a saved run again, bit for bit."""

from pathlib import Path
from typing import Any

import click

from streamgauge.cli.input_options import add_file_options, take_file_options
from streamgauge.cli.names import complete_names
from streamgauge.cli.output import RUN_FAILED, add_output_options, is_quiet, print_json, print_warnings_briefly
from streamgauge.errors import StreamgaugeError

__all__ = ["command"]


@click.command("rerun")
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--stream",
    shell_complete=complete_names("streams"),
    help="The stream, if it has moved since; a file is read with the options of the run and those given here.",
)
@add_file_options
@add_output_options
def command(results: Path, *, stream: str | None, as_json: bool, **options: Any) -> int:  # noqa: ANN401
    """Run saved results again from their manifest, and compare bit for bit.

    RESULTS is a folder saved with --out. Readings, pairs, verdicts, alarms and counts are compared; times and memory
    are not. The new results are not saved. Exit status: 0 for the same bits; 1 if something differs, which is printed
    with both values and with the versions and files that have changed; 2 if the run cannot be repeated, because it
    read a live stream or used objects of Python.

    \b
    Examples:
      streamgauge rerun results/rbf
      streamgauge rerun results/electricity --stream data/electricity.arff
    """
    from streamgauge.experiments import rerun  # noqa: PLC0415
    from streamgauge.store import is_store  # noqa: PLC0415

    if is_store(results):
        msg = (
            f"{results} is a store of many runs: repeat one of them, {results}/runs/run=... "
            f"('streamgauge results {results} --runs' lists them)"
        )
        raise StreamgaugeError(msg)
    print_warnings_briefly()
    try:
        outcome = rerun(
            results, stream=stream, reading=take_file_options(options), progress=False if is_quiet() else None
        )
    except KeyboardInterrupt:
        raise click.Abort from None
    if as_json:
        facts = {"same": outcome.same, "compared": outcome.compared}
        print_json({**facts, "differences": outcome.differences, "changes": outcome.changes})
    else:
        click.echo(str(outcome))
    return 0 if outcome.same else RUN_FAILED
