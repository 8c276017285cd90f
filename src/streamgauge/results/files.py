"""The folder of a run: readings, costs of the learners, labels, confusion matrices and a manifest.

``readings.parquet`` is one tidy table (row, learner, fold, measure, forgetting, value), the same columns for all runs,
which pandas, polars and DuckDB read directly; so are ``times.parquet`` (row and time of each reading, if rows carry
times), ``resources.parquet`` (row, learner, fold and the costs), ``labels.parquet`` (counts of classes and labels),
``differences.parquet``, ``confusions.parquet``, and ``blocks.parquet`` and ``votes.parquet``, the tallies of blocks of
rows from which any measure is tested.
``manifest.json`` holds what was run, with which versions, seeds and options, on which stream, and how many labels
arrived. It lists the checksum of every file, predictions included, and ends with its own.
"""

import json
import shutil
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import DamageWarning, StreamgaugeError, require_path
from streamgauge.records import BlockLayout, BlockTallies, Confusions, Differences, LabelCounts, Resources
from streamgauge.records.blocks import VoteBins
from streamgauge.records.checksums import compute_file_checksum, read_limited, seal_json, unseal_json
from streamgauge.records.locks import lock_folder
from streamgauge.records.manifest import check_format
from streamgauge.results.manifest import DifferenceFacts, ResourceFacts, ResultsManifest
from streamgauge.results.results import Results
from streamgauge.results.saved_errors import PREDICTION_FORMATS, STEM
from streamgauge.results.tables import (
    COST_COLUMNS,
    COST_TOTALS,
    DIFFERENCE_COLUMNS,
    LABEL_COLUMNS,
    VOTE_COLUMNS,
    decode_times,
    tabulate_blocks,
    tabulate_confusions,
    tabulate_differences,
    tabulate_labels,
    tabulate_readings,
    tabulate_resources,
    tabulate_times,
    tabulate_votes,
)

__all__ = ["holds_results", "load", "read_manifest", "save"]

MANIFEST = "manifest.json"


TABLES = tuple(
    f"{name}.parquet"
    for name in ("readings", "times", "resources", "labels", "differences", "confusions", "blocks", "votes")
)
"""The files of results besides the manifest."""

PREDICTIONS = tuple(f"{STEM}.{kind}" for kind in PREDICTION_FORMATS)
"""The files of a recorder that are read beside the results."""


def save(results: Results, folder: Path | str) -> Path:
    """Save results to a folder, which is created if missing.

    Earlier results in the folder are replaced once the new ones are written, without a file left behind. Other files
    in the folder are kept.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load(save(evaluate(SEA(n_rows=100), NoChange()), folder)).learners
    ('NoChange',)
    """
    from pyarrow import parquet  # noqa: PLC0415

    folder = Path(folder)
    temporary = folder / ".results.tmp"
    with lock_folder(folder, "results"):
        try:
            shutil.rmtree(temporary, ignore_errors=True)  # of a process that was killed
            temporary.mkdir()
            for name, table in _build_tables(results).items():
                parquet.write_table(table, temporary / name)
            manifest = replace(ResultsManifest.of(results), files=_compute_checksums(temporary, folder))
            (temporary / MANIFEST).write_text(seal_json(manifest.to_json(), indent=2) + "\n", encoding="utf-8")
            _move_files(temporary, folder)
        except OSError as error:
            msg = f"cannot write the results into {folder}: {error.strerror or error}"
            raise StreamgaugeError(msg) from error
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _compute_checksums(temporary: Path, folder: Path) -> dict[str, str]:
    """Return the checksums of new tables by name, and of predictions in the folder."""
    written = sorted(temporary.glob("*.parquet"))
    recorded = [path for name in PREDICTIONS if (path := folder / name).is_file()]
    return {path.name: compute_file_checksum(path) for path in (*written, *recorded)}


def _build_tables(results: Results) -> dict[str, Any]:
    """Return the tables of results by file name; what was not recorded has none."""
    tables: dict[str, Any] = {"readings": tabulate_readings(results, with_times=False)}
    if results.times is not None:
        tables["times"] = tabulate_times(results.rows, results.times)
    if results.resources is not None:
        tables["resources"] = tabulate_resources(results)
    if results.labels is not None:
        tables["labels"] = tabulate_labels(results.labels)
    if results.differences is not None:
        tables["differences"] = tabulate_differences(results.differences)
    if results.confusions is not None:
        tables["confusions"] = tabulate_confusions(results)
    if results.blocks is not None:
        tables["blocks"] = tabulate_blocks(results)
        if results.blocks.votes:
            tables["votes"] = tabulate_votes(results)
    return {f"{name}.parquet": table for name, table in tables.items()}


