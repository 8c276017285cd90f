"""The store of a run: a folder with the readings and a manifest.

``readings.parquet`` is one tidy table (row, learner, fold, measure, forgetting, value), which pandas, polars and
DuckDB read directly. ``manifest.json`` says what was run, with which versions, seeds and options, on which stream.
"""

import json
import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.records import Failure, PairSums, Results

__all__ = ["load", "manifest", "readings_table", "save"]

FORMAT = 1


def readings_table(results: Results) -> Any:  # noqa: ANN401  (pyarrow has no types)
    """Give all readings as one tidy Arrow table.

    Examples
    --------
    >>> empty = Results(np.empty(0, np.int64), np.empty((0, 1, 1, 1, 1)), ("a",), ("L",), ("m",), (), 0, complete=True)
    >>> readings_table(empty).column_names
    ['row', 'learner', 'fold', 'measure', 'forgetting', 'value']
    """
    import pyarrow as pa  # noqa: PLC0415  (130 ms that a run without a folder need not pay)

    place = np.indices(results.values.shape).reshape(5, -1)
    name = [np.asarray(names, dtype=object) for names in (results.learners, results.measures, results.forgettings)]
    return pa.table(
        {
            "row": results.rows[place[0]],
            "learner": pa.array(name[0][place[1]], pa.string()).dictionary_encode(),
            "fold": place[2].astype(np.int32),
            "measure": pa.array(name[1][place[4]], pa.string()).dictionary_encode(),
            "forgetting": pa.array(name[2][place[3]], pa.string()).dictionary_encode(),
            "value": results.values.reshape(-1),
        }
    )


def manifest(results: Results) -> dict[str, Any]:
    """Say what was run, where and with what, so that it can be run again.

    Examples
    --------
    >>> empty = Results(np.empty(0, np.int64), np.empty((0, 1, 1, 1, 1)), ("a",), ("L",), ("m",), (), 0, complete=True)
    >>> manifest(empty)["complete"]
    True
    """
    pairs = [
        {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in asdict(pair).items()}
        for pair in results.pairs
    ]
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
        "pairs": pairs,
        "failures": [asdict(failure) for failure in results.failures],
        "versions": {"python": platform.python_version(), **{package: version(package) for package in packages}},
        "machine": {"platform": platform.platform(), "instruction_set": _native.instruction_set()},
    }


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
    from pyarrow import parquet  # noqa: PLC0415

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
        learners, forgettings, measures = (tuple(written[axis]) for axis in ("learners", "forgettings", "measures"))
        table = parquet.read_table(folder / "readings.parquet", columns=["row", "value"])
        shape = (-1, len(learners), written["n_folds"], len(forgettings), len(measures))
        values = table["value"].to_numpy().reshape(shape)
        rows = table["row"].to_numpy().reshape(shape)[:, 0, 0, 0, 0]
    except (OSError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, StreamgaugeError):
            raise
        msg = f"the results in {folder} are damaged: {error}"
        raise StreamgaugeError(msg) from error
    names = (learners, forgettings, measures)
    told = (written["n_rows"], written["complete"], written["description"])
    failures = tuple(Failure(**failure) for failure in written.get("failures", ()))
    return Results(rows, values, *names, pairs, *told, failures=failures)


def _pair(written: dict[str, Any]) -> PairSums:
    """Read the sums of a pair, whose lists are columns."""
    columns: dict[str, Any] = {name: np.asarray(v) if isinstance(v, list) else v for name, v in written.items()}
    return PairSums(**columns)
