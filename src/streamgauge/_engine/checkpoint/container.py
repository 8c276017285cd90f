"""One checkpoint as bytes: a first line with the format, facts and parts with their checksum, and a mark.

The checksum detects damage. The mark authenticates the file: it is an HMAC with a secret of this user on this machine.
It is set if a part holds a pickle, which is loaded only with the right mark, or if the file is explicitly trusted.
"""

import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamgauge.errors import StreamgaugeError
from streamgauge.records.manifest import RunManifest
from streamgauge.records.serialise import pack, unpack

__all__ = ["FORMAT", "Checkpoint", "decode", "encode", "load_secret"]

FORMAT = 3
_MAGIC = b"streamgauge checkpoint "
_KIND = "checkpoint"
_N_MARK = 32
_NO_MARK = bytes(_N_MARK)


@dataclass(frozen=True)
class Checkpoint:
    """The contents of a checkpoint file.

    Parameters
    ----------
    n_rows
        The number of rows of the stream that are done.
    run
        What the run is.
    facts
        Further facts as JSON values.
    parts
        Saved states by name.
    own
        Whether its mark proves that this user wrote it on this machine.
    """

    n_rows: int
    run: RunManifest
    facts: Mapping[str, Any]
    parts: Mapping[str, bytes]
    own: bool = False


def encode(checkpoint: Checkpoint, key: bytes | None = None) -> bytes:
    """Return a checkpoint as the bytes of a file, marked with a key.

    Examples
    --------
    >>> run = RunManifest.here(("tree",), (), (), {"stream": {"name": "SEA()"}})
    >>> checkpoint = Checkpoint(100, run, {}, {"cell 0": b"state"})
    >>> decode(encode(checkpoint)) == checkpoint
    True
    >>> decode(encode(checkpoint, b"secret"), b"secret").own
    True
    """
    facts = {"n_rows": checkpoint.n_rows, "run": checkpoint.run.to_json(), "facts": checkpoint.facts}
    state = pack(_KIND, {**facts, "parts": list(checkpoint.parts)}, list(checkpoint.parts.values()))
    return b"".join([_MAGIC, f"{FORMAT}\n".encode(), state, _NO_MARK if key is None else _mark(key, state)])


def decode(data: bytes, key: bytes | None = None) -> Checkpoint:
    """Read a checkpoint; raise if it is none, of another version, or damaged.

    Examples
    --------
    >>> decode(b"something else")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: it is not a checkpoint of streamgauge
    >>> run = RunManifest.here(("tree",), (), (), {"stream": {"name": "SEA()"}})
    >>> decode(encode(Checkpoint(100, run, {}, {"cell 0": b"state"}))[:-70])
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: it is damaged
    """
    if not data.startswith(_MAGIC):
        msg = "it is not a checkpoint of streamgauge"
        raise StreamgaugeError(msg)
    line, _, _ = data[:64].partition(b"\n")
    if line != _MAGIC + str(FORMAT).encode():
        written = line[len(_MAGIC) :].decode(errors="replace")
        msg = f"it has format {written}, and this version of streamgauge reads format {FORMAT}"
        raise StreamgaugeError(msg)
    state, mark = data[len(line) + 1 : -_N_MARK], data[-_N_MARK:]
    own = key is not None and hmac.compare_digest(mark, _mark(key, state))
    try:
        head, parts = unpack(_KIND, state)
        named = dict(zip(head["parts"], parts, strict=True))
        return Checkpoint(head["n_rows"], RunManifest.from_json(head["run"]), head["facts"], named, own)
    except (LookupError, TypeError, ValueError):
        msg = "it is damaged"
        raise StreamgaugeError(msg) from None


def _mark(key: bytes, state: bytes) -> bytes:
    return hmac.digest(key, _MAGIC + state, "sha256")


def load_secret(*, make: bool) -> bytes | None:
    """Return the secret of this user on this machine, or create it with `make`; None if there is none.

    It is stored as ``streamgauge/key`` in the folder XDG_STATE_HOME, by default ``~/.local/state``.
    """
    home = os.environ.get("XDG_STATE_HOME")
    path = (Path(home) if home else Path("~/.local/state").expanduser()) / "streamgauge" / "key"
    try:
        if not path.exists() and make:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f".key.{os.getpid()}.tmp")
            file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(file, "wb") as out:
                out.write(os.urandom(32))
            try:
                os.link(temporary, path)  # the first of several concurrent processes wins
            except FileExistsError:
                pass
            finally:
                temporary.unlink()
        key = path.read_bytes()
    except (OSError, RuntimeError):  # no home folder, or a read-only one
        return None
    return key if len(key) == 32 else None
