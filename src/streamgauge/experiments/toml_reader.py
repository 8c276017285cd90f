"""An experiment from a TOML file, checked before anything runs; what is wrong is told with its line."""

from collections.abc import Mapping
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Any

from streamgauge.errors import unknown_name
from streamgauge.experiments.experiment import MADE, Experiment
from streamgauge.experiments.stream_sources import Sample, Source, imported
from streamgauge.experiments.toml_positions import Path as Place
from streamgauge.experiments.toml_tables import Document, Table, read_document
from streamgauge.streams import File

__all__ = ["out_of", "read"]

KEYS = (
    *("name", "out", "streams", "learners", "samples", "schemes", "labellings", "seeds", "forgettings", "measures"),
    *("detectors", "score", "rows", "every", "time_budget", "resources", "checkpoint_every"),
)
SAMPLE_KEYS = (
    *("name", "file", "positive", "training_positives", "training_balance", "test_balance", "labelled", "rows"),
)
READING = tuple(field.name for field in fields(File) if field.name not in ("path", "declared"))
"""How a file is read."""


def read(path: Path | str, *, rows: int | None = None) -> Experiment:
    r"""Read an experiment from a TOML file.

    Parameters
    ----------
    path
        The file.
    rows
        How many rows to read of each stream at most, whatever the file says; None to leave it to the file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "small.toml"
    >>> _ = path.write_text('rows = 1000\nstreams = ["SEA"]\nlearners = ["NaiveBayes", "NoChange"]\n')
    >>> read(path).n_cells
    2
    >>> _ = path.write_text('rows = 1000\nstreams = ["SEA"]\nlearners = ["NaiveBays"]\n')
    >>> read(path)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: ...small.toml:3: there is no learner 'NaiveBays'; did you mean NaiveBayes?
    """
    path = Path(path)
    document = read_document(path)
    root = document.root
    root.allow("key of an experiment", KEYS)
    folder = path.resolve().parent
    seeds = _seeds(root)
    limit = rows if rows is not None else root.number("rows")
    parts: dict[str, Any] = {
        "name": root.text("name") or path.stem,
        "streams": _streams(root, folder, seeds[0], rows),
        "samples": _samples(root, folder, rows),
        "learners": _learners(root, folder),
        **{
            part: found
            for part in ("schemes", "labellings", "forgettings", "measures", "detectors")
            if (found := _texts(root, part))
        },
        "seeds": seeds,
        "score": _score(root),
        "rows": limit,
        "every": root.number("every"),
        "time_budget": root.real("time_budget"),
        "resources": root.flag("resources") is not False,
        "checkpoint_every": root.number("checkpoint_every"),
    }
    _require_work(root, parts)
    document.require_faultless()
    return Experiment(**parts)


def out_of(path: Path | str) -> Path | None:
    r"""Give the folder for results that a file names; None where it names none.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "small.toml"
    >>> _ = path.write_text('out = "found"\n')
    >>> out_of(path).name
    'found'
    """
    out = read_document(path).root.text("out")
    return None if out is None else Path(path).resolve().parent / out


def _require_work(root: Table, parts: Mapping[str, Any]) -> None:
    if not root.data.get("streams") and not root.data.get("samples"):
        root.document.fault((), 'there is no stream: say streams = ["SEA"], or give [[samples]] of a file')
    if not root.data.get("learners"):
        root.document.fault((), 'there is no learner: say learners = ["HoeffdingTree"]')
    for key, least in (("rows", 1), ("every", 1), ("checkpoint_every", 0)):
        if parts[key] is not None and parts[key] < least:
            root.fault(key, f"{key} = {parts[key]}: it must be a whole number of at least {least}")


def _seeds(root: Table) -> tuple[int, ...]:
    seeds = []
    for place, value in root.several("seeds"):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            root.document.fault(place, f"seeds: {value!r} is not a whole number of at least 0")
        elif value in seeds:
            root.document.fault(place, f"seeds: {value} stands there twice")
        else:
            seeds.append(value)
    return tuple(seeds) or (1,)


def _score(root: Table) -> str:
    score, known = root.text("score") or "first", ("first", "last", "labelled")
    if score not in known:
        root.fault("score", str(unknown_name("score", score, known)))
    return score


def _texts(root: Table, part: str) -> tuple[str, ...]:
    """Read the texts of a part, each of which must make what it stands for."""
    texts: list[str] = []
    for place, value in root.several(part):
        if not isinstance(value, str):
            root.document.fault(place, f"{part}: {value!r} is not a text")
            continue
        root.document.trying(place, MADE[part], value)
        if value in texts:
            root.document.fault(place, f"{part}: {value} stands there twice")
        texts.append(value)
    return tuple(texts)


