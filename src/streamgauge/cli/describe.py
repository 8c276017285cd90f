"""`streamgauge describe`."""

from typing import Any

import click

from streamgauge._foreign import adopt_stream
from streamgauge.cli.input_options import add_input_options, take_file_options
from streamgauge.cli.output import POSITIVE, ROWS, add_output_options, print_json, print_note
from streamgauge.names import find_stream

__all__ = ["command"]

ENDLESS_ROWS = 10_000
"""Number of rows of an endless stream that are described."""


@click.command("describe")
@add_input_options
@click.option(
    "--spans",
    type=int,
    default=20,
    show_default=True,
    help="Number of equal parts of the file for which class shares are shown.",
)
@click.option(
    *ROWS,
    type=POSITIVE,
    help="Number of rows to read.  [default: all; 10,000 of an endless stream]",
)
@add_output_options
def command(source: str, *, spans: int, rows: int | None, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Summarise INPUT: rows, attributes, class shares in each part, and the accuracy of the no-change baseline.

    INPUT is a file (ARFF, CSV, Parquet, Arrow, libsvm, .npz, .npy; "-" for standard input), the name of a data set, or
    a generator such as 'SEA(n_rows=1000)'. Columns that are left out or hold the times of the rows are named.

    \b
    Examples:
      streamgauge describe electricity.arff
      streamgauge describe rows.csv --target label --json
      streamgauge describe payments.csv --target fraud --time paid_at --drop id
    """
    from streamgauge.streams import describe  # noqa: PLC0415

    stream = find_stream(source, **take_file_options(options))
    if rows is None and not adopt_stream(stream).ends and stream.n_rows is None:
        rows = ENDLESS_ROWS
        print_note(f"{source} never ends: its first {rows:,} rows are described; --rows sets another number")
    description = describe(stream, spans=spans, n_rows=rows)
    if as_json:
        print_json(description.as_dict())
    else:
        click.echo(str(description))
