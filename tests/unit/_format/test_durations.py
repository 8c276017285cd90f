"""Lengths of time as people write them, and the options that take them."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamgauge as sg
from streamgauge._format.durations import format_duration, parse_duration
from streamgauge._format.text import describe_forgetting, to_text
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import TimeWindow
from streamgauge.labelling import DelayedByColumn, DelayedByTime
from streamgauge.names import FAMILIES, make
from streamgauge.streams import ArrayStream


@given(
    weeks=st.integers(0, 9),
    days=st.integers(0, 40),
    hours=st.integers(0, 30),
    minutes=st.integers(0, 90),
    seconds=st.integers(0, 90),
)
def test_a_text_means_what_pythons_timedelta_means(weeks, days, hours, minutes, seconds):
    expected = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds).total_seconds()
    for text in (
        f"{weeks} weeks {days} days {hours} h {minutes} min {seconds} s",
        f"{weeks}w{days}d{hours}h{minutes}min{seconds}s",
        f"{weeks} Weeks, {days} Days, {hours} hours, {minutes} minutes and {seconds} seconds",
    ):
        assert parse_duration(text) == expected


@given(st.integers(0, 10**9).map(lambda milliseconds: milliseconds / 1000))
def test_a_printed_duration_reads_back_as_the_same_seconds(seconds):
    assert parse_duration(format_duration(seconds)) == pytest.approx(seconds, rel=1e-11)


@pytest.mark.parametrize("text", ["", "days", "-3 days", "3 dayz", "1 month", "2 years", "1:30", "nan", "1e400 s"])
def test_text_that_is_no_duration_is_refused_with_the_usage(text):
    with pytest.raises(StreamgaugeError, match=r"is not a length of time: .*'30 days'"):
        parse_duration(text)


def test_options_keep_what_was_written_and_know_the_seconds():
    assert repr(DelayedByTime("30 days")) == "DelayedByTime(delay='30 days', of=AllLabels())"
    assert to_text(TimeWindow("1h 30min")) == "TimeWindow(span='1h 30min')"
    assert (DelayedByTime("30 days").seconds, TimeWindow("1h 30min").seconds) == (2_592_000.0, 5400.0)
    assert describe_forgetting(to_text(TimeWindow(86_400))) == "over the last 1 day"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: DelayedByTime("soon"), "delay = 'soon': write seconds, or a number and a unit"),
        (lambda: DelayedByTime(-1), r"delay = -1: it must be a number in \[0, 1e\+15\] of seconds, or text such as"),
        (lambda: DelayedByTime(timedelta(days=1)), "delay = .*timedelta.*of seconds, or text such as '30 days'"),  # type: ignore[arg-type]
        (lambda: TimeWindow("0 s"), r"span = '0 s': it must be a number in \(0"),
        (lambda: TimeWindow("1 month"), "span = '1 month': months and years differ in length"),
    ],
)
def test_a_wrong_duration_is_refused_with_the_name_of_the_option(build, message):
    with pytest.raises(StreamgaugeError, match=message):
        build()


@pytest.mark.parametrize(
    ("kind", "text", "seconds"),
    [
        ("labelling", "DelayedByTime('30 days')", 2_592_000),
        ("labelling", "DelayedByTime(30 days)", 2_592_000),
        ("labelling", "DelayedByTime(delay=1 h 30 min, of=Fraction(0.5))", 5400),
        ("labelling", "DelayedByTime(90)", 90),
        ("forgetting", "TimeWindow(7d)", 604_800),
    ],
)
def test_durations_need_no_quotes_on_the_command_line(kind, text, seconds):
    assert make(kind, text, FAMILIES[f"{kind}s"]()).seconds == seconds


def test_months_without_quotes_are_refused_for_their_length():
    with pytest.raises(StreamgaugeError, match="delay = '2 months': months and years differ in length; write days"):
        make("labelling", "DelayedByTime(2 months)", FAMILIES["labellings"]())


def test_quoted_text_is_never_mistaken_for_a_duration():
    with pytest.raises(StreamgaugeError, match="cannot read the labelling"):
        make("labelling", "DelayedByTime(30 dayz)", FAMILIES["labellings"]())


ROWS = np.random.default_rng(1).random((500, 2))
LABELS = (ROWS[:, 0] > 0.5).astype(int)


def test_a_text_and_its_seconds_give_the_same_readings():
    stream = ArrayStream(ROWS, LABELS, time=np.cumsum(np.full(500, 600.0)))
    readings = [
        sg.evaluate(
            stream, sg.NaiveBayes(), labelling=DelayedByTime(delay), forgetting=TimeWindow(span), live_test=None
        ).values
        for delay, span in (("1 day", "7 h"), (86_400, 25_200))
    ]
    np.testing.assert_array_equal(readings[0], readings[1])


@pytest.mark.parametrize(
    ("options", "substitute"),
    [
        ({"labelling": DelayedByTime("1 day")}, "Delayed"),
        ({"labelling": DelayedByColumn(np.zeros(500), "seconds")}, "Delayed"),
        ({"labelling": DelayedByColumn(np.zeros(500), "time")}, "Delayed"),
        ({"forgetting": [sg.Window(50), TimeWindow("7 days")]}, "Window"),
    ],
)
@pytest.mark.parametrize("stream", [ArrayStream(ROWS, LABELS), sg.SEA(n_rows=500)], ids=["arrays", "generator"])
def test_times_are_missed_before_the_first_row_with_a_hint(options, substitute, stream):
    with pytest.raises(StreamgaugeError, match=rf"needs the times of the rows.*time=\.\.\. .*--time.*{substitute}\("):
        sg.Evaluation(stream, sg.NaiveBayes(), **options)
    sg.Evaluation(stream, sg.NaiveBayes(), labelling=DelayedByColumn(np.zeros(500)))
