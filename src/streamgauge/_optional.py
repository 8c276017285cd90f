"""Libraries that are imported when first used, so that `import streamgauge` is fast."""

from importlib import import_module
from typing import Any

from streamgauge.errors import StreamgaugeError

__all__ = ["LazyModule", "library"]


class LazyModule:
    """A module that is imported when an attribute of it is first used.

    Examples
    --------
    >>> LazyModule("math").sqrt(4.0)
    2.0
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:  # noqa: ANN401
        return getattr(import_module(self._name), attribute)


def library(module: str, extra: str) -> Any:  # noqa: ANN401
    """Import a library; the error says how to install it.

    Examples
    --------
    >>> library("no_such_module", "river")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: no_such_module is not installed: pip install 'streamgauge[river]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # a dependency of the library is missing
        msg = f"{error.name} is not installed: pip install 'streamgauge[{extra}]'"
        raise StreamgaugeError(msg) from None
