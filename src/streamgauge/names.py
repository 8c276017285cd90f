"""Objects by name: what is written on the command line or in a file, and the object that it names.

A text such as ``HoeffdingTree(grace_period=100)`` names an object with its options.
"""

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from streamgauge._foreign import is_stream_class
from streamgauge.errors import StreamgaugeError, nearest, unknown_name
from streamgauge.protocols import Labelling, Stream

__all__ = ["FAMILIES", "Known", "catalogue", "find_labelled_stream", "find_stream", "make", "require_object"]

Known = Mapping[str, Callable[..., Any]]
"""Objects, or their factories, by name."""


def catalogue(family: ModuleType, *, include_required: bool = False) -> dict[str, Callable[..., Any]]:
    """Return the configurable objects of a family by name: those without required options, or all.

    Examples
    --------
    >>> from streamgauge import schemes
    >>> sorted(catalogue(schemes))[:3]
    ['Bootstrap', 'Chunks', 'CrossValidation']
    """
    objects = {name: getattr(family, name) for name in family.__all__}
    values = {name: thing for name, thing in objects.items() if isinstance(thing, type) and is_dataclass(thing)}
    return {name: thing for name, thing in values.items() if include_required or _has_only_defaults(thing)}


def _has_only_defaults(thing: type) -> bool:
    return all(p.default is not p.empty for p in inspect.signature(thing).parameters.values())


def make(kind: str, text: str, known: Known, within: Known | None = None) -> Any:  # noqa: ANN401
    """Build the object that a text such as ``Window(width=500)`` or ``Window`` names.

    Options are Python literals, or again such objects or those known `within` them, or tuples of them. Nothing is
    executed.

    Examples
    --------
    >>> from streamgauge import schemes
    >>> make("scheme", "Bootstrap(5, test='training')", catalogue(schemes))
    Bootstrap(k=5, test='training')
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        msg = f"cannot read the {kind} {text!r}; write it as Name or Name(option=value, ...)"
        raise StreamgaugeError(msg) from None
    return _build(kind, tree, known, {**known, **(within or {})})


def _build(kind: str, tree: ast.expr, known: Known, within: Known) -> Any:  # noqa: ANN401
    call = tree if isinstance(tree, ast.Call) else ast.Call(tree, [], [])
    if not isinstance(call.func, ast.Name):
        msg = f"cannot read the {kind} {ast.unparse(tree)!r}; write it as Name or Name(option=value, ...)"
        raise StreamgaugeError(msg)
    name = call.func.id
    if name not in known:
        raise unknown_name(kind, name, known)
    factory = known[name]
    names = list(inspect.signature(factory).parameters)
    positional = [_value(kind, name, argument, within) for argument in call.args]
    if len(positional) > len(names):
        msg = f"{name} takes at most {len(names)} options ({', '.join(names)}), not {len(positional)}"
        raise StreamgaugeError(msg)
    options = dict(zip(names, positional, strict=False))
    for keyword in call.keywords:
        if keyword.arg not in names:
            raise unknown_name(kind=f"option of {name} called", name=str(keyword.arg), known=names)
        if keyword.arg in options:
            msg = f"{name} has its option {keyword.arg} twice"
            raise StreamgaugeError(msg)
        options[keyword.arg] = _value(kind, name, keyword.value, within)
    _check_required_options(name, factory, options)
    return factory(**options)


def _check_required_options(name: str, factory: Callable[..., Any], options: Mapping[str, object]) -> None:
    parameters = inspect.signature(factory).parameters
    for parameter in parameters.values():
        if parameter.default is parameter.empty and parameter.name not in options:
            msg = f"{name} needs its option {parameter.name}; its options are {', '.join(parameters)}"
            raise StreamgaugeError(msg)


def _value(kind: str, owner: str, tree: ast.expr, known: Known) -> object:
    if isinstance(tree, ast.Call) or (isinstance(tree, ast.Name) and tree.id in known):
        return _build(kind, tree, known, known)
    if isinstance(tree, ast.Tuple | ast.List):
        return tuple(_value(kind, owner, part, known) for part in tree.elts)
    try:
        return ast.literal_eval(tree)
    except (ValueError, TypeError, MemoryError, RecursionError):
        msg = f"cannot read the option {ast.unparse(tree)!r} of {owner}; write a number, a quoted text, True or None"
        raise StreamgaugeError(msg) from None


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

_HOMES = {"forgetting": "forgetting", "labelling": "labelling"}


def require_object(kind: str, thing: object) -> None:
    """Raise if a text or a class is given for an object, or among several; the error shows the nearest object.

    Examples
    --------
    >>> require_object("scheme", "Bootstrp")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: the text 'Bootstrp' is not a scheme; write streamgauge.schemes.Bootstrap(...)
    >>> from streamgauge import Window
    >>> require_object("forgetting", [Window(100)])
    """
    several = thing if isinstance(thing, list | tuple) else (thing,)
    given = next((one for one in several if isinstance(one, str | type)), None)
    if given is None:
        return
    name = given.__name__ if isinstance(given, type) else given.partition("(")[0].strip()
    near = nearest(name, FAMILIES[f"{kind}s"]())
    what = f"the class {name}" if isinstance(given, type) else f"the text {given!r}"
    home = f"streamgauge.{_HOMES.get(kind, f'{kind}s')}"
    further = "; a file is streamgauge.File(path), a real stream streamgauge.streams.load(name)"
    hint = f"write {home}.{near}(...)" if near else f"give one of {home}{further if kind == 'stream' else ''}"
    msg = f"{what} is not a {kind}; {hint}"
    raise StreamgaugeError(msg)


def find_stream(text: str) -> Stream:
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
    return find_labelled_stream(text)[0]


def find_labelled_stream(text: str) -> tuple[Stream, Labelling | None]:
    """Find a stream and, if it records which labels are hidden, its labelling.

    A folder that `sample` wrote is its test set, with the labelling that hides what was hidden.

    Examples
    --------
    >>> find_labelled_stream("SEA(n_rows=100)")[1] is None
    True
    """
    from streamgauge.streams import DATASETS, File, load, open_test  # noqa: PLC0415

    if (Path(text) / "recipe.json").is_file():
        return open_test(text)
    path = Path(text)
    if (path.exists() and not path.is_dir()) or text == "-" or (path.suffix and "(" not in text):
        return File(text), None
    if text in DATASETS:
        return load(text), None
    known = FAMILIES["streams"]()
    if "(" not in text and text not in known:
        if path.is_dir():
            msg = f"{text} is a folder that 'streamgauge sample' did not write: there is no recipe.json in it"
            raise StreamgaugeError(msg)
        raise unknown_name(kind="stream", name=text, known={**known, **DATASETS})
    stream: Stream = make("stream", text, known)
    return stream, None
