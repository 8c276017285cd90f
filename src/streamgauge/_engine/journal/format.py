"""The files of a journal, and how they can be read while they are written.

``about.json`` says what is run. ``readings.f64`` holds a record of equal length for every stop, behind a head that
tells the generation: a file that has grown too long is replaced by a thinned one of the next generation.
``events.jsonl`` holds a line for every alarm, behind such a head. ``status.json`` says how far the run is and is
replaced about once a second. ``stop``, made by anyone, asks the run to end. A record or line that was cut off by a
crash is not read. Beside the journal may stand ``run.json``, which names the run for people.
"""

import json
import os
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
    "head",
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
_HEAD_BYTES = 24


def write_json(path: Path, facts: object) -> None:
    """Write a small file that is always whole, old or new.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "status.json"
    >>> write_json(path, {"share": float("nan")})
    >>> read_json(path)
    {'share': None}
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(json.dumps(plain(facts)), encoding="utf-8")
    temporary.replace(path)


def read_json(path: Path) -> dict[str, Any] | None:
    """Read such a file; None where it is missing or no such file.

    Examples
    --------
    >>> read_json(Path("no such file"))
    """
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return facts if isinstance(facts, dict) else None


def plain(facts: object) -> Any:  # noqa: ANN401  (what JSON takes)
    """Give facts as JSON can hold them: what is no finite number is null, what is unknown is its text.

    Examples
    --------
    >>> plain({"a": (np.float64(0.5), float("inf")), "b": Path("x")})
    {'a': [0.5, None], 'b': 'x'}
    """
    if isinstance(facts, dict):
        return {str(name): plain(fact) for name, fact in facts.items()}
    if isinstance(facts, np.ndarray | np.generic):
        return plain(facts.tolist())
    if isinstance(facts, list | tuple):
        return [plain(fact) for fact in facts]
    if isinstance(facts, float):
        return facts if np.isfinite(facts) else None
    return facts if facts is None or isinstance(facts, str | bool | int) else str(facts)


def head(generation: int, width: int) -> bytes:
    """Make the head of a file of records.

    Examples
    --------
    >>> len(head(0, 5))
    24
    """
    return _MAGIC + np.array([generation, width], dtype="<u8").tobytes()


def read_records(path: Path, width: int, skip: int = 0) -> tuple[int, NDArray[np.float64]]:
    """Read the records behind the first `skip`: the generation, and those whose rows ascend, float64 [n, width].

    Examples
    --------
    >>> read_records(Path("no such file"), 3)
    (-1, array([], shape=(0, 3), dtype=float64))
    """
    nothing = np.empty((0, width))
    try:
        with path.open("rb") as file:
            start = file.read(_HEAD_BYTES)
            if len(start) < _HEAD_BYTES or not start.startswith(_MAGIC):
                return -1, nothing
            generation, written_width = np.frombuffer(start[len(_MAGIC) :], dtype="<u8").tolist()
            if written_width != width:
                return -1, nothing
            file.seek(_HEAD_BYTES + 8 * width * skip)
            data = file.read()
    except OSError:
        return -1, nothing
    n = len(data) // (8 * width)
    records = np.frombuffer(data, dtype="<f8", count=n * width).reshape(n, width).astype(np.float64)
    # A machine that lost power may leave zeros where a record should be.
    sound = (records[:, 0] > 0) & np.concatenate((np.ones(min(n, 1), dtype=bool), np.diff(records[:, 0]) > 0))
    return generation, records[: n if sound.all() else int(np.argmin(sound))]
