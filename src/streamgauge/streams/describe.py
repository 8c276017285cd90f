"""Summaries of streams: attributes, classes, class balance over time, and temporal dependence of labels."""

import os
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge._foreign import adopt_stream
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import Stream
from streamgauge.records import UNLABELLED, Attribute, Schema
from streamgauge.streams.arrays import as_stream
from streamgauge.streams.base import min_limit, require_classes
from streamgauge.streams.description_text import format_description
from streamgauge.streams.files import File

__all__ = ["AttributeSummary", "Description", "describe"]

_BATCH = 16_384
_MAX_DISTINCT = 10_000


@dataclass(frozen=True)
class AttributeSummary:
    """A summary of one attribute.

    Parameters
    ----------
    name
        Name of the attribute.
    kind
        "numeric" or "nominal".
    n_missing
        Number of missing values.
    minimum, maximum, mean
        Statistics of a numeric attribute over the values that are not missing; None if there are none.
    n_distinct
        Number of distinct values; None for more than 10,000.
    """

    name: str
    kind: str
    n_missing: int
    minimum: float | None
    maximum: float | None
    mean: float | None
    n_distinct: int | None


@dataclass(frozen=True)
class Description:
    """A summary of a stream.

    Parameters
    ----------
    n_rows, n_labelled
        Number of rows, and of rows with a label.
    attributes
        A summary of each attribute.
    classes
        Number of rows of each class, by name.
    span_ends
        End of each of several equal spans of rows, exclusive, int64 [s].
    span_counts
        Number of rows of each class in each span, int64 [s, c].
    temporal_dependence
        Accuracy of predicting the last seen class; None if no row has a label. It is high if labels come in runs, and
        a learner is useful only above it.
    fingerprint
        A string that differs if the rows do.
    first_time, last_time
        The first and the last time of the rows, as text in ISO 8601; None if rows have no times.
    notes
        What was recognised or left out, and how to change it.

    Examples
    --------
    >>> from streamgauge.streams import SEA, describe
    >>> describe(SEA(n_rows=100)).n_labelled
    100
    """

    n_rows: int
    n_labelled: int
    attributes: tuple[AttributeSummary, ...]
    classes: dict[str, int]
    span_ends: NDArray[np.int64]
    span_counts: NDArray[np.int64]
    temporal_dependence: float | None
    fingerprint: str
    first_time: str | None = None
    last_time: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def rarest(self) -> tuple[str, float] | None:
        """The rarest class that occurs, and its share of the labelled rows; None if fewer than two classes occur."""
        counts = {name: n for name, n in self.classes.items() if n}
        if len(counts) < 2:
            return None
        name = min(counts, key=lambda name: counts[name])
        return name, counts[name] / self.n_labelled

    @property
    def span_shares(self) -> NDArray[np.float64]:
        """Share of each class in each span, float64 [s, c]; NaN if no row of the span has a label."""
        totals = self.span_counts.sum(axis=1, keepdims=True)
        shares = np.full(self.span_counts.shape, np.nan)
        np.divide(self.span_counts, totals, out=shares, where=totals > 0)
        return shares

    def __str__(self) -> str:
        return format_description(self)

    def as_dict(self) -> dict[str, object]:
        """Return all fields as plain values, for JSON."""
        return {
            "n_rows": self.n_rows,
            "n_labelled": self.n_labelled,
            "attributes": [asdict(attribute) for attribute in self.attributes],
            "classes": self.classes,
            "span_ends": self.span_ends.tolist(),
            "span_counts": self.span_counts.tolist(),
            "temporal_dependence": self.temporal_dependence,
            "fingerprint": self.fingerprint,
            "first_time": self.first_time,
            "last_time": self.last_time,
            "notes": list(self.notes),
        }


