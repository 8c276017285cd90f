"""The current values of a gauge."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.numbers import RATE, format_value
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import Reading

__all__ = ["GaugeReading"]


@dataclass(frozen=True)
class GaugeReading:
    """The value of every measure of a gauge after its last row.

    Parameters
    ----------
    row
        The number of rows.
    time
        The time of the last row in seconds; None if rows carry no times.
    models, forgettings, measures
        The names along the axes.
    values
        The values, float64 [models, forgettings, measures].
    units
        The units of the measures.

    Examples
    --------
    >>> values = np.array([[[0.9, 0.8]], [[0.7, 0.5]]])
    >>> names = (("champion", "challenger"), ("Landmark()",), ("accuracy", "kappa"))
    >>> reading = GaugeReading(100, None, *names, values, ("rate", "rate"))
    >>> reading["challenger", "kappa"], [one.value for one in reading][:2]
    (0.5, [0.9, 0.8])
    """

    row: int
    time: float | None
    models: tuple[str, ...]
    forgettings: tuple[str, ...]
    measures: tuple[str, ...]
    values: NDArray[np.float64]
    units: tuple[str, ...]

    def __getitem__(self, names: str | tuple[str, ...]) -> float:
        """Return one value by the names of its model, forgetting and measure; an axis with one name may be left out."""
        wanted = (names,) if isinstance(names, str) else names
        axes = (self.models, self.forgettings, self.measures)
        index: list[int | None] = [0 if len(axis) == 1 else None for axis in axes]
        for name in wanted:
            found = [(position, axis.index(name)) for position, axis in enumerate(axes) if name in axis]
            if not found:
                raise unknown_name(
                    kind="model, forgetting or measure", name=name, known=[n for axis in axes for n in axis]
                )
            position, at = found[0]
            index[position] = at
        for at_axis, axis in zip(index, axes, strict=True):
            if at_axis is None:
                msg = f"there are several values for {', '.join(wanted)}: also give one of {', '.join(axis)}"
                raise StreamgaugeError(msg)
        return float(self.values[tuple(at for at in index if at is not None)])

    def __iter__(self) -> Iterator[Reading]:
        for model, of_model in zip(self.models, self.values, strict=True):
            for forgetting, of_forgetting in zip(self.forgettings, of_model, strict=True):
                for measure, value in zip(self.measures, of_forgetting.tolist(), strict=True):
                    yield Reading(self.row, model, 0, measure, forgetting, value)

    def __str__(self) -> str:
        several = len(self.models) > 1, len(self.forgettings) > 1
        lines = [f"After {self.row:,} rows"]
        for one in self:
            unit = self.units[self.measures.index(one.measure)]
            names = [name for name, shown in zip((one.learner, one.forgetting), several, strict=True) if shown]
            value = format_value(one.value, unit) + ("%" if unit == RATE else "")
            lines.append(" ".join([*names, one.measure, value]))
        return "\n".join(lines)
