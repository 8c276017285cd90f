"""Index files in the layout of STUFFED: one file per class, its rows preceded by their row numbers, from 1 on.

They hold the class of every row of a file, so that a second sampling need not count. A note next to them identifies the
file they belong to; without it (if STUFFED itself wrote them) their rows are counted.
"""

import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.records.checksums import seal_json, unseal_json
from streamgauge.streams.files import File
from streamgauge.streams.files.text_files import locate_errors
from streamgauge.streams.output_files import Output, open_output, replace_atomically
from streamgauge.streams.text_lines import RawText, feed, open_raw

__all__ = ["ClassCounts", "count_rows", "read_counts", "read_index", "write_index_note"]

_INDEX = "index"


@dataclass(frozen=True)
class ClassCounts:
    """Row counts of a file by class.

    Parameters
    ----------
    classes
        Number of rows of each class.
    n_rows
        Number of all rows, labelled or not; None if only the labelled ones were counted.
    fingerprint
        Fingerprint of the file; None if it is not known yet.
    """

    classes: dict[str, int]
    n_rows: int | None = None
    fingerprint: str | None = None


def count_rows(raw: RawText, index: Path | None = None) -> ClassCounts:
    """Count the rows of each class in one pass; with a folder `index`, write index files to it."""
    counting = _native.Counting(raw.layout, raw.classes, raw.mark, index is not None)
    if index is not None:
        _write_note(raw, index, {"complete": False})  # some of the files, if this process is killed, must not be used
    with locate_errors(raw.source), ExitStack() as files:
        outputs: list[Output] = []
        for texts in feed(counting, raw.read_chunks()):
            while index is not None and len(outputs) < len(texts):
                path = _build_index_path(raw, index, len(outputs), counting.classes[len(outputs)])
                outputs.append(files.enter_context(open_output(path)))
                outputs[-1].write(_format_index_header(raw))
            for output, text in zip(outputs, texts, strict=False):
                output.write(text)
    classes = dict(zip(counting.classes, counting.counts, strict=True))
    raw.check_header(classes)
    return ClassCounts(classes, counting.n_rows)


def _format_index_header(raw: RawText) -> bytes:
    """Return the header of all columns, also dropped ones, with an index column of a unique name in front."""
    name = _INDEX
    while name in raw.names:
        name += "_"
    columns = [replace(column, role="attribute") if column.role == "dropped" else column for column in raw.columns]
    return replace(raw, columns=tuple(columns)).format_header(name)


def _build_index_path(raw: RawText, folder: Path, code: int, name: str) -> Path:
    plain = re.sub(r"[^A-Za-z0-9.+-]+", "_", name)[:40]
    return folder / f"{_get_stem(raw)}.{code}.{plain}.{raw.kind}"


def _build_note_path(raw: RawText, folder: Path) -> Path:
    return folder / f"{_get_stem(raw)}.{_INDEX}.json"


def _get_stem(raw: RawText) -> str:
    return raw.source.path.name.split(".")[0]


def write_index_note(raw: RawText, folder: Path, counts: ClassCounts) -> None:
    """Write the note that identifies the file to which the index files of a folder belong."""
    files = [_build_index_path(raw, folder, code, name).name for code, name in enumerate(counts.classes)]
    classes = [
        {"name": name, "rows": rows, "file": file if rows else None}
        for (name, rows), file in zip(counts.classes.items(), files, strict=True)
    ]
    facts = {"fingerprint": counts.fingerprint, "n_rows": counts.n_rows, "classes": classes}
    _write_note(raw, folder, {"complete": True, **facts})


def _write_note(raw: RawText, folder: Path, note: Mapping[str, object]) -> None:
    with replace_atomically(_build_note_path(raw, folder)) as temporary:
        temporary.write_text(seal_json(note, indent=2) + "\n", encoding="utf-8")


def read_counts(raw: RawText, folder: Path) -> ClassCounts | None:
    """Return the counts of a file according to a folder of index files; None if it has none, or not all."""
    path = _build_note_path(raw, folder)
    if path.is_file():
        try:
            note = unseal_json(path.read_bytes(), by_hand=True)
            if not note.get("complete", True):
                return None
            classes = {str(entry["name"]): int(entry["rows"]) for entry in note["classes"]}
            return ClassCounts(classes, int(note["n_rows"]), str(note["fingerprint"]))
        except (KeyError, TypeError, ValueError):
            msg = f"{path} is damaged: remove it"
            raise StreamgaugeError(msg) from None
    candidates = sorted(folder.glob(f"*.{raw.kind}")) if folder.is_dir() else []
    indices = [index for candidate in candidates if (index := _open_index(raw, candidate)) is not None]
    if not indices:
        return None
    classes = dict.fromkeys(raw.classes or (), 0)
    for index in indices:
        for name, rows in count_rows(index).classes.items():
            classes[name] = classes.get(name, 0) + rows
    return ClassCounts(classes)


def _open_index(raw: RawText, path: Path) -> RawText | None:
    """Open an index file; return None if a file does not have the columns of `raw` with one in front."""
    if path.resolve() == raw.source.path.resolve():
        return None
    header = None if raw.start is None else raw.start.has_header
    try:
        index = open_raw(File(path, target=raw.class_index + 1, header=header))
    except StreamgaugeError:
        return None
    if index is None or len(index.names) != len(raw.names) + 1:
        return None
    same_columns = (raw.start is not None and not raw.start.has_header) or index.names[1:] == raw.names
    return index if same_columns else None


def read_index(path: str | Path, *, header: bool | None = None) -> NDArray[np.int64]:
    """Return the rows in an index file: their positions in the indexed file, counted from 0.

    Parameters
    ----------
    path
        The index file of a class.
    header
        Whether the first line of a CSV file is a header; None to detect it.

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
        msg = f"{path} is not an index file: its first column must hold ascending row numbers from 1 on"
        raise StreamgaugeError(msg)
    return numbers.astype(np.int64) - 1
