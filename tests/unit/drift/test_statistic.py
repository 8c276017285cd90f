"""The trace of the statistic that a detector compares with its threshold."""

import numpy as np
import pytest
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge.drift import (
    DDM,
    FHDDM,
    KSWIN,
    Adwin,
    Cusum,
    EWMAChart,
    OfMean,
    PageHinkley,
    detect,
    trace_statistic,
)
from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import DetectorSpec
from streamgauge.randomness import uniform

TRACED = [
    PageHinkley(threshold=20, direction="up"),
    PageHinkley(threshold=20, direction="down"),
    PageHinkley(threshold=10, grace_period=200),
    Cusum(threshold=15),
    DDM(),
    EWMAChart(),
    OfMean(PageHinkley(delta=0.001, threshold=2.5, factor=1.0)),
]


def make_errors(n: int = 6_000) -> NDArray[np.float64]:
    rate = np.where(np.arange(n) // 1_500 % 2, 0.5, 0.1)
    return (uniform(3, "errors", 0, 0, n) < rate).astype(np.float64)


@pytest.mark.parametrize("spec", TRACED, ids=str)
def test_alarms_are_exactly_where_the_statistic_exceeds_the_threshold(spec: DetectorSpec):
    errors = make_errors()
    trace = trace_statistic(errors, spec)
    alarms = detect(errors, spec).alarms
    assert len(alarms)
    np.testing.assert_array_equal(trace.alarms, alarms)
    np.testing.assert_array_equal(trace.row[trace.statistic > trace.threshold], alarms)
    assert len(trace) == len(errors)


@pytest.mark.parametrize("spec", TRACED, ids=str)
def test_a_trace_in_parts_equals_the_whole_and_leaves_the_state_of_an_update(spec: PageHinkley | OfMean):
    errors = make_errors()
    whole, parts, updated = spec.build(), spec.build(), spec.build()
    expected = whole.trace(errors)
    signals = updated.update(errors)
    columns = zip(*(parts.trace(part) for part in np.array_split(errors, 7)), strict=True)
    for column, joined in zip(expected, columns, strict=True):
        np.testing.assert_array_equal(column, np.concatenate(joined))
    np.testing.assert_array_equal(expected[0], signals)
    assert whole.save() == parts.save() == updated.save()


def follow_page_hinkley(values: NDArray[np.float64], spec: PageHinkley) -> tuple[list[float], list[float]]:
    """Return m - min m, and max m - m, of the textbook test row by row; it restarts after an alarm."""
    rises, falls = [], []
    n, total, m_up, m_down, least, greatest = 0, 0.0, 0.0, 0.0, np.inf, -np.inf
    for value in values:
        n, total = n + 1, total + value
        m_up = spec.factor * m_up + (value - total / n - spec.delta)
        m_down = spec.factor * m_down + (value - total / n + spec.delta)
        least, greatest = min(least, m_up), max(greatest, m_down)
        rises.append(m_up - least)
        falls.append(greatest - m_down)
        passed = max(rises[-1] if spec.direction != "down" else 0.0, falls[-1] if spec.direction != "up" else 0.0)
        if n > spec.grace_period and passed > spec.threshold:
            n, total, m_up, m_down, least, greatest = 0, 0.0, 0.0, 0.0, np.inf, -np.inf
    return rises, falls


@pytest.mark.parametrize("direction", ["up", "down", "both"])
def test_the_statistic_of_page_hinkley_is_that_of_the_paper(direction: str):
    errors, spec = make_errors(), PageHinkley(threshold=20, direction=direction)
    rises, falls = follow_page_hinkley(errors, spec)
    expected = {"up": rises, "down": falls, "both": np.maximum(rises, falls)}[direction]
    trace = trace_statistic(errors, spec)
    np.testing.assert_allclose(trace.statistic, expected, atol=1e-9)
    assert np.isnan(trace.threshold[:30]).all()
    assert (trace.threshold[~np.isnan(trace.threshold)] == 20).all()


def test_the_grace_period_after_an_alarm_has_no_threshold():
    trace = trace_statistic(make_errors(), PageHinkley(threshold=20, grace_period=50))
    for alarm in trace.alarms:
        assert np.isnan(trace.threshold[alarm + 1 : alarm + 51]).all()
        assert not np.isnan(trace.threshold[alarm + 51])


@pytest.mark.parametrize("spec", [Adwin(), KSWIN(), FHDDM(), OfMean(Adwin())], ids=str)
def test_a_detector_without_one_statistic_is_refused_by_name(spec: DetectorSpec):
    with pytest.raises(StreamgaugeError, match=r"does not compare one statistic.*PageHinkley, Cusum"):
        trace_statistic([0.0], spec)


def test_the_column_of_a_stream_is_traced_without_its_missing_values():
    stream = sg.SEA(n_rows=500)
    column = next(stream.batches(500)).x[:, 0].copy()
    expected = trace_statistic(column, "PageHinkley")
    trace = trace_statistic(stream, "PageHinkley", column="a1")
    np.testing.assert_array_equal(trace.statistic, expected.statistic)
    column[3] = np.nan
    holes = sg.streams.ArrayStream(column[:, np.newaxis], np.arange(500) % 2)
    assert trace_statistic(holes, "PageHinkley", column=0).row.tolist() == [0, 1, 2, *range(4, 500)]


def test_nothing_to_read_gives_an_empty_trace_and_bad_values_an_error():
    assert len(trace_statistic([], "Cusum")) == 0
    with pytest.raises(StreamgaugeError, match="from row 0 on"):
        trace_statistic([0.0, np.inf], "PageHinkley")
