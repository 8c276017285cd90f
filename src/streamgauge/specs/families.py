"""The families of objects that the command line knows by name."""

from collections.abc import Callable
from typing import Any

from streamgauge.specs.texts import catalogue

__all__ = ["FAMILIES"]


def _learners() -> dict[str, Any]:
    from streamgauge import learners  # noqa: PLC0415

    return dict(catalogue(learners))


def _streams() -> dict[str, Any]:
    from streamgauge import streams  # noqa: PLC0415

    known = catalogue(streams, with_needs=True)
    return {**{name: thing for name, thing in known.items() if hasattr(thing, "batches")}, "named": streams.named}


def _labellings() -> dict[str, Any]:
    from streamgauge import labelling  # noqa: PLC0415

    return dict(catalogue(labelling, with_needs=True))


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
"""Per family a function that gives its objects; each is imported only when asked for."""
