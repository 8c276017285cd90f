"""What stands in the catalogue: claims, runs, their cells and their last readings."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import product
from typing import Any

import numpy as np

from streamgauge.results import Results
from streamgauge.store.conditions import Asked, Condition, digest
from streamgauge.store.owners import Owner

__all__ = [
    "Claim",
    "cell_key",
    "enter",
    "finals_of",
    "finished_cells",
    "forget_the_dead",
    "listed_finals",
    "listed_runs",
]

_FINALS = """
select run, condition, experiment, stream, learner, scheme, labelling, seed, test_balance, labelled, measure,
  forgetting, mean, spread, greater_is_better, n_folds, n_rows, finished_at
from finals join cells using (run, learner) join runs using (run)
where cells.status = 'finished' order by stream, scheme, labelling, seed, runs.rowid, cells.rowid, finals.rowid
"""


@dataclass(frozen=True)
class Claim:
    """The right to do a run: no other process does the same work as long as this one lives.

    Parameters
    ----------
    run
        Its name, which says what is done.
    condition, asked
        What is done.
    learners
        Per name of a learner, the learner as it is written with its options.
    experiment
        What it is a part of.
    """

    run: str
    condition: Condition
    asked: Asked
    learners: dict[str, str]
    experiment: str


def cell_key(condition: Condition, learner: str, spec: str) -> str:
    """Give the key of one learner under one condition."""
    return digest(condition.key, learner, spec)


def forget_the_dead(catalogue: sqlite3.Connection) -> None:
    """Drop the claims of processes that are no more."""
    for row in catalogue.execute("select distinct run, host, pid, born, last_sign from claims").fetchall():
        if not Owner(row["host"], row["pid"], row["born"]).is_alive(row["last_sign"]):
            owned = (row["run"], row["host"], row["pid"], row["born"])
            catalogue.execute("delete from claims where run = ? and host = ? and pid = ? and born = ?", owned)


def finished_cells(
    catalogue: sqlite3.Connection, condition: Condition, asked: Asked, since: float | None
) -> set[tuple[str, str]]:
    """Give the learners, by name and as written, that were evaluated under a condition as asked for."""
    found = catalogue.execute(
        "select learner, spec, asked, finished_at from cells join runs using (run)"
        " where condition = ? and cells.status = 'finished'",
        (condition.key,),
    )
    return {
        (row["learner"], row["spec"])
        for row in found
        if Asked.from_text(row["asked"]).covers(asked)
        and (since is None or datetime.fromisoformat(row["finished_at"]).timestamp() >= since)
    }


def enter(catalogue: sqlite3.Connection, claim: Claim, facts: Mapping[str, Any], failed: Mapping[str, str]) -> None:
    """Write down what became of a claimed run, in the place of what it became before, and give the claim back."""
    condition = claim.condition
    row = {
        "run": claim.run,
        "experiment": claim.experiment,
        "condition": condition.key,
        **{
            name: getattr(condition, name)
            for name in ("stream", "fingerprint", "scheme", "labelling", "score", "seed", "rows", "every")
        },
        "time_budget": condition.time_budget,
        "test_balance": condition.sample.get("test_balance"),
        "labelled": condition.sample.get("labelled"),
        "sample": json.dumps(condition.sample) if condition.sample else "",
        "asked": claim.asked.as_text,
        "version": version("streamgauge"),
        "host": Owner.here().host,
        "finished_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        **facts,
    }
    catalogue.execute("delete from runs where run = ?", (claim.run,))
    places = ", ".join(f":{name}" for name in row)
    catalogue.execute(f"insert into runs ({', '.join(row)}) values ({places})", row)
    for name, spec in claim.learners.items():
        status = "failed" if name in failed else "finished"
        row_of_cell = (claim.run, name, spec, status, failed.get(name, ""))
        catalogue.execute("insert into cells values (?, ?, ?, ?, ?)", row_of_cell)
    catalogue.execute("delete from claims where run = ?", (claim.run,))


def finals_of(results: Results) -> Iterator[tuple[str | float | None, ...]]:
    """Give the last readings: learner, measure, forgetting, mean and deviation over the folds, and what is better."""
    for learner, forgetting, measure in product(results.learners, results.forgettings, results.measures):
        last = results.curve(learner, measure, forgetting)[-1:]
        mean = float(np.mean(last)) if last.size else np.nan
        spread = float(results.spread(learner, measure, forgetting)[-1]) if last.size else np.nan
        numbers = (None if np.isnan(value) else value for value in (mean, spread))
        yield learner, measure, forgetting, *numbers, int(results.greater_is_better(measure))


def listed_runs(catalogue: sqlite3.Connection) -> list[dict[str, Any]]:
    """Give all runs, oldest first, each with its learners."""
    cells: dict[str, list[dict[str, Any]]] = {}
    for cell in catalogue.execute("select * from cells order by rowid"):
        told = {name: cell[name] for name in ("learner", "spec", "status", "error")}
        cells.setdefault(cell["run"], []).append(told)
    runs = [{**row} for row in catalogue.execute("select * from runs order by rowid")]
    for run in runs:
        run["sample"], run["asked"] = json.loads(run["sample"] or "null"), json.loads(run["asked"])
        run["learners"] = cells.get(run["run"], [])
    return runs


def listed_finals(catalogue: sqlite3.Connection) -> list[dict[str, Any]]:
    """Give the last readings of all that is finished; of what was run again, the newest."""
    newest: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in catalogue.execute(_FINALS):
        place = (row["condition"], row["learner"], row["measure"], row["forgetting"])
        newest[place] = {name: row[name] for name in row.keys() if name != "condition"}  # noqa: SIM118
    return list(newest.values())
