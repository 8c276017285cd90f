"""`streamgauge reproduce`: tables and figures from papers."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import streamgauge
from streamgauge.cli.names import Choice
from streamgauge.cli.output import RUN_FAILED, add_output_options, is_quiet, make_console, print_json, print_note
from streamgauge.errors import StreamgaugeError

if TYPE_CHECKING:
    from papers import Reproduced, Table

__all__ = ["command"]


@click.command("reproduce")
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option(
    "--scale",
    type=Choice(["quick", "paper"]),
    default="quick",
    show_default=True,
    help="Size of the experiments: quick takes minutes, paper is as published.",
)
@click.option("--list", "listed", is_flag=True, help="List what can be reproduced.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder to write to.  [default: reproduction/SCALE]")
@click.option("--data", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Folder with data sets.")
@click.option("--so-far", is_flag=True, help="Run nothing: show what the finished parts give.")
@click.option("--threads", type=int, help="Number of threads.  [default: one per core]")
@add_output_options
def command(names: tuple[str, ...], *, listed: bool, out: Path | None, data: Path | None, **options: Any) -> int:  # noqa: ANN401
    """Reproduce tables and figures from papers next to the published values.

    NAME is a name of --list, the start of several names, or all. Each writes a page, a picture, data and a manifest.
    The page says where the values differ and why. Finished parts are kept: after a stop, run the same command to
    continue.

    \b
    Examples:
      streamgauge reproduce --list
      streamgauge reproduce bifet-2015-table-5
      streamgauge reproduce all --data data
      streamgauge reproduce bifet-2015-table-4 --scale paper --out paper
    """
    _find_papers()
    from papers import REPRODUCTIONS, match_names  # noqa: PLC0415

    if listed:
        width = max(map(len, REPRODUCTIONS))
        facts = {name: {"source": entry.source, "title": entry.title} for name, entry in REPRODUCTIONS.items()}
        lines = [f"{name:<{width}}  {entry.title}" for name, entry in REPRODUCTIONS.items()]
        click.echo(json.dumps(facts, indent=2) if options["as_json"] else "\n".join(lines))
        return 0
    if not names:
        msg = "nothing to reproduce: give a name, or all; 'streamgauge reproduce --list' lists the names"
        raise StreamgaugeError(msg)
    if data is not None:
        os.environ["STREAMGAUGE_DATA"] = str(data)
    wanted = list(dict.fromkeys(name for text in names for name in match_names(text)))
    folder = out or Path("reproduction") / options["scale"]
    try:
        return _run(wanted, folder, options)
    except KeyboardInterrupt:
        click.echo(f"Finished parts are kept in {folder}; run the same command to continue.", err=True)
        raise


def _find_papers() -> None:
    """Make the package `papers` importable: it is not part of the wheel, but of the repository."""
    for checkout in (Path(streamgauge.__file__).parents[2], Path.cwd()):
        if (checkout / "papers" / "catalogue.py").is_file() and str(checkout) not in sys.path:
            sys.path.append(str(checkout))
    try:
        import papers  # noqa: F401, PLC0415
    except ModuleNotFoundError as error:
        if error.name != "papers":
            raise
        msg = (
            "the papers are not part of the installed package: clone the repository of streamgauge and run this "
            "command in its folder"
        )
        raise StreamgaugeError(msg) from None


def _run(wanted: list[str], folder: Path, options: dict[str, Any]) -> int:
    """Reproduce everything wanted; failures are reported at the end and stop nothing else."""
    from papers import REPRODUCTIONS  # noqa: PLC0415
    from papers.reports import write_index  # noqa: PLC0415

    failures: dict[str, str] = {}
    finished = []
    for name in wanted:
        try:
            reproduced = _reproduce(name, folder, options)
        except StreamgaugeError as error:
            failures[name] = str(error)
            continue
        if options["as_json"]:
            finished.append(_to_json(reproduced))
        else:
            _show(reproduced)
    if len(failures) < len(wanted):
        write_index(folder, REPRODUCTIONS)
    if options["as_json"]:
        print_json(finished)
    if len(failures) == len(wanted):
        raise StreamgaugeError("; ".join(f"{name}: {reason}" for name, reason in failures.items()))
    for name, reason in failures.items():
        click.echo(f"Error: {name}: {reason}", err=True)
    return RUN_FAILED if failures else 0


def _reproduce(name: str, folder: Path, options: dict[str, Any]) -> "Reproduced":
    from papers import REPRODUCTIONS, reproduce  # noqa: PLC0415
    from streamgauge._format.progress_bar import progress_bar  # noqa: PLC0415
    from streamgauge.backends import Threads  # noqa: PLC0415

    n_pieces = len(REPRODUCTIONS[name].experiment.pieces(options["scale"]))
    shown = False if is_quiet() else None
    with progress_bar(n_pieces, shown=shown, unit="pieces") as advance_to:
        return reproduce(
            name,
            folder,
            scale=options["scale"],
            so_far=options["so_far"],
            backend=Threads(options["threads"]),
            progress=lambda done, *_: advance_to(done),
        )


def _show(reproduced: "Reproduced") -> None:
    from rich.markup import escape  # noqa: PLC0415

    console = make_console(width=160)
    finding, entry = reproduced.finding, reproduced.reproduction
    console.print(f"\n[bold]{escape(entry.title)}[/bold] ({entry.name})")
    console.print(f"{escape(entry.source)}; ours, at {reproduced.scale} scale: {finding.basis}")
    for table in finding.tables:
        console.print(_build_table(table))
    for claim in finding.claims:
        colour = "green" if claim.holds else "red"
        console.print(f"[{colour}]{escape(claim.describe(reproduced.scale))}[/{colour}]")
    for note in finding.notes:
        console.print(f"- {escape(note)}")
    if not any(path.suffix == ".png" for path in reproduced.files):
        print_note("no picture: Matplotlib is missing; install it with pip install 'streamgauge[plots]'")
    print_note("wrote " + ", ".join(str(path) for path in reproduced.files))


def _build_table(table: "Table") -> Any:  # noqa: ANN401
    from rich.box import SIMPLE  # noqa: PLC0415
    from rich.table import Table as RichTable  # noqa: PLC0415

    from papers.findings import format_entry  # noqa: PLC0415

    rich_table = RichTable(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0), title=table.title, title_justify="left")
    for index, heading in enumerate(table.columns):
        is_numeric = all(not isinstance(row[index], str) for row in table.rows)
        rich_table.add_column(heading, justify="right" if is_numeric else "left", overflow="fold")
    for row in table.rows:
        rich_table.add_row(*(format_entry(entry).replace("**", "") for entry in row))
    return rich_table


def _to_json(reproduced: "Reproduced") -> dict[str, Any]:
    finding = reproduced.finding
    return {
        "name": reproduced.reproduction.name,
        "title": reproduced.reproduction.title,
        "source": reproduced.reproduction.source,
        "scale": reproduced.scale,
        "complete": reproduced.complete,
        "basis": finding.basis,
        "tables": [{"title": table.title, "rows": list(table.records())} for table in finding.tables],
        "claims": [{"text": claim.text, "holds": claim.holds} for claim in finding.claims],
        "notes": list(finding.notes),
        "files": [str(path) for path in reproduced.files],
    }
