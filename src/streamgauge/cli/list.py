"""`streamgauge list`: all objects of a family, by name."""

import inspect
import json
from dataclasses import is_dataclass
from typing import Any

import click

from streamgauge._format.text import to_text
from streamgauge.cli.names import Choice
from streamgauge.cli.output import add_output_options, make_console, print_json
from streamgauge.names import FAMILIES

__all__ = ["command"]


@click.command("list")
@click.argument("family", type=Choice(sorted([*FAMILIES, "datasets"])))
@add_output_options
def command(family: str, *, as_json: bool) -> None:
    """List everything in a FAMILY, with options and their defaults.

    \b
    Examples:
      streamgauge list learners
      streamgauge list datasets
    """
    rows = _list_datasets() if family == "datasets" else _list_family(family)
    if as_json:
        print_json(json.loads(json.dumps(rows, default=to_text)))
        return
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table("name", "description and options", box=None, pad_edge=False, header_style="bold")
    for row in rows:
        defaults = (f"{option}={_format_default(default)}" for option, default in row["options"].items())
        options = escape(", ".join([*row.get("needs", ()), *defaults]))
        about = f"{escape(row['summary'])}\n[dim]{options}[/dim]" if options else escape(row["summary"])
        table.add_row(row["name"], about)
    make_console(width=100).print(table)


def _list_datasets() -> list[dict[str, Any]]:
    from streamgauge.streams import DATASETS  # noqa: PLC0415

    return [
        {
            "name": dataset.name,
            "options": {"rows": dataset.n_rows, "attributes": dataset.n_attributes, "classes": dataset.n_classes},
            "summary": dataset.about,
            "citation": dataset.citation,
            "origin": dataset.origin,
            "openml": dataset.openml,
        }
        for dataset in DATASETS.values()
    ]


def _list_family(family: str) -> list[dict[str, Any]]:
    """Return name, required options, options with their defaults and the summary of each object of a family."""
    rows = []
    for name, thing in FAMILIES[family]().items():
        # a measure is used as it is; everything else is called with its options
        parameters = [] if family == "measures" else list(inspect.signature(thing).parameters.values())
        options = [parameter for parameter in parameters if not parameter.name.startswith("_")]
        rows.append(
            {
                "name": name,
                "needs": [option.name for option in options if option.default is option.empty],
                "options": {o.name: _to_json(o.default) for o in options if o.default is not o.empty},
                "summary": (inspect.getdoc(thing) or "").split("\n", maxsplit=1)[0],
            }
        )
    return rows


def _to_json(default: object) -> object:
    """Return a default as it is, and an object as ``{"object": TEXT}`` with the text that builds it."""
    return {"object": to_text(default)} if is_dataclass(default) else default


def _format_default(default: object) -> str:
    return str(default["object"]) if isinstance(default, dict) else repr(default)
