"""Batch cross-validation: a fold learns all rows of the others, then tests its own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge import randomness
from streamgauge.backends import Threads
from streamgauge.errors import StreamgaugeError
from streamgauge.labelling import DelayedByColumn
from streamgauge.protocols import CellBatch, Scheme
from streamgauge.schemes import BatchCrossValidation, Chunks, Holdout, Pretrained, WarmUp
from streamgauge.streams import ArrayStream, GrowingFile, take

N_ROWS = 2000


class Predicted:
    """Keeps the prediction of each row, by fold; -9 where there was none."""

    needs_votes = False

    def __init__(self, n_folds: int, n_rows: int = N_ROWS) -> None:
        self.found = np.full((n_folds, n_rows), -9, dtype=np.int32)

    @contextmanager
    def open(self, *_: object) -> Iterator[Callable[[CellBatch], None]]:
        def record(cell: CellBatch) -> None:
            assert (self.found[cell.fold, cell.trace.row] == -9).all()
            self.found[cell.fold, cell.trace.row] = cell.trace.y_pred

        yield record


def predict_plainly(stream: Any, k: int, repetitions: int, seed: int) -> NDArray[np.int32]:
    """Return the predictions of each fold by a plain loop: learn the other rows, then predict the fold's own."""
    rows = take(stream, N_ROWS)
    found = np.full((k * repetitions, N_ROWS), -9, dtype=np.int32)
    for fold in range(k * repetitions):
        own = randomness.below(seed, "fold", fold // k, 0, N_ROWS, k) == fold % k
        learner = sg.NaiveBayes().build(stream.schema, 1)
        learner.learn(rows.x[~own], rows.y[~own], None)
        found[fold, own] = learner.predict(rows.x[own]).argmax(axis=1)
    return found


@pytest.mark.parametrize(("k", "repetitions"), [(10, 1), (2, 5)])
@pytest.mark.parametrize("batch_size", [170, None])
def test_it_is_a_plain_loop_of_training_and_testing(k: int, repetitions: int, batch_size: int | None) -> None:
    stream, recorder = sg.RandomRBF(n_rows=N_ROWS, seed=4), Predicted(k * repetitions)
    scheme = BatchCrossValidation(k, repetitions)
    results = sg.evaluate(
        stream, sg.NaiveBayes(), scheme=scheme, seed=3, batch_size=batch_size, recorders=[recorder], backend=Threads(1)
    )
    expected = predict_plainly(stream, k, repetitions, seed=3)
    assert recorder.found.tolist() == expected.tolist()
    right = [(row == take(stream, N_ROWS).y)[row != -9].mean() for row in expected]
    assert results.curve("NaiveBayes", "accuracy")[-1] == pytest.approx(np.array(right))
    assert results.feedback is not None
    assert results.feedback.n_scored.reshape(repetitions, k).sum(axis=1).tolist() == [N_ROWS] * repetitions


def test_a_limit_holds_for_both_passes() -> None:
    recorder = Predicted(10)
    sg.evaluate(
        sg.RandomRBF(seed=4), sg.NaiveBayes(), n_rows=N_ROWS, scheme=BatchCrossValidation(), recorders=[recorder]
    )
    assert recorder.found.tolist() == predict_plainly(sg.RandomRBF(seed=4), 10, 1, seed=1).tolist()


def test_the_draw_is_that_of_cross_validation_and_differs_between_repetitions() -> None:
    rows = take(sg.SEA(), N_ROWS)

    def own(scheme: Scheme, fold: int) -> list[bool]:
        return [bool(tested) for tested in np.asarray(scheme.step(rows, fold, 1).test)]

    assert own(BatchCrossValidation(2, 5), 1) == own(sg.CrossValidation(2, test="held_out"), 1)
    assert len({tuple(own(BatchCrossValidation(2, 5), fold)) for fold in range(10)}) == 10


def test_a_file_is_read_twice_and_a_column_of_the_labelling_stays_hidden(tmp_path: Path) -> None:
    rows = take(sg.SEA(), 500)
    names = dict(zip("abc", rows.x.T, strict=True))
    stream = ArrayStream({**names, "delay": rows.y.astype(np.float64)}, rows.y)
    sg.streams.write(stream, tmp_path / "rows.csv")
    options: dict[str, Any] = {"scheme": BatchCrossValidation(5), "labelling": DelayedByColumn("delay")}
    from_file = sg.evaluate(sg.streams.File(tmp_path / "rows.csv"), sg.NaiveBayes(), **options)
    from_memory = sg.evaluate(stream, sg.NaiveBayes(), **options)
    np.testing.assert_array_equal(from_file.values, from_memory.values)
    assert from_memory.final("NaiveBayes", "accuracy").mean < 0.99  # the label is in the hidden column


def test_a_stream_that_cannot_be_read_twice_is_refused_before_the_first_row(tmp_path: Path) -> None:
    (tmp_path / "live.csv").write_text("a,class\n1,0\n2,1\n")
    with pytest.raises(StreamgaugeError, match=r"reads the stream twice, but SEA.* never ends: set n_rows"):
        sg.Evaluation(sg.SEA(), sg.NaiveBayes(), scheme=BatchCrossValidation())
    live = GrowingFile(tmp_path / "live.csv", schema=sg.SEA().schema)
    with pytest.raises(StreamgaugeError, match="is live: record it to a file first"):
        sg.Evaluation(live, sg.NaiveBayes(), scheme=BatchCrossValidation(), n_rows=2)


@pytest.mark.parametrize("wrapper", [Chunks, Holdout, Pretrained, WarmUp])
def test_no_scheme_can_be_around_it(wrapper: Any) -> None:
    with pytest.raises(StreamgaugeError, match="no other scheme can be around it"):
        wrapper(scheme=BatchCrossValidation())


@pytest.mark.parametrize(("options", "named"), [((1,), "k = 1"), ((2, 0), "repetitions = 0")])
def test_impossible_numbers_are_refused(options: tuple[int, ...], named: str) -> None:
    with pytest.raises(StreamgaugeError, match=named):
        BatchCrossValidation(*options)
