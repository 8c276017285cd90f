"""`streamgauge reproduce`: tables and figures of papers, done again."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamgauge.cli.names import Choice
from streamgauge.cli.output import WORK_FAILED, console, is_quiet, note, output_options, print_json
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
    help="How large: to see it within minutes, or as published.",
)
@click.option("--list", "listed", is_flag=True, help="Name what can be reproduced.")
@click.option("--out", type=click.Path(path_type=Path), help="Write into this folder.  [default: reproduction/SCALE]")
@click.option("--data", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Where real streams are.")
@click.option("--so-far", is_flag=True, help="Do no more work: show what the finished pieces tell.")
@click.option("--threads", type=int, help="How many threads.  [default: one per core]")
@output_options
def command(names: tuple[str, ...], *, listed: bool, out: Path | None, data: Path | None, **options: Any) -> int:  # noqa: ANN401
    """Do tables and figures of papers again, ours beside the published figures, and say where and why they differ.

    NAME is one of --list, the beginning of several, or all. Each writes its page, picture, data and manifest. What is
    finished is not done again: run the same command to go on after a stop.

    \b
    Examples:
      streamgauge reproduce --list
      streamgauge reproduce bifet-2015-table-5
      streamgauge reproduce all --data data
      streamgauge reproduce bifet-2015-table-4 --scale paper --out paper
    """
    from papers import REPRODUCTIONS, names_of  # noqa: PLC0415

    if listed:
        width = max(map(len, REPRODUCTIONS))
        told = {name: {"source": one.source, "title": one.title} for name, one in REPRODUCTIONS.items()}
        lines = [f"{name:<{width}}  {one.title}" for name, one in REPRODUCTIONS.items()]
        click.echo(json.dumps(told, indent=2) if options["as_json"] else "\n".join(lines))
        return 0
    if not names:
        msg = "what is to be reproduced? Give a name, or all; 'streamgauge reproduce --list' names them"
        raise StreamgaugeError(msg)
    if data is not None:
        os.environ["STREAMGAUGE_DATA"] = str(data)
    wanted = list(dict.fromkeys(name for one in names for name in names_of(one)))
    folder = out or Path("reproduction") / options["scale"]
    try:
        return _run(wanted, folder, options)
    except KeyboardInterrupt:
        click.echo(f"What is finished is kept in {folder}; run the same command again to go on.", err=True)
        raise


def _run(wanted: list[str], folder: Path, options: dict[str, Any]) -> int:
    """Do all that is wanted; what cannot be done is told at the end, and keeps nothing else from being done."""
    from papers import REPRODUCTIONS  # noqa: PLC0415
    from papers.reports import write_index  # noqa: PLC0415

    failures, told = {}, []
    for name in wanted:
        try:
            done = _reproduced(name, folder, options)
        except StreamgaugeError as error:
            failures[name] = str(error)
            continue
        if options["as_json"]:
            told.append(_as_json(done))
        else:
            _show(done)
    if len(failures) < len(wanted):
        write_index(folder, REPRODUCTIONS)
    if options["as_json"]:
        print_json(told)
    if len(failures) == len(wanted):
        raise StreamgaugeError("; ".join(f"{name}: {reason}" for name, reason in failures.items()))
    for name, reason in failures.items():
        click.echo(f"Error: {name}: {reason}", err=True)
    return WORK_FAILED if failures else 0


def _reproduced(name: str, folder: Path, options: dict[str, Any]) -> "Reproduced":
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


def _show(done: "Reproduced") -> None:
    from rich.markup import escape  # noqa: PLC0415

    screen = console(width=160)
    found, what = done.finding, done.reproduction
    screen.print(f"\n[bold]{escape(what.title)}[/bold] ({what.name})\n{escape(what.source)}; ours: {found.basis}")
    for table in found.tables:
        screen.print(_rich(table))
    for claim in found.claims:
        screen.print(f"{'[green]seen[/green]' if claim.holds else '[red]NOT seen[/red]'}: {escape(claim.text)}")
    for remark in found.notes:
        screen.print(f"- {escape(remark)}")
    if not any(path.suffix == ".png" for path in done.files):
        note("no picture: Matplotlib is missing; get it with pip install streamgauge[plots]")
    note("wrote " + ", ".join(str(path) for path in done.files))


def _rich(table: "Table") -> Any:  # noqa: ANN401
    from rich.box import SIMPLE  # noqa: PLC0415
    from rich.table import Table as RichTable  # noqa: PLC0415

    from papers.findings import text_of  # noqa: PLC0415

    drawn = RichTable(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0), title=table.title, title_justify="left")
    for place, heading in enumerate(table.columns):
        numeric = all(not isinstance(row[place], str) for row in table.rows)
        drawn.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*map(text_of, row))
    return drawn


def _as_json(done: "Reproduced") -> dict[str, Any]:
    found = done.finding
    return {
        "name": done.reproduction.name,
        "title": done.reproduction.title,
        "source": done.reproduction.source,
        "scale": done.scale,
        "complete": done.complete,
        "basis": found.basis,
        "tables": [{"title": table.title, "rows": list(table.records())} for table in found.tables],
        "claims": [{"text": claim.text, "holds": claim.holds} for claim in found.claims],
        "notes": list(found.notes),
        "files": [str(path) for path in done.files],
    }
