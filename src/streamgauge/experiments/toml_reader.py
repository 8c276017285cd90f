"""Experiments from TOML files, checked before anything runs; errors name their line."""

from collections.abc import Mapping
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Any

from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.experiments.experiment import MAKERS, Experiment
from streamgauge.experiments.stream_sources import SampleSource, Source
from streamgauge.experiments.toml_positions import KeyPath
from streamgauge.experiments.toml_tables import Document, Table, read_document
from streamgauge.names import import_object
from streamgauge.streams import File

__all__ = ["read", "read_out_folder"]

KEYS = (
    *("name", "out", "streams", "learners", "samples", "schemes", "labellings", "seeds", "forgettings", "measures"),
    *("detectors", "live_measures", "budgets", "score", "score_unlabelled_start", "rows", "every", "time_budget"),
    *("resources", "checkpoint_every"),
)
SAMPLE_KEYS = (
    *("name", "file", "positive", "training_positives", "training_balance", "test_balance", "labelled", "rows"),
)
READING = tuple(field.name for field in fields(File) if field.name not in ("path", "declared"))
"""Options of reading a file."""


def read(path: Path | str, *, rows: int | None = None) -> Experiment:
    r"""Read an experiment from a TOML file.

    Parameters
    ----------
    path
        The file.
    rows
        Largest number of rows to read of each stream, whatever the file says; None for the setting of the file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "small.toml"
    >>> _ = path.write_text('rows = 1000\nstreams = ["SEA"]\nlearners = ["NaiveBayes", "NoChange"]\n')
    >>> read(path).n_evaluations
    2
    >>> _ = path.write_text('rows = 1000\nstreams = ["SEA"]\nlearners = ["NaiveBays"]\n')
    >>> read(path)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    streamgauge.errors.FileFaultsError: ...small.toml:3: there is no learner 'NaiveBays'; did you mean NaiveBayes?
    """
    path = Path(path)
    document = read_document(path)
    root = document.root
    root.check_keys("key of an experiment", KEYS)
    folder = path.resolve().parent
    seeds = _read_seeds(root)
    parts: dict[str, Any] = {
        "name": root.read_text("name") or path.stem,
        "streams": _read_streams(root, folder, seeds[0], rows),
        "samples": _read_samples(root, folder, rows),
        "learners": _read_learners(root, folder),
        **{
            part: texts
            for part in ("schemes", "labellings", "forgettings", "measures", "detectors", "live_measures", "budgets")
            if (texts := _read_texts(root, part))
        },
        "seeds": seeds,
        "score": _read_score(root),
        "score_unlabelled_start": root.read_flag("score_unlabelled_start") is True,
        "rows": rows if rows is not None else root.read_integer("rows"),
        "every": root.read_integer("every"),
        "time_budget": root.read_float("time_budget"),
        "resources": root.read_flag("resources") is not False,
        "checkpoint_every": root.read_integer("checkpoint_every"),
    }
    _check_parts(root, parts)
    document.raise_errors()
    try:
        return Experiment(**parts)
    except StreamgaugeError as error:  # of its parts together
        msg = f"{path}: {error}"
        raise StreamgaugeError(msg) from None


def read_out_folder(path: Path | str) -> Path | None:
    r"""Return the folder for results that a file names; None if it names none.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "small.toml"
    >>> _ = path.write_text('out = "found"\n')
    >>> read_out_folder(path).name
    'found'
    """
    out = read_document(path).root.read_text("out")
    return None if out is None else Path(path).resolve().parent / out


def _check_parts(root: Table, parts: Mapping[str, Any]) -> None:
    if not root.data.get("streams") and not root.data.get("samples"):
        root.document.add_error((), 'there is no stream: write streams = ["SEA"], or [[samples]] of a file')
    if not root.data.get("learners"):
        root.document.add_error((), 'there is no learner: write learners = ["HoeffdingTree"]')
    for key, least in (("rows", 1), ("every", 1), ("checkpoint_every", 0)):
        if parts[key] is not None:
            root.document.attempt((key,), require_at_least, key, parts[key], least)


def _read_seeds(root: Table) -> tuple[int, ...]:
    seeds: dict[int, None] = {}
    for path, value in root.list_values("seeds"):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            root.document.add_error(path, f"seeds: {value!r} is not a whole number of at least 0")
        elif value in seeds:
            root.document.add_error(path, f"seeds: {value} is listed twice")
        elif value >= 2**64:
            root.document.add_error(path, f"seeds: {value} is not below 2**64")
        else:
            seeds[value] = None
    return tuple(seeds) or (1,)


def _read_score(root: Table) -> str:
    score, known = root.read_text("score") or "first", ("first", "last", "labelled")
    if score not in known:
        root.add_error("score", str(unknown_name("score", score, known)))
    return score


