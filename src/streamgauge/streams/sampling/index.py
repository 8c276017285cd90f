"""Index files in the layout of STUFFED: one file per class, its rows preceded by their numbers, from 1 on.

They hold the class of every row of a file, so that a second sampling need not count. Beside them stands a note of the
file they belong to; without it (as where STUFFED itself wrote them) their rows are counted.
"""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.streams.files import File
from streamgauge.streams.files.column_roles import Column
from streamgauge.streams.files.text_files import located
from streamgauge.streams.output_files import Output, replacing, writing_bytes
from streamgauge.streams.text_lines import RawText, open_raw

__all__ = ["Counts", "count_rows", "note_index", "read_counts", "read_index"]

_INDEX = "index"


@dataclass(frozen=True)
class Counts:
    """How many rows each class of a file has.

    Parameters
    ----------
    classes
        Rows by class.
    n_rows
        All rows, with a label or without; None where only those with one are known.
    fingerprint
        That of the file that was counted; None where it is not known yet.
    """

    classes: dict[str, int]
    n_rows: int | None = None
    fingerprint: str | None = None


def count_rows(raw: RawText, index: Path | None = None) -> Counts:
    """Count the rows of each class, in one pass; with a folder, write the index files into it."""
    counting = _native.Counting(raw.rows, raw.classes, raw.place, index is not None)
    with located(raw.source), ExitStack() as files:
        outputs: list[Output] = []
        for part in _parts(raw, counting):
            while index is not None and len(outputs) < len(part):
                path = _index_path(raw, index, len(outputs), counting.classes[len(outputs)])
                outputs.append(files.enter_context(writing_bytes(path)))
                outputs[-1].write(replace(raw, columns=_all_kept(raw)).header(_index_name(raw)))
            for output, text in zip(outputs, part, strict=False):
                output.write(text)
    classes = dict(zip(counting.classes, counting.counts, strict=True))
    raw.check_header(classes)
    return Counts(classes, counting.n_rows)


def _parts(raw: RawText, counting: _native.Counting) -> Iterator[list[bytes]]:
    for chunk in raw.chunks():
        yield counting.update(chunk)
    yield counting.finish()


def _all_kept(raw: RawText) -> tuple[Column, ...]:
    return tuple(replace(column, role="attribute") if column.role == "dropped" else column for column in raw.columns)


def _index_name(raw: RawText) -> str:
    """Give the index column a name that no other column has."""
    name = _INDEX
    while name in raw.names:
        name += "_"
    return name


def _index_path(raw: RawText, folder: Path, code: int, name: str) -> Path:
    plain = re.sub(r"[^A-Za-z0-9.+-]+", "_", name)[:40]
    return folder / f"{_stem(raw)}.{code}.{plain}.{raw.kind}"


def _stem(raw: RawText) -> str:
    return raw.source.path.name.split(".")[0]


def note_index(raw: RawText, folder: Path, counts: Counts) -> None:
    """Write down which file the index files of a folder belong to."""
    files = [_index_path(raw, folder, code, name).name for code, name in enumerate(counts.classes)]
    classes = [
        {"name": name, "rows": rows, "file": file if rows else None}
        for (name, rows), file in zip(counts.classes.items(), files, strict=True)
    ]
    note = {"fingerprint": counts.fingerprint, "n_rows": counts.n_rows, "classes": classes}
    with replacing(_note_path(raw, folder)) as temporary:
        temporary.write_text(json.dumps(note, indent=2) + "\n")


def _note_path(raw: RawText, folder: Path) -> Path:
    return folder / f"{_stem(raw)}.{_INDEX}.json"


def read_counts(raw: RawText, folder: Path) -> Counts | None:
    """Give the counts that a folder of index files holds for a file; None where it holds none."""
    note = _note_path(raw, folder)
    if note.is_file():
        try:
            kept = json.loads(note.read_text())
            classes = {str(entry["name"]): int(entry["rows"]) for entry in kept["classes"]}
            return Counts(classes, int(kept["n_rows"]), str(kept["fingerprint"]))
        except (KeyError, TypeError, ValueError):
            msg = f"{note} is damaged; remove it"
            raise StreamgaugeError(msg) from None
    files = [path for path in _candidates(raw, folder) if _is_index(raw, path)]
    if not files:
        return None
    classes = dict.fromkeys(raw.classes or (), 0)
    for path in files:
        found = open_raw(_index_file(raw, path))
        for name, rows in (count_rows(found).classes if found is not None else {}).items():
            classes[name] = classes.get(name, 0) + rows
    return Counts(classes)


def _candidates(raw: RawText, folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*.{raw.kind}")) if folder.is_dir() else []


def _index_file(raw: RawText, path: Path) -> File:
    header = None if raw.start is None else raw.start.has_header
    return File(path, target=raw.class_field + 1, header=header, drop_text=raw.kind == "arff")


def _is_index(raw: RawText, path: Path) -> bool:
    """Say whether a file has the columns of another with one in front."""
    if path.resolve() == raw.source.path.resolve():
        return False
    try:
        found = open_raw(_index_file(raw, path))
    except StreamgaugeError:
        return False
    if found is None or len(found.names) != len(raw.names) + 1:
        return False
    return (raw.start is not None and not raw.start.has_header) or found.names[1:] == raw.names


def read_index(path: str | Path, *, header: bool | None = None) -> NDArray[np.int64]:
    """Read which rows an index file holds: their positions in the file it was made from, counted from 0.

    Parameters
    ----------
    path
        The index file of a class.
    header
        Whether the first line of a CSV file names its columns; None finds out.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "positive.arff"
    >>> _ = file.write_text('''@relation D
    ... @attribute index numeric
    ... @attribute a numeric
    ... @attribute class {0,1}
    ... @data
    ... 1,13,1
    ... 3,61,1''')
    >>> read_index(file).tolist()
    [0, 2]
    """
    stream = File(path, keep=(0,), header=header) if Path(path).suffix != ".arff" else File(path, keep=(0,))
    parts = [batch.x[:, 0] for batch in stream.batches(65_536)]
    numbers = np.concatenate(parts) if parts else np.empty(0)
    if not (np.all(numbers >= 1) and np.all(numbers % 1 == 0) and np.all(np.diff(numbers) > 0)):
        msg = f"{path} is no index file: its first column must hold ascending row numbers from 1 on"
        raise StreamgaugeError(msg)
    return numbers.astype(np.int64) - 1