def _move_files(temporary: Path, folder: Path) -> None:
    """Move new files into the folder, the manifest last: files without a manifest do not count as results."""
    written = {path.name for path in temporary.iterdir()}
    if holds_results(folder):
        for name in (*(table for table in TABLES if table not in written), MANIFEST):
            (folder / name).unlink(missing_ok=True)
    for name in sorted(written, key=lambda name: name == MANIFEST):
        (temporary / name).replace(folder / name)


def holds_results(folder: Path | str) -> bool:
    """Return whether a folder holds results of `save`, intact or damaged.

    Examples
    --------
    >>> holds_results("no such folder")
    False
    """
    return all((Path(folder) / name).is_file() for name in (MANIFEST, TABLES[0]))


def load(folder: Path | str) -> Results:
    """Load the results of `save`.

    Every file is checked against its checksum. A damaged manifest or table of readings is an error. Any other damaged
    table is left out, with a `DamageWarning` and a note in the results that name it.

    Examples
    --------
    >>> load("no such folder")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: no such folder holds no results: there is no manifest.json in it
    """
    require_path("folder", folder)
    folder = Path(folder)
    manifest = read_manifest(folder)
    try:
        tables = _Tables(folder, manifest.files or {})
        results = _read_results(tables, manifest)
    except (OSError, LookupError, TypeError, ValueError, RecursionError) as error:
        msg = f"the results in {folder} are damaged: {error}"
        raise StreamgaugeError(msg) from error
    if not tables.notes:
        return results
    for note in tables.notes:
        warnings.warn(f"the results in {folder} are damaged: {note}", DamageWarning, stacklevel=2)
    return replace(results, description={**results.description, "notes": [*results.notes, *tables.notes]})


def read_manifest(folder: Path | str) -> ResultsManifest:
    """Read the manifest of saved results; raise if it is missing, damaged or of another version.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> read_manifest(save(evaluate(SEA(n_rows=100), NoChange()), tempfile.mkdtemp())).n_rows
    100
    """
    path = Path(folder) / MANIFEST
    if not path.is_file():
        msg = f"{folder} holds no results: there is no manifest.json in it"
        raise StreamgaugeError(msg)
    try:
        data = read_limited(path)
        try:
            facts = unseal_json(data)
        except ValueError as error:
            _check_format(path, data)
            msg = f"{MANIFEST} is damaged or was edited: {error}"
            raise ValueError(msg) from None
    except StreamgaugeError:
        raise
    except (OSError, ValueError) as error:
        msg = f"the results in {folder} are damaged: {error}"
        raise StreamgaugeError(msg) from None
    _check_format(path, data)
    try:
        return ResultsManifest.from_json(facts)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        msg = f"the results in {folder} are damaged: {MANIFEST} is malformed ({type(error).__name__}: {error})"
        raise StreamgaugeError(msg) from None


def _check_format(path: Path, data: bytes) -> None:
    """Raise if a manifest, checksum aside, is of another version."""
    facts = None
    with suppress(ValueError, RecursionError):
        facts = json.loads(data)
    check_format(path, facts)


class _Tables:
    """The tables of saved results, each checked when it is read; `notes` name those that are damaged."""

    def __init__(self, folder: Path, checksums: Mapping[str, str]) -> None:
        self._folder, self._checksums = folder, checksums
        self.notes: list[str] = []

    def read(self, name: str, columns: list[str] | None = None) -> dict[str, NDArray[Any]] | None:
        """Return columns of numbers; None if the results have no such table, or it is damaged."""
        name = f"{name}.parquet"
        if name not in self._checksums:
            return None
        path = self._folder / name
        if not path.is_file():
            self.notes.append(f"{name} is missing; its contents are left out")
        elif compute_file_checksum(path) != self._checksums[name]:
            self.notes.append(f"{name} does not match its checksum; its contents are left out")
        else:
            return _read_table(path, columns)
        return None


def _read_results(tables: _Tables, manifest: ResultsManifest) -> Results:
    learners, forgettings, measures = manifest.learners, manifest.forgettings, manifest.measures
    classes = manifest.classes or ()
    shape = (-1, len(learners), manifest.n_folds, len(forgettings), len(measures))
    table = tables.read("readings", ["row", "value"])
    if table is None:
        msg = f"{TABLES[0]} is missing or does not match its checksum"
        raise ValueError(msg)
    rows = table["row"].reshape(shape)[:, 0, 0, 0, 0]
    return Results(
        rows=rows,
        values=table["value"].reshape(shape),
        times=_read_times(tables),
        learners=learners,
        forgettings=forgettings,
        measures=measures,
        pairs=manifest.pairs,
        n_rows=manifest.n_rows,
        complete=manifest.complete,
        description={**manifest.description},
        feedback=manifest.feedback,
        resources=_read_resources(tables, manifest.resources, shape[1:3]),
        failures=manifest.failures,
        alarms=manifest.alarms,
        verdicts=manifest.verdicts,
        model_verdicts=manifest.model_verdicts,
        label_estimates=manifest.label_estimates,
        labels=_read_labels(tables, classes),
        confusions=_read_confusions(tables, classes, shape),
        differences=_read_differences(tables, manifest.differences),
        blocks=_read_blocks(tables, manifest.blocks, shape[1:3]),
    )


