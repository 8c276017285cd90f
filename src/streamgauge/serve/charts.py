"""The data of a chart: curves between two rows, downsampled for a screen."""

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
from streamgauge._format.times import format_time
from streamgauge.errors import StreamgaugeError
from streamgauge.serve.curve_sources import RunRecords
from streamgauge.serve.runs import Run

__all__ = ["MAX_POINTS", "Panel", "encode_curves", "list_new_points", "to_json_column", "write_csv"]

MAX_POINTS = 20_000
"""Largest number of points per curve in one request."""

Column = NDArray[np.float64]
Bands = tuple[Column, Column, Column]


@dataclass(frozen=True)
class Panel:
    """The subject of a chart: a measure with a forgetting, a cost, or the difference of a pair in a measure.

    Parameters
    ----------
    kind
        ``measure``, ``cost`` or ``pair``.
    name
        The measure, the cost, or the first learner.
    forgetting
        The forgetting of a measure.
    second_learner
        The second learner of a pair.
    compared
        The measure in which a pair is compared; empty for the first one.

    Examples
    --------
    >>> layout = Layout(("tree",), ("Landmark()",), ("accuracy",), n_folds=1, with_costs=False)
    >>> records = layout.pack(np.array([100]), 0.0, np.full((1, 1, 1, 1, 1), 0.5), None, {})
    >>> Panel("measure", "accuracy", "Landmark()").select_columns(layout, records)[0].tolist()
    [[0.5]]
    """

    kind: str
    name: str
    forgetting: str = ""
    second_learner: str = ""
    compared: str = ""

    @classmethod
    def parse(cls, facts: object) -> "Panel":
        """Parse the panel of a request, which names the forgetting or the second learner ``under``."""
        if isinstance(facts, dict):
            texts = [facts.get(part, "") for part in ("kind", "name", "under", "measure")]
            if all(isinstance(text, str) for text in texts) and texts[0] in {"measure", "cost", "pair"}:
                kind, name, under, measure = texts
                if kind == "pair":
                    return cls(kind, name, second_learner=under, compared=measure)
                return cls(kind, name, forgetting=under)
        msg = (
            "a panel needs kind (measure, cost or pair), name, and under (a forgetting or the second learner); that of "
            "a pair may name a measure"
        )
        raise StreamgaugeError(msg)

    def select_columns(self, layout: Layout, records: Column) -> Bands:
        """Return mean, minimum and maximum of each curve, float64 [n, curves] each."""
        if self.kind == "measure":
            return layout.curve(records, self.name, self.forgetting)
        if self.kind == "cost":
            cost = layout.cost(records, self.name)
            return cost, cost, cost
        difference, low, high = layout.pair(records, self.name, self.second_learner, self.compared).T
        return difference[:, None], low[:, None], high[:, None]

    def list_names(self, layout: Layout) -> tuple[str, ...]:
        """Return the names of the curves."""
        if self.kind != "pair":
            return layout.learners
        measure = f", {self.compared}" if self.compared else ""
        return (f"{self.name} - {self.second_learner}{measure}",)

    def has_bands(self, layout: Layout) -> bool:
        """Return whether minimum and maximum differ from the mean."""
        return self.kind == "pair" or (self.kind == "measure" and layout.n_folds > 1)


def encode_curves(
    run_records: RunRecords,
    panel: Panel,
    first: float = -inf,
    last: float = inf,
    n_points: int = 2_000,
    *,
    x: str = "row",
) -> bytes:
    """Return the curves of a panel between two rows, or two times if `x` is time, downsampled without losing extremes.

    The bytes are: the length of a header (4 bytes, little-endian), the header (JSON, padded with blanks to a multiple
    of 8), the rows (float64), their times (float64) if the header says so, then for each curve its mean and, if there
    are bands, its minimum and maximum (float32).

    Examples
    --------
    >>> layout = Layout(("tree",), ("Landmark()",), ("accuracy",), n_folds=1, with_costs=False)
    >>> records = layout.pack(np.array([100]), 0.0, np.full((1, 1, 1, 1, 1), 0.5), None, {})
    >>> content = encode_curves(RunRecords(layout, 3, records), Panel("measure", "accuracy", "Landmark()"))
    >>> json.loads(content[4 : 4 + int.from_bytes(content[:4], "little")])["names"]
    ['tree']
    """
    if not 4 <= n_points <= MAX_POINTS:
        msg = f"a chart has 4 to {MAX_POINTS} points, not {n_points}"
        raise StreamgaugeError(msg)
    layout, records = run_records.layout, run_records.select_between(first, last, x)
    mean, low, high = panel.select_columns(layout, records)
    buckets = Buckets.from_count(len(records), n_points)
    if panel.kind == "pair":
        bands = [buckets.take_latest(column) for column in (mean, low, high)]
    elif panel.has_bands(layout):
        bands = [buckets.take_extremes(mean), buckets.take_minima(low), buckets.take_maxima(high)]
    else:
        bands = [buckets.take_extremes(mean)]
    facts = {
        "names": list(panel.list_names(layout)),
        "n": len(buckets.indices),
        "bands": len(bands) > 1,
        "times": layout.with_times,
        "generation": run_records.generation,
        "n_records": len(run_records.records),
        "thinned": len(buckets.indices) < len(records),
        "last_row": int(run_records.records[-1, 0]) if len(run_records.records) else 0,
    }
    header = json.dumps(facts).encode()
    header += b" " * (-(len(header) + 4) % 8)
    kept = records[buckets.indices]
    times = layout.times(kept)
    places: bytes = b"".join(column.astype("<f8").tobytes() for column in (kept[:, 0], times) if column is not None)
    values: bytes = np.stack(bands, axis=0).transpose(2, 0, 1).astype("<f4").tobytes()
    return len(header).to_bytes(4, "little") + header + places + values


