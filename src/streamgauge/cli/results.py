"""`streamgauge results`: what a store of runs holds."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamgauge.cli.names import forgetting_name
from streamgauge.cli.output import console, note, output_options, print_json
from streamgauge.errors import StreamgaugeError

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["command", "table_of"]

AXES = ("stream", "scheme", "labelling", "seed")


@click.command("results")
@click.argument("folder", metavar="STORE", type=click.Path(path_type=Path))
@click.option("--stream", multiple=True, help="Only of this stream; a name or a pattern such as 'skin*'; repeatable.")
@click.option("--learner", multiple=True, help="Only of this learner; repeatable.")
@click.option("--scheme", multiple=True, help="Only under this scheme, such as Bootstrap; repeatable.")
@click.option("--labelling", multiple=True, help="Only under this labelling; repeatable.")
@click.option("--seed", multiple=True, help="Only with this seed; repeatable.")
@click.option("--measure", multiple=True, help="Only this measure; repeatable.")
@click.option("--forgetting", multiple=True, help="Only under this forgetting; repeatable.")
@click.option("--experiment", multiple=True, help="Only of this experiment; repeatable.")
@click.option("--run", multiple=True, help="Only of this run; repeatable.")
@click.option("--status", multiple=True, help="With --runs: only finished or failed ones.")
@click.option("--runs", "listing_runs", is_flag=True, help="List runs, with what failed, instead of readings.")
@click.option(
    "--export", "target", type=click.Path(path_type=Path), help="Write to a .csv, .parquet, .json or .tex file."
)
@output_options
def command(folder: Path, *, listing_runs: bool, target: Path | None, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """List, filter and export the last readings of all runs in STORE, a folder that `streamgauge run` wrote.

    Values are means over the folds, with their standard deviation.

    \b
    Examples:
      streamgauge results results/quick --measure accuracy
      streamgauge results results/quick --learner "Hoeffding*" --stream RBF
      streamgauge results results/quick --measure kappa_m --export table.tex
      streamgauge results results/quick --runs --status failed
    """
    from streamgauge.store import Filter, Store, export  # noqa: PLC0415

    # "Window" alone means every window, as the names of learners and schemes do
    options["forgetting"] = tuple(forgetting_name(text) if "(" in text else text for text in options["forgetting"])
    store, wanted = Store(folder), Filter(**options)
    if listing_runs:
        _show_runs(store.runs(wanted), store.running(), as_json=as_json)
        return
    if options["status"]:
        msg = "--status is asked of runs: give --runs, too"
        raise StreamgaugeError(msg)
    if target is not None:
        note(f"{export(store, target, wanted)} written")
        return
    rows = store.finals(wanted)
    if as_json:
        print_json(rows)
    elif rows:
        shown = console()
        shown.print(table_of(rows, shown.width))
    else:
        note(f"there are no readings in {folder} yet")


def _show_runs(runs: Sequence[dict[str, Any]], running: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json({"runs": runs, "running": running})
        return
    from rich.table import Table  # noqa: PLC0415

    axes = _axes(runs)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("run", no_wrap=True)
    for heading in (*axes, "rows", "seconds", "learners"):
        table.add_column(heading, overflow="fold")
    for run in runs:
        learners = ", ".join(
            f"{one['learner']} (failed)" if one["error"] else one["learner"] for one in run["learners"]
        )
        numbers = (f"{run['n_rows']:,}", f"{run['seconds']:.1f}") if run["status"] == "finished" else ("failed", "")
        table.add_row(run["run"], *(str(run[axis]) for axis in axes), *numbers, learners)
    console().print(table)
    for error in dict.fromkeys(one["error"] for run in runs for one in run["learners"] if one["error"]):
        click.echo(f"failed: {error}")
    for one in running:
        click.echo(f"running: {one['label']}: {one['n_rows']:,} rows, process {one['pid']} on {one['host']}")


def table_of(rows: Sequence[dict[str, Any]], width: int) -> "Table":
    """Give a table of streams by learners, where there is one measure and it fits; else a line a learner."""
    columns = list(dict.fromkeys((row["measure"], row["forgetting"]) for row in rows))
    learners = dict.fromkeys(row["learner"] for row in rows)
    longest = sum(max(len(str(row[axis])) for row in rows) + 2 for axis in _axes(rows))
    fits = longest + sum(max(len(name), 6) + 2 for name in learners) <= width
    return _by_learner(rows) if len(columns) == 1 and fits else _by_measure(rows, columns)


def _axes(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Name what tells the rows apart, beside the learner."""
    return [axis for axis in AXES if axis == "stream" or len({row[axis] for row in rows}) > 1]


def _by_learner(rows: Sequence[dict[str, Any]]) -> "Table":
    from rich.table import Table  # noqa: PLC0415

    axes, learners = _axes(rows), list(dict.fromkeys(row["learner"] for row in rows))
    measure, forgetting = rows[0]["measure"], rows[0]["forgetting"]
    title = measure if forgetting == "Landmark()" else f"{measure}, {forgetting}"
    table = Table(
        *axes, title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="bold"
    )
    for learner in learners:
        table.add_column(learner, justify="right", overflow="fold")
    lines: dict[tuple[Any, ...], dict[str, float | None]] = {}
    for row in rows:
        lines.setdefault(tuple(row[axis] for axis in axes), {})[row["learner"]] = row["mean"]
    choose = max if rows[0]["greater_is_better"] else min
    for place, means in lines.items():
        known = [round(mean, 4) for mean in means.values() if mean is not None]
        best = choose(known) if known else None
        cells = (_value(means.get(learner), best=best) for learner in learners)
        table.add_row(*map(str, place), *cells)
    return table


def _by_measure(rows: Sequence[dict[str, Any]], columns: Sequence[tuple[str, str]]) -> "Table":
    from rich.table import Table  # noqa: PLC0415

    axes, several = [*_axes(rows), "learner"], len({forgetting for _, forgetting in columns}) > 1
    table = Table(*axes, box=None, pad_edge=False, header_style="bold")
    for measure, forgetting in columns:
        table.add_column(f"{measure}, {forgetting}" if several else measure, justify="right", overflow="fold")
    lines: dict[tuple[Any, ...], dict[tuple[str, str], str]] = {}
    for row in rows:
        spread = "" if row["spread"] is None else f" ± {row['spread']:.4f}"
        line = lines.setdefault(tuple(row[axis] for axis in axes), {})
        line[row["measure"], row["forgetting"]] = f"{_value(row['mean'])}{spread}"
    for place, values in lines.items():
        table.add_row(*map(str, place), *(values.get(column, "") for column in columns))
    return table


def _value(mean: float | None, best: float | None = None) -> str:
    if mean is None:
        return "-"
    return f"[bold]{mean:.4f}[/bold]" if best is not None and round(mean, 4) == best else f"{mean:.4f}"
