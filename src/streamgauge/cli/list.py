"""`streamgauge list`: all objects of a family, by name."""

import inspect
import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

import click

from streamgauge._foreign import find_task_name
from streamgauge._format.text import to_text
from streamgauge.cli.names import Choice
from streamgauge.cli.output import add_output_options, make_console, print_json
from streamgauge.names import FAMILIES
from streamgauge.tasks import Classification

__all__ = ["command"]


@click.command("list")
@click.argument("family", type=Choice(sorted([*FAMILIES, "datasets", "tests"])))
@add_output_options
def command(family: str, *, as_json: bool) -> None:
    """List everything in a FAMILY, with options and their defaults.

    \b
    Examples:
      streamgauge list learners
      streamgauge list measures
      streamgauge list tests
      streamgauge list datasets
    """
    listers = {"datasets": _list_datasets, "measures": _list_measures, "tests": _list_tests}
    rows = listers[family]() if family in listers else _list_objects(FAMILIES[family]())
    if as_json:
        print_json(json.loads(json.dumps(rows, default=to_text)))
        return
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table("name", "description and options", box=None, pad_edge=False, header_style="bold")
    for row in rows:
        defaults = (f"{option}={_format_default(default)}" for option, default in row["options"].items())
        options = escape(", ".join([*row.get("needs", ()), *defaults]))
        task = f" ({row['task']})" if row.get("task", Classification.name) != Classification.name else ""
        summary = escape(row["summary"].replace("``", "") + task)
        about = f"{summary}\n[dim]{options}[/dim]" if options else summary
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


def _list_objects(known: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return name, required options, options with their defaults and the summary of objects that take options."""
    rows = []
    for name, thing in known.items():
        parameters = inspect.signature(thing).parameters.values()
        options = [parameter for parameter in parameters if not parameter.name.startswith("_")]
        needs = [option.name for option in options if option.default is option.empty]
        defaults = {o.name: _to_json(o.default) for o in options if o.default is not o.empty}
        rows.append({"name": name, "needs": needs, "options": defaults, "summary": _summarise(thing)})
    return rows


def _list_measures() -> list[dict[str, Any]]:
    """Return the measures by name, then those of one class, then those with options."""
    from streamgauge.measures import COUNT_MEASURES, MEASURES, WITH_OPTIONS  # noqa: PLC0415
    from streamgauge.measures.areas import AREAS  # noqa: PLC0415
    from streamgauge.measures.classes import COUNTS, PER_CLASS  # noqa: PLC0415

    named = {name: _summarise(measure) for name, measure in MEASURES.items()}
    named["all"] = f"Every measure that is computed from counts: {len(COUNT_MEASURES)} of the above."
    named |= {f"{name}[CLASS]": f"{rate.title} of one class: {rate.description}." for name, rate in PER_CLASS.items()}
    named |= {"fBETA[CLASS]": "F-beta of one class, such as f2[up].", "fBETA_macro": "F-beta, such as f0.5_macro."}
    named |= {f"{name}[CLASS]": f"{AREA_TITLES[name]} of one class against all others." for name in AREAS}
    named |= {f"{name}[CLASS]": f"{COUNT_TITLES[name]} of one class, as a weight." for name in COUNTS}
    rows = _list_objects(WITH_OPTIONS)
    rows[:0] = ({"name": name, "needs": [], "options": {}, "summary": summary} for name, summary in named.items())
    tasks = {name: find_task_name(known) for name, known in MEASURES.items()}
    tasks |= {name: kind.task for name, kind in WITH_OPTIONS.items()}
    return [{**row, "task": tasks.get(row["name"], Classification.name)} for row in rows]


AREA_TITLES = {"roc_auc": "Area under the ROC curve", "pr_auc": "Area under the precision-recall curve"}
COUNT_TITLES = {"tp": "True positives", "tn": "True negatives", "fp": "False positives", "fn": "False negatives"}


def _list_tests() -> list[dict[str, Any]]:
    from streamgauge.significance import TESTS, list_tests  # noqa: PLC0415

    return [
        {
            "name": test.name,
            "title": test.title,
            "over": test.over,
            "options": {},
            "summary": _summarise(test.run) or f"{test.title[0].upper()}{test.title[1:]}, over {test.over}.",
        }
        for test in map(TESTS.__getitem__, list_tests())
    ]


def _summarise(thing: object) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(thing) or "").split("\n", maxsplit=1)[0]


def _to_json(default: object) -> object:
    """Return a default as it is, and an object as ``{"object": TEXT}`` with the text that builds it."""
    return {"object": to_text(default)} if is_dataclass(default) else default


def _format_default(default: object) -> str:
    return str(default["object"]) if isinstance(default, dict) else repr(default)
