"""The files of a journal, and how they can be read while they are written.

``about.json`` describes the run. ``readings.f64`` holds a record of equal length for every reading, after a header with
the generation: a file that has grown too long is replaced by a thinned one of the next generation. ``events.jsonl``
holds a line for every alarm, after such a header. ``status.json`` holds the state of the run and is replaced about once
a second. ``stop``, created by anyone, asks the run to end. ``run.json`` beside the journal may name the run for people.

Headers, records, lines and files of JSON each end with their checksum. A record or line that was cut off by a crash is
not read; one that is damaged is refused by name.
"""

from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records.checksums import read_limited, read_rest, seal_json, unseal_json
from streamgauge.streams.output_files import replace_atomically

__all__ = [
    "ABOUT",
    "EVENTS",
    "FOLDER",
    "READINGS",
    "RUN",
    "STATUS",
    "STOP",
    "make_header",
    "pack_records",
    "read_json",
    "read_lines",
    "read_records",
    "to_line",
    "write_json",
]

FOLDER, ABOUT, READINGS, EVENTS, STATUS, STOP = (
    "journal",
    "about.json",
    "readings.f64",
    "events.jsonl",
    "status.json",
    "stop",
)
RUN = "run.json"
_MAGIC = b"SGJOURN2"
_HEADER_BYTES = 32


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
    with replace_atomically(path) as temporary:
        temporary.write_text(seal_json(to_json(facts)), encoding="utf-8")


def read_json(path: Path, *, by_hand: bool = False) -> dict[str, Any] | None:
    """Read such a file; None if it is missing. With `by_hand` it may also be one without a checksum.

    Examples
    --------
    >>> read_json(Path("no such file"))
    """
    try:
        data = read_limited(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise StreamgaugeError(msg) from None
    except ValueError as error:
        raise make_damage(path, error) from None
    try:
        return unseal_json(data, by_hand=by_hand)
    except (ValueError, RecursionError) as error:
        raise make_damage(path, error) from None


def make_damage(path: Path, reason: object) -> StreamgaugeError:
    """Return the error for a file of a journal that is damaged.

    Examples
    --------
    >>> str(make_damage(Path("status.json"), "it does not match its checksum"))
    'status.json is damaged: it does not match its checksum'
    """
    return StreamgaugeError(f"{path} is damaged: {reason}")


def to_line(facts: object) -> str:
    r"""Return facts as a line with its checksum.

    Examples
    --------
    >>> to_line({"row": 7})
    '{"row": 7, "checksum": "2edde75c"}\n'
    """
    return seal_json(to_json(facts)) + "\n"


def read_lines(path: Path, skip: int = 0) -> list[dict[str, Any]]:
    """Read the lines of `to_line`, but for `skip` lines after the first one; one that was cut off is left out.

    Examples
    --------
    >>> read_lines(Path("no such file"))
    []
    """
    try:
        data = read_limited(path)
    except OSError:
        return []
    except ValueError as error:
        raise make_damage(path, error) from None
    *lines, last = data.split(b"\n")
    if last.endswith(b"}") or last[:-1].endswith(b'"}'):  # it lacks its line end, or has another one
        lines.append(last if last.endswith(b"}") else last[:-1])
    try:
        return [unseal_json(line) for line in (*lines[:1], *lines[1 + skip :])]
    except (ValueError, RecursionError) as error:
        raise make_damage(path, error) from None


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
    32
    """
    header = _MAGIC + np.array([generation, width], dtype="<u8").tobytes()
    return header + crc32(header).to_bytes(8, "little")


def pack_records(records: NDArray[np.float64]) -> bytes:
    """Return records as bytes, each with its checksum as its last number.

    Examples
    --------
    >>> len(pack_records(np.ones((2, 3))))
    64
    """
    packed = np.empty((len(records), records.shape[1] + 1), dtype="<f8")
    packed[:, :-1] = records
    packed[:, -1] = _compute_checksums(packed)
    return packed.tobytes()


def _compute_checksums(packed: NDArray[np.float64]) -> list[int]:
    """Return the checksum of each record, its last number aside."""
    data, size = memoryview(packed.tobytes()), 8 * packed.shape[1]
    return [crc32(data[start : start + size - 8]) for start in range(0, len(data), size)]


def read_records(path: Path, width: int, skip: int = 0) -> tuple[int, NDArray[np.float64]]:
    """Read the records after the first `skip`: the generation and the records, float64 [n, width].

    The end of a file may be missing, or be zeros after a loss of power. Anything else that does not match its checksum
    is an error.

    Examples
    --------
    >>> read_records(Path("no such file"), 3)
    (-1, array([], shape=(0, 3), dtype=float64))
    """
    nothing = np.empty((0, width))
    try:
        with path.open("rb") as file:
            start = file.read(_HEADER_BYTES)
            if start != make_header(*np.frombuffer(start[8:24].ljust(16, b"\0"), dtype="<u8").tolist()):
                raise make_damage(path, "its header does not match its checksum")
            generation, written_width = np.frombuffer(start[8:24], dtype="<u8").tolist()
            if written_width != width:
                raise make_damage(path, f"its records have {written_width} numbers where the run has {width}")
            file.seek(_HEADER_BYTES + 8 * (width + 1) * skip)
            data = read_rest(file)
    except OSError:
        return -1, nothing
    except StreamgaugeError:
        raise
    except ValueError as error:
        raise make_damage(path, error) from None
    n = len(data) // (8 * (width + 1))
    packed = np.frombuffer(data, dtype="<f8", count=n * (width + 1)).reshape(n, width + 1)
    wrong = np.flatnonzero(packed[:, -1] != _compute_checksums(packed))
    if len(wrong):
        n = int(wrong[0])
        if packed[n:].any():
            raise make_damage(path, f"reading {skip + n} does not match its checksum")
    return generation, packed[:n, :-1].astype(np.float64)
