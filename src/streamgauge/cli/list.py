"""`streamgauge list`: what there is, by name."""

import inspect
import json
from dataclasses import is_dataclass
from typing import Any

import click

from streamgauge._format.text import to_text
from streamgauge.cli.names import Choice
from streamgauge.cli.output import console, output_options, print_json
from streamgauge.names import FAMILIES

__all__ = ["command"]


@click.command("list")
@click.argument("family", type=Choice(sorted([*FAMILIES, "datasets"])))
@output_options
def command(family: str, *, as_json: bool) -> None:
    """List what there is of a FAMILY, with options and their defaults.

    \b
    Examples:
      streamgauge list learners
      streamgauge list datasets
    """
    known = {} if family == "datasets" else FAMILIES[family]()
    rows: list[dict[str, Any]] = [
        {"name": name, "needs": _needs(thing), "options": _options(thing), "summary": _summary(thing)}
        for name, thing in known.items()
    ]
    rows += _datasets() if family == "datasets" else []
    if as_json:
        print_json(json.loads(json.dumps(rows, default=to_text)))
        return
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table("name", "what it is, and its options", box=None, pad_edge=False, header_style="bold")
    for row in rows:
        defaults = (f"{option}={_written(default)}" for option, default in row["options"].items())
        options = escape(", ".join([*row.get("needs", ()), *defaults]))
        about = f"{escape(row['summary'])}\n[dim]{options}[/dim]" if options else escape(row["summary"])
        table.add_row(row["name"], about)
    console(width=100).print(table)


def _written(default: object) -> str:
    return str(default["object"]) if isinstance(default, dict) else repr(default)


def _datasets() -> list[dict[str, Any]]:
    from streamgauge.streams import DATASETS  # noqa: PLC0415

    return [
        {
            "name": one.name,
            "options": {"rows": one.n_rows, "attributes": one.n_attributes, "classes": one.n_classes},
            "summary": one.about,
            "citation": one.citation,
            "origin": one.origin,
            "openml": one.openml,
        }
        for one in DATASETS.values()
    ]


def _needs(thing: object) -> list[str]:
    """Name the options that have no default."""
    return [parameter.name for parameter in _parameters(thing) if parameter.default is parameter.empty]


def _options(thing: object) -> dict[str, object]:
    """Give the options that have a default."""
    return {p.name: _shown(p.default) for p in _parameters(thing) if p.default is not p.empty}


def _shown(default: object) -> object:
    """Give a default as it is; where it is an object itself, as ``{"object": TEXT}`` with the text that makes it."""
    return {"object": to_text(default)} if is_dataclass(default) else default


def _parameters(thing: object) -> list[inspect.Parameter]:
    is_measure = hasattr(thing, "greater_is_better")  # a function already, not something to be made
    if not callable(thing) or is_measure:
        return []
    return [p for p in inspect.signature(thing).parameters.values() if not p.name.startswith("_")]


def _summary(thing: object) -> str:
    return (inspect.getdoc(thing) or "").split("\n", maxsplit=1)[0]