def _read_table(path: Path, columns: list[str] | None = None) -> dict[str, NDArray[Any]]:
    """Read columns of numbers without pyarrow's conversion, which would import pandas and take half a second."""
    from pyarrow import types  # noqa: PLC0415  (slow to import)

    from streamgauge.streams.files.record_batches import read_table  # noqa: PLC0415

    table = read_table(path, columns)
    numbers = {
        field.name: table[field.name].combine_chunks() for field in table.schema if types.is_primitive(field.type)
    }
    return {
        name: decode_times(column)
        if types.is_timestamp(column.type)
        else column.to_numpy(zero_copy_only=False)
        if column.null_count
        else np.array(np.from_dlpack(column))
        for name, column in numbers.items()
    }


def _read_times(tables: _Tables) -> NDArray[np.float64] | None:
    table = tables.read("times", ["row", "time"])
    return None if table is None else table["time"]


def _read_resources(tables: _Tables, totals: ResourceFacts | None, cells: tuple[int, ...]) -> Resources | None:
    table = tables.read("resources", ["row", *COST_COLUMNS])
    if totals is None or table is None:
        return None
    columns: dict[str, Any] = {name: table[name].reshape(-1, *cells) for name in COST_COLUMNS}
    columns |= {name: np.asarray(totals[name]) for name in COST_TOTALS}  # type: ignore[literal-required]
    columns["latency"] = columns["latency"].astype(np.float64)  # NaN was written as null
    return Resources(
        rows=table["row"].reshape(-1, *cells)[:, 0, 0],
        **columns,
        percentiles=tuple(totals["percentiles"]),
        peak_rss=totals["peak_rss"],
        cpu_clock=totals["cpu_clock"],
    )


def _read_labels(tables: _Tables, classes: tuple[str, ...]) -> LabelCounts | None:
    table = tables.read("labels")
    if table is None:
        return None
    by_class = np.stack([table[f"rows of {name}"] for name in classes], axis=1)
    counts = {name: table[name] for name in LABEL_COLUMNS}
    return LabelCounts(rows=table["row"], classes=classes, by_class=by_class, **counts)


def _read_confusions(tables: _Tables, classes: tuple[str, ...], shape: tuple[int, ...]) -> Confusions | None:
    table = tables.read("confusions", ["row", "weight"])
    if table is None:
        return None
    shape = (-1, shape[1], shape[3], len(classes), len(classes) + 1)
    rows = table["row"].reshape(shape)[:, 0, 0, 0, 0]
    return Confusions(rows, classes, table["weight"].reshape(shape))


def _read_differences(tables: _Tables, facts: DifferenceFacts | None) -> Differences | None:
    table = tables.read("differences")
    if facts is None or table is None:
        return None
    pairs = tuple((first, second) for first, second in facts["pairs"])
    values = np.stack([table[name] for name in DIFFERENCE_COLUMNS], axis=1).reshape(
        -1, len(pairs), len(DIFFERENCE_COLUMNS)
    )
    return Differences(
        rows=table["row"][:: len(pairs)],
        pairs=pairs,
        values=values,
        alpha=facts["alpha"],
        test=facts["test"],
        measures=tuple(facts["measures"]),
    )


def _read_blocks(tables: _Tables, layout: BlockLayout | None, cells: tuple[int, ...]) -> BlockTallies | None:
    """Read the tallies of blocks; None if those of the votes are damaged, without which they are not complete."""
    table = tables.read("blocks", ["row", "value"])
    vote_table = tables.read("votes")
    if layout is None or table is None:
        return None
    shape = (*cells, -1, layout.n_numbers)
    numbers, rows = table["value"].reshape(shape), table["row"].reshape(shape)[0, 0, :, 0]
    if not layout.has_votes:
        return BlockTallies(rows, layout, numbers, {})
    return None if vote_table is None else BlockTallies(rows, layout, numbers, _parse_votes(vote_table, len(rows)))


def _parse_votes(table: dict[str, NDArray[Any]], n_blocks: int) -> dict[tuple[int, int, int], VoteBins]:
    if not len(table["bin"]):  # no row was scored
        return {}
    keys = np.stack([table[name] for name in VOTE_COLUMNS[:3]], axis=1)
    starts = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))
    votes: dict[tuple[int, int, int], VoteBins] = {}
    for start, stop in zip(starts, [*starts[1:], len(keys)], strict=True):
        learner, fold, code = keys[start].tolist()
        bins, position = np.unique(table["bin"][start:stop], return_inverse=True)
        weights = np.zeros((2, n_blocks, len(bins)))
        for kind, name in enumerate(("own", "others")):
            weights[kind, table["block"][start:stop], position] = table[name][start:stop]
        votes[learner, fold, code] = (bins, weights)
    return votes
