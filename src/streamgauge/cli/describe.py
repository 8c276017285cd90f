"""`streamgauge describe`."""

from typing import TYPE_CHECKING, Any

import click

from streamgauge._format.text import count
from streamgauge.cli.input_options import input_options, open_input
from streamgauge.cli.output import console, output_options, print_json

if TYPE_CHECKING:
    from streamgauge.streams import Description

__all__ = ["command"]

_BARS = " ▁▂▃▄▅▆▇█"


@click.command("describe")
@input_options
@click.option("--spans", type=int, default=20, show_default=True, help="Into how many spans time is divided.")
@output_options
def command(source: str, *, spans: int, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Say what INPUT holds: rows, attributes, classes over time, and how much a label depends on the last.

    INPUT is a file (ARFF, CSV, Parquet, Arrow, libsvm, .npz; "-" for standard input) or the name of a real stream.

    \b
    Examples:
      streamgauge describe electricity.arff
      streamgauge describe rows.csv --target label --json
    """
    from streamgauge.streams import describe  # noqa: PLC0415

    found = describe(open_input(source, options), spans=spans)
    if as_json:
        print_json(found.as_dict())
    else:
        _show(found)


def _show(found: "Description") -> None:
    from rich.table import Table  # noqa: PLC0415

    shown = console()
    labelled = "" if found.n_labelled == found.n_rows else f", {found.n_labelled:,} of them labelled"
    parts = (count(len(found.attributes), "attribute"), count(len(found.classes), "class", "classes"))
    shown.print(f"{count(found.n_rows, 'row')}{labelled}, {', '.join(parts)}")
    if len(found.classes) == 1:
        shown.print(
            "there is one class alone, so there is nothing to predict: is another column the target (--target)?"
        )
    if found.temporal_dependence is not None:
        shown.print(f"temporal dependence: {found.temporal_dependence:.4f} (accuracy of predicting the last class)")
    shown.print(f"fingerprint: {found.fingerprint}\n")
    style = {"box": None, "pad_edge": False, "header_style": "bold"}
    classes = Table("class", "rows", "share", f"share in {len(found.span_ends)} spans of time", **style)  # type: ignore[arg-type]
    for (name, rows), shares in zip(found.classes.items(), found.span_shares.T, strict=True):
        share = rows / found.n_labelled if found.n_labelled else 0.0
        classes.add_row(name, f"{rows:,}", f"{share:.4f}", "".join(_bar(value) for value in shares))
    attributes = Table("attribute", "kind", "missing", "distinct", "min", "max", "mean", **style)  # type: ignore[arg-type]
    for one in found.attributes:
        distinct = "more than 10,000" if one.n_distinct is None else f"{one.n_distinct:,}"
        numbers = ("" if value is None else f"{value:.6g}" for value in (one.minimum, one.maximum, one.mean))
        attributes.add_row(one.name, one.kind, f"{one.n_missing:,}", distinct, *numbers)
    shown.print(classes, "", attributes, sep="\n")
    for name in _hardly_repeated(found):
        leave_out = f"File(PATH, drop={(name,)!r}) leaves it out"
        shown.print(
            f"\n{name}: hardly a value comes twice, so nothing can be learnt from it; {leave_out}", markup=False
        )


def _hardly_repeated(found: "Description") -> list[str]:
    """Name the nominal attributes that tell rows apart rather than describe them, as keys and times do."""
    return [
        one.name
        for one in found.attributes
        if one.kind == "nominal" and (one.n_distinct or found.n_rows) > max(20, (found.n_rows - one.n_missing) / 2)
    ]


def _bar(share: float) -> str:
    """Give a bar as high as a share."""
    return _BARS[min(8, int(share * 8 + 1))] if share > 0 else _BARS[0]  # nothing for NaN, too
