"""One run as the page shows it, active or finished."""

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from streamgauge._engine.journal import JournalReader
from streamgauge._engine.journal import format as files
from streamgauge._format.text import describe_forgetting
from streamgauge.errors import StreamgaugeError
from streamgauge.records import LabelEstimate
from streamgauge.records.manifest import RunManifest
from streamgauge.results import Results, ResultsManifest
from streamgauge.results.files import read_manifest
from streamgauge.serve.catalogues import find_experiment
from streamgauge.serve.curve_sources import MALFORMED, Cache, RunRecords, read_journal
from streamgauge.significance.verdict_terms import describe_verdicts

__all__ = ["Run", "merge_alarms"]

MAX_MARKS = 2_000
"""Number of positions along a curve that can be marked: more than a screen has columns."""

P = ParamSpec("P")
T = TypeVar("T")

TEXTS = ("stream", "scheme", "title", "experiment", "reason")
LISTS = ("learners", "forgettings", "measures")
NUMBERS = {"n_folds": 1, "n_rows": 0, "total": None, "seconds": None, "started": None, "updated": None}
"""The main facts of a run by kind; numbers with what stands for an unknown one."""

VERDICT_PARTS = ("verdicts", "verdict_terms", "model_verdicts", "model_verdict_terms")
"""What is sent of live verdicts as the journal has it."""


