"""One run as the page shows it, going on or finished."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from streamgauge._engine.journal import JournalView
from streamgauge._engine.journal import format as files
from streamgauge.errors import StreamgaugeError
from streamgauge.results import Results
from streamgauge.serve.catalogues import experiment_of
from streamgauge.serve.curve_sources import Cache, Readings, journal_readings

__all__ = ["Run", "marked"]

MOST_PLACES = 2_000
"""How many places along a curve can be marked: more than a screen has columns."""


class Run:
    """A run in a results folder; holds nothing itself.

    Parameters
    ----------
    folder
        Where it is.
    name
        Its path in the results folder, by which the page calls it.
    cache
        Keeps what was read.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = evaluate(SEA(n_rows=100), NoChange(), journal=folder)
    >>> Run(folder, "sea", Cache()).summary()["state"]
    'complete'
    """

    def __init__(self, folder: Path, name: str, cache: Cache) -> None:
        self.folder, self.name, self._cache = folder, name, cache

    def _manifest(self) -> dict[str, Any] | None:
        facts: dict[str, Any] | None = self._cache.facts(self.folder / "manifest.json", _read_manifest)
        return facts

    def _view(self) -> JournalView | None:
        about = self.folder / files.FOLDER / files.ABOUT
        view: JournalView | None = self._cache.facts(about, lambda path: JournalView(path.parent.parent))
        return view

    @property
    def is_saved(self) -> bool:
        """Whether its results are there in full, so that the journal is not needed."""
        view, manifest = self._view(), self._manifest()
        if view is None or manifest is None:
            return manifest is not None
        if view.state in {"running", "died"}:  # it runs again into the folder of an older run
            return False
        # The journal is finished just before the results are saved; older results are those of another run.
        return (self.folder / "manifest.json").stat().st_mtime >= float(view.about["started"])

    def summary(self) -> dict[str, Any]:
        """Tell the main facts, those that a list of runs shows."""
        # A run of an experiment says from its start on what it is of; the name of its folder tells people nothing.
        told: dict[str, Any] = self._cache.facts(self.folder / files.RUN, files.read_json) or {}
        experiment = told.get("experiment") or experiment_of(self.folder, self._cache)
        return {**self._main_facts(), "title": told.get("title") or "", "experiment": experiment}

    def _main_facts(self) -> dict[str, Any]:
        view = self._view()
        if self.is_saved or view is None:
            return {"id": self.name, **_saved_summary(self._manifest() or {}), **self._times(view)}
        status, about = view.status(), view.about
        return {
            "id": self.name,
            "state": view.state_of(status),
            "stream": about.get("stream"),
            "scheme": about.get("scheme"),
            **view.layout.facts,
            "n_rows": status.get("n_rows", 0),
            "total": about.get("n_rows"),
            "seconds": status.get("seconds"),
            "updated": status.get("updated"),
            "started": about.get("started"),
            "reason": status.get("reason", ""),
        }

    def _times(self, view: JournalView | None) -> dict[str, Any]:
        saved = (self.folder / "manifest.json").stat().st_mtime if (self.folder / "manifest.json").is_file() else None
        return {"started": saved if view is None else view.about.get("started"), "updated": saved}

    def details(self) -> dict[str, Any]:
        """Tell all that is shown of it but the curves."""
        view = self._view()
        if self.is_saved or view is None:
            told = _saved_details(self._cache.saved(self.folder).results)
            has_pairs = view is not None and bool(view.status().get("verdicts"))
            return {**self.summary(), **told, "has_pairs": has_pairs}
        status, about = view.status(), view.about
        _, events = view.events()
        described = {name: about.get(name) for name in ("stream", "scheme", "labelling", "detectors", "seed")}
        return {
            **self.summary(),
            "measure_facts": about.get("measure_facts", {}),
            "verdicts": status.get("verdicts", []),
            "has_pairs": bool(status.get("verdicts")),
            "failures": status.get("failures", []),
            "drifts": status.get("drifts", []),
            "source": status.get("source"),
            "alarms": marked(events, status.get("n_rows", 0)),
            "described": described,
        }

    def verdicts(self) -> list[dict[str, Any]]:
        """Tell what is known of each pair of learners."""
        view = self._view()
        if self.is_saved or view is None:
            return _verdicts(self._cache.saved(self.folder).results)
        told: list[dict[str, Any]] = view.status().get("verdicts", [])
        return told

    def readings(self, kind: str = "measure") -> Readings:
        """Give the records of its curves; how pairs came to their verdicts stands in the journal alone."""
        if self.is_saved and (kind != "pair" or self._view() is None):
            return self._cache.saved(self.folder).readings
        return journal_readings(self.folder)

    def journal(self) -> JournalView | None:
        """Give its journal as long as that is what is shown of it."""
        return None if self.is_saved else self._view()

    def stop(self) -> None:
        """Ask it to end after the batch at hand."""
        view = self._view()
        if view is None or view.state != "running":
            msg = f"the run {self.name!r} does not go on, so it cannot be stopped"
            raise StreamgaugeError(msg)
        view.ask_to_stop()


def marked(alarms: Iterable[dict[str, Any]], n_rows: int) -> list[dict[str, Any]]:
    """Make one of the alarms of a learner, a detector and a kind that would fall on the same place of a screen.

    Examples
    --------
    >>> alarm = {"learner": "tree", "fold": 0, "detector": "DDM", "kind": "drift", "n": 1}
    >>> marks = marked(({**alarm, "row": row} for row in (10, 11, 5000)), 20_000)
    >>> [(mark["row"], mark["n"]) for mark in marks]
    [(10, 2), (5000, 1)]
    """
    width = max(1, n_rows // MOST_PLACES)
    marks: dict[tuple[int, str, str, str], dict[str, Any]] = {}
    for alarm in alarms:
        place = (alarm["row"] // width, alarm["learner"], alarm["detector"], alarm["kind"])
        if place in marks:
            marks[place]["n"] += alarm["n"]
        else:
            marks[place] = dict(alarm)
    return list(marks.values())


def _read_manifest(path: Path) -> dict[str, Any]:
    """Read the parts of a manifest that a list shows; alarms and sums of pairs can be long."""
    written = json.loads(path.read_text(encoding="utf-8"))
    wanted = ("complete", "n_rows", "n_folds", "learners", "forgettings", "measures", "description")
    return {name: written[name] for name in wanted}


def _saved_summary(manifest: dict[str, Any]) -> dict[str, Any]:
    described = manifest.get("description") or {}
    complete = manifest.get("complete", False)
    return {
        "state": "complete" if complete else "cut short",
        "stream": (described.get("stream") or {}).get("name"),
        "scheme": (described.get("scheme") or {}).get("name"),
        **{axis: manifest.get(axis, []) for axis in ("learners", "forgettings", "measures")},
        "n_folds": manifest.get("n_folds", 1),
        "n_rows": manifest.get("n_rows", 0),
        "total": (described.get("stream") or {}).get("n_rows"),
        "seconds": described.get("seconds"),
        "reason": "" if complete else described.get("ended_by", ""),
    }


def _saved_details(results: Results) -> dict[str, Any]:
    described = results.description
    told = {name: described.get(name) for name in ("stream", "scheme", "labelling", "detectors", "seed", "score")}
    for name in ("stream", "scheme"):
        facts = told[name]
        told[name] = facts.get("name") if isinstance(facts, dict) else facts
    alarms = [{**asdict(alarm), "n": 1} for alarm in results.alarms]
    return {
        "measure_facts": described.get("measures", {}),
        "with_costs": results.resources is not None,
        "verdicts": None,  # they take a while: asked for apart
        "failures": [asdict(failure) for failure in results.failures],
        "drifts": [asdict(drift) for drift in results.drifts],
        "source": None,
        "alarms": marked(alarms, results.n_rows),
        "described": told,
    }


def _verdicts(results: Results) -> list[dict[str, Any]]:
    """Give what was said of each pair while the run went on; where nothing was, what the recommended test says."""
    from streamgauge.significance import compare_all  # noqa: PLC0415  (SciPy is slow to import)

    if results.verdicts:
        return [{**asdict(verdict), "sentence": str(verdict)} for verdict in results.verdicts]
    try:
        comparisons = compare_all(results)
    except StreamgaugeError:
        return []
    return [
        {
            "first": c.first,
            "second": c.second,
            "outcome": {c.first: "first", c.second: "second"}.get(str(c.better), "undecided"),
            "row": results.n_rows,
            "difference": c.difference,
            "interval": c.interval,
            "rope": None,
            "alpha": c.alpha,
            "test": c.title,
            "sentence": c.sentence,
        }
        for c in comparisons
    ]
