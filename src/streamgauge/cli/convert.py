"""`streamgauge convert`."""

from pathlib import Path
from typing import Any

import click

from streamgauge.cli.input_options import input_options, open_input
from streamgauge.cli.output import output_options, print_json

__all__ = ["command"]


@click.command("convert")
@input_options
@click.argument("output", type=click.Path(path_type=Path))
@output_options
def command(source: str, output: Path, *, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Write the rows of INPUT to OUTPUT, whose name says its format.

    INPUT is a file (ARFF, CSV, Parquet, Arrow, libsvm, .npz; "-" for standard input) or the name of a real stream.
    OUTPUT ends in .arff, .csv or .tsv, with .gz or .zst behind for a compressed file, or in .parquet.

    \b
    Examples:
      streamgauge convert electricity.arff electricity.parquet
      streamgauge convert rows.csv rows.arff.gz --target label --drop id
    """
    from streamgauge.streams import convert  # noqa: PLC0415

    n_rows = convert(open_input(source, options), output)
    if as_json:
        print_json({"output": str(output), "n_rows": n_rows})
    else:
        click.echo(f"{output}: {n_rows:,} rows")