def _named(root: Table, part: str) -> list[tuple[str, Place, Any]]:
    """Read a part whose values have names: a table, or an array whose texts are their own names."""
    found = root.data.get(part, [])
    if isinstance(found, dict):
        return [(name, (part, name), value) for name, value in found.items()]
    named: list[tuple[str, Place, Any]] = []
    for place, value in root.several(part):
        if not isinstance(value, str):
            root.document.fault(place, f"{part}: {value!r} has no name; write it into a table [{part}] as name = ...")
        elif value in (name for name, _, _ in named):
            root.document.fault(place, f"{part}: {value} stands there twice")
        else:
            named.append((value, place, value))
    return named


def _learners(root: Table, folder: Path) -> dict[str, object]:
    learners: dict[str, object] = {}
    for name, place, value in _named(root, "learners"):
        thing = _imported(root.document, place, value, folder, ()) if isinstance(value, dict) else value
        if thing is not None:
            root.document.trying(place, MADE["learners"], thing)
        learners[name] = thing
    return learners


def _imported(document: Document, place: Place, value: dict[str, Any], folder: Path, beside: tuple[str, ...]) -> object:
    """Import what a table such as ``{python = "module:name"}`` names."""
    table = Table(document, place, value)
    table.allow("key here called", ("python", *beside))
    text = table.text("python")
    if text is None:
        document.fault(place, 'write a text, or {python = "module:name"}')
        return None
    return document.trying((*place, "python"), imported, text, folder)


def _streams(root: Table, folder: Path, seed: int, rows: int | None) -> dict[str, Source]:
    limited = rows is not None or "rows" in root.data
    sources: dict[str, Source] = {}
    for name, place, value in _named(root, "streams"):
        source = _source(root.document, place, value, folder)
        if source is None:
            continue
        sources[name] = source
        root.document.trying(place, source.check, seed, limited)
    return sources


def _source(document: Document, place: Place, value: object, folder: Path) -> Source | None:
    if isinstance(value, str):
        return Source(value, folder=folder)
    if not isinstance(value, dict):
        document.fault(place, f"{value!r} is not a stream: write a text, or a table such as {{file = ..., rows = ...}}")
        return None
    table = Table(document, place, value)
    if "python" in value:
        thing = _imported(document, place, value, folder, ("rows",))
        return None if thing is None else Source(thing, rows=table.number("rows"))
    if not table.allow("key of a stream", ("stream", "file", "python", "rows", *READING)):
        return None
    reading = {key: value[key] for key in READING if key in value}
    file, text = table.text("file"), table.text("stream")
    if (file is None) == (text is None) or (reading and file is None):
        document.fault(place, "a stream is a file, which may have options of reading it, or a text called stream")
        return None
    return Source(file if text is None else text, table.number("rows"), reading, folder)


def _samples(root: Table, folder: Path, rows: int | None) -> tuple[Sample, ...]:
    found = root.data.get("samples", [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        root.fault("samples", "samples are written as [[samples]], each with a file and the balances to draw")
        return ()
    samples: list[Sample] = []
    for i in range(len(found)):
        samples += _grid(root.table("samples").table(i), folder, rows)
    return tuple(samples)


def _grid(table: Table, folder: Path, rows: int | None) -> list[Sample]:
    """Give the samples of all combinations of balances and labelled fractions."""
    table.allow("key of a sample", (*SAMPLE_KEYS, *READING))
    file = table.text("file")
    if file is None:
        table.document.fault(table.place, "a sample needs a file to be drawn from")
        return []
    fixed: dict[str, Any] = {
        "name": table.text("name") or Path(file).name.partition(".")[0],
        "file": file,
        "reading": {key: table.data[key] for key in READING if key in table.data},
        "training_positives": table.number("training_positives") or 0,
        "positive": table.text("positive"),
        "folder": folder,
        "rows": rows if rows is not None else table.number("rows"),
    }
    axes = {key: table.numbers(key) for key in ("training_balance", "test_balance", "labelled")}
    filled: dict[str, list[Any]] = {key: numbers for key, numbers in axes.items() if key in table.data}
    samples = [Sample(**fixed, **dict(zip(filled, point, strict=True))) for point in product(*filled.values())]
    for sample in samples:
        table.document.trying(table.place, sample.check)
    return samples
