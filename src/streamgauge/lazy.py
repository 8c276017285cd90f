"""Libraries that are imported when first used, so that `import streamgauge` is quick."""

from importlib import import_module
from typing import Any

__all__ = ["LazyModule"]


class LazyModule:
    """Stands for a module until an attribute of it is asked for.

    Examples
    --------
    >>> LazyModule("math").sqrt(4.0)
    2.0
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:  # noqa: ANN401
        return getattr(import_module(self._name), attribute)
