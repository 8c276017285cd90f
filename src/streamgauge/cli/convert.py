"""`streamgauge convert`."""

from pathlib import Path
from typing import Any

import click

from streamgauge.cli.input_options import add_input_options, open_input
from streamgauge.cli.output import add_output_options, print_json, print_note

__all__ = ["command"]


@click.command("convert")
@add_input_options
@click.argument("output", type=click.Path(path_type=Path))
@add_output_options
def command(source: str, output: Path, *, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Convert INPUT to the format of OUTPUT.

    INPUT is a file (ARFF, CSV, Parquet, Arrow, libsvm, .npz, .npy; "-" for standard input) or the name of a data set.
    The name of OUTPUT sets its format: .arff, .csv, .tsv (each also compressed as .gz or .zst), .parquet, .arrow or
    .feather.

    \b
    Examples:
      streamgauge convert electricity.arff electricity.parquet
      streamgauge convert rows.csv rows.arff.gz --target label --drop id
    """
    from streamgauge.streams import convert  # noqa: PLC0415

    stream = open_input(source, options)
    n_rows = convert(stream, output)
    for note in stream.notes:
        print_note(f"Note: {note}")
    if stream.has_times:
        print_note("Note: the first column, 'time', holds the times of the rows in seconds: read it with --time time")
    if as_json:
        print_json({"output": str(output), "n_rows": n_rows})
    else:
        click.echo(f"{output}: {n_rows:,} rows")
