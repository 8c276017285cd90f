"""What a shell can complete: names of objects, streams, datasets and ready-made experiments."""

from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from streamgauge._format.text import to_text
from streamgauge.errors import StreamgaugeError, nearest
from streamgauge.names import FAMILIES, make

__all__ = ["Choice", "completing", "forgetting_name"]

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
Key = TypeVar("Key")


class Choice(click.Choice):  # type: ignore[type-arg]  # click takes one only since 8.2
    """One of some words; where another is given, the error suggests the nearest.

    Examples
    --------
    >>> Choice(["first", "last"]).convert("lst", None, None)
    Traceback (most recent call last):
    ...
    click.exceptions.BadParameter: 'lst' is not one of 'first', 'last'; did you mean last?
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Take a value as click does."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            near = nearest(str(value), map(str, self.choices))
            hint = "" if near is None else f"; did you mean {near}?"
            self.fail(error.message.rstrip(".") + hint, param, ctx)


def forgetting_name(text: str) -> str:
    """Name a forgetting as results do, where a text says which it is; else give the text.

    Examples
    --------
    >>> forgetting_name("Window(500)"), forgetting_name("Landmark"), forgetting_name("Win*")
    ('Window(width=500)', 'Landmark()', 'Win*')
    """
    try:
        return to_text(make("forgetting", text, FAMILIES["forgettings"]()))
    except StreamgaugeError:
        return text


def completing(family: str) -> Complete:
    """Give what completes the names of a family; streams are also real ones and files."""

    def complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        found = [CompletionItem(name) for name in _names(family) if name.startswith(begun)]
        return [*found, CompletionItem(begun, type="file")] if family == "streams" else found

    return complete


def _names(family: str) -> list[str]:
    if family == "ready":
        from streamgauge.experiments import READY  # noqa: PLC0415

        return sorted(READY)
    if family == "streams":
        from streamgauge.streams import DATASETS  # noqa: PLC0415

        return sorted([*FAMILIES["streams"](), *DATASETS])
    return sorted(FAMILIES[family]())
