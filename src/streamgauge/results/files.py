"""The store of a run: a folder with the readings, what the learners cost, and a manifest.

``readings.parquet`` is one tidy table (row, learner, fold, measure, forgetting, value), which pandas, polars and
DuckDB read directly; so are ``resources.parquet`` (row, learner, fold and the figures of the cost), ``labels.parquet``
(how classes and labels came) and ``confusions.parquet`` (who was taken for whom). ``manifest.json`` says what was run,
with which versions, seeds and options, on which stream, and what became of the labels.
"""

import json
import os
import platform
import shutil
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.records import (
    Alarm,
    Confusions,
    Differences,
    Failure,
    Feedback,
    LabelCounts,
    PairSums,
    Resources,
    Verdict,
)
from streamgauge.results.results import Results
from streamgauge.results.tables import (
    CURVES,
    ENDS,
    LABELS,
    TOTALS,
    confusions_table,
    differences_table,
    labels_table,
    readings_table,
    resources_table,
    write_table,
)

__all__ = ["holds_results", "load", "manifest", "readings_table", "resources_table", "save", "write_table"]

FORMAT = 1
MANIFEST = "manifest.json"


def manifest(results: Results) -> dict[str, Any]:
    """Say what was run, where and with what, so that it can be run again.

    Examples
    --------
    >>> empty = Results(np.empty(0, np.int64), np.empty((0, 1, 1, 1, 1)), ("a",), ("L",), ("m",), (), 0, complete=True)
    >>> manifest(empty)["complete"]
    True
    """
    pairs = [_listed(asdict(pair)) for pair in results.pairs]
    packages = ("streamgauge", "numpy", "scipy", "pyarrow")
    return {
        "format": FORMAT,
        "complete": results.complete,
        "n_rows": results.n_rows,
        "n_folds": results.n_folds,
        "learners": list(results.learners),
        "forgettings": list(results.forgettings),
        "measures": list(results.measures),
        "description": results.description,
        "alarms": [asdict(alarm) for alarm in results.alarms],
        "pairs": pairs,
        "verdicts": [asdict(verdict) for verdict in results.verdicts],
        "failures": [asdict(failure) for failure in results.failures],
        "classes": _classes(results),
        "differences": _difference_facts(results.differences),
        "feedback": None if results.feedback is None else _listed(asdict(results.feedback)),
        "resources": _totals(results.resources),
        "versions": {"python": platform.python_version(), **{package: version(package) for package in packages}},
        "machine": {"platform": platform.platform(), "instruction_set": _native.instruction_set()},
    }


def _classes(results: Results) -> list[str] | None:
    kept = results.labels or results.confusions
    return None if kept is None else list(kept.classes)


def _difference_facts(kept: Differences | None) -> dict[str, Any] | None:
    return None if kept is None else {"pairs": list(kept.pairs), "alpha": kept.alpha, "test": kept.test}


def _listed(facts: dict[str, Any]) -> dict[str, Any]:
    """Give facts whose columns are lists; NaN, which JSON lacks, is null."""
    return {
        name: np.where(np.isnan(value), None, value).tolist() if isinstance(value, np.ndarray) else value  # type: ignore[call-overload]
        for name, value in facts.items()
    }


def _totals(cost: Resources | None) -> dict[str, Any] | None:
    if cost is None:
        return None
    facts = {"percentiles": list(cost.percentiles), "peak_rss": cost.peak_rss, "cpu_clock": cost.cpu_clock}
    return {**_listed({name: getattr(cost, name) for name in TOTALS}), **facts}


TABLES = tuple(f"{name}.parquet" for name in ("readings", "resources", "labels", "differences", "confusions"))
"""The files of results beside the manifest."""


def save(results: Results, folder: Path | str) -> Path:
    """Write the readings and the manifest into a folder, which is made where it is missing.

    Results that are there already are replaced once the new ones are written: no file of them stays behind. All else
    in the folder is left as it is.

    Examples
    --------
    >>> import tempfile
    >>> empty = Results(np.empty(0, np.int64), np.empty((0, 1, 1, 1, 1)), ("a",), ("L",), ("m",), (), 0, complete=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load(save(empty, folder)).learners
    ('a',)
    """
    from pyarrow import parquet  # noqa: PLC0415

    folder = Path(folder)
    temporary = folder / f".{os.getpid()}.tmp"
    try:
        temporary.mkdir(parents=True, exist_ok=True)
        for name, table in _tables(results).items():
            parquet.write_table(table, temporary / name)
        (temporary / MANIFEST).write_text(json.dumps(manifest(results), indent=2) + "\n", encoding="utf-8")
        _put_in_place(temporary, folder)
    except OSError as error:
        msg = f"cannot write the results into {folder}: {error.strerror or error}"
        raise StreamgaugeError(msg) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _tables(results: Results) -> dict[str, Any]:
    """Give the tables of results by the names of their files; what was not measured has none."""
    kept: dict[str, Any] = {"readings": readings_table(results)}
    if results.resources is not None:
        kept["resources"] = resources_table(results)
    if results.labels is not None:
        kept["labels"] = labels_table(results.labels)
    if results.differences is not None:
        kept["differences"] = differences_table(results.differences)
    if results.confusions is not None:
        kept["confusions"] = confusions_table(results)
    return {f"{name}.parquet": table for name, table in kept.items()}


def _put_in_place(temporary: Path, folder: Path) -> None:
    """Move new files to their place; without a manifest, which comes last, no one takes them for results."""
    written = {path.name for path in temporary.iterdir()}
    if holds_results(folder):
        for name in (*(table for table in TABLES if table not in written), MANIFEST):
            (folder / name).unlink(missing_ok=True)
    for name in sorted(written, key=lambda name: name == MANIFEST):
        (temporary / name).replace(folder / name)


