"""Batches: how many rows are done at once."""

from collections.abc import Sequence
from itertools import islice

import pytest

from streamgauge._engine.source import (
    BATCH_BYTES,
    FIRST_SLICE,
    IN_MEMORY_FACTOR,
    MAX_ROWS,
    MIN_ROWS,
    WIDE_BATCH_BYTES,
    RowSource,
    default_batch_size,
)
from streamgauge.evaluation import Evaluation
from streamgauge.labelling import AllLabels
from streamgauge.learners import HoeffdingTree, NaiveBayes
from streamgauge.protocols import LearnerSpec, Scheme, Stream
from streamgauge.records import Attribute, Schema
from streamgauge.schemes import CrossValidation, Prequential
from streamgauge.streams import SEA, ArrayStream

SIZE = 65_536


def slice_sizes(rows_per_second: float, n: int) -> list[int]:
    """Return the sizes of the first chunks of a run at a speed."""
    source = RowSource(SEA(), Prequential(), AllLabels(), seed=1)
    sizes, done = [], 0
    for batch, _ in islice(source.batches(SIZE, None), n):
        assert batch.start == done
        sizes.append(len(batch))
        done += len(batch)
        source.adapt_slice_rows(len(batch), len(batch) / rows_per_second)
    assert source._slice_rows < 1 << 40  # it does not double for ever
    return sizes


def test_a_fast_run_continues_with_whole_batches():
    assert slice_sizes(1e7, 200) == [FIRST_SLICE, SIZE - FIRST_SLICE, *[SIZE] * 198]


def test_a_slow_run_continues_with_chunks_of_a_second():
    assert slice_sizes(20_000, 5) == [FIRST_SLICE, 20_000, 20_000, 20_000, SIZE - FIRST_SLICE - 60_000]


def test_a_very_slow_run_continues_with_fewer_rows():
    assert slice_sizes(100, 3) == [FIRST_SLICE, 100, 100]


@pytest.mark.parametrize(
    ("n_attributes", "rows"),
    [(1, MAX_ROWS), (100, BATCH_BYTES // 800), (8_000, MIN_ROWS), (10**5, WIDE_BATCH_BYTES // 800_000)],
)
def test_a_batch_holds_about_as_many_bytes_whatever_the_rows(n_attributes, rows):
    schema = Schema(tuple(Attribute(f"a{i}") for i in range(n_attributes)), ("no", "yes"))
    assert default_batch_size(schema) == rows


def test_one_learner_alone_gets_more_rows_at_once_where_they_are_in_memory_anyway():
    def size(stream: Stream, learners: Sequence[LearnerSpec], scheme: Scheme) -> int:
        return Evaluation(stream, learners, scheme=scheme).batch_size

    rows = ArrayStream([[0.5, 1.0], [0.2, 3.0]], ["up", "down"])
    alone, usual = [NaiveBayes()], default_batch_size(rows.schema)
    assert size(rows, alone, Prequential()) == IN_MEMORY_FACTOR * usual
    assert size(rows, [NaiveBayes(), HoeffdingTree()], Prequential()) == usual
    assert size(rows, alone, CrossValidation(3)) == usual
    assert size(SEA(), alone, Prequential()) == default_batch_size(SEA().schema)
