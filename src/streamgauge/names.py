"""Objects by name: what is written on the command line or in a file, and the object that it names.

A text such as ``HoeffdingTree(grace_period=100)`` names an object with its options.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from streamgauge._foreign import is_factory, is_stream_class
from streamgauge._format.objects import Known, make
from streamgauge._format.text import to_text
from streamgauge.errors import StreamgaugeError, is_possible_path, nearest, require_kind, unknown_name
from streamgauge.protocols import Forgetting, Labelling, Scheme, Stream

__all__ = [
    "FAMILIES",
    "Known",
    "catalogue",
    "find_labelled_stream",
    "find_learners",
    "find_object",
    "find_stream",
    "import_object",
    "make",
    "make_learners",
    "refuse_class",
    "to_forgetting_name",
]


def catalogue(family: ModuleType, *, include_required: bool = False) -> dict[str, Callable[..., Any]]:
    """Return the configurable objects of a family by name: those without required options, or all.

    Examples
    --------
    >>> from streamgauge import schemes
    >>> sorted(catalogue(schemes))[:3]
    ['BatchCrossValidation', 'Bootstrap', 'Chunks']
    """
    objects = {name: getattr(family, name) for name in family.__all__}
    values = {name: thing for name, thing in objects.items() if isinstance(thing, type) and is_dataclass(thing)}
    return {name: thing for name, thing in values.items() if include_required or _has_only_defaults(thing)}


def _has_only_defaults(thing: type) -> bool:
    return all(p.default is not p.empty for p in inspect.signature(thing).parameters.values())


def _learners() -> dict[str, Any]:
    from streamgauge import learners  # noqa: PLC0415

    return dict(catalogue(learners))


def _streams() -> dict[str, Any]:
    from streamgauge import streams  # noqa: PLC0415

    known = catalogue(streams, include_required=True)
    kinds = {name: thing for name, thing in known.items() if isinstance(thing, type) and is_stream_class(thing)}
    return {**kinds, "paper_stream": streams.paper_stream}


def _labellings() -> dict[str, Any]:
    from streamgauge import labelling  # noqa: PLC0415

    return dict(catalogue(labelling, include_required=True))


def _schemes() -> dict[str, Any]:
    from streamgauge import schemes  # noqa: PLC0415

    return dict(catalogue(schemes))


def _forgettings() -> dict[str, Any]:
    from streamgauge import forgetting  # noqa: PLC0415

    return dict(catalogue(forgetting))


def _measures() -> dict[str, Any]:
    from streamgauge.measures import MEASURES  # noqa: PLC0415

    return dict(MEASURES)


def _detectors() -> dict[str, Any]:
    from streamgauge.drift.watch import DETECTORS  # noqa: PLC0415

    return dict(DETECTORS)


FAMILIES: dict[str, Callable[[], dict[str, Any]]] = {
    "streams": _streams,
    "learners": _learners,
    "schemes": _schemes,
    "labellings": _labellings,
    "forgettings": _forgettings,
    "measures": _measures,
    "detectors": _detectors,
}
"""A function per family that returns its objects; a family is imported when it is first needed."""

_IMPORTED = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_HOMES = {"forgetting": "forgetting", "labelling": "labelling"}
_PROTOCOLS = {"forgetting": Forgetting, "labelling": Labelling, "scheme": Scheme}


def _find_home(kind: str) -> str:
    return _HOMES.get(kind, f"{kind}s")


def make_learners(texts: Iterable[str]) -> dict[str, Any]:
    """Build the learners that texts name: ``HoeffdingTree(grace_period=100)``, or ``module:name`` for one in Python.

    A learner of a module is called by its name there, and is searched for in the current folder first.

    Examples
    --------
    >>> make_learners(["NoChange", "streamgauge:MajorityClass"])
    {'NoChange': NoChange(seed=1), 'MajorityClass': MajorityClass(window=None, seed=1)}
    """
    known, detectors = FAMILIES["learners"](), FAMILIES["detectors"]()
    texts, learners = tuple(texts), []
    for text in texts:
        if _IMPORTED.fullmatch(text):
            learners.append(import_object(text, Path.cwd()))
        elif text.isidentifier() and text not in known:
            msg = f"{unknown_name('learner', text, known)}; a model in Python is written as module:name"
            raise StreamgaugeError(msg)
        else:
            learners.append(make("learner", text, known, detectors))
    specs = [to_text(learner) for learner in learners]
    repeated = next((text for text, spec in zip(texts, specs, strict=True) if specs.count(spec) > 1), None)
    if repeated is not None:  # even if it is spelt differently
        msg = f"two learners are the same: {repeated}; remove one, or give it other options or another seed"
        raise StreamgaugeError(msg)
    short = [text.partition(":")[2] if _IMPORTED.fullmatch(text) else text for text in texts]
    names = [name if short.count(name) == 1 else text for name, text in zip(short, texts, strict=True)]
    return dict(zip(names, learners, strict=True))


def import_object(text: str, folder: Path | None = None) -> object:
    """Import an object of a Python module as ``module:name``; a class, or a function that builds a learner, is called.

    Parameters
    ----------
    text
        The module and the name in it.
    folder
        Folder that is searched for modules first.

    Examples
    --------
    >>> import_object("streamgauge:NoChange")
    NoChange(seed=1)
    >>> import_object("streamgauge:NoChang")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: there is no object of streamgauge called 'NoChang'; did you mean NoChange?
    """
    module_name, _, name = text.partition(":")
    if not name:
        msg = f"cannot read {text!r}; write it as module:name"
        raise StreamgaugeError(msg)
    if folder is not None and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        module = import_module(module_name)
    except ImportError as error:
        msg = f"cannot import {module_name}: {error}"
        if isinstance(error, ModuleNotFoundError) and error.name == module_name:
            near = nearest(module_name, [path.stem for path in (folder or Path()).glob("*.py")])
            msg += f"; did you mean {near}?" if near else f"; there is no {module_name}.py in {folder or Path.cwd()}"
        raise StreamgaugeError(msg) from None
    try:
        thing = getattr(module, name)
    except AttributeError:
        things = ((name, vars(module).get(name)) for name in dir(module))  # also what is imported when first used
        known = [name for name, thing in things if not (name.startswith("_") or isinstance(thing, ModuleType))]
        raise unknown_name(kind=f"object of {module_name} called", name=name, known=known) from None
    return thing() if is_factory(thing) else thing


def find_object(kind: str, thing: Any) -> Any:  # noqa: ANN401
    """Return an object, or each of several forgettings, given as it is or as text; a class is refused.

    Examples
    --------
    >>> find_object("scheme", "Bootstrap(5)")
    Bootstrap(k=5, test='all')
    >>> from streamgauge import Window
    >>> [one.width for one in find_object("forgetting", [Window(100), "Window(5)"])]
    [100, 5]
    >>> find_object("scheme", "Bootstrp")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: there is no scheme 'Bootstrp'; did you mean Bootstrap?
    """
    if kind == "forgetting" and isinstance(thing, list | tuple):
        return [find_object(kind, one) for one in thing]
    if isinstance(thing, str):
        return make(kind, thing, FAMILIES[f"{kind}s"]())
    refuse_class(kind, thing)
    if kind in _PROTOCOLS:
        require_kind(kind, thing, _PROTOCOLS[kind], f"an object of streamgauge.{_find_home(kind)}, or text")
    return thing


def refuse_class(kind: str, thing: object) -> None:
    """Raise if a class is given for an object; the error shows the nearest object.

    Examples
    --------
    >>> from streamgauge import Bootstrap
    >>> refuse_class("scheme", Bootstrap)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: the class Bootstrap is not a scheme; write streamgauge.schemes.Bootstrap(...)
    """
    if isinstance(thing, type):
        near = nearest(thing.__name__, FAMILIES[f"{kind}s"]())
        home = f"streamgauge.{_find_home(kind)}"
        hint = f"write {home}.{near}(...)" if near else f"give one of {home}"
        msg = f"the class {thing.__name__} is not a {kind}; {hint}"
        raise StreamgaugeError(msg)


def find_learners(learners: object) -> object:
    """Return learners, one or several, with those that are given as text built from it.

    Examples
    --------
    >>> from streamgauge import NoChange
    >>> find_learners(["MajorityClass(window=100)", NoChange()])
    [MajorityClass(window=100, seed=1), NoChange(seed=1)]
    >>> find_learners("NoChange"), find_learners({"none": "NoChange"})
    ({'NoChange': NoChange(seed=1)}, {'none': NoChange(seed=1)})
    """
    if isinstance(learners, str):
        return make_learners([learners])
    if isinstance(learners, Mapping):
        return {name: _find_learner(learner) for name, learner in learners.items()}
    if not isinstance(learners, list | tuple):
        return learners
    if learners and all(isinstance(learner, str) for learner in learners):
        return make_learners(learners)
    return [_find_learner(learner) for learner in learners]


def _find_learner(learner: object) -> object:
    return next(iter(make_learners([learner]).values())) if isinstance(learner, str) else learner


def to_forgetting_name(forgetting: object) -> str:
    """Return the name of a forgetting as results spell it, from an object or from text; other text as it is.

    Examples
    --------
    >>> from streamgauge import Landmark
    >>> to_forgetting_name("Window(500)"), to_forgetting_name(Landmark()), to_forgetting_name("Win*")
    ('Window(width=500)', 'Landmark()', 'Win*')
    """
    if not isinstance(forgetting, str):
        return to_text(forgetting)
    try:
        return to_text(make("forgetting", forgetting, FAMILIES["forgettings"]()))
    except StreamgaugeError:
        return forgetting


def find_stream(text: str, **options: Any) -> Stream:  # noqa: ANN401
    """Find a stream: a file by path, a data set or a ready-made stream by name, or one with options.

    Examples
    --------
    >>> find_stream("SEA(n_rows=100)").n_rows
    100
    >>> find_stream("electrcity")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: there is no stream 'electrcity'; did you mean electricity?
    """
    return find_labelled_stream(text, **options)[0]


def find_labelled_stream(text: str, **options: Any) -> tuple[Stream, Labelling | None]:  # noqa: ANN401
    """Find a stream and, if it records which labels are hidden, its labelling.

    A folder that `sample` wrote is its test set, with the labelling that hides what was hidden. The options, such as
    ``target``, are those of `streamgauge.streams.File`; they are refused for a generator or a sample.

    Examples
    --------
    >>> find_labelled_stream("SEA(n_rows=100)")[1] is None
    True
    """
    from streamgauge.streams import DATASETS, File, load, open_test  # noqa: PLC0415

    path = Path(text)
    if is_possible_path(path / "recipe.json"):
        if (path / "recipe.json").is_file():
            _refuse_options(text, "a sample", options)
            return open_test(text)
        if (path.exists() and not path.is_dir()) or text == "-" or (path.suffix and "(" not in text):
            return File(text, **options), None
    if text in DATASETS:
        return load(text, **options), None
    known = FAMILIES["streams"]()
    if "(" not in text and text not in known:
        if text and is_possible_path(text) and path.is_dir():
            msg = f"{text} is a folder that 'streamgauge sample' did not write: there is no recipe.json in it"
            raise StreamgaugeError(msg)
        raise unknown_name(kind="stream", name=text, known={**known, **DATASETS})
    _refuse_options(text, "a generator", options)
    stream: Stream = make("stream", text, known)
    return stream, None


def _refuse_options(text: str, what: str, options: Mapping[str, Any]) -> None:
    if options:
        names = ", ".join(f"{name} (--{name.replace('_', '-')})" for name in options)
        msg = f"{text} is {what}, not a file, so it takes no options of files: remove {names}"
        raise StreamgaugeError(msg)