def describe(data: object, *, spans: int = 20, n_rows: int | None = None, **options: Any) -> Description:  # noqa: ANN401
    """Read a stream once, in bounded memory, and return a summary of it.

    Parameters
    ----------
    data
        A stream, the path of a file, a table of pandas, polars or pyarrow, or a pair of arrays (x, y).
    spans
        Number of spans in which the class balance is counted.
    n_rows
        Number of rows to read; required if the stream never ends.
    **options
        Options of reading a file or a table, such as ``target`` and ``time``: see `File`.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> description = describe(SEA(), spans=4, n_rows=1000)
    >>> description.n_rows, description.span_counts.sum(axis=1).tolist()
    (1000, [250, 250, 250, 250])
    >>> table = {"day": ["2024-01-01", "2024-01-02"], "price": [1.5, 2.5], "move": ["up", "down"]}
    >>> description = describe(table, target="move")
    >>> description.first_time, [attribute.name for attribute in description.attributes]
    ('2024-01-01T00:00:00Z', ['price'])
    """
    stream = adopt_stream(_open(data, options))
    require_classes(stream.schema, "a description")
    require_at_least("spans", spans, 1)
    if n_rows is not None:
        require_at_least("n_rows", n_rows, 1)
    limit = min_limit(stream.n_rows, n_rows)
    if limit is None:
        msg = "the stream never ends: pass n_rows to say how many rows to describe"
        raise StreamgaugeError(msg)
    columns = [_ColumnCounter(attribute) for attribute in stream.schema.attributes]
    labels = _LabelCounter(stream.schema, limit, spans)
    n_read = 0
    times: list[float] = []
    for batch in stream.batches(_BATCH):
        n = min(len(batch), limit - n_read)
        if batch.time is not None and n:
            times = [times[0] if times else float(batch.time[0]), float(batch.time[n - 1])]
        labels.update(batch.y[:n], n_read)
        for column, values in zip(columns, batch.x[:n].T, strict=True):
            column.update(values)
        n_read += n
        if n_read >= limit:
            break
    return Description(
        n_rows=n_read,
        n_labelled=labels.n_labelled,
        attributes=tuple(column.summarise() for column in columns),
        classes=dict(zip(stream.schema.classes, labels.counts.sum(axis=0).tolist(), strict=True)),
        span_ends=labels.ends,
        span_counts=labels.counts,
        temporal_dependence=labels.n_repeated / labels.n_labelled if labels.n_labelled else None,
        fingerprint=stream.fingerprint,
        first_time=_native.format_time(times[0]) if times else None,
        last_time=_native.format_time(times[1]) if times else None,
        notes=stream.notes,
    )


def _open(data: object, options: dict[str, Any]) -> Stream:
    if isinstance(data, str | os.PathLike):
        return File(data, **options)
    return as_stream(data, **options)


class _LabelCounter:
    """Counts of classes over time, and of labels equal to the one before."""

    def __init__(self, schema: Schema, n_rows: int, spans: int) -> None:
        spans = max(1, min(spans, n_rows))
        self.ends = np.array([(i + 1) * n_rows // spans for i in range(spans)], dtype=np.int64)
        self.counts = np.zeros((spans, schema.n_classes), dtype=np.int64)
        self.n_labelled = 0
        self.n_repeated = 0
        self._last = UNLABELLED

    def update(self, y: NDArray[np.int32], start: int) -> None:
        labelled = np.flatnonzero(y != UNLABELLED)
        if not len(labelled):
            return
        classes = y[labelled]
        span = np.searchsorted(self.ends, labelled + start, side="right")
        np.add.at(self.counts, (span, classes), 1)
        previous = np.concatenate(([self._last], classes[:-1]))
        self.n_repeated += int((classes == previous).sum())
        self.n_labelled += len(labelled)
        self._last = int(classes[-1])


class _ColumnCounter:
    """Running statistics of one attribute."""

    def __init__(self, attribute: Attribute) -> None:
        self._attribute = attribute
        self._n = 0
        self._n_missing = 0
        self._low, self._high = np.inf, -np.inf
        self._sum = 0.0
        self._distinct: NDArray[np.float64] | None = np.empty(0)

    def update(self, values: NDArray[np.float64]) -> None:
        present = values[~np.isnan(values)]
        self._n += len(present)
        self._n_missing += len(values) - len(present)
        if not len(present):
            return
        self._low = min(self._low, float(present.min()))
        self._high = max(self._high, float(present.max()))
        self._sum += float(present.sum())
        if self._distinct is not None:
            merged = np.union1d(self._distinct, present)
            self._distinct = merged if len(merged) <= _MAX_DISTINCT else None

    def summarise(self) -> AttributeSummary:
        has_numbers = self._n > 0 and not self._attribute.is_nominal
        return AttributeSummary(
            name=self._attribute.name,
            kind="nominal" if self._attribute.is_nominal else "numeric",
            n_missing=self._n_missing,
            minimum=self._low if has_numbers else None,
            maximum=self._high if has_numbers else None,
            mean=self._sum / self._n if has_numbers else None,
            n_distinct=None if self._distinct is None else len(self._distinct),
        )
