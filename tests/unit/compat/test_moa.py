"""Counting as MOA does."""

from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.checks import check_forgetting
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import Landmark, Window
from streamgauge.records import Trace
from tests.support.sequence_examples import Codes, sequence


@pytest.mark.parametrize("forgetting", [Landmark(moa_compatible=True), Window(37, moa_compatible=True)], ids=repr)
def test_counting_as_moa_does_not_depend_on_pieces_and_survives_being_saved(forgetting: Any) -> None:
    y_true, y_pred = sequence(3, abstaining=True)
    weight = np.random.default_rng(1).random(500)
    miss = np.zeros(500, dtype=np.bool_)
    trace = Trace(np.arange(500), y_true, y_pred, miss, miss, weight)
    whole = forgetting.build(3).update(trace, [500])[0]
    state = forgetting.build(3)
    for start in range(0, 500, 61):
        after = state.update(trace.part(start, min(start + 61, 500)), [min(start + 61, 500)])[0]
        saved = state.save()
        state = forgetting.build(3)
        state.load(saved)
    assert (after.majority_hits, after.no_change_hits) == (whole.majority_hits, whole.no_change_hits)
    np.testing.assert_array_equal(after.confusion, whole.confusion)
    assert state.n_bytes > 0
    with pytest.raises(StreamgaugeError, match="damaged"):
        state.load(saved[:-1])
    with pytest.raises(StreamgaugeError, match="other options"):
        forgetting.build(2).load(saved)
    assert state.save() == saved


def test_counting_as_moa_is_shown_in_the_name_and_on_the_command_line() -> None:
    stream = sg.SEA(n_rows=500)
    names = sg.evaluate(
        stream, sg.NaiveBayes(), forgetting=[Landmark(), Landmark(moa_compatible=True), Window(9, moa_compatible=True)]
    ).forgettings
    assert names == ("Landmark()", "Landmark(moa_compatible=True)", "Window(width=9, moa_compatible=True)")
    check_forgetting(Window(9))


def by_the_book(y_true: Codes, width: int | None) -> tuple[int, int]:
    """Count the hits of MOA's two baselines row by row."""
    majority = temporal = 0
    for row, label in enumerate(y_true.tolist()):
        seen = y_true[: row + 1] if width is None else y_true[max(0, row + 1 - width) : row + 1]
        majority += int(np.argmax(np.bincount(seen)) == label)
        temporal += int((y_true[row - 1] if row else 0) == label)
    return majority, temporal


@pytest.mark.parametrize("width", [None, 1, 20, 1000])
def test_counting_as_moa_is_the_plain_loop(width: int | None) -> None:
    y_true, y_pred = sequence(4, abstaining=True, n_rows=300)
    forgetting: Any = Landmark(moa_compatible=True) if width is None else Window(width, moa_compatible=True)
    miss = np.zeros(300, dtype=np.bool_)
    tallies = forgetting.build(4).update(Trace(np.arange(300), y_true, y_pred, miss, miss), list(range(1, 301)))
    if width in (None, 1000):
        assert (tallies[-1].majority_hits, tallies[-1].no_change_hits) == by_the_book(y_true, width)
    else:
        newest = sum(
            by_the_book(y_true[: 300 - back], width)[0] - by_the_book(y_true[: 299 - back], width)[0]
            for back in range(width)
        )
        assert tallies[-1].majority_hits == newest
