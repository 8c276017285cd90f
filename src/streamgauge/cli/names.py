"""What a shell can complete: names of objects, streams, datasets and ready-made experiments."""

from collections.abc import Callable
from typing import TypeVar

import click
from click.shell_completion import CompletionItem

from streamgauge.specs import FAMILIES

__all__ = ["completing"]

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
Key = TypeVar("Key")


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