def _names_run(read: Callable[Concatenate["Run", P], T]) -> Callable[Concatenate["Run", P], T]:
    """Make a method raise a `StreamgaugeError` that names the run if one of its files is malformed."""

    @wraps(read)
    def read_named(run: "Run", /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            run.check_files()
            return read(run, *args, **kwargs)
        except StreamgaugeError:
            raise
        except MALFORMED as error:
            msg = f"the run {run.name!r} cannot be read: a file of it is malformed ({type(error).__name__}: {error})"
            raise StreamgaugeError(msg) from error

    return read_named


class Run:
    """A run in a results folder; it holds no data itself.

    Parameters
    ----------
    folder
        Folder of the run.
    name
        Its path in the results folder, which is its name on the page.
    cache
        Cache of what was read.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = evaluate(SEA(n_rows=100), NoChange(), journal=folder)
    >>> Run(folder, "sea", Cache()).summarise()["state"]
    'complete'
    """

    def __init__(self, folder: Path, name: str, cache: Cache) -> None:
        self.folder, self.name, self._cache = folder, name, cache

    def _read_manifest(self) -> ResultsManifest | None:
        manifest: ResultsManifest | None = self._cache.read(self.folder / "manifest.json", _read_manifest)
        return manifest

    def _read_journal(self) -> JournalReader | None:
        about = self.folder / files.FOLDER / files.ABOUT
        view: JournalReader | None = self._cache.read(about, lambda path: JournalReader(path.parent.parent))
        return view

    @property
    def is_saved(self) -> bool:
        """Whether its results are saved, so that the journal is not needed."""
        view, manifest = self._read_journal(), self._read_manifest()
        if view is None or manifest is None:
            return manifest is not None
        if view.state in {"running", "died"}:  # it runs again in the folder of an earlier run
            return False
        # Results are saved after the journal has ended; older ones are those of an earlier run, or of the same if the
        # clock was set back.
        saved = (self.folder / "manifest.json").stat().st_mtime
        return saved >= view.process.started or _is_same_run(manifest, view)

    def check_files(self) -> None:
        """Raise unless everything in the folder of the run and in its journal is a file or a folder, and no link."""
        for folder in (self.folder, self.folder / files.FOLDER):
            if not folder.is_dir():
                continue
            with os.scandir(folder) as entries:
                for entry in entries:
                    if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
                        msg = f"the run {self.name!r} is not read: {entry.name} in it is a link or no file"
                        raise StreamgaugeError(msg)

    def summarise(self) -> dict[str, Any]:
        """Return the main facts, for a list of runs; only the reason if the run cannot be read."""
        try:
            return self._summarise()
        except StreamgaugeError as error:
            return _check_summary({"id": self.name, "state": "unreadable", "reason": str(error)})

    @_names_run
    def _summarise(self) -> dict[str, Any]:
        # The folder of a run of an experiment has no telling name, so the experiment writes title and name next to it.
        facts: dict[str, Any] = self._cache.read(self.folder / files.RUN, _read_title) or {}
        experiment = facts.get("experiment") or find_experiment(self.folder, self._cache)
        return _check_summary({**self._find_main_facts(), "title": facts.get("title") or "", "experiment": experiment})

    def _find_main_facts(self) -> dict[str, Any]:
        view = self._read_journal()
        if self.is_saved or view is None:
            return {"id": self.name, **self._summarise_saved(view)}
        status = view.status()
        return {
            "id": self.name,
            "state": view.state_of(status),
            **_summarise_run(view.run),
            "n_folds": view.layout.n_folds,
            "n_rows": status.get("n_rows", 0),
            "seconds": status.get("seconds"),
            "updated": status.get("updated"),
            "started": view.process.started,
            "reason": status.get("reason", ""),
        }

    def _summarise_saved(self, view: JournalReader | None) -> dict[str, Any]:
        manifest = self._read_manifest()
        if manifest is None:
            return {"state": "cut short"}
        description, saved = manifest.description, (self.folder / "manifest.json").stat().st_mtime
        return {
            "state": "complete" if manifest.complete else "cut short",
            **_summarise_run(manifest),
            "n_folds": manifest.n_folds,
            "n_rows": manifest.n_rows,
            "seconds": description.get("seconds"),
            "updated": saved,
            "started": saved if view is None else view.process.started,
            "reason": "" if manifest.complete else description.get("ended_by", ""),
        }

    @_names_run
    def describe(self) -> dict[str, Any]:
        """Return everything that is shown of the run except its curves."""
        view, summary = self._read_journal(), self._summarise()
        summary["forgetting_texts"] = {name: describe_forgetting(name) for name in summary["forgettings"]}
        if self.is_saved or view is None:
            results = self._cache.load(self.folder).results
            return {**summary, **_describe_results(results), "has_pairs": results.differences is not None}
        status = view.status()
        _, events = view.events()
        return {
            **summary,
            **_describe_run(view.run.description),
            "with_costs": view.layout.with_costs,
            "with_times": view.layout.with_times,
            **_select_verdicts(status),
            "has_pairs": bool(status.get("verdicts")),
            "failures": status.get("failures", []),
            "drifts": status.get("drifts", []),
            "source": status.get("source"),
            "alarms": merge_alarms(events, status.get("n_rows", 0)),
        }

    @_names_run
    def list_verdicts(self) -> dict[str, Any]:
        """Return the live verdicts on pairs and on one model, with what they have in common, and comparisons."""
        view = self._read_journal()
        if self.is_saved or view is None:
            return _list_verdicts(self._cache.load(self.folder).results)
        return _select_verdicts(view.status())

    @_names_run
    def read_curves(self, kind: str = "measure") -> RunRecords:
        """Return the records of the curves; the curves of pairs are only in the journal."""
        self._summarise()  # raises if a name is no text
        if self.is_saved and (kind != "pair" or self._read_journal() is None):
            return self._cache.load(self.folder).run_records
        return read_journal(self.folder)

    @_names_run
    def get_journal(self) -> JournalReader | None:
        """Return the journal; None once the results are saved."""
        return None if self.is_saved else self._read_journal()

    @_names_run
    def stop(self) -> None:
        """Ask the run to stop after the current batch."""
        view = self._read_journal()
        if view is None or view.state != "running":
            msg = f"the run {self.name!r} is not running, so it cannot be stopped"
            raise StreamgaugeError(msg)
        view.ask_to_stop()


def _check_summary(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the main facts of a run, those that are unknown filled in; raise `TypeError` if one is of another kind."""
    checked: dict[str, Any] = {"id": facts["id"], "state": facts["state"]}
    checked |= {name: facts.get(name) or "" for name in TEXTS}
    checked |= {name: list(facts.get(name) or ()) for name in LISTS}
    checked |= {name: unknown if facts.get(name) is None else facts[name] for name, unknown in NUMBERS.items()}
    texts = [checked[name] for name in TEXTS] + [text for name in LISTS for text in checked[name]]
    numbers = [number for name in NUMBERS if (number := checked[name]) is not None]
    if not all(isinstance(text, str) for text in texts):
        msg = "a name is no text"
        raise TypeError(msg)
    if not all(isinstance(number, int | float) and math.isfinite(number) for number in numbers):
        msg = "a number is none"
        raise TypeError(msg)
    return {**facts, **checked}


def merge_alarms(alarms: Iterable[dict[str, Any]], n_rows: int) -> list[dict[str, Any]]:
    """Merge alarms of the same learner, detector and kind that would be drawn at the same position.

    Examples
    --------
    >>> alarm = {"learner": "tree", "fold": 0, "detector": "DDM", "kind": "drift", "n": 1}
    >>> marks = merge_alarms(({**alarm, "row": row} for row in (10, 11, 5000)), 20_000)
    >>> [(mark["row"], mark["n"]) for mark in marks]
    [(10, 2), (5000, 1)]
    """
    width = max(1, n_rows // MAX_MARKS)
    marks: dict[tuple[int, str, str, str], dict[str, Any]] = {}
    for alarm in alarms:
        key = (alarm["row"] // width, alarm["learner"], alarm["detector"], alarm["kind"])
        if key in marks:
            marks[key]["n"] += alarm["n"]
        else:
            marks[key] = dict(alarm)
    return list(marks.values())


def _read_title(path: Path) -> dict[str, Any] | None:
    """Read the file that names a run for people, who may have written it by hand."""
    return files.read_json(path, by_hand=True)


def _read_manifest(path: Path) -> ResultsManifest:
    """Read a manifest without what can be long, which a list does not show."""
    return replace(read_manifest(path.parent), alarms=(), pairs=(), verdicts=(), model_verdicts=(), label_estimates=())


def _is_same_run(manifest: ResultsManifest, view: JournalReader) -> bool:
    """Return whether results are those of the run that a journal is of."""
    stream, other = (_get_part(run.description, "stream").get("fingerprint") for run in (manifest, view.run))
    names = ("learners", "forgettings", "measures")
    return (
        stream == other
        and all(getattr(manifest, name) == getattr(view.run, name) for name in names)
        and manifest.description.get("seed") == view.run.description.get("seed")
        and manifest.n_rows == view.status().get("n_rows")
    )


def _summarise_run(run: RunManifest) -> dict[str, Any]:
    """Return the main facts of a run, saved or not."""
    stream, scheme = (_get_part(run.description, name) for name in ("stream", "scheme"))
    axes = {axis: getattr(run, axis) for axis in ("learners", "forgettings", "measures")}
    return {"stream": stream.get("name"), "scheme": scheme.get("name"), "total": stream.get("n_rows"), **axes}


def _describe_run(description: Mapping[str, object]) -> dict[str, Any]:
    """Return the further facts of a run, saved or not."""
    described = {name: description.get(name) for name in ("labelling", "seed", "score")}
    described |= {name: _get_part(description, name).get("name") for name in ("stream", "scheme")}
    described["detectors"] = list(_get_part(description, "detectors"))
    return {"described": described, "measure_facts": description.get("measures", {})}


def _get_part(description: Mapping[str, object], name: str) -> Mapping[str, Any]:
    part = description.get(name)
    return part if isinstance(part, Mapping) else {}


def _describe_results(results: Results) -> dict[str, Any]:
    alarms = [{**asdict(alarm), "n": 1} for alarm in results.alarms]
    return {
        **_describe_run(results.description),
        "with_costs": results.resources is not None,
        "verdicts": None,  # slow to compute, so the page requests them separately
        "failures": [asdict(failure) for failure in results.failures],
        "drifts": [asdict(drift) for drift in results.drifts],
        "source": None,
        "alarms": merge_alarms(alarms, results.n_rows),
    }


def _select_verdicts(status: dict[str, Any]) -> dict[str, Any]:
    """Return the live verdicts of a run that is not finished, and the section with its estimates from few labels."""
    from streamgauge.reports.data import to_data  # noqa: PLC0415  (SciPy is slow to import)
    from streamgauge.reports.sections import build_estimates_section  # noqa: PLC0415

    estimates = [LabelEstimate(**facts) for facts in status.get("label_estimates", [])]
    parts = {part: status.get(part, []) for part in VERDICT_PARTS}
    return {**parts, "overview": [], "details": to_data([build_estimates_section(estimates)] if estimates else [])}


def _list_verdicts(results: Results) -> dict[str, Any]:
    """Return the live verdicts, and the sections of the report, as the page of the run has them."""
    from streamgauge.reports.data import to_data  # noqa: PLC0415  (SciPy is slow to import)
    from streamgauge.reports.findings import describe_owed_labels  # noqa: PLC0415
    from streamgauge.reports.sections import Subject, build_sections  # noqa: PLC0415
    from streamgauge.reports.study import run_recommended_tests  # noqa: PLC0415

    pairs, models = (
        describe_verdicts(verdicts, results.name_row) for verdicts in (results.verdicts, results.model_verdicts)
    )
    subject = Subject(results, run_recommended_tests(results), results.learners)
    return {
        "verdicts": pairs.facts,
        "verdict_terms": [*pairs.terms, *(describe_owed_labels(results) if pairs.terms else ())],
        "model_verdicts": models.facts,
        "model_verdict_terms": [*models.terms, *(describe_owed_labels(results) if models.terms else ())],
        "overview": to_data(build_sections(subject, "overview")),
        "details": to_data(build_sections(subject, "details")),
    }
