"""Confusion matrices in figures and as text equal those of scikit-learn from the predictions."""

import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.reports.confusion_text import format_confusion, list_confusions
from streamgauge.results import Predictions, Results

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'streamgauge[plots]'")
pytest.importorskip("sklearn.metrics")

from sklearn.metrics import confusion_matrix

from streamgauge import plots


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass(), "change": sg.NoChange()}
    return sg.evaluate(
        sg.SEA(n_rows=2000),
        learners,
        forgetting=[sg.Landmark(), sg.Window(500)],
        recorders=[Predictions(folder / "predictions.parquet")],
        every=500,
    )


def count_confusions(folder: Path, learner: str, rows: slice) -> np.ndarray:
    """Return the confusion matrix by scikit-learn, with a last column for abstentions."""
    table = pq.read_table(folder / "predictions.parquet").to_pandas()
    table = table[table["learner"] == learner].astype({"true": str, "predicted": object}).iloc[rows]
    predicted = table["predicted"].where(table["predicted"].notna(), "none").astype(str)
    return np.asarray(confusion_matrix(table["true"], predicted, labels=["0", "1", "none"])[:2])


@pytest.mark.parametrize(("forgetting", "row", "rows"), [
    ("Landmark()", None, slice(0, 2000)),
    ("Landmark()", 1300, slice(0, 1000)),
    ("Window(width=500)", 2000, slice(1500, 2000)),
])  # fmt: skip
def test_the_text_has_the_counts_recalls_and_precisions(
    results: Results, folder: Path, forgetting: str, row: int | None, rows: slice
) -> None:
    text = format_confusion(results, forgetting, learners=["bayes"], row=row)
    title, head, *lines, precisions = text.splitlines()
    assert title.startswith(f"Confusion matrix of bayes after {rows.stop:,} rows, over ")
    expected = count_confusions(folder, "bayes", rows)
    n_columns = 3 if expected[:, 2].any() else 2
    assert head.split()[3:] == ["0", "1", *(["none"] if n_columns == 3 else []), "recall", "%"]
    for line, counts, hits in zip(lines, expected, np.diag(expected), strict=True):
        cells = line.replace(",", "").split()[1:]
        assert [int(cell) for cell in cells[:-1]] == counts[:n_columns].tolist()
        assert float(cells[-1]) == pytest.approx(100 * hits / counts.sum(), abs=0.005)
    assert [float(cell) for cell in precisions.split()[2:]] == pytest.approx(
        (100 * np.diag(expected) / expected[:, :2].sum(axis=0)).tolist(), abs=0.005
    )


def test_a_figure_has_the_counts_and_shares_of_every_learner(results: Results, folder: Path) -> None:
    figure = plots.confusion(results, rows=2000, values="both")
    axes = [a for a in figure.drawn.axes if a.axison]
    assert [a.get_title("left") for a in axes] == ["bayes", "majority", "change"]
    assert figure.drawn.get_suptitle() == "Rows, and percent of the true class, after 2,000 rows, over all rows"
    for a, learner in zip(axes, results.learners, strict=True):
        expected = count_confusions(folder, learner, slice(0, 2000))
        texts = [text.get_text() for text in a.texts]
        shares = expected / expected.sum(axis=1, keepdims=True)
        assert texts == [
            f"{n:,}\n{100 * share:.0f}%" for n, share in zip(expected[:, :2].flat, shares[:, :2].flat, strict=True)
        ]
        np.testing.assert_allclose(np.asarray(a.images[0].get_array()), shares[:, :2])


def test_moments_are_columns_and_learners_lines(results: Results) -> None:
    figure = plots.confusion(results, rows=[500, 1400], learners=["bayes", "change"])
    axes = figure.drawn.axes
    assert [a.get_title("left") for a in axes] == ["after 500 rows", "after 1,000 rows", "", ""]
    assert [a.get_ylabel().split("\n")[0] for a in axes] == ["bayes", "", "change", ""]
    assert [a.get_xlabel() for a in axes] == ["", "", "predicted", "predicted"]


def test_counts_of_folds_are_summed_and_said_to_be(results: Results) -> None:
    folds = sg.evaluate(sg.SEA(n_rows=500), {"majority": sg.MajorityClass()}, scheme=sg.Bootstrap(3))
    matrix = np.array(list_confusions(folds)[0]["weights"])
    assert matrix.sum() == 3 * 500
    assert format_confusion(folds).splitlines()[0].endswith("over all rows, sum of 3 folds")
    assert "sum of 3 folds" in plots.confusion(folds, moments=1, values="counts").drawn.get_suptitle().replace(
        "\n", " "
    )
    assert "folds" not in plots.confusion(results, moments=1).drawn.get_suptitle()


def test_what_is_not_there_is_said(results: Results) -> None:
    with pytest.raises(StreamgaugeError, match="no confusion matrix up to row 100: the first is at row 500"):
        plots.confusion(results, rows=100)
    with pytest.raises(StreamgaugeError, match=re.escape("no forgetting 'Window(width=50)'")):
        format_confusion(results, "Window(width=50)")
    with pytest.raises(StreamgaugeError, match="no learner 'tree'"):
        format_confusion(results, learners=["tree"])
    with pytest.raises(StreamgaugeError, match="no kind of values 'both sides'"):
        plots.confusion(results, values="both sides")  # type: ignore[arg-type]
    with pytest.raises(StreamgaugeError, match="no confusion matrices"):
        format_confusion(Results.from_readings((), n_rows=0))
