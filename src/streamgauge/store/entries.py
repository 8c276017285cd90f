"""Entries of the catalogue: claims, runs, their cells and their last readings."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import numpy as np

from streamgauge.errors import StreamgaugeError
from streamgauge.records.manifest import RunManifest
from streamgauge.results import Results
from streamgauge.store.catalogue import read_table
from streamgauge.store.conditions import Condition, WantedResults, compute_digest
from streamgauge.store.owners import Owner

__all__ = [
    "Claim",
    "compute_cell_key",
    "drop_dead_claims",
    "enter_run",
    "find_finals",
    "find_finished_cells",
    "find_next_time",
    "list_finals",
    "list_runs",
]

_FINALS = (
    *("run", "experiment", "stream", "learner", "scheme", "labelling", "seed", "test_balance", "labelled", "measure"),
    *("forgetting", "mean", "spread", "greater_is_better", "n_folds", "n_rows", "finished_at"),
)
"""What is listed of a last reading, from its run, its cell and itself."""


@dataclass(frozen=True)
class Claim:
    """The exclusive right to do a run; it holds as long as the claiming process lives.

    Parameters
    ----------
    run
        Name of the run: a digest of what it does.
    condition, request
        What is done.
    learners
        Learners by name, each as text with its options.
    experiment
        Name of the experiment that the run is part of.
    """

    run: str
    condition: Condition
    request: WantedResults
    learners: dict[str, str]
    experiment: str


def compute_cell_key(condition: Condition, learner: str, spec: str) -> str:
    """Return the key of one learner under one condition."""
    return compute_digest(condition.key, learner, spec)


def drop_dead_claims(catalogue: sqlite3.Connection) -> None:
    """Drop the claims of processes that have ended."""
    for row in catalogue.execute("select distinct run, host, pid, born, last_sign from claims").fetchall():
        try:
            is_alive = Owner(row["host"], row["pid"], row["born"]).is_alive(row["last_sign"])
        except (OverflowError, TypeError):  # of a damaged claim
            is_alive = False
        if not is_alive:
            owned = (row["run"], row["host"], row["pid"], row["born"])
            catalogue.execute("delete from claims where run = ? and host = ? and pid = ? and born = ?", owned)


def find_finished_cells(
    catalogue: sqlite3.Connection, condition: Condition, request: WantedResults, ignore_results_before: float | None
) -> set[tuple[str, str]]:
    """Return name and spec of the learners whose results under a condition cover a request."""
    runs = {row["run"]: row for row in read_table(catalogue, "runs", "where condition = ?", (condition.key,))}
    wanted = {
        run
        for run, row in runs.items()
        if (manifest := _read_manifest(row)) is not None
        and WantedResults.of(manifest).covers(request)
        and (
            ignore_results_before is None
            or datetime.fromisoformat(row["finished_at"]).timestamp() >= ignore_results_before
        )
    }
    condition_runs = "where run in (select run from runs where condition = ?)"
    return {
        (cell["learner"], cell["spec"])
        for cell in read_table(catalogue, "cells", condition_runs, (condition.key,))
        if cell["status"] == "finished" and cell["run"] in wanted
    }


def enter_run(catalogue: sqlite3.Connection, claim: Claim, facts: Mapping[str, Any], failed: Mapping[str, str]) -> None:
    """Record the outcome of a claimed run inside `replace_run`, and release the claim."""
    condition = claim.condition
    row = {
        "run": claim.run,
        "experiment": claim.experiment,
        "condition": condition.key,
        "stream": condition.stream,
        "fingerprint": condition.fingerprint,
        "scheme": condition.scheme,
        "labelling": condition.labelling,
        "score": condition.score,
        "seed": condition.seed,
        "rows": condition.rows,
        "every": condition.every,
        "time_budget": condition.time_budget,
        "test_balance": condition.sample.get("test_balance"),
        "labelled": condition.sample.get("labelled"),
        "host": Owner.here().host,
        **facts,
    }
    placeholders = ", ".join(f":{name}" for name in row)
    catalogue.execute(f"insert into runs ({', '.join(row)}) values ({placeholders})", row)
    for name, spec in claim.learners.items():
        status = "failed" if name in failed else "finished"
        cell = (claim.run, name, spec, status, failed.get(name, ""))
        catalogue.execute("insert into cells values (?, ?, ?, ?, ?, null)", cell)
    catalogue.execute("delete from claims where run = ?", (claim.run,))


def find_next_time(catalogue: sqlite3.Connection) -> datetime:
    """Return the first time after those of all runs so far: times order runs, even if the clock was set."""
    last = catalogue.execute("select max(finished_at) from runs").fetchone()[0]
    try:
        return datetime.fromisoformat(last).astimezone(UTC) + timedelta(milliseconds=1)
    except (TypeError, ValueError, OverflowError):  # no run has finished, or the last is damaged
        return datetime.fromtimestamp(0, UTC)


def find_finals(results: Results) -> Iterator[tuple[str | float | None, ...]]:
    """Yield the last readings: learner, measure, forgetting, mean and deviation over folds, and the direction."""
    for learner, forgetting, measure in product(results.learners, results.forgettings, results.measures):
        last = results.curve(learner, measure, forgetting)[-1:]
        mean = float(np.mean(last)) if last.size else np.nan
        spread = float(results.spread(learner, measure, forgetting)[-1]) if last.size else np.nan
        numbers = (None if np.isnan(value) else value for value in (mean, spread))
        yield learner, measure, forgetting, *numbers, int(results.greater_is_better(measure))


def _read_manifest(row: Mapping[str, Any]) -> RunManifest | None:
    """Return what was run; None if it failed."""
    try:
        return RunManifest.from_json(json.loads(row["manifest"])) if row["manifest"] else None
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        msg = f"the manifest of the run {row['run']} is malformed ({type(error).__name__}: {error})"
        raise StreamgaugeError(msg) from None


def list_runs(catalogue: sqlite3.Connection) -> list[dict[str, Any]]:
    """Return all runs, oldest first, each with its learners."""
    cells: dict[str, list[dict[str, Any]]] = {}
    for cell in read_table(catalogue, "cells"):
        cells.setdefault(cell.pop("run"), []).append(cell)
    runs = read_table(catalogue, "runs")
    for run in runs:
        manifest = _read_manifest(run)
        run["manifest"] = None if manifest is None else manifest.to_json()
        run["learners"] = cells.get(run["run"], [])
    return runs


def list_finals(catalogue: sqlite3.Connection) -> list[dict[str, Any]]:
    """Return the last readings of all finished cells; of repeated ones, the newest."""
    newest: dict[tuple[str, ...], dict[str, Any]] = {}
    finals: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for final in read_table(catalogue, "finals"):
        finals.setdefault((final["run"], final["learner"]), []).append(final)
    axes = ("stream", "scheme", "labelling", "seed")
    for run in sorted(list_runs(catalogue), key=lambda run: [run[axis] for axis in axes]):
        for cell in run["learners"]:
            for final in finals.get((run["run"], cell["learner"]), ()) if cell["status"] == "finished" else ():
                key = (run["condition"], final["learner"], final["measure"], final["forgetting"])
                newest[key] = {name: final[name] if name in final else run[name] for name in _FINALS}
    return list(newest.values())
