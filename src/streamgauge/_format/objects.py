"""Objects from text: the object that a text such as ``HoeffdingTree(grace_period=100)`` names."""

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from streamgauge._format.durations import DURATION
from streamgauge.errors import StreamgaugeError, unknown_name

__all__ = ["Known", "make"]

Known = Mapping[str, Callable[..., Any]]
"""Objects, or their factories, by name."""


def make(kind: str, text: str, known: Known, within: Known | None = None) -> Any:  # noqa: ANN401
    """Build the object that a text such as ``Window(width=500)`` or ``Window`` names.

    Options are Python literals, or again such objects or those known `within` them, or tuples of them. Nothing is
    executed. Lengths of time need no quotes.

    Examples
    --------
    >>> from streamgauge.forgetting import TimeWindow
    >>> make("forgetting", "TimeWindow(7 days)", {"TimeWindow": TimeWindow})
    TimeWindow(span='7 days')
    >>> from streamgauge import Bootstrap
    >>> make("scheme", "Bootstrap(5, test='training')", {"Bootstrap": Bootstrap})
    Bootstrap(k=5, test='training')
    """
    text = text.strip()
    try:
        tree = _parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = f": {error.msg} at character {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
        msg = f"cannot read the {kind} {text!r}{reason}; write it as Name or Name(option=value, ...)"
        raise StreamgaugeError(msg) from None
    return _build(kind, tree, known, {**known, **(within or {})})


def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        quoted = re.sub(rf"(?<=[(,=])\s*({DURATION}|[\d.]+\s*(?:months?|years?))\s*(?=[,)])", r"'\1'", text)
        if quoted == text:
            raise
        return ast.parse(quoted, mode="eval").body


def _build(kind: str, tree: ast.expr, known: Known, within: Known) -> Any:  # noqa: ANN401
    call = tree if isinstance(tree, ast.Call) else ast.Call(tree, [], [])
    if not isinstance(call.func, ast.Name):
        msg = f"cannot read the {kind} {ast.unparse(tree)!r}; write it as Name or Name(option=value, ...)"
        raise StreamgaugeError(msg)
    name = call.func.id
    if name not in known:
        raise unknown_name(kind, name, known)
    factory = known[name]
    options = _read_options(kind, name, call, list(inspect.signature(factory).parameters), within)
    _check_required_options(name, factory, options)
    try:
        return factory(**options)
    except StreamgaugeError as error:
        if type(error) is not StreamgaugeError:
            raise
        msg = f"{ast.unparse(tree)}: {error}"
        raise StreamgaugeError(msg) from None
    except TypeError as error:  # an option of a wrong type that the object does not check itself
        msg = f"cannot make {ast.unparse(tree)}: {error}"
        raise StreamgaugeError(msg) from error


def _read_options(kind: str, name: str, call: ast.Call, names: list[str], within: Known) -> dict[str, object]:
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
    return options


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
    if isinstance(tree, ast.Name) and tree.id in ("nan", "inf"):
        return float(tree.id)
    try:
        return ast.literal_eval(tree)
    except (ValueError, TypeError, MemoryError, RecursionError):
        option = f"{ast.unparse(tree)!r} of {owner}, at character {tree.col_offset + 1}"
        msg = f"cannot read the option {option}; write a number, a quoted text, True or None"
        raise StreamgaugeError(msg) from None
