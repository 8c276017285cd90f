"""The files of a journal, and how they can be read while they are written.

``about.json`` describes the run. ``readings.f64`` holds a record of equal length for every reading, after a header with
the generation: a file that has grown too long is replaced by a thinned one of the next generation. ``events.jsonl``
holds a line for every alarm, after such a header. ``status.json`` holds the state of the run and is replaced about once
a second. ``stop``, created by anyone, asks the run to end. A record or line that was cut off by a crash is not read.
``run.json`` beside the journal may name the run for people.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ABOUT",
    "EVENTS",
    "FOLDER",
    "READINGS",
    "RUN",
    "STATUS",
    "STOP",
    "make_header",
    "read_json",
    "read_records",
    "write_json",
]

FORMAT = 1
FOLDER, ABOUT, READINGS, EVENTS, STATUS, STOP = (
    "journal",
    "about.json",
    "readings.f64",
    "events.jsonl",
    "status.json",
    "stop",
)
RUN = "run.json"
_MAGIC = b"SGJOURN1"
_HEADER_BYTES = 24


def write_json(path: Path, facts: object) -> None:
    """Write a small file atomically.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "status.json"
    >>> write_json(path, {"share": float("nan")})
    >>> read_json(path)
    {'share': None}
    """
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(json.dumps(to_json(facts)), encoding="utf-8")
    temporary.replace(path)


def read_json(path: Path) -> dict[str, Any] | None:
    """Read such a file; None if it is missing or invalid.

    Examples
    --------
    >>> read_json(Path("no such file"))
    """
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return facts if isinstance(facts, dict) else None


def to_json(facts: object) -> Any:  # noqa: ANN401  (what JSON takes)
    """Return facts as JSON values: numbers that are not finite become null, unknown objects their text.

    Examples
    --------
    >>> to_json({"a": (np.float64(0.5), float("inf")), "b": Path("x")})
    {'a': [0.5, None], 'b': 'x'}
    """
    if isinstance(facts, dict):
        return {str(name): to_json(fact) for name, fact in facts.items()}
    if isinstance(facts, np.ndarray | np.generic):
        return to_json(facts.tolist())
    if isinstance(facts, list | tuple):
        return [to_json(fact) for fact in facts]
    if isinstance(facts, float):
        return facts if np.isfinite(facts) else None
    return facts if facts is None or isinstance(facts, str | bool | int) else str(facts)


def make_header(generation: int, width: int) -> bytes:
    """Return the header of a file of records.

    Examples
    --------
    >>> len(make_header(0, 5))
    24
    """
    return _MAGIC + np.array([generation, width], dtype="<u8").tobytes()


def read_records(path: Path, width: int, skip: int = 0) -> tuple[int, NDArray[np.float64]]:
    """Read the records after the first `skip`: the generation, and those whose rows ascend, float64 [n, width].

    Examples
    --------
    >>> read_records(Path("no such file"), 3)
    (-1, array([], shape=(0, 3), dtype=float64))
    """
    nothing = np.empty((0, width))
    try:
        with path.open("rb") as file:
            start = file.read(_HEADER_BYTES)
            if len(start) < _HEADER_BYTES or not start.startswith(_MAGIC):
                return -1, nothing
            generation, written_width = np.frombuffer(start[len(_MAGIC) :], dtype="<u8").tolist()
            if written_width != width:
                return -1, nothing
            file.seek(_HEADER_BYTES + 8 * width * skip)
            data = file.read()
    except OSError:
        return -1, nothing
    n = len(data) // (8 * width)
    records = np.frombuffer(data, dtype="<f8", count=n * width).reshape(n, width).astype(np.float64)
    # A machine that lost power may leave zeros in place of a record.
    valid = (records[:, 0] > 0) & np.concatenate((np.ones(min(n, 1), dtype=bool), np.diff(records[:, 0]) > 0))
    return generation, records[: n if valid.all() else int(np.argmin(valid))]
