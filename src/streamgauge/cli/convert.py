"""`streamgauge convert`."""

import json
from pathlib import Path
from typing import Any

import click

from streamgauge.cli.inputs import input_options, open_input

__all__ = ["command"]


@click.command("convert")
@input_options
@click.argument("output", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
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
        click.echo(json.dumps({"output": str(output), "n_rows": n_rows}))
    else:
        click.echo(f"{output}: {n_rows:,} rows")