def list_new_points(layout: Layout, records: Column, panel: Panel) -> dict[str, object]:
    """Return new points of the curves of a panel as lists, without downsampling.

    Examples
    --------
    >>> layout = Layout(("tree",), ("Landmark()",), ("accuracy",), n_folds=1, with_costs=False)
    >>> records = layout.pack(np.array([100]), 0.0, np.full((1, 1, 1, 1, 1), 0.5), None, {})
    >>> list_new_points(layout, records, Panel("measure", "accuracy", "Landmark()"))
    {'curves': [[[0.5]]]}
    """
    columns = panel.select_columns(layout, records)
    bands = columns if panel.has_bands(layout) else columns[:1]
    n_curves = columns[0].shape[1]
    return {"curves": [[to_json_column(band[:, index]) for band in bands] for index in range(n_curves)]}


def to_json_column(column: Column) -> list[float | None]:
    """Return a column as a list; NaN, which JSON lacks, becomes null.

    Examples
    --------
    >>> to_json_column(np.array([0.5, np.nan]))
    [0.5, None]
    """
    return [value if value == value else None for value in column.tolist()]  # noqa: PLR0124


COLUMNS = ("run", "row", "learner", "kind", "name", "under", "mean", "low", "high")


def write_csv(
    runs: Sequence[Run],
    panels: Sequence[Panel],
    first: float = -inf,
    last: float = inf,
    hidden: Iterable[str] = (),
    *,
    x: str = "row",
) -> Iterator[str]:
    r"""Yield the data of charts as CSV, piece by piece: all points between two rows or times, without downsampling.

    There is a column of times, in UTC, if rows of any run may carry times.

    Examples
    --------
    >>> next(write_csv((), ()))
    'run,row,learner,kind,name,under,mean,low,high\r\n'
    """
    with_times = any(run.read_curves(panel.kind).layout.with_times for run in runs for panel in panels[:1])
    for run in runs:  # what is wrong with any of them is said before the first piece
        for panel in panels:
            run_records = run.read_curves(panel.kind)
            records = run_records.select_between(first, last, x, margin=0)
            panel.select_columns(run_records.layout, records[:1])
    yield _format_rows([(*COLUMNS[:2], "time", *COLUMNS[2:]) if with_times else COLUMNS])
    hidden = set(hidden)
    for run in runs:
        for panel in panels:
            run_records = run.read_curves(panel.kind)
            records = run_records.select_between(first, last, x, margin=0)
            places = [run_records.layout.rows(records).tolist()]
            if with_times:
                places.append(_format_times(run_records.layout.times(records), len(records)))
            columns = panel.select_columns(run_records.layout, records)
            for index, name in enumerate(panel.list_names(run_records.layout)):
                if name in hidden:
                    continue
                bands = np.column_stack([column[:, index] for column in columns])
                under = panel.forgetting or panel.second_learner
                facts = (_escape(name), panel.kind, _escape(panel.name), _escape(under))
                yield _format_rows(
                    (_escape(run.name), *place, *facts, *("" if v != v else repr(v) for v in values))  # noqa: PLR0124
                    for *place, values in zip(*places, bands.tolist(), strict=True)
                )


def _format_times(times: Column | None, n: int) -> list[str | float]:
    """Return times as texts, or as seconds if they have no dates; empty if unknown."""
    return [""] * n if times is None else ["" if np.isnan(time) else format_time(time) for time in times.tolist()]


def _escape(text: str) -> str:
    """Return a text that no spreadsheet interprets as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _format_rows(rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()
