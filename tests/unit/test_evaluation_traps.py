"""What other systems get wrong in their loops, each shown to be right here."""

import hashlib
from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.checks import Memoriser
from streamgauge.checks.schemes import make_noise
from streamgauge.labelling import AllLabels, Delayed, DelayedAtRandom, First, Fraction
from streamgauge.learners.plain_loop import run_row_by_row
from streamgauge.schemes import Chunks, Holdout
from streamgauge.streams import ArrayStream, File, write
from streamgauge.tasks import Classification


@pytest.mark.parametrize("size", [20, 50, 100, 200])
def test_chunks_of_any_size_test_every_row_once_and_before_it_is_learnt(size):
    results = sg.evaluate(make_noise(AllLabels(), 2000, seed=3), Memoriser(), scheme=Chunks(size), every=2000)
    assert abs(results.values[-1, 0, 0, 0, 0] - 0.5) < 5 * 0.5 / np.sqrt(2000)
    assert results.feedback is not None
    assert results.feedback.n_scored.tolist() == [2000]


@pytest.mark.parametrize("labelling", [Delayed(2), Delayed(300), DelayedAtRandom(50), First(500)], ids=repr)
def test_no_label_is_learnt_that_has_not_arrived(labelling):
    stream = make_noise(AllLabels(), 1000, seed=4)
    repeated = ArrayStream(np.repeat(stream.x, 2, axis=0), np.repeat(stream.y, 2))  # each row comes again at once
    results = sg.evaluate(repeated, Memoriser(), labelling=labelling, every=2000)
    right = sg.evaluate(repeated, Memoriser(), every=2000).values[-1, 0, 0, 0, 0]
    assert right > 0.7  # with all labels at once, the second of two is known
    known = 0.5625 if isinstance(labelling, First) else 0.5  # 250 of the 2,000 rows are known, the others guessed
    slack = 0.1 if isinstance(labelling, DelayedAtRandom) else 0.0
    assert abs(results.values[-1, 0, 0, 0, 0] - known) < 5 * 0.5 / np.sqrt(2000) + slack


def test_a_learner_is_never_handed_the_label_with_the_row_to_predict():
    seen: list[Any] = []

    class Nosy:
        seed, seedless = 1, True

        def build(self, _schema, _seed):
            return self

        n_bytes = 0

        def predict(self, *given):
            seen.append(len(given))
            return np.ones((1, 2))

        def learn(self, _x, y, _weight):
            assert (y >= 0).all()  # and no made-up class stands for a missing one

        def interleave(self, step, *, with_votes):
            return run_row_by_row(self, step, Classification(("a", "b")), with_votes=with_votes)

        def save(self):
            return b""

        def load(self, _state):
            pass

    sg.evaluate(sg.SEA(n_rows=50), {"nosy": Nosy()}, labelling=Delayed(5, of=Fraction(0.5)))
    assert set(seen) == {1}


@pytest.mark.parametrize(("n_rows", "every", "rows"), [(150, 100, [100, 150]), (50, 100, [50]), (1, 1000, [1])])
@pytest.mark.parametrize("options", [{}, {"labelling": Delayed(20)}, {"scheme": Chunks(40)}], ids=repr)
def test_the_last_rows_of_a_stream_are_reported(n_rows, every, rows, options):
    results = sg.evaluate(sg.SEA(n_rows=n_rows), sg.NoChange(), every=every, batch_size=64, **options)
    assert results.rows.tolist() == rows
    feedback = results.feedback
    assert feedback is not None
    assert [n + feedback.n_left_out for n in feedback.n_scored] == [n_rows]
    assert feedback.n_left_out == (min(n_rows, 21) if "labelling" in options else 0)


def test_a_holdout_ends_with_a_test():
    results = sg.evaluate(sg.SEA(n_rows=250), sg.NaiveBayes(), scheme=Holdout(100, 30))
    assert results.rows.tolist() == [100, 200, 250]


def test_the_shares_of_labels_are_shares():
    for labelling in (Fraction(0.01), Delayed(100), First(0), Delayed(7, of=Fraction(0.3))):
        results = sg.evaluate(sg.SEA(n_rows=1234), sg.NaiveBayes(), labelling=labelling, batch_size=100)
        feedback = results.feedback
        assert feedback is not None
        parts = (feedback.n_revealed, feedback.n_owed, feedback.n_hidden, feedback.n_unknown)
        assert sum(parts) == 1234
        assert all(0 <= part <= 1234 for part in parts)


def test_readings_are_snapshots_and_not_live_objects():
    readings = list(sg.Evaluation(sg.RandomRBF(n_rows=2000), sg.NaiveBayes(), every=500))
    again = list(sg.Evaluation(sg.RandomRBF(n_rows=2000), sg.NaiveBayes(), every=500))
    assert len({reading.value for reading in readings}) == 4
    assert readings == again


def test_the_first_row_favours_no_class():
    """Before any label is learnt, the baselines have nothing to say, so the first row is an error of theirs."""
    for first in (0, 1):
        stream = ArrayStream(
            np.zeros((1, 1)),
            np.array([first]),
            schema=make_noise(AllLabels(), 2, 1).schema.__class__(
                (make_noise(AllLabels(), 2, 1).schema.attributes[0],), ("0", "1")
            ),
        )
        results = sg.evaluate(stream, [sg.MajorityClass(), sg.NoChange()])
        assert results.values.ravel().tolist() == [0.0, 0.0]


def test_an_evaluation_parses_a_file_no_more_often_than_it_must(tmp_path, monkeypatch):
    """Its fingerprint takes one more look at the bytes; to hash them while reading would slow down everybody."""
    from streamgauge.streams.files.source import Source  # noqa: PLC0415

    path = tmp_path / "rows.arff"
    write(sg.SEA(), path, n_rows=20_000)
    n_read = 0
    chunks = Source.read_chunks

    def counted(self, offset=0):
        nonlocal n_read
        for chunk in chunks(self, offset):
            n_read += len(chunk)
            yield chunk

    monkeypatch.setattr(Source, "read_chunks", counted)
    digest, n_digests = hashlib.file_digest, 0

    def digested(*given):
        nonlocal n_digests
        n_digests += 1
        return digest(*given)

    monkeypatch.setattr("hashlib.file_digest", digested)
    size = path.stat().st_size
    results = sg.evaluate(File(path), sg.NoChange(), every=1000)
    assert n_read < 1.5 * size  # once, and the header
    assert results.n_rows == 20_000
    assert n_digests == 1
    n_read = 0
    sg.evaluate(File(path), sg.NoChange())
    assert n_read < 2.5 * size  # to have 200 readings, the rows are counted first
    monkeypatch.undo()
    assert results.description["stream"]["fingerprint"] == File(path).fingerprint  # type: ignore[index]
