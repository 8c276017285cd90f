"""One checkpoint as bytes: a first line with the format, a header in JSON, the parts, a checksum and a mark.

The checksum shows damage. The mark shows whose it is: it is made with a secret of this user on this machine, so that
nobody else can make a checkpoint that passes for one's own. It is set where a part holds a pickle, which is loaded only
with the right mark, or where one says that the file is to be trusted.
"""

import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamgauge.errors import StreamgaugeError

__all__ = ["FORMAT", "Checkpoint", "decoded", "encoded", "secret"]

FORMAT = 1
_MAGIC = b"streamgauge checkpoint "
_N_DIGEST = 32
_NO_MARK = bytes(_N_DIGEST)


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint as it is in its file.

    Parameters
    ----------
    n_rows
        After how many rows of the stream it was written.
    run
        What the run is, in plain words: what must be the same for it to go on.
    facts
        What else is to be told.
    parts
        Saved states by name.
    own
        Whether its mark shows that this user wrote it on this machine.
    """

    n_rows: int
    run: Mapping[str, Any]
    facts: Mapping[str, Any]
    parts: Mapping[str, bytes]
    own: bool = False


def encoded(checkpoint: Checkpoint, key: bytes | None = None) -> bytes:
    """Give a checkpoint as the bytes of a file, marked with a key.

    Examples
    --------
    >>> checkpoint = Checkpoint(100, {"stream": "SEA()"}, {}, {"cell 0": b"state"})
    >>> decoded(encoded(checkpoint)) == checkpoint
    True
    >>> decoded(encoded(checkpoint, b"secret"), b"secret").own
    True
    """
    sizes = {name: len(part) for name, part in checkpoint.parts.items()}
    head = {"n_rows": checkpoint.n_rows, "run": checkpoint.run, "facts": checkpoint.facts, "parts": sizes}
    text = json.dumps(head).encode()
    first = _MAGIC + f"{FORMAT}\n".encode() + len(text).to_bytes(8, "little")
    body = b"".join([first, text, *checkpoint.parts.values()])
    digest = hashlib.blake2b(body, digest_size=_N_DIGEST).digest()
    return body + digest + (_NO_MARK if key is None else _mark(key, digest))


def decoded(data: bytes, key: bytes | None = None) -> Checkpoint:
    """Read a checkpoint; raises where it is none, of another version, or damaged.

    Examples
    --------
    >>> decoded(b"something else")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: it is no checkpoint of streamgauge
    >>> decoded(encoded(Checkpoint(100, {}, {}, {"cell 0": b"state"}))[:-70])
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: it is damaged
    """
    if not data.startswith(_MAGIC):
        msg = "it is no checkpoint of streamgauge"
        raise StreamgaugeError(msg)
    line, _, _ = data[:64].partition(b"\n")
    if line != _MAGIC + str(FORMAT).encode():
        written = line[len(_MAGIC) :].decode(errors="replace")
        msg = f"it has format {written}, and this version of streamgauge reads format {FORMAT}"
        raise StreamgaugeError(msg)
    body, digest, mark = data[: -2 * _N_DIGEST], data[-2 * _N_DIGEST : -_N_DIGEST], data[-_N_DIGEST:]
    if hashlib.blake2b(body, digest_size=_N_DIGEST).digest() != digest:
        msg = "it is damaged"
        raise StreamgaugeError(msg)
    place = len(line) + 9
    stop = place + int.from_bytes(body[place - 8 : place], "little")
    head = json.loads(body[place:stop])
    parts = {}
    for name, size in head["parts"].items():
        parts[name] = body[stop : stop + size]
        stop += size
    own = key is not None and hmac.compare_digest(mark, _mark(key, digest))
    return Checkpoint(head["n_rows"], head["run"], head["facts"], parts, own)


def _mark(key: bytes, digest: bytes) -> bytes:
    return hmac.digest(key, b"streamgauge checkpoint" + digest, "sha256")


def secret(*, make: bool) -> bytes | None:
    """Give the secret of this user on this machine, made where it is asked for and missing; None where there is none.

    It is kept in ``streamgauge/key`` in the folder of the variable XDG_STATE_HOME, or else in ``~/.local/state``.
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
                os.link(temporary, path)  # the first of several that make one at a time wins
            except FileExistsError:
                pass
            finally:
                temporary.unlink()
        key = path.read_bytes()
    except (OSError, RuntimeError):  # no home, or none that can be written
        return None
    return key if len(key) == 32 else None
