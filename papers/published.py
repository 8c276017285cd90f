"""The published figures that ours are printed beside, transcribed by hand from the papers."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["published"]


@cache
def _all() -> dict[str, Any]:
    text = files("papers").joinpath("published.json").read_text(encoding="utf-8")
    figures: dict[str, Any] = json.loads(text)
    return figures


def published(name: str) -> Any:  # noqa: ANN401  (each table has its own shape)
    """Give the figures of a table.

    Examples
    --------
    >>> published("bifet-2016-ram-hours")["A"]["ram_hours"]
    2000
    """
    return _all()[name]
