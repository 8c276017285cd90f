"""Describing a stream, against NumPy and the published counts."""

import numpy as np
import pytest

from streamgauge.errors import StreamgaugeError
from streamgauge.records import Attribute, Batch, Schema
from streamgauge.streams import SEA, ArrayStream, describe


def random_stream(n=50_000):
    rng = np.random.default_rng(5)
    x = np.column_stack([rng.normal(size=n), rng.integers(0, 3, n), np.round(rng.random(n), 2)])
    x[rng.random(x.shape) < 0.05] = np.nan
    y = np.repeat(rng.integers(-1, 3, n // 5), 5).astype(np.int32)
    attributes = (
        Attribute("a", missing=True),
        Attribute("b", ("x", "y", "z"), missing=True),
        Attribute("c", missing=True),
    )
    return ArrayStream.from_batch(Batch(0, x, y), Schema(attributes, ("p", "q", "r")))


def test_every_number_agrees_with_numpy():
    stream = random_stream()
    found = describe(stream, spans=7)
    x, y = stream.x, stream.y
    assert (found.n_rows, found.n_labelled) == (len(y), (y >= 0).sum())
    for i, one in enumerate(found.attributes):
        values = x[:, i][~np.isnan(x[:, i])]
        assert one.n_missing == np.isnan(x[:, i]).sum()
        assert one.n_distinct == (len(np.unique(values)) if i else None)  # the first has more than 10,000
        if one.kind == "numeric":
            assert (one.minimum, one.maximum) == (values.min(), values.max())
            assert one.mean == pytest.approx(values.mean(), rel=1e-12)
    known = y[y >= 0]
    assert found.temporal_dependence == (known[1:] == known[:-1]).sum() / len(known)
    assert list(found.classes.values()) == np.bincount(known).tolist()
    edges = [0, *found.span_ends]
    for i, counts in enumerate(found.span_counts):
        span = y[edges[i] : edges[i + 1]]
        assert counts.tolist() == np.bincount(span[span >= 0], minlength=3).tolist()
    assert found.span_ends[-1] == len(y)


def test_a_stream_without_labels_has_no_temporal_dependence():
    batch = Batch(0, np.zeros((3, 1)), np.full(3, -1, dtype=np.int32))
    found = describe(ArrayStream.from_batch(batch, Schema((Attribute("a"),), ("x", "y"))))
    assert found.temporal_dependence is None
    assert np.isnan(found.span_shares).all()


def test_an_endless_stream_needs_a_number_of_rows():
    with pytest.raises(StreamgaugeError, match="n_rows"):
        describe(SEA())
    assert describe(SEA(), n_rows=30_000).span_counts.sum() == 30_000


def test_the_table_of_classes_ends_after_50():
    described = describe(ArrayStream(np.zeros((200, 1)), [f"user {i % 60}" for i in range(200)]))
    lines = str(described).splitlines()
    assert sum(line.startswith("user ") for line in lines) == 50
    assert "... and 10 more classes (--json lists all)" in lines
