"""Results as Arrow tables, and tables as files."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.times import shows_dates
from streamgauge._optional import LazyModule
from streamgauge.errors import StreamgaugeError
from streamgauge.records import BlockTallies, Differences, LabelCounts, RunData
from streamgauge.streams.output_files import replace_atomically

__all__ = [
    "COST_COLUMNS",
    "COST_TOTALS",
    "DIFFERENCE_COLUMNS",
    "LABEL_COLUMNS",
    "VOTE_COLUMNS",
    "check_table_name",
    "decode_times",
    "encode_times",
    "tabulate_blocks",
    "tabulate_confusions",
    "tabulate_differences",
    "tabulate_labels",
    "tabulate_readings",
    "tabulate_resources",
    "tabulate_times",
    "tabulate_votes",
    "write_table",
]

pa = LazyModule("pyarrow")  # importing it takes 130 ms

COST_COLUMNS = ("cpu_seconds", "wall_seconds", "predict_share", "n_bytes", "ram_hours")
"""The costs that are read at every reading row, as columns of the table of resources."""

COST_TOTALS = ("n_predicted", "n_learnt", "latency", "n_timed", "n_late")
"""The costs that are kept once per cell, for the whole run."""

DIFFERENCE_COLUMNS = ("difference", "low", "high")
"""The difference of a pair and the ends of its interval, as columns of the table of differences."""

UNITS = {"us": 1_000_000, "ns": 1_000_000_000}
"""The units of timestamps, and how many of them a second has."""

LABEL_COLUMNS = ("n_unknown", "n_hidden", "n_revealed")
"""The counts of labels, as columns of the table of labels."""


def tabulate_readings(results: RunData, *, with_times: bool = True) -> Any:  # noqa: ANN401  (pyarrow has no types)
    """Return all readings as one tidy Arrow table, with the time of each if the rows carry times.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> tabulate_readings(evaluate(SEA(n_rows=100), NoChange())).column_names
    ['row', 'learner', 'fold', 'measure', 'forgetting', 'value']
    """
    row, learner, fold, forgetting, measure = np.indices(results.values.shape).reshape(5, -1)
    times = results.times
    return pa.table(
        {
            "row": results.rows[row],
            **({"time": encode_times(times).take(pa.array(row))} if with_times and times is not None else {}),
            "learner": _encode(results.learners, learner),
            "fold": fold.astype(np.int32),
            "measure": _encode(results.measures, measure),
            "forgetting": _encode(results.forgettings, forgetting),
            "value": results.values.reshape(-1),
        }
    )


def tabulate_times(rows: NDArray[np.int64], times: NDArray[np.float64]) -> Any:  # noqa: ANN401
    """Return the times of readings as an Arrow table.

    Examples
    --------
    >>> tabulate_times(np.array([50, 100]), np.array([1.7e9, 1.7e9 + 60])).column_names
    ['row', 'time']
    """
    return pa.table({"row": rows, "time": encode_times(times)})


def encode_times(times: NDArray[np.float64]) -> Any:  # noqa: ANN401
    """Return times as an Arrow column that keeps every bit: timestamps in UTC, or seconds if they have no dates.

    Examples
    --------
    >>> str(encode_times(np.array([1.7e9])).type), str(encode_times(np.array([0.5, 2.5])).type)
    ('timestamp[us, tz=UTC]', 'double')
    """
    if shows_dates(times):
        whole = np.floor(times)
        for unit, per_second in UNITS.items():
            rest = np.rint((times - whole) * per_second)
            counts = whole.astype(np.int64) * per_second + rest.astype(np.int64)
            column = pa.array(counts, pa.timestamp(unit, tz="UTC"))
            if np.array_equal(decode_times(column), times):  # else it is too coarse, or overflows
                return column
    return pa.array(times, pa.float64())


def decode_times(column: Any) -> NDArray[np.float64]:  # noqa: ANN401
    """Return the seconds since 1970 of a column of `encode_times`.

    Examples
    --------
    >>> decode_times(encode_times(np.array([1.7e9, 1700000000.123456]))).tolist()
    [1700000000.0, 1700000000.123456]
    """
    if not pa.types.is_timestamp(column.type):
        return np.array(column, dtype=np.float64)
    per_second = UNITS[column.type.unit]
    whole, rest = np.divmod(np.array(column.cast(pa.int64())), per_second)
    seconds: NDArray[np.float64] = whole + rest / per_second
    return seconds


def tabulate_resources(results: RunData) -> Any:  # noqa: ANN401
    """Return the costs of each learner since the start, at each reading, as one tidy Arrow table.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> tabulate_resources(evaluate(SEA(n_rows=100), NoChange(), every=50, resources=True)).column_names[:5]
    ['row', 'learner', 'fold', 'cpu_seconds', 'wall_seconds']
    """
    resources = results.resources
    if resources is None:
        msg = "the costs of the learners were not measured in this run"
        raise StreamgaugeError(msg)
    row, learner, fold = np.indices(resources.cpu_seconds.shape).reshape(3, -1)
    return pa.table(
        {
            "row": resources.rows[row],
            "learner": _encode(results.learners, learner),
            "fold": fold.astype(np.int32),
            **{name: getattr(resources, name).reshape(-1) for name in COST_COLUMNS},
        }
    )


def tabulate_labels(counts: LabelCounts) -> Any:  # noqa: ANN401
    """Return the counts of classes and labels as an Arrow table: a line per reading, a column per class.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> tabulate_labels(evaluate(SEA(n_rows=100), NoChange(), every=50).labels).column_names[:4]
    ['row', 'n_unknown', 'n_hidden', 'n_revealed']
    """
    facts = {name: getattr(counts, name) for name in LABEL_COLUMNS}
    by_class = {f"rows of {name}": counts.by_class[:, code] for code, name in enumerate(counts.classes)}
    return pa.table({"row": counts.rows, **facts, **by_class})


def tabulate_differences(differences: Differences) -> Any:  # noqa: ANN401
    """Return the differences of all pairs along a run as one tidy Arrow table.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NoChange, evaluate
    >>> results = evaluate(SEA(n_rows=100), [NoChange(), MajorityClass()], every=50)
    >>> tabulate_differences(results.differences).column_names
    ['row', 'first', 'second', 'measure', 'difference', 'low', 'high']
    """
    n_rows, n_pairs = differences.values.shape[:2]
    columns = np.tile(np.array(differences.columns, dtype=object).T, n_rows)
    pairs = dict(zip(("first", "second", "measure"), columns, strict=True))
    values = {name: differences.values[:, :, index].reshape(-1) for index, name in enumerate(DIFFERENCE_COLUMNS)}
    return pa.table({"row": np.repeat(differences.rows, n_pairs), **pairs, **values})


def tabulate_confusions(results: RunData) -> Any:  # noqa: ANN401
    """Return the confusion matrices of a run as one tidy Arrow table; an abstention has no predicted class.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> tabulate_confusions(evaluate(SEA(n_rows=100), NoChange(), every=50)).column_names
    ['row', 'learner', 'forgetting', 'true', 'predicted', 'weight']
    """
    confusions = results.confusions
    if confusions is None:
        msg = "this run kept no confusion matrices"
        raise StreamgaugeError(msg)
    row, learner, forgetting, true, predicted = np.indices(confusions.weights.shape).reshape(5, -1)
    return pa.table(
        {
            "row": confusions.rows[row],
            "learner": _encode(results.learners, learner),
            "forgetting": _encode(results.forgettings, forgetting),
            "true": _encode(confusions.classes, true),
            "predicted": _encode((*confusions.classes, None), predicted),
            "weight": confusions.weights.reshape(-1),
        }
    )


def tabulate_blocks(results: RunData) -> Any:  # noqa: ANN401
    """Return the tallies of blocks of rows as one tidy Arrow table; `row` is that after the last of a block.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NoChange, evaluate
    >>> tabulate_blocks(evaluate(SEA(n_rows=100), [NoChange(), MajorityClass()])).column_names
    ['row', 'learner', 'fold', 'quantity', 'value']
    """
    blocks = _require_blocks(results)
    learner, fold, block, number = np.indices(blocks.numbers.shape).reshape(4, -1)
    quantities = tuple(
        f"{name}{list(index) if index else ''}"
        for name, shape in blocks.layout.shapes.items()
        for index in np.ndindex(*shape)
    )
    return pa.table(
        {
            "row": blocks.rows[block],
            "learner": _encode(results.learners, learner),
            "fold": fold.astype(np.int32),
            "quantity": _encode(quantities, number),
            "value": blocks.numbers.reshape(-1),
        }
    )


VOTE_COLUMNS = ("learner", "fold", "class", "block", "bin", "own", "others")
"""The columns of `tabulate_votes`: the first three say whose votes they are."""


def tabulate_votes(results: RunData) -> Any:  # noqa: ANN401
    """Return the votes of blocks of rows, in bins, as an Arrow table of numbers; bins without weight are left out.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=100), [NaiveBayes(), MajorityClass()], measures="roc_auc[1]")
    >>> tabulate_votes(results).column_names[-3:]
    ['bin', 'own', 'others']
    """
    parts = []
    for (learner, fold, code), (bins, weights) in _require_blocks(results).votes.items():
        block, position = np.nonzero(weights.any(axis=0))
        key = np.array([[learner], [fold], [code]]).repeat(len(block), axis=1)
        parts.append((*key, block, bins[position], *weights[:, block, position]))
    columns = map(np.concatenate, zip(*parts, strict=True))
    return pa.table(dict(zip(VOTE_COLUMNS, columns, strict=True)))


def _require_blocks(results: RunData) -> BlockTallies:
    if results.blocks is None:
        msg = "this run kept no tallies of blocks: it has one learner"
        raise StreamgaugeError(msg)
    return results.blocks


def _encode(names: tuple[str | None, ...], codes: Any) -> Any:  # noqa: ANN401
    """Return the names of codes as a dictionary-encoded column."""
    return pa.array(np.asarray(names, dtype=object)[codes], pa.string()).dictionary_encode()


def write_table(table: Any, path: Path | str) -> Path:  # noqa: ANN401
    """Write a table to a .csv or .parquet file.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> path = Path(tempfile.mkdtemp()) / "readings.csv"
    >>> text = write_table(tabulate_readings(evaluate(SEA(n_rows=10), NoChange(), every=10)), path).read_text()
    >>> text.splitlines()[0]
    '"row","learner","fold","measure","forgetting","value"'
    """
    path = Path(path)
    check_table_name(path)
    with replace_atomically(path) as temporary:
        if path.suffix == ".csv":
            from pyarrow import csv  # noqa: PLC0415

            csv.write_csv(_decode(table), temporary)
        else:
            from pyarrow import parquet  # noqa: PLC0415

            parquet.write_table(table, temporary, write_page_checksum=True)
    return path


def check_table_name(path: Path | str) -> None:
    """Raise unless the name of a file is that of a table.

    Examples
    --------
    >>> check_table_name("readings.csv")
    """
    if Path(path).suffix not in {".csv", ".parquet"}:
        msg = f"{path}: the name of a table must end in .csv or .parquet"
        raise StreamgaugeError(msg)


def _decode(table: Any) -> Any:  # noqa: ANN401
    """Return a table with text in place of dictionaries, which CSV cannot hold."""
    kinds = [pa.string() if pa.types.is_dictionary(field.type) else field.type for field in table.schema]
    return table.cast(pa.schema(dict(zip(table.column_names, kinds, strict=True))))
