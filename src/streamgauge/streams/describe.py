"""What a stream holds: attributes, classes, their balance over time, and how much each label depends on the last."""

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import Stream
from streamgauge.records import UNLABELLED, Attribute, Schema

__all__ = ["AttributeSummary", "Description", "describe"]

_BATCH = 16_384
_MOST_DISTINCT = 10_000


@dataclass(frozen=True)
class AttributeSummary:
    """What one attribute holds.

    Parameters
    ----------
    name
        What it is called.
    kind
        "numeric" or "nominal".
    n_missing
        How many values are missing.
    minimum, maximum, mean
        Of a numeric attribute, over the values that are there; None where there are none.
    n_distinct
        How many different values it has; None for more than 10,000.
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
    """What a stream holds.

    Parameters
    ----------
    n_rows, n_labelled
        How many rows there are, and how many of them have a class.
    attributes
        One summary for each attribute.
    classes
        Rows of each class, by name.
    span_ends
        The stream in equal spans: the position behind each, int64 [s].
    span_counts
        Rows of each class in each span, int64 [s, c].
    temporal_dependence
        The accuracy of predicting the class seen last; None where no row has a class. High where labels come in runs:
        a learner is worth something only above it.
    fingerprint
        A text that differs where the rows do.

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

    @property
    def span_shares(self) -> NDArray[np.float64]:
        """The share of each class in each span, float64 [s, c]; NaN where no row of a span has a label."""
        totals = self.span_counts.sum(axis=1, keepdims=True)
        shares = np.full(self.span_counts.shape, np.nan)
        np.divide(self.span_counts, totals, out=shares, where=totals > 0)
        return shares

    def as_dict(self) -> dict[str, object]:
        """Give all of it as plain values, for JSON."""
        return {
            "n_rows": self.n_rows,
            "n_labelled": self.n_labelled,
            "attributes": [asdict(attribute) for attribute in self.attributes],
            "classes": self.classes,
            "span_ends": self.span_ends.tolist(),
            "span_counts": self.span_counts.tolist(),
            "temporal_dependence": self.temporal_dependence,
            "fingerprint": self.fingerprint,
        }


def describe(stream: Stream, *, spans: int = 20, n_rows: int | None = None) -> Description:
    """Read a stream once and say what it holds, in bounded memory.

    Parameters
    ----------
    stream
        The stream.
    spans
        Into how many spans it is divided to show the balance over time.
    n_rows
        How many rows to read; needed where the stream never ends.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> found = describe(SEA(), spans=4, n_rows=1000)
    >>> found.n_rows, found.span_counts.sum(axis=1).tolist()
    (1000, [250, 250, 250, 250])
    """
    require_at_least("spans", spans, 1)
    total = _total(stream, n_rows)
    columns = [_Column(attribute) for attribute in stream.schema.attributes]
    labels = _Labels(stream.schema, total, spans)
    done = 0
    for batch in stream.batches(_BATCH):
        n = min(len(batch), total - done)
        labels.update(batch.y[:n], done)
        for column, values in zip(columns, batch.x[:n].T, strict=True):
            column.update(values)
        done += n
        if done >= total:
            break
    return Description(
        n_rows=done,
        n_labelled=labels.n_labelled,
        attributes=tuple(column.summary() for column in columns),
        classes=dict(zip(stream.schema.classes, labels.counts.sum(axis=0).tolist(), strict=True)),
        span_ends=labels.ends,
        span_counts=labels.counts,
        temporal_dependence=labels.n_repeated / labels.n_labelled if labels.n_labelled else None,
        fingerprint=stream.fingerprint,
    )


def _total(stream: Stream, n_rows: int | None) -> int:
    if n_rows is not None:
        require_at_least("n_rows", n_rows, 1)
    there = stream.n_rows
    if there is None and n_rows is None:
        msg = "the stream never ends; say how many rows to describe (n_rows)"
        raise StreamgaugeError(msg)
    return min(there if there is not None else n_rows or 0, n_rows if n_rows is not None else there or 0)


class _Labels:
    """Counts classes over time, and how often a class follows itself."""

    def __init__(self, schema: Schema, total: int, spans: int) -> None:
        spans = max(1, min(spans, total))
        self.ends = np.array([(i + 1) * total // spans for i in range(spans)], dtype=np.int64)
        self.counts = np.zeros((spans, schema.n_classes), dtype=np.int64)
        self.n_labelled = 0
        self.n_repeated = 0
        self._last = UNLABELLED

    def update(self, y: NDArray[np.int32], start: int) -> None:
        known = np.flatnonzero(y != UNLABELLED)
        if not len(known):
            return
        classes = y[known]
        span = np.searchsorted(self.ends, known + start, side="right")
        np.add.at(self.counts, (span, classes), 1)
        before = np.concatenate(([self._last], classes[:-1]))
        self.n_repeated += int((classes == before).sum())
        self.n_labelled += len(known)
        self._last = int(classes[-1])


class _Column:
    """Sums up the values of one attribute."""

    def __init__(self, attribute: Attribute) -> None:
        self._attribute = attribute
        self._n = 0
        self._n_missing = 0
        self._low, self._high = np.inf, -np.inf
        self._sum = 0.0
        self._distinct: NDArray[np.float64] | None = np.empty(0)

    def update(self, values: NDArray[np.float64]) -> None:
        there = values[~np.isnan(values)]
        self._n += len(there)
        self._n_missing += len(values) - len(there)
        if not len(there):
            return
        self._low = min(self._low, float(there.min()))
        self._high = max(self._high, float(there.max()))
        self._sum += float(there.sum())
        if self._distinct is not None:
            merged = np.union1d(self._distinct, there)
            self._distinct = merged if len(merged) <= _MOST_DISTINCT else None

    def summary(self) -> AttributeSummary:
        numbers = self._n > 0 and not self._attribute.is_nominal
        return AttributeSummary(
            name=self._attribute.name,
            kind="nominal" if self._attribute.is_nominal else "numeric",
            n_missing=self._n_missing,
            minimum=self._low if numbers else None,
            maximum=self._high if numbers else None,
            mean=self._sum / self._n if numbers else None,
            n_distinct=None if self._distinct is None else len(self._distinct),
        )
