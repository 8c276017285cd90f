"""`streamgauge describe`."""

from typing import TYPE_CHECKING, Any

import click

from streamgauge._format.text import count
from streamgauge.cli.input_options import add_input_options, open_input
from streamgauge.cli.output import add_output_options, make_console, print_json

if TYPE_CHECKING:
    from streamgauge.streams import Description

__all__ = ["command"]

_BARS = " ▁▂▃▄▅▆▇█"


@click.command("describe")
@add_input_options
@click.option(
    "--spans",
    type=int,
    default=20,
    show_default=True,
    help="Number of equal parts of the file for which class shares are shown.",
)
@add_output_options
def command(source: str, *, spans: int, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Summarise INPUT: rows, attributes, class shares in each part, and the accuracy of the no-change baseline.

    INPUT is a file (ARFF, CSV, Parquet, Arrow, libsvm, .npz, .npy; "-" for standard input) or the name of a data set.

    \b
    Examples:
      streamgauge describe electricity.arff
      streamgauge describe rows.csv --target label --json
    """
    from streamgauge.streams import describe  # noqa: PLC0415

    description = describe(open_input(source, options), spans=spans)
    if as_json:
        print_json(description.as_dict())
    else:
        _show(description)


def _show(description: "Description") -> None:
    from rich.table import Table  # noqa: PLC0415

    n_rows, n_labelled = description.n_rows, description.n_labelled
    console = make_console()
    labelled = "" if n_labelled == n_rows else f", {n_labelled:,} of them labelled"
    parts = (count(len(description.attributes), "attribute"), count(len(description.classes), "class", "classes"))
    console.print(f"{count(n_rows, 'row')}{labelled}, {', '.join(parts)}")
    if len(description.classes) == 1:
        console.print("there is only one class, so there is nothing to predict: name the right column with --target")
    if description.temporal_dependence is not None:
        accuracy = f"{description.temporal_dependence:.4f}"
        console.print(f"accuracy of the no-change baseline: {accuracy} (it predicts the previous class)")
    console.print(f"fingerprint: {description.fingerprint}\n")
    style = {"box": None, "pad_edge": False, "header_style": "bold"}
    parts_heading = f"share in {len(description.span_ends)} parts"
    classes = Table("class", "rows", "share", parts_heading, **style)  # type: ignore[arg-type]
    for (name, rows), shares in zip(description.classes.items(), description.span_shares.T, strict=True):
        share = rows / n_labelled if n_labelled else 0.0
        classes.add_row(name, f"{rows:,}", f"{share:.4f}", "".join(_draw_bar(value) for value in shares))
    attributes = Table("attribute", "kind", "missing", "distinct", "min", "max", "mean", **style)  # type: ignore[arg-type]
    for attribute in description.attributes:
        distinct = "more than 10,000" if attribute.n_distinct is None else f"{attribute.n_distinct:,}"
        values = (attribute.minimum, attribute.maximum, attribute.mean)
        numbers = ("" if value is None else f"{value:.6g}" for value in values)
        attributes.add_row(attribute.name, attribute.kind, f"{attribute.n_missing:,}", distinct, *numbers)
    console.print(classes, "", attributes, sep="\n")
    for name in _find_identifiers(description):
        advice = f"leave it out with --drop {name} or File(PATH, drop={(name,)!r})"
        console.print(
            f"\n{name}: almost every value is unique, so nothing can be learnt from it; {advice}", markup=False
        )


def _find_identifiers(description: "Description") -> list[str]:
    """Return the nominal attributes whose values are almost all distinct, such as keys and times."""
    return [
        attribute.name
        for attribute in description.attributes
        if attribute.kind == "nominal"
        and (attribute.n_distinct or description.n_rows) > max(20, (description.n_rows - attribute.n_missing) / 2)
    ]


def _draw_bar(share: float) -> str:
    return _BARS[min(8, int(share * 8 + 1))] if share > 0 else _BARS[0]  # a blank for NaN, too
