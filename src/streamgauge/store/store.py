"""A folder of runs with its catalogue: who does what, what is finished, and what was found."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from streamgauge.errors import unknown_name
from streamgauge.results import Results, load, save
from streamgauge.store.catalogue import connected, create, writing
from streamgauge.store.conditions import Asked, Condition, digest
from streamgauge.store.entries import (
    Claim,
    cell_key,
    enter,
    finals_of,
    finished_cells,
    forget_the_dead,
    listed_finals,
    listed_runs,
)
from streamgauge.store.filters import Filter
from streamgauge.store.merging import merged, only
from streamgauge.store.owners import Owner

__all__ = ["CATALOGUE", "Claim", "Store", "is_store"]

CATALOGUE = "catalogue.sqlite"


class Store:
    """A folder of runs, made where it is missing.

    ``catalogue.sqlite`` says what there is; ``runs/run=ID`` holds what `streamgauge.save` writes of each run. Any
    number of processes may use it at once.

    Parameters
    ----------
    folder
        Where it is.
    new
        Whether to make it where it is missing.

    Examples
    --------
    >>> import tempfile
    >>> import streamgauge as sg
    >>> store = Store(tempfile.mkdtemp(), new=True)
    >>> condition = Condition("SEA", "sea-1", "Prequential()", "AllLabels()")
    >>> asked = Asked(("accuracy",), ("Landmark()",))
    >>> claim = store.claim(condition, {"NoChange": "NoChange()"}, asked)
    >>> store.claim(condition, {"NoChange": "NoChange()"}, asked)  # nobody else may do it now
    'busy'
    >>> store.finish(claim, sg.evaluate(sg.SEA(n_rows=100), sg.NoChange()))
    >>> store.claim(condition, {"NoChange": "NoChange()"}, asked)
    'done'
    >>> [(row["learner"], row["measure"]) for row in store.finals()]
    [('NoChange', 'accuracy')]
    """

    def __init__(self, folder: Path | str, *, new: bool = False) -> None:
        self.folder = Path(folder)
        self._path = self.folder / CATALOGUE
        if new and not self._path.is_file():
            create(self._path)
        with connected(self._path):
            pass

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"

    def folder_of(self, run: str) -> Path:
        """Give the folder of a run; its name tells pandas, polars and DuckDB the value of a column ``run``."""
        return self.folder / "runs" / f"run={run}"

    def missing(
        self, condition: Condition, learners: Mapping[str, str], asked: Asked, since: float | None = None
    ) -> list[str]:
        """Name the learners whose evaluation under a condition is not there yet.

        Parameters
        ----------
        condition, learners, asked
            What is wanted; the learners as in `Claim`.
        since
            Take only what was finished after this moment, in seconds of `time.time`; None for all.
        """
        with connected(self._path) as catalogue:
            done = finished_cells(catalogue, condition, asked, since)
        return [name for name, spec in learners.items() if (name, spec) not in done]

    def claim(
        self,
        condition: Condition,
        learners: Mapping[str, str],
        asked: Asked,
        *,
        experiment: str = "",
        since: float | None = None,
        together: bool = False,
    ) -> "Claim | str":
        """Claim what is missing of a run; "done" where nothing is, "busy" where others are at what is.

        With `together`, all learners are claimed again where any is missing, for one pass over all of them.
        """
        with connected(self._path) as catalogue, writing(catalogue):
            forget_the_dead(catalogue)
            done = finished_cells(catalogue, condition, asked, since)
            missing = {name: spec for name, spec in learners.items() if (name, spec) not in done}
            if together and missing:
                missing = dict(learners)
            taken = {row["cell"] for row in catalogue.execute("select cell from claims")}
            free = {name: spec for name, spec in missing.items() if cell_key(condition, name, spec) not in taken}
            if not missing or not free or (together and len(free) < len(missing)):
                return "busy" if missing else "done"
            claim = Claim(digest(condition.key, free, asked.as_text), condition, asked, free, experiment)
            owner = Owner.here()
            label = f"{condition}: {', '.join(free)}"
            catalogue.executemany(
                "insert into claims values (?, ?, ?, ?, ?, ?, ?, 0)",
                [
                    (cell_key(condition, name, spec), claim.run, label, owner.host, owner.pid, owner.born, time.time())
                    for name, spec in free.items()
                ],
            )
        return claim

    def note_progress(self, claim: Claim, n_rows: int) -> None:
        """Give a sign of life, and say how many rows are done."""
        with connected(self._path) as catalogue:
            catalogue.execute(
                "update claims set n_rows = ?, last_sign = ? where run = ?", (n_rows, time.time(), claim.run)
            )

    def release(self, claim: Claim) -> None:
        """Give a claim back, with nothing done."""
        with connected(self._path) as catalogue:
            catalogue.execute("delete from claims where run = ?", (claim.run,))

    def finish(self, claim: Claim, results: Results) -> None:
        """Keep what a claimed run found; a learner that failed stands as failed."""
        save(results, self.folder_of(claim.run))
        failed = {failure.learner: str(failure) for failure in results.failures}
        seconds = results.description.get("seconds")
        facts = {"n_rows": results.n_rows, "n_folds": results.n_folds, "seconds": seconds, "error": ""}
        with connected(self._path) as catalogue, writing(catalogue):
            enter(catalogue, claim, {**facts, "status": "finished"}, failed)
            rows = [(claim.run, *row) for row in finals_of(results) if row[0] not in failed]
            catalogue.executemany("insert into finals values (?, ?, ?, ?, ?, ?, ?)", rows)

    def fail(self, claim: Claim, error: str) -> None:
        """Keep why a claimed run gave nothing."""
        facts = {"n_rows": None, "n_folds": None, "seconds": None, "error": error, "status": "failed"}
        with connected(self._path) as catalogue, writing(catalogue):
            enter(catalogue, claim, facts, dict.fromkeys(claim.learners, error))

    def runs(self, wanted: Filter = Filter()) -> list[dict[str, Any]]:
        """List the runs, oldest first, each with its learners."""
        with connected(self._path) as catalogue:
            rows = listed_runs(catalogue)
        wanted.check([*rows, *({"learner": cell["learner"]} for row in rows for cell in row["learners"])])
        of_run = replace(wanted, status=())  # that is asked of the learners
        return [row for row in rows if of_run.fits(row) and any(map(wanted.fits, row["learners"]))]

    def finals(self, wanted: Filter = Filter()) -> list[dict[str, Any]]:
        """List the last readings of every finished evaluation: mean and standard deviation over the folds."""
        with connected(self._path) as catalogue:
            rows = listed_finals(catalogue)
        wanted.check(rows)
        return [row for row in rows if wanted.fits(row)]

    def running(self) -> list[dict[str, Any]]:
        """List what is being worked on: run, label, rows done, machine and process."""
        with connected(self._path) as catalogue, writing(catalogue):
            forget_the_dead(catalogue)
            found = catalogue.execute("select distinct run, label, n_rows, host, pid from claims order by run")
            return [dict(row) for row in found]

    def table(self, wanted: Filter = Filter()) -> Any:  # noqa: ANN401  (pyarrow has no types)
        """Give `finals` as an Arrow table, which pandas, polars and DuckDB take as it is."""
        import pyarrow as pa  # noqa: PLC0415  (slow to import)

        rows = self.finals(wanted)
        names = list(rows[0]) if rows else ["run", "stream", "learner", "measure", "forgetting", "mean", "spread"]
        return pa.table({name: [row[name] for row in rows] for name in names})

    def load(self, run: str) -> Results:
        """Give what one run found."""
        known = [row["run"] for row in self.runs()]
        if run not in known:
            raise unknown_name(kind="run", name=run, known=known)
        return load(self.folder_of(run))

    def results(self, wanted: Filter = Filter()) -> Iterator[Results]:
        """Give what was found, once per condition: learners that ran at different times are put together.

        Of a learner that was run again under the same condition the newest is taken. Where the measures or
        forgettings of the runs differ, those that all have are kept.
        """
        by_condition: dict[str, list[dict[str, Any]]] = {}
        axes = ("stream", "scheme", "labelling", "seed")  # their order is that of the results, whoever was first
        for row in sorted(self.runs(wanted), key=lambda row: [row[axis] for axis in axes]):
            if row["status"] == "finished":
                by_condition.setdefault(row["condition"], []).append(row)
        for rows in by_condition.values():
            found = merged([load(self.folder_of(row["run"])) for row in rows])
            failed = {failure.learner for failure in found.failures}
            names = [name for name in found.learners if name not in failed and wanted.fits({"learner": name})]
            if names:
                yield only(found, names)


def is_store(folder: Path | str) -> bool:
    """Say whether a folder is a store of runs.

    Examples
    --------
    >>> is_store("no such folder")
    False
    """
    return (Path(folder) / CATALOGUE).is_file()