def holds_results(folder: Path | str) -> bool:
    """Say whether `save` has written results into a folder, whole or damaged.

    Examples
    --------
    >>> holds_results("no such folder")
    False
    """
    return all((Path(folder) / name).is_file() for name in (MANIFEST, TABLES[0]))


def load(folder: Path | str) -> Results:
    """Read what `save` wrote.

    Examples
    --------
    >>> load("no such folder")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: no such folder holds no results: there is no manifest.json in it
    """
    folder = Path(folder)
    path = folder / MANIFEST
    if not path.is_file():
        msg = f"{folder} holds no results: there is no manifest.json in it"
        raise StreamgaugeError(msg)
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
        if written["format"] != FORMAT:
            msg = f"{path} has format {written['format']}, and this version reads format {FORMAT}"
            raise StreamgaugeError(msg)
        pairs = tuple(_pair(pair) for pair in written["pairs"])
        alarms = tuple(Alarm(**alarm) for alarm in written.get("alarms", ()))
        learners, forgettings, measures = (tuple(written[axis]) for axis in ("learners", "forgettings", "measures"))
        table = _read_table(folder / "readings.parquet", ["row", "value"])
        shape = (-1, len(learners), written["n_folds"], len(forgettings), len(measures))
        values = table["value"].reshape(shape)
        rows = table["row"].reshape(shape)[:, 0, 0, 0, 0]
        verdicts = tuple(_verdict(verdict) for verdict in written.get("verdicts", ()))
        feedback, cost = _feedback(written.get("feedback")), _read_resources(folder, written, shape[1:3])
        classes = tuple(written.get("classes") or ())
        labels, confusions = _read_labels(folder, classes), _read_confusions(folder, classes, shape)
        differences = _read_differences(folder, written.get("differences"))
    except (OSError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, StreamgaugeError):
            raise
        msg = f"the results in {folder} are damaged: {error}"
        raise StreamgaugeError(msg) from error
    names = (learners, forgettings, measures)
    facts = (written["n_rows"], written["complete"], written["description"])
    failures = tuple(Failure(**failure) for failure in written.get("failures", ()))
    courses = (labels, confusions, differences)
    return Results(rows, values, *names, pairs, *facts, feedback, cost, failures, alarms, verdicts, *courses)


def _read_table(path: Path, columns: list[str] | None = None) -> dict[str, NDArray[Any]]:
    """Read columns of numbers, in a way that does not have pyarrow import pandas: half a second for nothing."""
    from pyarrow import parquet, types  # noqa: PLC0415  (slow to import)

    with parquet.ParquetFile(path) as file:
        table = file.read(columns)
    numbers = {
        field.name: table[field.name].combine_chunks() for field in table.schema if types.is_primitive(field.type)
    }
    return {
        name: column.to_numpy(zero_copy_only=False) if column.null_count else np.array(np.from_dlpack(column))
        for name, column in numbers.items()
    }


def _feedback(written: dict[str, Any] | None) -> Feedback | None:
    return None if written is None else Feedback(**{**written, "n_scored": np.asarray(written["n_scored"])})


def _read_resources(folder: Path, written: dict[str, Any], cells: tuple[int, ...]) -> Resources | None:
    totals = written.get("resources")
    if totals is None:
        return None
    table = _read_table(folder / "resources.parquet", ["row", *CURVES])
    rows = table["row"].reshape(-1, *cells)[:, 0, 0]
    curves = {name: table[name].reshape(-1, *cells) for name in CURVES}
    columns: dict[str, Any] = {**curves, **{name: np.asarray(totals[name]) for name in TOTALS}}
    columns["latency"] = columns["latency"].astype(np.float64)  # null was NaN
    facts: dict[str, Any] = {name: totals[name] for name in ("peak_rss", "cpu_clock")}
    return Resources(rows, **columns, percentiles=tuple(totals["percentiles"]), **facts)


def _read_labels(folder: Path, classes: tuple[str, ...]) -> LabelCounts | None:
    path = folder / "labels.parquet"
    if not classes or not path.is_file():
        return None
    table = _read_table(path)
    by_class = np.stack([table[f"rows of {name}"] for name in classes], axis=1)
    return LabelCounts(table["row"], classes, by_class, *(table[name] for name in LABELS))


def _read_confusions(folder: Path, classes: tuple[str, ...], shape: tuple[int, ...]) -> Confusions | None:
    path = folder / "confusions.parquet"
    if not classes or not path.is_file():
        return None
    table = _read_table(path, ["row", "weight"])
    whole = (-1, shape[1], shape[3], len(classes), len(classes) + 1)
    rows = table["row"].reshape(whole)[:, 0, 0, 0, 0]
    return Confusions(rows, classes, table["weight"].reshape(whole))


def _read_differences(folder: Path, facts: dict[str, Any] | None) -> Differences | None:
    path = folder / "differences.parquet"
    if facts is None or not path.is_file():
        return None
    table = _read_table(path)
    pairs = tuple((first, second) for first, second in facts["pairs"])
    values = np.stack([table[name] for name in ENDS], axis=1).reshape(-1, len(pairs), len(ENDS))
    return Differences(table["row"][:: len(pairs)], pairs, values, facts["alpha"], facts["test"])


def _pair(written: dict[str, Any]) -> PairSums:
    """Read the sums of a pair, whose lists are columns."""
    columns: dict[str, Any] = {name: np.asarray(v) if isinstance(v, list) else v for name, v in written.items()}
    return PairSums(**columns)


def _verdict(written: dict[str, Any]) -> Verdict:
    interval = written["interval"]
    return Verdict(**{**written, "interval": None if interval is None else tuple(interval)})
