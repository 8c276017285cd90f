"""A folder of runs with its catalogue: claims of running processes, finished runs and their results."""

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from streamgauge._engine.journal.format import read_json, write_json
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records.manifest import RunManifest
from streamgauge.results import Results, load, save
from streamgauge.store.catalogue import connect, create, replace_run, write
from streamgauge.store.conditions import Condition, WantedResults, compute_digest
from streamgauge.store.entries import (
    Claim,
    compute_cell_key,
    drop_dead_claims,
    enter_run,
    find_finals,
    find_finished_cells,
    find_next_time,
    list_finals,
    list_runs,
)
from streamgauge.store.filters import Filter
from streamgauge.store.merging import merge_runs, select_learners
from streamgauge.store.owners import Owner

__all__ = ["CATALOGUE", "Claim", "Store", "is_store"]

CATALOGUE = "catalogue.sqlite"

STREAMS = "streams.json"
"""The file with the order of the streams."""


class Store:
    """A folder of runs.

    ``catalogue.sqlite`` lists them; ``runs/run=ID`` holds the files that `streamgauge.save` writes for each run. Any
    number of processes may use a store at once.

    Parameters
    ----------
    folder
        The folder.
    new
        Whether to create the store if it is missing.

    Examples
    --------
    >>> import tempfile
    >>> import streamgauge as sg
    >>> store = Store(tempfile.mkdtemp(), new=True)
    >>> condition = Condition("SEA", "sea-1", "Prequential()", "AllLabels()")
    >>> request = WantedResults(("accuracy",), ("Landmark()",))
    >>> claim = store.claim(condition, {"NoChange": "NoChange()"}, request)
    >>> store.claim(condition, {"NoChange": "NoChange()"}, request)  # a second claim is refused
    'busy'
    >>> store.finish(claim, sg.evaluate(sg.SEA(n_rows=100), sg.NoChange()))
    >>> store.claim(condition, {"NoChange": "NoChange()"}, request)
    'done'
    >>> [(row["learner"], row["measure"]) for row in store.finals()]
    [('NoChange', 'accuracy')]
    """

    def __init__(self, folder: Path | str, *, new: bool = False) -> None:
        self.folder = Path(folder)
        self._path = self.folder / CATALOGUE
        if new:
            create(self._path)  # which also removes the lock of a process that was killed meanwhile
        with connect(self._path):
            pass  # raises if there is no store

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"

    def get_folder(self, run: str) -> Path:
        """Return the folder of a run; pandas, polars and DuckDB read its name as a column ``run``."""
        return self.folder / "runs" / f"run={run}"

    def find_missing(
        self,
        condition: Condition,
        learners: Mapping[str, str],
        request: WantedResults,
        ignore_results_before: float | None = None,
    ) -> list[str]:
        """Return the learners that still have to be evaluated under a condition.

        Parameters
        ----------
        condition, learners, request
            What is wanted; the learners as in `Claim`.
        ignore_results_before
            Ignore what was finished before this time, that of `find_next_time`; None ignores nothing.
        """
        with connect(self._path) as catalogue:
            finished = find_finished_cells(catalogue, condition, request, ignore_results_before)
        return [name for name, spec in learners.items() if (name, spec) not in finished]

    def claim(
        self,
        condition: Condition,
        learners: Mapping[str, str],
        request: WantedResults,
        *,
        experiment: str = "",
        ignore_results_before: float | None = None,
        together: bool = False,
    ) -> "Claim | str":
        """Claim the missing part of a run; "done" if nothing is missing, "busy" if others have claimed it.

        With `together`, all learners are claimed again if any is missing, for one pass over all of them.
        """
        with connect(self._path) as catalogue, write(catalogue):
            drop_dead_claims(catalogue)
            finished = find_finished_cells(catalogue, condition, request, ignore_results_before)
            missing = {name: spec for name, spec in learners.items() if (name, spec) not in finished}
            if together and missing:
                missing = dict(learners)
            claimed = {row["cell"] for row in catalogue.execute("select cell from claims")}
            free = {
                name: spec for name, spec in missing.items() if compute_cell_key(condition, name, spec) not in claimed
            }
            if not missing or not free or (together and len(free) < len(missing)):
                return "busy" if missing else "done"
            claim = Claim(
                run=compute_digest(condition.key, free, asdict(request)),
                condition=condition,
                request=request,
                learners=free,
                experiment=experiment,
            )
            owner, now = Owner.here(), time.time()
            label = f"{condition}: {', '.join(free)}"
            catalogue.executemany(
                "insert into claims values (?, ?, ?, ?, ?, ?, ?, 0)",
                [
                    (
                        compute_cell_key(condition, name, spec),
                        claim.run,
                        label,
                        owner.host,
                        owner.pid,
                        owner.started_at_ticks,
                        now,
                    )
                    for name, spec in free.items()
                ],
            )
        return claim

    def note_progress(self, claim: Claim, n_rows: int) -> None:
        """Record a sign of life and the number of rows done."""
        with connect(self._path) as catalogue:
            catalogue.execute(
                "update claims set n_rows = ?, last_sign = ? where run = ?", (n_rows, time.time(), claim.run)
            )

    def release(self, claim: Claim) -> None:
        """Release a claim without results."""
        with connect(self._path) as catalogue:
            catalogue.execute("delete from claims where run = ?", (claim.run,))

    def finish(self, claim: Claim, results: Results) -> None:
        """Save the results of a claimed run; learners that failed are recorded as failed."""
        results = replace(results, description={**results.description, "asked": asdict(claim.request)})
        save(results, self.get_folder(claim.run))
        failed = {failure.learner: str(failure) for failure in results.failures}
        seconds = results.description.get("seconds")
        facts = {"n_rows": results.n_rows, "n_folds": results.n_folds, "seconds": seconds, "error": ""}
        run = RunManifest.here(results.learners, results.forgettings, results.measures, results.description)
        facts["manifest"] = json.dumps(run.to_json())
        with self._replace(claim, facts) as (catalogue, all_facts):
            enter_run(catalogue, claim, {**all_facts, "status": "finished"}, failed)
            rows = [(claim.run, *row) for row in find_finals(results) if row[0] not in failed]
            catalogue.executemany("insert into finals values (?, ?, ?, ?, ?, ?, ?, null)", rows)

    def fail(self, claim: Claim, error: str) -> None:
        """Record why a claimed run failed."""
        facts = {"n_rows": None, "n_folds": None, "seconds": None, "error": error, "status": "failed", "manifest": ""}
        with self._replace(claim, facts) as (catalogue, all_facts):
            enter_run(catalogue, claim, all_facts, dict.fromkeys(claim.learners, error))

    @contextmanager
    def _replace(
        self, claim: Claim, facts: Mapping[str, Any]
    ) -> Iterator[tuple[sqlite3.Connection, Mapping[str, Any]]]:
        """Replace the rows of a run; yields the facts with the time, which is after that of all runs."""
        with connect(self._path) as catalogue, write(catalogue):
            finished_at = max(datetime.now(UTC), find_next_time(catalogue)).isoformat(timespec="milliseconds")
            with replace_run(catalogue, claim.run):
                yield catalogue, {**facts, "finished_at": finished_at}

    def find_next_time(self) -> float:
        """Return the first time after those of all runs so far, in seconds since 1970."""
        with connect(self._path) as catalogue:
            return find_next_time(catalogue).timestamp()

    def runs(self, wanted: Filter = Filter()) -> list[dict[str, Any]]:
        """Return the runs, oldest first, each with its learners."""
        with connect(self._path) as catalogue:
            rows = list_runs(catalogue)
        wanted.check([*rows, *({"learner": cell["learner"]} for row in rows for cell in row["learners"])])
        run_filter = replace(wanted, status=())  # the status is that of the learners
        return [row for row in rows if run_filter.fits(row) and any(map(wanted.fits, row["learners"]))]

    def finals(self, wanted: Filter = Filter()) -> list[dict[str, Any]]:
        """Return the last readings of every finished evaluation: mean and standard deviation over the folds."""
        with connect(self._path) as catalogue:
            rows = list_finals(catalogue)
        wanted.check(rows)
        return [row for row in rows if wanted.fits(row)]

    def running(self) -> list[dict[str, Any]]:
        """Return the runs in progress: run, label, rows done, machine and process id."""
        with connect(self._path) as catalogue, write(catalogue):
            drop_dead_claims(catalogue)
            rows = catalogue.execute("select distinct run, label, n_rows, host, pid from claims order by run")
            return [dict(row) for row in rows]

    def table(self, wanted: Filter = Filter()) -> Any:  # noqa: ANN401  (pyarrow has no types)
        """Return `finals` as an Arrow table, which pandas, polars and DuckDB read directly."""
        import pyarrow as pa  # noqa: PLC0415  (slow to import)

        rows = self.finals(wanted)
        names = list(rows[0]) if rows else ["run", "stream", "learner", "measure", "forgetting", "mean", "spread"]
        return pa.table({name: [row[name] for row in rows] for name in names})

    def load(self, run: str) -> Results:
        """Load the results of one run."""
        known = [row["run"] for row in self.runs()]
        if run not in known:
            raise unknown_name(kind="run", name=run, known=known)
        return load(self.get_folder(run))

    def results(self, wanted: Filter = Filter()) -> Iterator[Results]:
        """Yield the results of each condition, with learners that ran at different times merged.

        Of a learner that was run again under the same condition, the newest run counts. Of measures and forgettings,
        those that all runs have are kept. Streams come in the order of `note_streams`, others after them by name.
        """
        runs_by_condition: dict[str, list[dict[str, Any]]] = {}
        axes = ("stream", "scheme", "labelling", "seed")  # the order of results must not depend on who was first
        order = self._list_noted_streams()
        place = {name: index for index, name in enumerate(order)}
        for row in sorted(
            self.runs(wanted),
            key=lambda row: [place.get(row["stream"], len(order)), *(row[axis] for axis in axes)],
        ):
            if row["status"] == "finished":
                runs_by_condition.setdefault(row["condition"], []).append(row)
        for rows in runs_by_condition.values():
            merged = merge_runs([load(self.get_folder(row["run"])) for row in rows])
            failed = {failure.learner for failure in merged.failures}
            names = [name for name in merged.learners if name not in failed and wanted.fits({"learner": name})]
            if names:
                yield select_learners(merged, names)

    def note_streams(self, names: Sequence[str]) -> None:
        """Note the order in which an experiment names its streams; those of earlier experiments come first."""
        names = list(dict.fromkeys([*self._list_noted_streams(), *names]))
        write_json(self.folder / STREAMS, {"streams": names})

    def _list_noted_streams(self) -> list[str]:
        try:
            noted = read_json(self.folder / STREAMS) or {}
        except StreamgaugeError:  # damaged: the names alone give the order
            noted = {}
        return list(map(str, noted.get("streams", ())))


def is_store(folder: Path | str) -> bool:
    """Return whether a folder is a store of runs.

    Examples
    --------
    >>> is_store("no such folder")
    False
    """
    return (Path(folder) / CATALOGUE).is_file()
