"""`streamgauge run`: the missing runs of an experiment."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamgauge._format.text import join_words
from streamgauge.cli.names import complete_names
from streamgauge.cli.out_folder import require_folder
from streamgauge.cli.output import (
    ROWS,
    RUN_FAILED,
    STOPPED,
    add_output_options,
    is_quiet,
    make_console,
    print_detail,
    print_json,
    print_note,
)
from streamgauge.cli.watch import serve_page, watch_option
from streamgauge.errors import StreamgaugeError, nearest

if TYPE_CHECKING:
    from streamgauge.experiments import Experiment, ExperimentOutcome

__all__ = ["command"]


@click.command("run")
@click.argument("file", metavar="[EXPERIMENT]", required=False, type=click.Path(path_type=Path))
@click.option("--ready", shell_complete=complete_names("ready"), help="Run a built-in experiment; --list names them.")
@click.option("--list", "listing", is_flag=True, help="List the built-in experiments.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the results.  [default: results/NAME]")
@click.option(*ROWS, type=int, help="Read at most this many rows of each stream, whatever the file says.")
@click.option("--jobs", "--n-jobs", "jobs", type=int, help="Number of runs in parallel.  [default: one per core]")
@click.option("--again", is_flag=True, help="Also repeat finished runs.")
@click.option(
    "--together",
    is_flag=True,
    help="Run finished learners again, with the new ones, so that all can be compared row by row.",
)
@click.option(
    "--checkpoint-every",
    type=int,
    help="Write a checkpoint of each run every N rows; 0 for none.  [default: every 30 seconds]",
)
@click.option("--check", is_flag=True, help="Only list the missing runs; run nothing.")
@watch_option
@add_output_options
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
    """Run an experiment, a TOML file of streams x learners x schemes x labellings x seeds.

    Only missing runs are run: finished ones stay in the results folder, and after a change of the file only what
    changed is run. Several processes may work on one folder. After Ctrl-C or a crash, run the same command to
    continue; long runs resume from their latest checkpoint.

    \b
    Examples:
      streamgauge run experiment.toml
      streamgauge run experiment.toml --out results/today --jobs 4
      streamgauge run experiment.toml --watch
      streamgauge run --ready quick
      streamgauge run --list
    """
    from streamgauge.experiments import READY, get_ready_path, read, read_out_folder, run  # noqa: PLC0415

    if listing:
        _list_ready(as_json=as_json)
        return 0
    if (file is None) == (ready is None):
        msg = "give an experiment: either a TOML file or --ready NAME; 'streamgauge run --list' lists the names"
        raise StreamgaugeError(msg)
    path = get_ready_path(ready) if ready is not None else Path(str(file))
    near = None if path.exists() or path.suffix else nearest(str(path), READY)
    if near is not None:
        msg = f"there is no file {path}; did you mean --ready {near}?"
        raise StreamgaugeError(msg)
    require_folder("out", out)
    experiment = read(path, rows=rows)
    folder = out or read_out_folder(path) or Path("results") / experiment.name
    if check:
        _list_missing(experiment, folder, as_json=as_json)
        return 0
    print_detail(f"{experiment.n_evaluations} evaluations into {folder}")
    with serve_page(folder, enabled=watch):
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
    return RUN_FAILED if outcome.n_failed else 0


def _list_ready(*, as_json: bool) -> None:
    from streamgauge.experiments import READY  # noqa: PLC0415

    if as_json:
        print_json(READY)
        return
    for name, summary in READY.items():
        click.echo(f"{name:12}{summary}")
    print_note("\nstreamgauge run --ready NAME runs one; with --check it only lists the runs")


def _list_missing(experiment: "Experiment", folder: Path, *, as_json: bool) -> None:
    from streamgauge.experiments import find_missing  # noqa: PLC0415

    runs = find_missing(experiment, folder)
    n_missing = sum(len(learners) for _, learners in runs)
    if as_json:
        rows = [{"run": str(condition), "learners": learners} for condition, learners in runs]
        print_json(
            {"folder": str(folder), "n_cells": experiment.n_evaluations, "n_missing": n_missing, "missing": rows}
        )
        return
    for condition, learners in runs:
        click.echo(f"{condition}: {', '.join(learners)}")
    print_note(f"{n_missing} of {experiment.n_evaluations} evaluations are missing in {folder}")
    _note_needed_streams(experiment)


def _note_needed_streams(experiment: "Experiment") -> None:
    """Print how many streams a ranking needs, if the experiment has fewer."""
    from streamgauge.significance.ranking import count_needed_streams  # noqa: PLC0415

    n_learners, n_streams = len(experiment.learners), len(experiment.streams) + len(experiment.samples)
    if n_learners < 2 or n_streams < 2:
        return
    needed, for_control = (count_needed_streams(n) for n in (n_learners * (n_learners - 1) // 2, n_learners - 1))
    if n_streams < needed:
        fewer = f", {for_control} if one is compared with the others (rank --control)" if for_control < needed else ""
        print_note(
            f"{n_streams} streams are too few for 'streamgauge rank' to find a difference of {n_learners} learners at"
            f" level 0.05: at least {needed} are needed{fewer}"
        )


def _show(experiment: "Experiment", outcome: "ExperimentOutcome", *, as_json: bool) -> None:
    if as_json:
        fields = asdict(outcome)
        print_json(
            {
                "folder": str(fields.pop("folder")),
                "n_cells": fields.pop("n_evaluations"),
                **fields,
                "complete": outcome.complete,
            }
        )
        return
    from streamgauge.cli.results import build_table  # noqa: PLC0415
    from streamgauge.store import Filter, Store  # noqa: PLC0415

    if outcome.n_finished or outcome.n_done:
        rows = Store(outcome.folder).finals(Filter(experiment=(experiment.name,)))
        rows = [row for row in rows if row["measure"] == rows[0]["measure"]]
        if rows:
            console = make_console()
            console.print(build_table(rows, console.width))
    for failure in outcome.failures:
        print_note(f"failed: {failure}")
    print_note(
        f"{outcome.n_evaluations} evaluations: {outcome.n_finished} finished now, {outcome.n_done} done before,"
        f" {outcome.n_failed} failed" + ("; stopped: run the same command to continue" if outcome.interrupted else "")
    )
    commands = join_words([f"'streamgauge {name} {outcome.folder}'" for name in ("results", "rank", "report")])
    print_note(f"results: {outcome.folder}; see {commands}")
