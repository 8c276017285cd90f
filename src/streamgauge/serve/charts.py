"""What one chart of the page shows, cut and thinned to what a screen has room for."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.journal import Layout
from streamgauge._format.downsample import Buckets
from streamgauge.errors import StreamgaugeError
from streamgauge.serve.curve_sources import Readings
from streamgauge.serve.runs import Run

__all__ = ["MOST_POINTS", "Panel", "curves", "news", "table"]

MOST_POINTS = 20_000
"""How many points of a curve a page may ask for at once."""

Column = NDArray[np.float64]
Bands = tuple[Column, Column, Column]


@dataclass(frozen=True)
class Panel:
    """What is drawn: a measure under a forgetting, a figure of the cost, or the difference of a pair.

    Parameters
    ----------
    kind
        ``measure``, ``cost`` or ``pair``.
    name
        The measure, the figure, or the first learner.
    under
        The forgetting, or the second learner.

    Examples
    --------
    >>> layout = Layout(("tree",), ("Landmark()",), ("accuracy",), n_folds=1, with_costs=False)
    >>> records = layout.pack(np.array([100]), 0.0, np.full((1, 1, 1, 1, 1), 0.5), None, {})
    >>> Panel("measure", "accuracy", "Landmark()").columns(layout, records)[0].tolist()
    [[0.5]]
    """

    kind: str
    name: str
    under: str = ""

    @classmethod
    def of(cls, facts: object) -> "Panel":
        """Read what a page asks for."""
        if isinstance(facts, dict):
            texts = [facts.get(part, "") for part in ("kind", "name", "under")]
            if all(isinstance(text, str) for text in texts) and texts[0] in {"measure", "cost", "pair"}:
                return cls(*texts)
        msg = "a panel has a kind (measure, cost or pair), a name, and what it is under"
        raise StreamgaugeError(msg)

    def columns(self, layout: Layout, records: Column) -> Bands:
        """Give the mean, the lowest and the highest of each of its curves, float64 [n, curves] each."""
        if self.kind == "measure":
            return layout.curve(records, self.name, self.under)
        if self.kind == "cost":
            cost = layout.cost(records, self.name)
            return cost, cost, cost
        difference, low, high = layout.pair(records, self.name, self.under).T
        return difference[:, None], low[:, None], high[:, None]

    def names(self, layout: Layout) -> tuple[str, ...]:
        """Give the names of its curves."""
        return (f"{self.name} - {self.under}",) if self.kind == "pair" else layout.learners

    def has_bands(self, layout: Layout) -> bool:
        """Say whether the lowest and highest differ from the mean."""
        return self.kind == "pair" or (self.kind == "measure" and layout.n_folds > 1)


def curves(readings: Readings, panel: Panel, first: float = -inf, last: float = inf, points: int = 2_000) -> bytes:
    """Write the curves of a panel between two rows, thinned so that no extreme is lost.

    The bytes are: the length of a head (4 bytes, little-endian), the head (JSON, padded with blanks to a multiple of
    8), the rows (float64), then for each curve its mean and, where there are bands, its lowest and highest (float32).

    Examples
    --------
    >>> layout = Layout(("tree",), ("Landmark()",), ("accuracy",), n_folds=1, with_costs=False)
    >>> records = layout.pack(np.array([100]), 0.0, np.full((1, 1, 1, 1, 1), 0.5), None, {})
    >>> written = curves(Readings(layout, 3, records), Panel("measure", "accuracy", "Landmark()"))
    >>> json.loads(written[4 : 4 + int.from_bytes(written[:4], "little")])["names"]
    ['tree']
    """
    if not 4 <= points <= MOST_POINTS:
        msg = f"{points} points: a chart takes from 4 to {MOST_POINTS}"
        raise StreamgaugeError(msg)
    layout, cut = readings.layout, readings.between(first, last)
    columns = panel.columns(layout, cut)
    buckets = Buckets.from_count(len(cut), points)
    mean = buckets.take_latest(columns[0]) if panel.kind == "pair" else buckets.take_extremes(columns[0])
    bands = [mean]
    if panel.kind == "pair":
        bands += [buckets.take_latest(columns[1]), buckets.take_latest(columns[2])]
    elif panel.has_bands(layout):
        bands += [buckets.take_minima(columns[1]), buckets.take_maxima(columns[2])]
    facts = {
        "names": list(panel.names(layout)),
        "n": len(buckets.indices),
        "bands": len(bands) > 1,
        "generation": readings.generation,
        "n_records": len(readings.records),
        "thinned": len(buckets.indices) < len(cut),
        "last_row": int(readings.records[-1, 0]) if len(readings.records) else 0,
    }
    text = json.dumps(facts).encode()
    text += b" " * (-(len(text) + 4) % 8)
    rows: bytes = cut[buckets.indices, 0].astype("<f8").tobytes()
    values: bytes = np.stack(bands, axis=0).transpose(2, 0, 1).astype("<f4").tobytes()
    return len(text).to_bytes(4, "little") + text + rows + values


def news(layout: Layout, records: Column, panel: Panel) -> dict[str, object]:
    """Tell the points that have come since, all of them, as lists.

    Examples
    --------
    >>> layout = Layout(("tree",), ("Landmark()",), ("accuracy",), n_folds=1, with_costs=False)
    >>> records = layout.pack(np.array([100]), 0.0, np.full((1, 1, 1, 1, 1), 0.5), None, {})
    >>> news(layout, records, Panel("measure", "accuracy", "Landmark()"))
    {'curves': [[[0.5]]]}
    """
    columns = panel.columns(layout, records)
    bands = columns if panel.has_bands(layout) else columns[:1]
    return {"curves": [[_listed(band[:, place]) for band in bands] for place in range(columns[0].shape[1])]}


def _listed(column: Column) -> list[float | None]:
    """Give a column for JSON, which lacks NaN."""
    return [value if value == value else None for value in column.tolist()]  # noqa: PLR0124


COLUMNS = ("run", "row", "learner", "kind", "name", "under", "mean", "low", "high")


def table(
    runs: Iterable[Run], panels: Sequence[Panel], first: float = -inf, last: float = inf, hidden: Iterable[str] = ()
) -> Iterator[str]:
    r"""Write what charts show as CSV, piece by piece: all points between two rows, none thinned away.

    Examples
    --------
    >>> next(table((), ()))
    'run,row,learner,kind,name,under,mean,low,high\r\n'
    """
    yield _csv([COLUMNS])
    left_out = set(hidden)
    for run in runs:
        for panel in panels:
            readings = run.readings(panel.kind)
            cut = readings.records[(readings.records[:, 0] >= first) & (readings.records[:, 0] <= last)]
            for place, name in enumerate(panel.names(readings.layout)):
                if name in left_out:
                    continue
                bands = np.column_stack([band[:, place] for band in panel.columns(readings.layout, cut)])
                facts = (_cell(name), panel.kind, _cell(panel.name), _cell(panel.under))
                rows = readings.layout.rows(cut).tolist()
                yield _csv(
                    (_cell(run.name), row, *facts, *("" if v != v else repr(v) for v in values))  # noqa: PLR0124
                    for row, values in zip(rows, bands.tolist(), strict=True)
                )


def _cell(text: str) -> str:
    """Give a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _csv(rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()
