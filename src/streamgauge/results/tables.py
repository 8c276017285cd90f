"""Results as Arrow tables, and tables as files."""

from pathlib import Path
from typing import Any

import numpy as np

from streamgauge._optional import LazyModule
from streamgauge.errors import StreamgaugeError
from streamgauge.records import Differences, LabelCounts, RunData
from streamgauge.streams.output_files import replace_atomically

__all__ = [
    "CURVES",
    "ENDS",
    "LABELS",
    "TOTALS",
    "confusions_table",
    "differences_table",
    "labels_table",
    "readings_table",
    "resources_table",
    "write_table",
]

pa = LazyModule("pyarrow")  # 130 ms that a run need not pay


def readings_table(results: RunData) -> Any:  # noqa: ANN401  (pyarrow has no types)
    """Give all readings as one tidy Arrow table.

    Examples
    --------
    >>> empty = RunData(np.empty(0, np.int64), np.empty((0, 1, 1, 1, 1)), ("a",), ("L",), ("m",), (), 0, complete=True)
    >>> readings_table(empty).column_names
    ['row', 'learner', 'fold', 'measure', 'forgetting', 'value']
    """
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


CURVES = ("cpu_seconds", "wall_seconds", "predict_share", "n_bytes", "ram_hours")
ENDS = ("difference", "low", "high")
LABELS = ("n_unknown", "n_hidden", "n_revealed")
TOTALS = ("n_predicted", "n_learnt", "latency", "n_timed", "n_late")


def resources_table(results: RunData) -> Any:  # noqa: ANN401
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


def confusions_table(results: RunData) -> Any:  # noqa: ANN401
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
    with replace_atomically(path) as temporary:
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
