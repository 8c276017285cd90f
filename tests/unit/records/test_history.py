"""What a run keeps along its way: classes, labels, confusions and differences, exact at every stop."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamgauge as sg
from streamgauge._engine.planner import FIRST_CONFUSIONS
from streamgauge.labelling import AllLabels, Delayed, First, Fraction
from streamgauge.protocols import Labelling
from streamgauge.records import UNLABELLED
from streamgauge.reports.unlabelled_spans import find_unlabelled_spans
from streamgauge.results import Results
from streamgauge.schemes import Chunks
from streamgauge.significance import LiveTest
from streamgauge.streams import ArrayStream

RANDOM = np.random.default_rng(5)
X, Y = RANDOM.random((1000, 2)), RANDOM.integers(-1, 3, 1000)
STREAM = ArrayStream(X, [None if y == UNLABELLED else f"c{y}" for y in Y])


PARTS = {"labels": ("by_class", "n_revealed"), "confusions": ("weights",), "differences": ("values",)}


def run(labelling: Labelling, **options: Any) -> Results:
    return sg.evaluate(STREAM, [sg.NaiveBayes(), sg.NoChange()], labelling=labelling, every=70, **options)


@pytest.mark.parametrize("labelling", [AllLabels(), First(300), Fraction(0.3), Delayed(45)])
def test_classes_and_labels_are_counted_exactly_at_every_stop(labelling: Labelling) -> None:
    results = run(labelling)
    counts = results.labels
    assert counts is not None
    assert counts.rows.tolist() == results.rows.tolist()
    for at, row in enumerate(counts.rows):
        assert counts.by_class[at].tolist() == [int((Y[:row] == code).sum()) for code in range(3)]
        assert counts.n_unknown[at] == (Y[:row] == UNLABELLED).sum()
    if isinstance(labelling, First):
        assert counts.n_hidden.tolist() == [int((Y[300 : max(row, 300)] >= 0).sum()) for row in counts.rows]
    if isinstance(labelling, Delayed):
        assert counts.n_owed.tolist()[:-1] == [int((Y[row - 45 : row] >= 0).sum()) for row in counts.rows[:-1]]
    feedback = results.feedback
    assert feedback is not None
    last = (counts.n_revealed[-1], counts.n_owed[-1], counts.n_hidden[-1], counts.n_unknown[-1])
    assert last == (feedback.n_revealed, feedback.n_owed, feedback.n_hidden, feedback.n_unknown)


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 400), st.sampled_from([Delayed(30), Fraction(0.5), AllLabels()]))
def test_what_is_kept_does_not_depend_on_batches(batch_size: int, labelling: Labelling) -> None:
    whole, cut = run(labelling), run(labelling, batch_size=batch_size)
    for name in ("labels", "confusions", "differences"):
        first, second = getattr(whole, name), getattr(cut, name)
        for part in ("rows", *PARTS[name]):
            np.testing.assert_array_equal(getattr(first, part), getattr(second, part))


def test_labels_that_wait_for_the_end_of_a_chunk_have_arrived() -> None:
    results = run(AllLabels(), scheme=Chunks(100))
    assert results.labels is not None
    assert not results.labels.n_owed.any()
    assert results.feedback is not None
    assert results.feedback.n_owed == 0
    assert results.feedback.n_revealed == (Y >= 0).sum()


def test_confusions_tell_the_accuracy() -> None:
    results = run(AllLabels(), forgetting=[sg.Landmark(), sg.Window(200)], scheme=sg.Bootstrap(3))
    kept = results.confusions
    assert kept is not None
    assert kept.rows.tolist() == results.rows.tolist()
    right = np.trace(kept.weights[..., :3], axis1=-2, axis2=-1) / kept.weights.sum(axis=(-2, -1))
    np.testing.assert_allclose(right, results.values[..., 0].mean(axis=2), atol=1e-12)


def test_confusions_of_many_stops_are_few_and_even() -> None:
    results = sg.evaluate(sg.SEA(n_rows=3003), sg.NoChange(), every=3)
    kept = results.confusions
    assert kept is not None
    assert FIRST_CONFUSIONS / 2 <= len(kept.rows) <= 2 * FIRST_CONFUSIONS + 1
    assert len(set(np.diff(kept.rows[:-1]).tolist())) == 1
    assert kept.rows[-1] == 3003  # that of the end is among them


def test_differences_end_where_the_verdicts_do() -> None:
    results = run(AllLabels(), live_test=LiveTest(exact=True))  # which looks at every reading
    kept = results.differences
    assert kept is not None
    (verdict,) = results.verdicts
    assert kept.values[-1, 0].tolist() == pytest.approx([verdict.difference, *(verdict.interval or ())])
    accuracy = results.values[:, :, 0, 0, 0]
    np.testing.assert_allclose(kept.values[:, 0, 0], accuracy[:, 0] - accuracy[:, 1], atol=1e-12)


def test_what_is_kept_is_stored_and_read_back(tmp_path: Path) -> None:
    results = run(Fraction(0.5))
    back = sg.load(sg.save(results, tmp_path))
    for name, parts in {
        "labels": ("rows", "by_class", "n_unknown", "n_hidden", "n_revealed", "classes"),
        "confusions": ("rows", "weights", "classes"),
        "differences": ("rows", "values", "pairs", "alpha", "test"),
    }.items():
        for part in parts:
            np.testing.assert_array_equal(getattr(getattr(back, name), part), getattr(getattr(results, name), part))


def test_an_interrupted_run_counts_only_what_it_ran() -> None:
    evaluation = sg.Evaluation(STREAM, sg.NoChange(), every=70, batch_size=100)
    looks = iter([False, False, True])
    results = evaluation.results(list(evaluation.advance(lambda: next(looks, True))))
    assert not results.complete
    assert results.labels is not None
    n = results.n_rows
    assert results.labels.by_class[-1].tolist() == [int((Y[:n] == code).sum()) for code in range(3)]
    assert results.feedback is not None
    assert results.feedback.n_revealed == (Y[:n] >= 0).sum()


def test_hidden_labels_are_shaded_where_they_are() -> None:
    whole = ArrayStream(X, ["a" if y else "b" for y in Y])
    results = sg.evaluate(whole, sg.NoChange(), labelling=First(350), every=70)
    assert find_unlabelled_spans(results) == [(350, 1000, True)]
    some = sg.evaluate(whole, sg.NoChange(), labelling=Fraction(0.5), every=250)
    assert find_unlabelled_spans(some) == [(0, 1000, False)]
