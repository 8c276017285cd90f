"""Runs that a page starts, each in a process that survives the server.

A page may do less than the command line: it cannot name a path outside the results folder, nor an object that opens
files or connections.
"""

import inspect
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from streamgauge._format.text import to_text
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.measures import expand_all, measure
from streamgauge.names import FAMILIES, make
from streamgauge.streams import DATASETS

__all__ = ["LaunchedRuns", "build_arguments", "list_choices", "list_options"]

MAX_RUNNING = 4
"""Largest number of runs that pages may have running at once."""

STREAM_MODULES = ("generators", "concept_drift", "transforms", "joined", "paper_streams")
"""Modules with streams that read no file."""

FORBIDDEN_LEARNER_MODULES = ("streamgauge.learners.adapters", "streamgauge.learners.pretrained")
"""Modules with learners that may open files."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_START = "from streamgauge.cli.main import main; main()"


def list_choices() -> dict[str, list[str]]:
    """Return the names of everything that a page may use in a run.

    Examples
    --------
    >>> "SEA" in list_choices()["streams"], "File" in list_choices()["streams"]
    (True, False)
    """
    families = ("schemes", "labellings", "forgettings", "measures", "detectors")
    return {
        "streams": [*_find_open_streams(), *DATASETS],
        "learners": list(_find_open_learners()),
        **{family: list(FAMILIES[family]()) for family in families},
    }


def list_options() -> dict[str, dict[str, list[dict[str, object]]]]:
    """Return by family and name the options of everything that a page may use: name, default as text, and choices.

    An option without a default must be given. A default of None is an empty text.

    Examples
    --------
    >>> list_options()["schemes"]["Bootstrap"][0]
    {'name': 'k', 'default': '10', 'required': False, 'choices': []}
    """
    families = {"streams": _find_open_streams(), "learners": _find_open_learners()}
    families |= {family: FAMILIES[family]() for family in ("schemes", "forgettings", "detectors")}
    return {
        family: {name: _describe_options(thing) for name, thing in things.items()}
        for family, things in families.items()
    }


def _describe_options(thing: Callable[..., object]) -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "default": "" if option.default in (option.empty, None) else to_text(option.default),
            "required": option.default is option.empty,
            "choices": _list_texts(option.annotation),
        }
        for name, option in inspect.signature(thing).parameters.items()
    ]


def _list_texts(annotation: object) -> list[str]:
    """Return the texts that an option may be, if it may be nothing else."""
    if annotation is bool:
        return ["True", "False"]
    return [repr(text) for text in get_args(annotation)] if get_origin(annotation) is Literal else []


def _find_open_streams() -> dict[str, Any]:
    modules = tuple(f"streamgauge.streams.{module}" for module in STREAM_MODULES)
    return {name: kind for name, kind in FAMILIES["streams"]().items() if kind.__module__.startswith(modules)}


def _find_open_learners() -> dict[str, Any]:
    return {
        name: kind
        for name, kind in FAMILIES["learners"]().items()
        if not kind.__module__.startswith(FORBIDDEN_LEARNER_MODULES)
    }


def build_arguments(wanted: Mapping[str, object], folder: Path) -> list[str]:
    """Return the arguments of ``streamgauge evaluate`` for the request of a page; raises if it is not allowed.

    Examples
    --------
    >>> build_arguments({"stream": "SEA", "learners": ["NaiveBayes"], "rows": 1000}, Path())
    ['--stream=SEA', '--learner=NaiveBayes', '--rows=1000']
    >>> build_arguments({"stream": "File('/etc/passwd')", "learners": ["NaiveBayes"]}, Path())
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: a page cannot start a run on 'File', only on generators and data sets
    """
    known = {"stream", "name", *_SINGLE, *_REPEATED, *_NUMBERS}
    for name in wanted:
        if name not in known:
            raise unknown_name(kind="option", name=name, known=known)
    if not _get_texts(wanted, "learners"):
        msg = "name at least one learner"
        raise StreamgaugeError(msg)
    stream = f"--stream={_check_stream(_get_text(wanted, 'stream'), folder)}"
    return [stream, *_build_repeated(wanted), *_build_single(wanted), *_build_numbers(wanted)]


def _build_repeated(wanted: Mapping[str, object]) -> Iterator[str]:
    for name, (option, check) in _REPEATED.items():
        for text in _get_texts(wanted, name):
            check(text)
            yield f"--{option}={text}"


def _build_single(wanted: Mapping[str, object]) -> Iterator[str]:
    for name, check in _SINGLE.items():
        if text := _get_text(wanted, name):
            check(text)
            yield f"--{name}={text}"


def _build_numbers(wanted: Mapping[str, object]) -> Iterator[str]:
    for name in _NUMBERS:
        number = wanted.get(name)
        if number is None:
            continue
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            msg = f"{name} is {number!r}; it must be a whole number"
            raise StreamgaugeError(msg)
        yield f"--{name}={number}"


def _check_stream(text: str, folder: Path) -> str:
    if not text:
        msg = "name a stream, such as SEA"
        raise StreamgaugeError(msg)
    if text in DATASETS:
        return text
    with suppress(OSError, ValueError):  # too long, or no text that a path can have
        inside = (folder / text).resolve()
        if inside.is_file() and inside.is_relative_to(folder.resolve()):
            return str(inside)
    known = _find_open_streams()
    name = text.partition("(")[0].strip()
    if name not in known and name in FAMILIES["streams"]():
        msg = f"a page cannot start a run on {name!r}, only on generators and data sets"
        raise StreamgaugeError(msg)
    make("stream", text, known)
    return text


def _check_measure(text: str) -> None:
    for one in expand_all(text):
        measure(one)  # type: ignore[arg-type]


def _make_check(kind: str, family: str) -> Callable[[str], object]:
    return lambda text: make(kind, text, FAMILIES[family]())


def _check_scheme(text: str) -> object:
    return make("scheme", text, {**_find_open_streams(), **FAMILIES["schemes"]()})


def _check_learner(text: str) -> object:
    return make("learner", text, _find_open_learners(), within=FAMILIES["detectors"]())


_SINGLE: dict[str, Callable[[str], object]] = {
    "scheme": _check_scheme,
    "labelling": _make_check("labelling", "labellings"),
}
_REPEATED: dict[str, tuple[str, Callable[[str], object]]] = {
    "learners": ("learner", _check_learner),
    "forgettings": ("forgetting", _make_check("forgetting", "forgettings")),
    "measures": ("measure", _check_measure),
    "detectors": ("detector", _make_check("detector", "detectors")),
}
_NUMBERS = ("rows", "every", "seed")


def _get_text(wanted: Mapping[str, object], name: str) -> str:
    text = wanted.get(name) or ""
    if not isinstance(text, str) or len(text) > 2_000 or "\0" in text:
        msg = f"{name} must be a text"
        raise StreamgaugeError(msg)
    return text.strip()


def _get_texts(wanted: Mapping[str, object], name: str) -> list[str]:
    texts = wanted.get(name) or []
    if not isinstance(texts, list) or len(texts) > 50:
        msg = f"{name} must be a list of at most 50 texts"
        raise StreamgaugeError(msg)
    return [text for text in (_get_text({name: text}, name) for text in texts) if text]


class LaunchedRuns:
    """The runs that pages have started.

    Parameters
    ----------
    folder
        The results folder; each run gets a new folder in it.

    Examples
    --------
    >>> import tempfile
    >>> LaunchedRuns(Path(tempfile.mkdtemp())).list_failures()
    {}
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def running(self) -> list[str]:
        """The names of the active runs."""
        return [name for name, process in self._processes.items() if process.poll() is None]

    def start(self, wanted: Mapping[str, object]) -> str:
        """Start a run; return its name."""
        if len(self.running) >= MAX_RUNNING:
            msg = f"{MAX_RUNNING} runs that were started here are still running; stop one, or wait"
            raise StreamgaugeError(msg)
        name = _get_text(wanted, "name") or time.strftime("run-%Y%m%d-%H%M%S")
        out = self.folder / name
        if not _NAME.fullmatch(name):
            msg = f"{name!r} is not a valid name: use letters, digits, dots, dashes and underscores"
            raise StreamgaugeError(msg)
        arguments = build_arguments(wanted, self.folder)
        try:
            out.mkdir()
        except FileExistsError:
            msg = f"there is already a run {name!r}; choose another name"
            raise StreamgaugeError(msg) from None
        command = [sys.executable, "-c", _START, "evaluate", *arguments, f"--out={out}", "--quiet"]
        with (out / "run.log").open("wb") as log:
            # In a new session, so that Ctrl-C at the server does not end it.
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, start_new_session=True
            )
        self._processes[name] = process
        return name

    def list_failures(self) -> dict[str, str]:
        """Return the runs that failed, each with the last line of its log."""
        failures = {}
        for name, process in list(self._processes.items()):
            status = process.poll()
            if status == 0 or (status is not None and (self.folder / name / "manifest.json").is_file()):
                del self._processes[name]  # a run that was stopped has results, too
            elif status is not None:
                failures[name] = _read_last_line(self.folder / name / "run.log") or f"it ended with status {status}"
        return failures


def _read_last_line(path: Path) -> str:
    try:
        lines = path.read_bytes()[-4096:].decode(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1][:500] if lines else ""
