"""`streamgauge sample`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamgauge.cli.input_options import add_optional_input_options, open_input, parse_column
from streamgauge.cli.out_folder import require_folder
from streamgauge.cli.output import add_output_options, make_console, print_json
from streamgauge.errors import StreamgaugeError, require_between

if TYPE_CHECKING:
    from streamgauge.streams import Balance, Distribution
    from streamgauge.streams.sampling import SampleFiles

__all__ = ["command"]


@click.command("sample")
@add_optional_input_options
@click.option("--training-positives", type=int, help="Number of positives in the training set.")
@click.option("--training-balance", type=float, help="Positives per negative in the training set.")
@click.option("--test-balance", type=float, help="Positives per negative in the test set.")
@click.option("--positive", help="Class that counts as positive.  [default: the rarer of two]")
@click.option("--training-rows", type=int, help="Number of rows in the training set, for any number of classes.")
@click.option(
    "--training-share", multiple=True, metavar="CLASS=SHARE", help="Share of a class in the training set; repeatable."
)
@click.option(
    "--test-share", multiple=True, metavar="CLASS=SHARE", help="Share of a class in the test set; repeatable."
)
@click.option("--labelled", type=float, default=1.0, show_default=True, help="Fraction of test rows with a label.")
@click.option("--features", help="Attributes to keep, by name or position, separated by commas.  [default: all]")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the draw.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for the sample.")
@click.option(
    "--format",
    "suffix",
    help="Format of the sample: arff, csv, tsv (also .gz or .zst), parquet or arrow.  [default: as INPUT]",
)
@click.option(
    "--index",
    type=click.Path(path_type=Path),
    help="Folder of index files: read if present, otherwise written. An index saves the first pass next time.",
)
@click.option("--recipe", type=click.Path(path_type=Path), help="Draw the sample described by this recipe.json again.")
@add_output_options
def command(*, out: Path, recipe: Path | None, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Draw a training set and a test set from INPUT, with exact counts, in two passes.

    A balance is the number of positives per negative. The test set is drawn from the rows that the training set
    leaves; if there are too few negatives for its balance, positives are left out until the balance fits. Labels that
    --labelled hides are written to test.truth.csv. With --recipe, INPUT is needed only if the file has moved.

    \b
    Examples:
      streamgauge sample skin.arff --training-positives 1000 --training-balance 1.0 \\
        --test-balance 0.1 --labelled 0.05 --seed 3 --out skin-sample
      streamgauge sample covtype.csv.gz --training-rows 7000 --test-share 1=0.5 --test-share 2=0.5 --out even
      streamgauge sample --recipe skin-sample/recipe.json --out again
    """
    from streamgauge.streams import repeat, sample  # noqa: PLC0415

    require_folder("out", out)
    require_folder("index", options["index"])
    require_between("labelled", options["labelled"], 0.0, 1.0, open_low=False)
    source = options.pop("source")
    if recipe is not None:
        drawn = repeat(recipe, out, source=source)
    elif source is None:
        msg = "give INPUT, the file to sample, or --recipe FILE to repeat a sample"
        raise StreamgaugeError(msg)
    else:
        file = open_input(source, options)
        features = options["features"] and tuple(parse_column(name.strip()) for name in options["features"].split(","))
        drawn = sample(
            file,
            out,
            _parse_request(options),
            labelled=options["labelled"],
            features=features,
            seed=options["seed"],
            suffix=options["suffix"],
            index=options["index"],
        )
    _show(drawn, as_json=as_json)


def _parse_request(options: dict[str, Any]) -> "Balance | Distribution":
    from streamgauge.streams import Balance, Distribution  # noqa: PLC0415

    if not any(options[name] for name in ("training_rows", "training_share", "test_share")):
        return Balance(
            training_positives=options["training_positives"] or 0,
            training=options["training_balance"],
            test=options["test_balance"],
            positive=options["positive"],
        )
    for name in ("training_positives", "training_balance", "test_balance", "positive"):
        if options[name] is not None:
            option = f"--{name.replace('_', '-')}"
            msg = f"{option} is for two classes, --training-rows and the shares are for many; choose one"
            raise StreamgaugeError(msg)
    shares = (_parse_shares(options[name]) for name in ("training_share", "test_share"))
    return Distribution(options["training_rows"] or 0, *shares)


def _parse_shares(texts: tuple[str, ...]) -> dict[str, float] | None:
    shares = {}
    for text in texts:
        name, mark, share = text.rpartition("=")
        try:
            shares[name] = float(share if mark else mark)
        except ValueError:
            msg = f"cannot read the share {text!r}; write CLASS=SHARE, such as up=0.25"
            raise StreamgaugeError(msg) from None
    return shares or None


def _show(drawn: "SampleFiles", *, as_json: bool) -> None:
    plan = drawn.plan
    files = {"training": drawn.training, "test": drawn.test, "truth": drawn.truth, "recipe": drawn.recipe}
    if as_json:
        groups = [
            {"classes": group.classes, "rows": group.rows, "training": group.training, "test": group.test}
            for group in plan.groups
        ]
        paths = {name: None if path is None else str(path) for name, path in files.items()}
        print_json({**paths, "groups": groups, "labelled": plan.labelled})
        return
    from rich.table import Table  # noqa: PLC0415

    table = Table("class", "rows", "training", "test", box=None, pad_edge=False, header_style="bold")
    for group in plan.groups:
        table.add_row(", ".join(group.classes), f"{group.rows:,}", f"{group.training:,}", f"{group.test:,}")
    table.add_row("all", f"{sum(group.rows for group in plan.groups):,}", f"{plan.n_training:,}", f"{plan.n_test:,}")
    make_console().print(table)
    click.echo(f"labelled test rows: {plan.labelled:,} of {plan.n_test:,}")
    for path in files.values():
        if path is not None:
            click.echo(str(path))
