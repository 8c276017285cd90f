"""`streamgauge shuffle`."""

from pathlib import Path
from typing import Any

import click

from streamgauge.cli.input_options import add_input_options, open_input
from streamgauge.cli.output import add_output_options, print_json

__all__ = ["command"]


@click.command("shuffle")
@add_input_options
@click.argument("output", type=click.Path(path_type=Path))
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the random order.")
@add_output_options
def command(source: str, output: Path, *, seed: int, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Write the rows of INPUT to OUTPUT in random order. The file may be larger than memory.

    \b
    Example:
      streamgauge shuffle skin.arff skin-shuffled.arff --seed 7
    """
    from streamgauge.streams import shuffle  # noqa: PLC0415

    n_rows = shuffle(open_input(source, options), output, seed=seed)
    if as_json:
        print_json({"output": str(output), "n_rows": n_rows, "seed": seed})
    else:
        click.echo(f"{output}: {n_rows:,} rows")
