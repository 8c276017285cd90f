"""`streamgauge run`: what is missing of an experiment."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamgauge.cli.names import completing
from streamgauge.cli.output import STOPPED, WORK_FAILED, console, detail, is_quiet, note, output_options, print_json
from streamgauge.cli.watch import watch_option, watched
from streamgauge.errors import StreamgaugeError, nearest

if TYPE_CHECKING:
    from streamgauge.experiments import Experiment, ExperimentOutcome

__all__ = ["command"]


@click.command("run")
@click.argument("file", metavar="[EXPERIMENT]", required=False, type=click.Path(path_type=Path))
@click.option("--ready", shell_complete=completing("ready"), help="A ready-made experiment instead; --list names them.")
@click.option("--list", "listing", is_flag=True, help="List the ready-made experiments.")
@click.option("--out", type=click.Path(path_type=Path), help="The folder for results.  [default: results/NAME]")
@click.option("--rows", type=int, help="Read at most so many rows of each stream, whatever the file says.")
@click.option("--jobs", type=int, help="How many runs side by side.  [default: one per core]")
@click.option("--again", is_flag=True, help="Run also what is there already.")
@click.option("--together", is_flag=True, help="Learners that are to be compared row by row run in one pass.")
@click.option(
    "--checkpoint-every",
    type=int,
    help="A checkpoint of each run every so many rows; 0 for none.  [default: every 30 seconds]",
)
@click.option("--check", is_flag=True, help="Only say what would be run.")
@watch_option
@output_options
def command(  # noqa: PLR0913
    *,
    file: Path | None,
    ready: str | None,
    listing: bool,
    out: Path | None,
    rows: int | None,
    check: bool,
    as_json: bool,
    jobs: int | None,
    again: bool,
    together: bool,
    checkpoint_every: int | None,
    watch: bool,
) -> int:
    """Run what is missing of EXPERIMENT, a TOML file: streams x learners x schemes x labellings x seeds.

    What is in the results folder already is not run again; after a change of the file, only what changed is. Several
    processes may run at once on one folder. Ctrl-C stops; the same command goes on, also after a crash: a long run goes
    on from its last checkpoint.

    \b
    Examples:
      streamgauge run experiment.toml
      streamgauge run experiment.toml --out results/today --jobs 4
      streamgauge run experiment.toml --watch
      streamgauge run --ready quick
      streamgauge run --list
    """
    from streamgauge.experiments import READY, out_of, read, ready_path, run  # noqa: PLC0415

    if listing:
        _list(as_json=as_json)
        return 0
    if (file is None) == (ready is None):
        msg = "which experiment? Give a TOML file, or --ready with a name; 'streamgauge run --list' names them"
        raise StreamgaugeError(msg)
    path = ready_path(ready) if ready is not None else Path(str(file))
    near = None if path.exists() or path.suffix else nearest(str(path), READY)
    if near is not None:
        msg = f"there is no file {path}; did you mean --ready {near}?"
        raise StreamgaugeError(msg)
    experiment = read(path, rows=rows)
    folder = out or out_of(path) or Path("results") / experiment.name
    if check:
        _check(experiment, folder, as_json=as_json)
        return 0
    detail(f"{experiment.n_cells} evaluations into {folder}")
    with watched(folder, wanted=watch):
        outcome = run(
            experiment,
            folder,
            n_jobs=jobs,
            again=again,
            together=together,
            checkpoint_every=checkpoint_every,
            progress=False if is_quiet() else None,
        )
        _show(experiment, outcome, as_json=as_json)
    if outcome.interrupted:
        return STOPPED
    return WORK_FAILED if outcome.n_failed else 0


def _list(*, as_json: bool) -> None:
    from streamgauge.experiments import READY  # noqa: PLC0415

    if as_json:
        print_json(READY)
        return
    for name, what in READY.items():
        click.echo(f"{name:12}{what}")
    note("\nstreamgauge run --ready NAME runs one; streamgauge run --ready NAME --check says what it would run")


def _check(experiment: "Experiment", folder: Path, *, as_json: bool) -> None:
    from streamgauge.experiments import missing  # noqa: PLC0415

    left = missing(experiment, folder)
    n_missing = sum(len(learners) for _, learners in left)
    if as_json:
        told = [{"run": str(condition), "learners": learners} for condition, learners in left]
        print_json({"folder": str(folder), "n_cells": experiment.n_cells, "n_missing": n_missing, "missing": told})
        return
    for condition, learners in left:
        click.echo(f"{condition}: {', '.join(learners)}")
    note(f"{n_missing} of {experiment.n_cells} evaluations are missing in {folder}")


def _show(experiment: "Experiment", outcome: "ExperimentOutcome", *, as_json: bool) -> None:
    if as_json:
        print_json({**asdict(outcome), "folder": str(outcome.folder), "complete": outcome.complete})
        return
    from streamgauge.cli.results import table_of  # noqa: PLC0415
    from streamgauge.store import Filter, Store  # noqa: PLC0415

    rows = (
        Store(outcome.folder).finals(Filter(experiment=(experiment.name,)))
        if outcome.n_finished or outcome.n_done
        else []
    )
    if rows:
        first = rows[0]["measure"]
        shown = console()
        shown.print(table_of([row for row in rows if row["measure"] == first], shown.width))
    for failure in outcome.failures:
        note(f"failed: {failure}")
    note(
        f"{outcome.n_cells} evaluations: {outcome.n_finished} finished now, {outcome.n_done} done before,"
        f" {outcome.n_failed} failed" + ("; stopped: the same command goes on" if outcome.interrupted else "")
    )
    note(f"results: {outcome.folder}; see 'streamgauge results {outcome.folder}'")
