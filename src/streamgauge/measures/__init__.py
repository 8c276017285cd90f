"""Measures: pure functions of a tally."""

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.measures.agreement import kappa, kappa_m, kappa_temporal
from streamgauge.measures.counts import accuracy, error
from streamgauge.measures.functions import as_measure
from streamgauge.protocols import Measure

__all__ = ["MEASURES", "accuracy", "as_measure", "error", "kappa", "kappa_m", "kappa_temporal", "measure"]

MEASURES: dict[str, Measure] = {known.name: known for known in (accuracy, error, kappa, kappa_m, kappa_temporal)}
"""Every measure, by its name."""


def measure(wanted: str | Measure) -> Measure:
    """Find a measure by its name; a measure is given back as it is.

    Examples
    --------
    >>> measure("kappa_m") is kappa_m
    True
    >>> measure("kapa")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: there is no measure 'kapa'; did you mean kappa?
    """
    if isinstance(wanted, str):
        if wanted not in MEASURES:
            raise unknown_name(kind="measure", name=wanted, known=MEASURES)
        return MEASURES[wanted]
    if not (isinstance(wanted, Measure) and callable(wanted)):
        msg = f"{wanted!r} is not a measure: give a name, or make a function of a tally one with as_measure"
        raise StreamgaugeError(msg)
    return wanted