def _read_texts(root: Table, part: str) -> tuple[str, ...]:
    """Read the texts of a part, and check that each names an object."""
    texts: list[str] = []
    for path, value in root.list_values(part):
        if not isinstance(value, str):
            root.document.add_error(path, f"{part}: {value!r} is not a text")
            continue
        root.document.attempt(path, MAKERS[part], value)
        if value in texts:
            root.document.add_error(path, f"{part}: {value} is listed twice")
        texts.append(value)
    return tuple(texts)


def _read_named(root: Table, part: str) -> list[tuple[str, KeyPath, Any]]:
    """Read a part whose values have names: a table, or an array of texts that are their own names."""
    data = root.data.get(part, [])
    if isinstance(data, dict):
        return [(name, (part, name), value) for name, value in data.items()]
    named: list[tuple[str, KeyPath, Any]] = []
    for path, value in root.list_values(part):
        if not isinstance(value, str):
            reason = f"{part}: {value!r} has no name; write it into a table [{part}] as name = ..."
            root.document.add_error(path, reason)
        elif value in (name for name, _, _ in named):
            root.document.add_error(path, f"{part}: {value} is listed twice")
        else:
            named.append((value, path, value))
    return named


def _read_learners(root: Table, folder: Path) -> dict[str, object]:
    learners: dict[str, object] = {}
    for name, path, value in _read_named(root, "learners"):
        learner = _import(Table(root.document, path, value), folder) if isinstance(value, dict) else value
        if learner is not None:
            root.document.attempt(path, MAKERS["learners"], learner)
        learners[name] = learner
    return learners


def _import(table: Table, folder: Path, *other_keys: str) -> object:
    """Import the object that a table such as ``{python = "module:name"}`` names."""
    table.check_keys("key here called", ("python", *other_keys))
    text = table.read_text("python")
    if text is None:
        table.document.add_error(table.path, 'write a text, or {python = "module:name"}')
        return None
    return table.document.attempt((*table.path, "python"), import_object, text, folder)


def _read_streams(root: Table, folder: Path, seed: int, rows: int | None) -> dict[str, Source]:
    limited = rows is not None or "rows" in root.data
    sources: dict[str, Source] = {}
    for name, path, value in _read_named(root, "streams"):
        source = _read_source(root.document, path, value, folder)
        if source is None:
            continue
        sources[name] = source
        root.document.attempt(path, source.check, seed, limited)
    return sources


def _read_source(document: Document, path: KeyPath, value: object, folder: Path) -> Source | None:
    if isinstance(value, str):
        return Source(value, folder=folder)
    if not isinstance(value, dict):
        reason = f"{value!r} is not a stream: write a text, or a table such as {{file = ..., rows = ...}}"
        document.add_error(path, reason)
        return None
    table = Table(document, path, value)
    if "python" in value:
        stream = _import(table, folder, "rows")
        return None if stream is None else Source(stream, rows=table.read_integer("rows"))
    if not table.check_keys("key of a stream", ("stream", "file", "python", "rows", *READING)):
        return None
    reading = {key: value[key] for key in READING if key in value}
    file, text = table.read_text("file"), table.read_text("stream")
    if (file is None) == (text is None) or (reading and file is None):
        document.add_error(path, "a stream needs either file, with options of reading it, or stream, a text")
        return None
    return Source(file if text is None else text, table.read_integer("rows"), reading, folder)


def _read_samples(root: Table, folder: Path, rows: int | None) -> tuple[SampleSource, ...]:
    tables = root.data.get("samples", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        root.add_error("samples", "samples are written as [[samples]], each with a file and the balances to draw")
        return ()
    samples: list[SampleSource] = []
    for i in range(len(tables)):
        samples += _read_sample_grid(root.get_table("samples").get_table(i), folder, rows)
    return tuple(samples)


def _read_sample_grid(table: Table, folder: Path, rows: int | None) -> list[SampleSource]:
    """Return the samples of all combinations of balances and labelled fractions."""
    table.check_keys("key of a sample", (*SAMPLE_KEYS, *READING))
    file = table.read_text("file")
    if file is None:
        table.document.add_error(table.path, "a sample needs file, the file it is drawn from")
        return []
    fixed: dict[str, Any] = {
        "name": table.read_text("name") or Path(file).name.partition(".")[0],
        "file": file,
        "reading": {key: table.data[key] for key in READING if key in table.data},
        "training_positives": table.read_integer("training_positives") or 0,
        "positive": table.read_text("positive"),
        "folder": folder,
        "rows": rows if rows is not None else table.read_integer("rows"),
    }
    axes = {key: table.read_numbers(key) for key in ("training_balance", "test_balance", "labelled")}
    given: dict[str, list[Any]] = {key: numbers for key, numbers in axes.items() if key in table.data}
    samples = [SampleSource(**fixed, **dict(zip(given, point, strict=True))) for point in product(*given.values())]
    for sample in samples:
        table.document.attempt(table.path, sample.check)
    return samples
