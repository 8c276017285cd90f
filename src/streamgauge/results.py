"""The store of a run: a folder with the readings, what the learners cost, and a manifest.

``readings.parquet`` is one tidy table (row, learner, fold, measure, forgetting, value), which pandas, polars and
DuckDB read directly; so are ``resources.parquet`` (row, learner, fold and the figures of the cost), ``labels.parquet``
(how classes and labels came) and ``confusions.parquet`` (who was taken for whom). ``manifest.json`` says what was run,
with which versions, seeds and options, on which stream, and what became of the labels.
"""

import json
import platform
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
    Results,
    Verdict,
)
from streamgauge.streams.outputs import replacing

__all__ = ["load", "manifest", "readings_table", "resources_table", "save", "write_table"]

FORMAT = 1


def readings_table(results: Results) -> Any:  # noqa: ANN401  (pyarrow has no types)
    """Give all readings as one tidy Arrow table.

    Examples
    --------
    >>> empty = Results(np.empty(0, np.int64), np.empty((0, 1, 1, 1, 1)), ("a",), ("L",), ("m",), (), 0, complete=True)
    >>> readings_table(empty).column_names
    ['row', 'learner', 'fold', 'measure', 'forgetting', 'value']
    """
    return results.to_arrow()


CURVES = ("cpu_seconds", "wall_seconds", "predict_share", "n_bytes", "ram_hours")
ENDS = ("difference", "low", "high")
LABELS = ("n_unknown", "n_hidden", "n_revealed")
TOTALS = ("n_predicted", "n_learnt", "latency", "n_timed", "n_late")


def resources_table(results: Results) -> Any:  # noqa: ANN401
    """Give what each learner cost at each stop, since the start, as one tidy Arrow table.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> resources_table(evaluate(SEA(n_rows=100), NoChange(), every=50, resources=True)).column_names[:5]
    ['row', 'learner', 'fold', 'cpu_seconds', 'wall_seconds']
    """
    import pyarrow as pa  # noqa: PLC0415

    cost = results.resources
    if cost is None:
        msg = "the costs of the learners were not measured in this run"
        raise StreamgaugeError(msg)
    place = np.indices(cost.cpu_seconds.shape).reshape(3, -1)
    names = np.asarray(results.learners, dtype=object)[place[1]]
    return pa.table(
        {
            "row": cost.rows[place[0]],
            "learner": pa.array(names, pa.string()).dictionary_encode(),
            "fold": place[2].astype(np.int32),
            **{name: getattr(cost, name).reshape(-1) for name in CURVES},
        }
    )


def labels_table(counts: LabelCounts) -> Any:  # noqa: ANN401
    """Give how classes and labels came as an Arrow table: a line for each stop, a column for each class.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> labels_table(evaluate(SEA(n_rows=100), NoChange(), every=50).labels).column_names[:4]
    ['row', 'n_unknown', 'n_hidden', 'n_revealed']
    """
    import pyarrow as pa  # noqa: PLC0415

    facts = {name: getattr(counts, name) for name in LABELS}
    by_class = {f"rows of {name}": counts.by_class[:, code] for code, name in enumerate(counts.classes)}
    return pa.table({"row": counts.rows, **facts, **by_class})


def differences_table(kept: Differences) -> Any:  # noqa: ANN401
    """Give the differences of all pairs along a run as one tidy Arrow table.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NoChange, evaluate
    >>> results = evaluate(SEA(n_rows=100), [NoChange(), MajorityClass()], every=50)
    >>> differences_table(results.differences).column_names
    ['row', 'first', 'second', 'difference', 'low', 'high']
    """
    import pyarrow as pa  # noqa: PLC0415

    n_rows, n_pairs = kept.values.shape[:2]
    pairs = dict(zip(("first", "second"), np.tile(np.array(kept.pairs, dtype=object).T, n_rows), strict=True))
    values = {name: kept.values[:, :, at].reshape(-1) for at, name in enumerate(ENDS)}
    return pa.table({"row": np.repeat(kept.rows, n_pairs), **pairs, **values})


def confusions_table(results: Results) -> Any:  # noqa: ANN401
    """Give the confusion matrices that a run kept as one tidy Arrow table; no prediction is null.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> confusions_table(evaluate(SEA(n_rows=100), NoChange(), every=50)).column_names
    ['row', 'learner', 'forgetting', 'true', 'predicted', 'weight']
    """
    import pyarrow as pa  # noqa: PLC0415

    kept = results.confusions
    if kept is None:
        msg = "this run kept no confusion matrices"
        raise StreamgaugeError(msg)
    place = np.indices(kept.weights.shape).reshape(5, -1)
    axes = (results.learners, results.forgettings, kept.classes, (*kept.classes, None))
    names = [
        pa.array(np.asarray(names, dtype=object)[codes], pa.string()).dictionary_encode()
        for names, codes in zip(axes, place[1:], strict=True)
    ]
    columns = dict(zip(("learner", "forgetting", "true", "predicted"), names, strict=True))
    return pa.table({"row": kept.rows[place[0]], **columns, "weight": kept.weights.reshape(-1)})


def write_table(table: Any, path: Path | str) -> Path:  # noqa: ANN401
    """Write a table, as that of all readings, to a file that ends in .csv or .parquet.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> path = Path(tempfile.mkdtemp()) / "readings.csv"
    >>> text = write_table(readings_table(evaluate(SEA(n_rows=10), NoChange(), every=10)), path).read_text()
    >>> text.splitlines()[0]
    '"row","learner","fold","measure","forgetting","value"'
    """
    path = Path(path)
    if path.suffix not in {".csv", ".parquet"}:
        msg = f"{path}: a table is written to a file that ends in .csv or .parquet"
        raise StreamgaugeError(msg)
    with replacing(path) as temporary:
        if path.suffix == ".csv":
            from pyarrow import csv  # noqa: PLC0415

            csv.write_csv(_plain(table), temporary)
        else:
            from pyarrow import parquet  # noqa: PLC0415

            parquet.write_table(table, temporary)
    return path


def _plain(table: Any) -> Any:  # noqa: ANN401
    """Give a table with texts instead of dictionaries, as CSV wants it."""
    import pyarrow as pa  # noqa: PLC0415

    kinds = [pa.string() if pa.types.is_dictionary(field.type) else field.type for field in table.schema]
    return table.cast(pa.schema(dict(zip(table.column_names, kinds, strict=True))))


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


def save(results: Results, folder: Path | str) -> Path:
    """Write the readings and the manifest into a folder, which is made where it is missing.

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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        parquet.write_table(readings_table(results), folder / "readings.parquet")
        if results.resources is not None:
            parquet.write_table(resources_table(results), folder / "resources.parquet")
        if results.labels is not None:
            parquet.write_table(labels_table(results.labels), folder / "labels.parquet")
        if results.differences is not None:
            parquet.write_table(differences_table(results.differences), folder / "differences.parquet")
        if results.confusions is not None:
            parquet.write_table(confusions_table(results), folder / "confusions.parquet")
        (folder / "manifest.json").write_text(json.dumps(manifest(results), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        msg = f"cannot write the results into {folder}: {error.strerror or error}"
        raise StreamgaugeError(msg) from error
    return folder


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
    path = folder / "manifest.json"
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
