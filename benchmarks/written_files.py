"""What the files of a run hold apart from times, so that two runs can be compared."""

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from streamgauge._engine.journal import JournalReader

__all__ = ["find_differences", "take_snapshot"]

TIMES = frozenset(
    {"seconds", "started", "updated", "finished_at", "pid", "checksum", "latency", "peak_rss", "resources.parquet"}
    | {"seconds_of_last_run"}
)
"""Keys whose values are times, memory, process ids, or checksums of such."""
NAMES_ONLY = ("resources.parquet", "*.checkpoint", "progress.log", "recorder.log", "about.json")
"""Files that hold costs and times, or states of a run whose results are compared instead."""
DURATION = re.compile(rb"(<dt>duration in seconds</dt><dd>)[^<]*")
MATLAB_HEADER_BYTES = 128


def take_snapshot(folder: Path) -> dict[str, str]:
    """Return what each file and folder within a folder holds, by name."""
    return {
        str(path.relative_to(folder)) + "/" * path.is_dir(): "" if path.is_dir() else _digest(path)
        for path in sorted(folder.rglob("*"))
    }


def find_differences(expected: dict[str, str], found: dict[str, str]) -> list[str]:
    """Return what is missing, left behind or different, in words."""
    missing = [f"{name} is missing" for name in expected.keys() - found.keys()]
    left = [f"{name} was left behind" for name in found.keys() - expected.keys()]
    different = [f"{name} differs" for name in expected.keys() & found.keys() if expected[name] != found[name]]
    return sorted(missing + left + different)


def _digest(path: Path) -> str:
    if any(path.match(pattern) for pattern in NAMES_ONLY):
        return ""
    return hashlib.sha256(_read_timeless(path)).hexdigest()


def _read_timeless(path: Path) -> bytes:
    """Return the content of a file without times."""
    read = READERS.get(path.suffix, Path.read_bytes)
    return read(path)


def _read_facts(path: Path) -> bytes:
    return repr(_drop_times(json.loads(path.read_bytes()))).encode()


def _read_events(path: Path) -> bytes:
    """Return the lines of JSON of a log, without the head of that of a journal."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return repr([_drop_times(line) for line in lines if "generation" not in line]).encode()


def _drop_times(value: Any) -> Any:  # noqa: ANN401
    """Return JSON without times."""
    if isinstance(value, dict):
        return {key: _drop_times(part) for key, part in value.items() if key not in TIMES}
    return [_drop_times(part) for part in value] if isinstance(value, list) else value


def _read_catalogue(path: Path) -> bytes:
    """Return the rows of all tables of a catalogue except checksums, claims included."""
    with closing(sqlite3.connect(path)) as catalogue:
        catalogue.row_factory = sqlite3.Row
        tables = [row[0] for row in catalogue.execute("select name from sqlite_master where type = 'table' order by 1")]
        rows = {
            table: sorted(repr(_drop_times(_parse(row))) for row in catalogue.execute(f"select * from {table}"))
            for table in tables
        }
    return repr(rows).encode()


def _parse(row: sqlite3.Row) -> dict[str, Any]:
    """Return a row of a catalogue with its manifest, if it has one, as facts."""
    facts = dict(row)
    return {**facts, "manifest": json.loads(facts["manifest"])} if facts.get("manifest") else facts


def _read_journal(path: Path) -> bytes:
    """Return the readings of a journal, and the last differences: which others it holds depends on the batches."""
    journal = JournalReader(path.parent.parent)
    _, records = journal.records()
    layout = journal.layout
    curves = [
        (measure, forgetting, [column.tolist() for column in layout.curve(records, measure, forgetting)])
        for measure in layout.measures
        for forgetting in layout.forgettings
    ]
    pairs = [layout.pair(records[-1:], *pair).tolist() for pair in layout.pairs]
    return repr((layout.rows(records).tolist(), curves, pairs)).encode()


READERS: dict[str, Callable[[Path], bytes]] = {
    ".json": _read_facts,
    ".jsonl": _read_events,
    ".log": _read_events,
    ".sqlite": _read_catalogue,
    ".f64": _read_journal,
    ".html": lambda path: DURATION.sub(rb"\1", path.read_bytes()),
    ".mat": lambda path: path.read_bytes()[MATLAB_HEADER_BYTES:],
}
"""How files that hold times are read, by the end of their name; all others must have the same bytes."""
