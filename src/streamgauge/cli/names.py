"""Completion and checking of names: objects, streams, data sets and built-in experiments."""

from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

from streamgauge.errors import nearest
from streamgauge.names import FAMILIES

__all__ = ["Choice", "complete_names"]

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


class Choice(click.Choice):  # type: ignore[type-arg]  # click has a type argument only since 8.2
    """One of several words; the error for any other suggests the nearest.

    Examples
    --------
    >>> Choice(["first", "last"]).convert("lst", None, None)
    Traceback (most recent call last):
    ...
    click.exceptions.BadParameter: 'lst' is not one of 'first', 'last'; did you mean last?
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Convert a value as click does."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            near = nearest(str(value), map(str, self.choices))
            hint = "" if near is None else f"; did you mean {near}?"
            self.fail(error.message.rstrip(".") + hint, param, ctx)


def complete_names(family: str) -> Complete:
    """Return a callback that completes the names of a family; for streams also data sets and files."""

    def complete(_context: click.Context, _parameter: click.Parameter, prefix: str) -> list[CompletionItem]:
        items = [CompletionItem(name) for name in _list_names(family) if name.startswith(prefix)]
        return [*items, CompletionItem(prefix, type="file")] if family == "streams" else items

    return complete


def _list_names(family: str) -> list[str]:
    if family == "ready":
        from streamgauge.experiments import READY  # noqa: PLC0415

        return sorted(READY)
    if family == "streams":
        from streamgauge.streams import DATASETS  # noqa: PLC0415

        return sorted([*FAMILIES["streams"](), *DATASETS])
    if family == "tests":
        from streamgauge.significance import list_tests  # noqa: PLC0415

        return list(list_tests())
    return sorted([*FAMILIES[family](), *(["all"] if family == "measures" else [])])
