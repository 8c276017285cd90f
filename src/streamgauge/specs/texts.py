"""Objects by name with options, as in ``HoeffdingTree(grace_period=100)``."""

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from types import ModuleType
from typing import Any

from streamgauge.errors import StreamgaugeError, unknown_name

__all__ = ["Known", "catalogue", "make"]

Known = Mapping[str, Callable[..., Any]]
"""Objects, or what makes them, by name."""


def catalogue(family: ModuleType, *, with_needs: bool = False) -> dict[str, Callable[..., Any]]:
    """Give the configurable objects of a family by name: those that can be made without any option, or all.

    Examples
    --------
    >>> from streamgauge import schemes
    >>> sorted(catalogue(schemes))[:3]
    ['Bootstrap', 'Chunks', 'CrossValidation']
    """
    objects = {name: getattr(family, name) for name in family.__all__}
    values = {name: thing for name, thing in objects.items() if isinstance(thing, type) and is_dataclass(thing)}
    return {name: thing for name, thing in values.items() if with_needs or _is_optionless(thing)}


def _is_optionless(thing: type) -> bool:
    return all(p.default is not p.empty for p in inspect.signature(thing).parameters.values())


def make(kind: str, text: str, known: Known, within: Known | None = None) -> Any:  # noqa: ANN401
    """Make the object that a text such as ``Window(width=500)`` or ``Window`` names.

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
    return _built(kind, tree, known, {**known, **(within or {})})


def _built(kind: str, tree: ast.expr, known: Known, within: Known) -> Any:  # noqa: ANN401
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
            msg = f"{name} is given its option {keyword.arg} twice"
            raise StreamgaugeError(msg)
        options[keyword.arg] = _value(kind, name, keyword.value, within)
    _require_needs(name, factory, options)
    return factory(**options)


def _require_needs(name: str, factory: Callable[..., Any], options: Mapping[str, object]) -> None:
    parameters = inspect.signature(factory).parameters
    for parameter in parameters.values():
        if parameter.default is parameter.empty and parameter.name not in options:
            msg = f"{name} needs its option {parameter.name}; its options are {', '.join(parameters)}"
            raise StreamgaugeError(msg)


def _value(kind: str, owner: str, tree: ast.expr, known: Known) -> object:
    if isinstance(tree, ast.Call) or (isinstance(tree, ast.Name) and tree.id in known):
        return _built(kind, tree, known, known)
    if isinstance(tree, ast.Tuple | ast.List):
        return tuple(_value(kind, owner, part, known) for part in tree.elts)
    try:
        return ast.literal_eval(tree)
    except (ValueError, TypeError, MemoryError, RecursionError):
        msg = f"cannot read the option {ast.unparse(tree)!r} of {owner}; write a number, a quoted text, True or None"
        raise StreamgaugeError(msg) from None
