"""The published values, transcribed by hand from the papers."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["read_published"]


@cache
def _read_all() -> dict[str, Any]:
    values: dict[str, Any] = json.loads(files("papers").joinpath("published.json").read_text(encoding="utf-8"))
    return values


def read_published(name: str) -> Any:  # noqa: ANN401  (each table has its own shape)
    """Return the published values of a table or figure.

    Examples
    --------
    >>> read_published("bifet-2016-ram-hours")["A"]["ram_hours"]
    2000
    """
    return _read_all()[name]
