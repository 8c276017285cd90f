"""`streamgauge results`: the contents of a store of runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamgauge._format.text import describe_forgetting
from streamgauge.cli.output import add_output_options, make_console, print_json, print_note
from streamgauge.cli.saved_results import AXES
from streamgauge.errors import StreamgaugeError
from streamgauge.names import to_forgetting_name

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["build_table", "command"]


@click.command("results")
@click.argument("folder", metavar="STORE", type=click.Path(path_type=Path))
@click.option("--stream", multiple=True, help="Only this stream; a name or a pattern such as 'skin*'; repeatable.")
@click.option("--learner", multiple=True, help="Only this learner; a name or pattern; repeatable.")
@click.option("--scheme", multiple=True, help="Only this scheme, such as Bootstrap; repeatable.")
@click.option("--labelling", multiple=True, help="Only this labelling; repeatable.")
@click.option("--seed", multiple=True, help="Only this seed; repeatable.")
@click.option("--measure", multiple=True, help="Only this measure; repeatable.")
@click.option("--forgetting", multiple=True, help="Only this forgetting; repeatable.")
@click.option("--experiment", multiple=True, help="Only runs of this experiment; repeatable.")
@click.option("--run", multiple=True, help="Only this run; repeatable.")
@click.option("--status", multiple=True, help="With --runs: only finished, or only failed runs.")
@click.option("--runs", "listing_runs", is_flag=True, help="List the runs and their errors instead of readings.")
@click.option(
    "--export",
    "target",
    type=click.Path(path_type=Path),
    help="Write the table to a .csv, .parquet, .json or .tex file.",
)
@add_output_options
def command(folder: Path, *, listing_runs: bool, target: Path | None, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """List, filter and export the final readings of all runs in STORE, a folder written by `streamgauge run`.

    Values are means over the folds, with their standard deviation.

    \b
    Examples:
      streamgauge results results/quick --measure accuracy
      streamgauge results results/quick --learner "Hoeffding*" --stream RBF
      streamgauge results results/quick --measure kappa_m --export table.tex
      streamgauge results results/quick --runs --status failed
    """
    from streamgauge.store import Filter, Store, export  # noqa: PLC0415

    # "Window" alone selects windows of every width, as the names of learners and schemes do
    options["forgetting"] = tuple(to_forgetting_name(text) if "(" in text else text for text in options["forgetting"])
    store, wanted = Store(folder), Filter(**options)
    if listing_runs:
        _show_runs(store.runs(wanted), store.running(), as_json=as_json)
        return
    if options["status"]:
        msg = "--status filters runs: it needs --runs"
        raise StreamgaugeError(msg)
    if target is not None:
        print_note(f"{export(store, target, wanted)} written")
        return
    rows = store.finals(wanted)
    if as_json:
        print_json(rows)
    elif rows:
        console = make_console()
        console.print(build_table(rows, console.width))
    else:
        print_note(f"there are no readings in {folder} yet")


def _show_runs(runs: Sequence[dict[str, Any]], running: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json({"runs": runs, "running": running})
        return
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    axes = _find_axes(runs)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("run", no_wrap=True)
    for heading in (*axes, "rows", "seconds", "learners"):
        table.add_column(heading, overflow="fold")
    for run in runs:
        learners = ", ".join(
            f"{learner['learner']} (failed)" if learner["error"] else learner["learner"] for learner in run["learners"]
        )
        numbers = (f"{run['n_rows']:,}", f"{run['seconds']:.1f}") if run["status"] == "finished" else ("failed", "")
        table.add_row(run["run"], *(escape(str(run[axis])) for axis in axes), *numbers, escape(learners))
    make_console().print(table)
    errors = (learner["error"] for run in runs for learner in run["learners"])
    for error in dict.fromkeys(filter(None, errors)):
        click.echo(f"failed: {error}")
    for job in running:
        click.echo(f"running: {job['label']}: {job['n_rows']:,} rows, process {job['pid']} on {job['host']}")


def build_table(rows: Sequence[dict[str, Any]], width: int) -> "Table":
    """Build a table of streams by learners if there is one measure and it fits; else one line per learner."""
    columns = list(dict.fromkeys((row["measure"], row["forgetting"]) for row in rows))
    learners = dict.fromkeys(row["learner"] for row in rows)
    longest = sum(max(len(str(row[axis])) for row in rows) + 2 for axis in _find_axes(rows))
    fits = longest + sum(max(len(name), 6) + 2 for name in learners) <= width
    return _build_learner_table(rows) if len(columns) == 1 and fits else _build_measure_table(rows, columns)


def _find_axes(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return what distinguishes the rows besides the learner."""
    return [axis for axis in AXES if axis == "stream" or len({row[axis] for row in rows}) > 1]


def _build_learner_table(rows: Sequence[dict[str, Any]]) -> "Table":
    """Build a table with one column per learner."""
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    axes, learners = _find_axes(rows), list(dict.fromkeys(row["learner"] for row in rows))
    measure, forgetting = rows[0]["measure"], rows[0]["forgetting"]
    title = measure if forgetting == "Landmark()" else f"{measure} {describe_forgetting(forgetting)}"
    table = Table(
        *axes,
        title=escape(title),
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        header_style="bold",
    )
    for learner in learners:
        table.add_column(escape(learner), justify="right", overflow="fold")
    lines: dict[tuple[Any, ...], dict[str, float | None]] = {}
    for row in rows:
        lines.setdefault(tuple(row[axis] for axis in axes), {})[row["learner"]] = row["mean"]
    choose = max if rows[0]["greater_is_better"] else min
    for key, means in lines.items():
        known = [round(mean, 4) for mean in means.values() if mean is not None]
        best = choose(known) if known else None
        cells = (_format_mean(means.get(learner), best=best) for learner in learners)
        table.add_row(*(escape(str(part)) for part in key), *cells)
    return table


def _build_measure_table(rows: Sequence[dict[str, Any]], columns: Sequence[tuple[str, str]]) -> "Table":
    """Build a table with one line per learner and one column per measure."""
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    axes, several = [*_find_axes(rows), "learner"], len({forgetting for _, forgetting in columns}) > 1
    table = Table(*axes, box=None, pad_edge=False, header_style="bold")
    for measure, forgetting in columns:
        heading = f"{measure} {describe_forgetting(forgetting)}" if several else measure
        table.add_column(escape(heading), justify="right", overflow="fold")
    lines: dict[tuple[Any, ...], dict[tuple[str, str], str]] = {}
    for row in rows:
        spread = "" if row["spread"] is None else f" ± {row['spread']:.4f}"
        line = lines.setdefault(tuple(row[axis] for axis in axes), {})
        line[row["measure"], row["forgetting"]] = f"{_format_mean(row['mean'])}{spread}"
    for key, values in lines.items():
        table.add_row(*(escape(str(part)) for part in key), *(values.get(column, "") for column in columns))
    return table


def _format_mean(mean: float | None, best: float | None = None) -> str:
    if mean is None:
        return "-"
    return f"[bold]{mean:.4f}[/bold]" if best is not None and round(mean, 4) == best else f"{mean:.4f}"
