"""Few labels beside ppi-python (prediction-powered inference) and NannyML (estimates without labels)."""

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from streamgauge._engine.label_sums import compute_losses
from streamgauge.records import Trace
from streamgauge.significance.prediction_powered import LossSums, powered_mean

DATA = Path(__file__).parents[2] / "data" / "libraries" / "ppi_python.csv"
CASES = list(csv.DictReader(DATA.read_text(encoding="utf-8").splitlines()))


def draw(case: dict[str, str]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Draw the losses, what the votes say to expect, and which rows are labelled."""
    rng, n_rows, error = np.random.default_rng(int(case["seed"])), int(case["n_rows"]), float(case["error"])
    unsure = rng.random(n_rows) < error / 0.45
    expected = np.where(unsure, 0.45, 0.0) if case["kind"] == "decided" else rng.uniform(0.0, 2 * error, n_rows)
    loss = (rng.random(n_rows) < expected).astype(float)
    expected = rng.permutation(expected) if case["kind"] == "wrong" else expected
    return loss, expected, rng.random(n_rows) < float(case["share"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["seed"])
def test_mean_and_interval_are_those_of_ppi_python(case: dict[str, str]) -> None:
    sums = LossSums.from_rows(*draw(case))
    powered, alone = (powered_mean(sums, powered=by_votes, finite=False) for by_votes in (True, False))
    found = [powered.value, *(powered.interval or ()), *(alone.interval or ())]
    wanted = [float(case[name]) for name in ("powered", "low", "high", "alone_low", "alone_high")]
    assert found == pytest.approx(wanted, abs=5e-6)  # a variance there has the divisor n - 1


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["seed"])
def test_mean_over_this_stream_is_the_same_and_its_interval_no_wider(case: dict[str, str]) -> None:
    sums = LossSums.from_rows(*draw(case))
    here, source = (powered_mean(sums, finite=finite) for finite in (True, False))
    assert here.value == pytest.approx(float(case["powered"]), abs=5e-6)
    assert here.width < 1.001 * source.width


def test_ppi_python_itself() -> None:
    ppi = pytest.importorskip("ppi_py")
    for case in CASES:
        loss, expected, labelled = draw(case)
        ends = ppi.ppi_mean_ci(loss[labelled], expected[labelled], expected[~labelled], alpha=0.05)
        found = powered_mean(LossSums.from_rows(loss, expected, labelled), finite=False).interval
        assert found == pytest.approx([float(np.ravel(end)[0]) for end in ends], abs=5e-6)


NANNYML = (0.8266500000000001, 0.8253499999999999, 0.8271499999999999)
"""The accuracy that CBPE of NannyML 0.13.1 estimates for the rows below, in three chunks of 2,000 rows."""


def draw_shares() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Draw the shares of the second class in reference rows and in the rows to judge, and the labels of the former."""
    rng = np.random.default_rng(0)
    kinds, reference_odds = [0.05, 0.2, 0.4, 0.7, 0.9], [0.3, 0.2, 0.2, 0.2, 0.1]
    reference = rng.choice(kinds, 12_000, p=reference_odds)
    labels = (rng.random(12_000) < reference).astype(int)
    shares = rng.choice(kinds, 6000, p=[0.3, 0.2, 0.1, 0.2, 0.2])
    return reference, shares, labels, (shares > 0.5).astype(int)


def estimate_accuracies() -> list[float]:
    """Return our estimates without labels, in the same chunks."""
    _, shares, _, predicted = draw_shares()
    none, votes = np.zeros(6000, dtype=np.bool_), np.stack([1.0 - shares, shares], axis=1)
    y = predicted.astype(np.int32)
    _, expected = compute_losses(("error",), Trace(np.arange(6000), y, y, none, none, votes=votes))
    return [1.0 - float(chunk.mean()) for chunk in expected[0].reshape(3, 2000)]


def test_estimate_without_labels_is_that_of_nannyml() -> None:
    assert estimate_accuracies() == pytest.approx(NANNYML, abs=1 / 8192)  # ours are rounded to 1 / 4096 a row


@pytest.mark.filterwarnings("default")  # it uses what new versions of pandas deprecate
def test_nannyml_itself() -> None:
    nannyml = pytest.importorskip("nannyml")
    pandas = pytest.importorskip("pandas")
    reference, shares, labels, predicted = draw_shares()
    cbpe = nannyml.CBPE(
        y_pred_proba="p",
        y_pred="y_pred",
        y_true="y",
        problem_type="classification_binary",
        metrics=["accuracy"],
        chunk_size=2000,
    )
    cbpe.fit(pandas.DataFrame({"p": reference, "y_pred": (reference > 0.5).astype(int), "y": labels}))
    found = cbpe.estimate(pandas.DataFrame({"p": shares, "y_pred": predicted})).filter(period="analysis").to_df()
    assert estimate_accuracies() == pytest.approx(found["accuracy", "value"].tolist(), abs=1 / 8192)
