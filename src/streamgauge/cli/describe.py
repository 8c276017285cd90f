"""`streamgauge describe`."""

from typing import TYPE_CHECKING, Any

import click

from streamgauge._foreign import adopt_stream
from streamgauge._format.text import count
from streamgauge.cli.input_options import add_input_options, take_file_options
from streamgauge.cli.output import POSITIVE, add_output_options, make_console, print_json, print_note
from streamgauge.names import find_stream

if TYPE_CHECKING:
    from streamgauge.streams import Description

__all__ = ["command"]

ENDLESS_ROWS = 10_000
"""Number of rows of an endless stream that are described."""

RARE_SHARE = 0.2
"""A class with a smaller share of the rows than this is rare."""

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
@click.option("--rows", type=POSITIVE, help="Number of rows to read.  [default: all; 10,000 of an endless stream]")
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
        _show(description)


def _show(description: "Description") -> None:
    from rich.table import Table  # noqa: PLC0415

    console = make_console()
    console.print(*_list_facts(description), sep="\n", markup=False)
    console.print(f"fingerprint: {description.fingerprint}\n")
    n_labelled = description.n_labelled
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
    for note in description.notes:
        console.print(f"\nNote: {note}", markup=False, soft_wrap=True)


def _list_facts(description: "Description") -> list[str]:
    """Return what stands above the tables: size, baseline, times, and whether a class is rare."""
    n_rows, n_labelled = description.n_rows, description.n_labelled
    labelled = "" if n_labelled == n_rows else f", {n_labelled:,} of them labelled"
    parts = (count(len(description.attributes), "attribute"), count(len(description.classes), "class", "classes"))
    facts = [f"{count(n_rows, 'row')}{labelled}, {', '.join(parts)}"]
    if len(description.classes) == 1:
        facts.append("there is only one class, so there is nothing to predict: name the right column with --target")
    if description.temporal_dependence is not None:
        accuracy = f"{description.temporal_dependence:.4f}"
        facts.append(f"accuracy of the no-change baseline: {accuracy} (it predicts the previous class)")
    if description.first_time is not None:
        facts.append(f"times of the rows: {description.first_time} to {description.last_time}")
    if description.rarest is not None and description.rarest[1] < RARE_SHARE:
        name, share = description.rarest
        measures = f"--measure pr_auc, kappa_m or 'recall[{name}]'"
        facts.append(f"imbalanced: class {name} has {share:.1%} of the rows; prefer {measures} to accuracy")
    return facts


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
