"""Runs that the page starts: each a process of its own that goes on when the server ends.

What a page may ask for is less than what the command line can: no path outside the results folder, nothing that opens a
file or a connection by itself.
"""

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.names import FAMILIES, make
from streamgauge.streams import DATASETS

__all__ = ["Jobs", "choices", "command_for"]

MOST_AT_ONCE = 4
"""How many runs the page may have going on at once."""

STREAM_MODULES = ("generators", "concept_drift", "transforms", "joined", "paper_streams")
"""The modules of streams that are made up and read no file."""

CLOSED_LEARNERS = ("streamgauge.learners.adapters", "streamgauge.learners.pretrained")
"""Learners that can be told to open files."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_START = "from streamgauge.cli.main import main; main()"


def choices() -> dict[str, list[str]]:
    """Name what a run can be made of.

    Examples
    --------
    >>> "SEA" in choices()["streams"], "File" in choices()["streams"]
    (True, False)
    """
    families = ("schemes", "labellings", "forgettings", "measures", "detectors")
    return {
        "streams": [*_open_streams(), *DATASETS],
        "learners": list(_open_learners()),
        **{family: list(FAMILIES[family]()) for family in families},
    }


def _open_streams() -> dict[str, Any]:
    modules = tuple(f"streamgauge.streams.{module}" for module in STREAM_MODULES)
    return {name: made for name, made in FAMILIES["streams"]().items() if made.__module__.startswith(modules)}


def _open_learners() -> dict[str, Any]:
    return {
        name: made for name, made in FAMILIES["learners"]().items() if not made.__module__.startswith(CLOSED_LEARNERS)
    }


def command_for(wanted: Mapping[str, object], folder: Path) -> list[str]:
    """Make the arguments of ``streamgauge evaluate`` for what a page asks for; refuses what it may not.

    Examples
    --------
    >>> command_for({"stream": "SEA", "learners": ["NaiveBayes"], "rows": 1000}, Path())
    ['--stream=SEA', '--learner=NaiveBayes', '--rows=1000']
    >>> command_for({"stream": "File('/etc/passwd')", "learners": ["NaiveBayes"]}, Path())
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: a page cannot start a run on 'File'; it can on a generator, or a real stream
    """
    asked = {"stream", "name", *_ONE, *_MANY, *_NUMBERS}
    for name in wanted:
        if name not in asked:
            raise unknown_name(kind="option", name=name, known=asked)
    if not _texts(wanted, "learners"):
        msg = "which learners? Name at least one"
        raise StreamgaugeError(msg)
    stream = f"--stream={_stream(_text(wanted, 'stream'), folder)}"
    return [stream, *_many(wanted), *_one(wanted), *_numbers(wanted)]


def _many(wanted: Mapping[str, object]) -> Iterator[str]:
    for name, (option, check) in _MANY.items():
        for text in _texts(wanted, name):
            check(text)
            yield f"--{option}={text}"


def _one(wanted: Mapping[str, object]) -> Iterator[str]:
    for name, check in _ONE.items():
        if text := _text(wanted, name):
            check(text)
            yield f"--{name}={text}"


def _numbers(wanted: Mapping[str, object]) -> Iterator[str]:
    for name in _NUMBERS:
        number = wanted.get(name)
        if number is None:
            continue
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            msg = f"{name} is {number!r}; it must be a whole number"
            raise StreamgaugeError(msg)
        yield f"--{name}={number}"


def _stream(text: str, folder: Path) -> str:
    if not text:
        msg = "which stream? Name one, such as SEA"
        raise StreamgaugeError(msg)
    if text in DATASETS:
        return text
    inside = (folder / text).resolve()
    if inside.is_file() and inside.is_relative_to(folder.resolve()):
        return str(inside)
    known = _open_streams()
    name = text.partition("(")[0].strip()
    if name not in known and name in FAMILIES["streams"]():
        msg = f"a page cannot start a run on {name!r}; it can on a generator, or a real stream"
        raise StreamgaugeError(msg)
    make("stream", text, known)
    return text


def _measure(text: str) -> None:
    known = FAMILIES["measures"]()
    if text not in known:
        raise unknown_name(kind="measure", name=text, known=known)


def _made(kind: str, family: str) -> Callable[[str], object]:
    return lambda text: make(kind, text, FAMILIES[family]())


def _scheme(text: str) -> object:
    return make("scheme", text, {**_open_streams(), **FAMILIES["schemes"]()})


def _learner(text: str) -> object:
    return make("learner", text, _open_learners(), within=FAMILIES["detectors"]())


_ONE: dict[str, Callable[[str], object]] = {"scheme": _scheme, "labelling": _made("labelling", "labellings")}
_MANY: dict[str, tuple[str, Callable[[str], object]]] = {
    "learners": ("learner", _learner),
    "forgettings": ("forgetting", _made("forgetting", "forgettings")),
    "measures": ("measure", _measure),
    "detectors": ("detector", _made("detector", "detectors")),
}
_NUMBERS = ("rows", "every", "seed")


def _text(wanted: Mapping[str, object], name: str) -> str:
    text = wanted.get(name) or ""
    if not isinstance(text, str) or len(text) > 2_000 or "\0" in text:
        msg = f"{name} must be a text"
        raise StreamgaugeError(msg)
    return text.strip()


def _texts(wanted: Mapping[str, object], name: str) -> list[str]:
    texts = wanted.get(name) or []
    if not isinstance(texts, list) or len(texts) > 50:
        msg = f"{name} must be a list of at most 50 texts"
        raise StreamgaugeError(msg)
    return [text for text in (_text({name: text}, name) for text in texts) if text]


class Jobs:
    """The runs that were started here.

    Parameters
    ----------
    folder
        The results folder; each run gets a new folder in it.

    Examples
    --------
    >>> import tempfile
    >>> Jobs(Path(tempfile.mkdtemp())).failures()
    {}
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def going_on(self) -> list[str]:
        """The names of those runs that go on."""
        return [name for name, process in self._started.items() if process.poll() is None]

    def start(self, wanted: Mapping[str, object]) -> str:
        """Start a run; give its name."""
        if len(self.going_on) >= MOST_AT_ONCE:
            msg = f"{MOST_AT_ONCE} runs that were started here go on; stop one, or wait for it"
            raise StreamgaugeError(msg)
        name = _text(wanted, "name") or time.strftime("run-%Y%m%d-%H%M%S")
        out = self.folder / name
        if not _NAME.fullmatch(name):
            msg = f"{name!r} is no name for a run: use letters, digits, dots, dashes and underscores"
            raise StreamgaugeError(msg)
        arguments = command_for(wanted, self.folder)
        try:
            out.mkdir()
        except FileExistsError:
            msg = f"there is already a run {name!r}; give it another name"
            raise StreamgaugeError(msg) from None
        command = [sys.executable, "-c", _START, "evaluate", *arguments, f"--out={out}", "--quiet"]
        with (out / "run.log").open("wb") as log:
            # In a session of its own, so that Ctrl-C at the server does not end it.
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, start_new_session=True
            )
        self._started[name] = process
        return name

    def failures(self) -> dict[str, str]:
        """Give the last words of those runs that ended without success."""
        told = {}
        for name, process in list(self._started.items()):
            status = process.poll()
            if status == 0 or (status is not None and (self.folder / name / "manifest.json").is_file()):
                del self._started[name]  # one that was stopped has results, too
            elif status is not None:
                told[name] = _last_line(self.folder / name / "run.log") or f"it ended with status {status}"
        return told


def _last_line(path: Path) -> str:
    try:
        lines = path.read_bytes()[-4096:].decode(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1][:500] if lines else ""
