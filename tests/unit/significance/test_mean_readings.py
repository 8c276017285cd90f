"""The mean of windowed and faded readings, tested over blocks of at least ten windows."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from streamgauge import SEA, Bootstrap, CrossValidation, NaiveBayes, NoChange, Window, evaluate
from streamgauge.cli.main import cli
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import EWMA, AdwinWindow, Fading, Tumbling
from streamgauge.significance import compare
from streamgauge.significance.mean_readings import find_width, leave_readings_out

LEARNERS = {"bayes": NaiveBayes(), "last": NoChange()}


@pytest.mark.parametrize(
    ("forgetting", "width"),
    [
        ("Window(width=1000)", 1000),
        ("Window(width=50, moa_compatible=True)", 50),
        ("Tumbling(width=20)", 20),
        ("Fading(factor=0.99, chunk=1)", 100),
        ("Fading(factor=0.9, chunk=20)", 200),
        ("EWMA(alpha=0.05)", 20),
    ],
)
def test_a_reading_covers_the_rows_of_its_window(forgetting: str, width: int) -> None:
    assert find_width(forgetting) == pytest.approx(width)


@pytest.mark.parametrize("forgetting", ["AdwinWindow()", "TimeWindow(span='1 h')", "Fading(factor=1.0)", "Mine(5)"])
def test_what_covers_no_fixed_number_of_rows_is_refused(forgetting: str) -> None:
    with pytest.raises(StreamgaugeError, match="cover no fixed number of rows, so their mean cannot be tested"):
        find_width(forgetting)


@pytest.mark.parametrize(("every", "width"), [(10, 50), (70, 20), (50, 50), (1000, 20), (7, 33)])
def test_blocks_cover_ten_windows_and_are_left_out_one_by_one(every: int, width: int) -> None:
    rows = np.arange(every, 20_001, every)
    values = np.random.default_rng(1).random((2, len(rows), 3))
    left_out, n_readings, notes = leave_readings_out(values, rows, width)
    full = values[:, rows >= width]
    assert n_readings == full.shape[1]
    np.testing.assert_allclose(left_out.whole, full.mean(axis=1))
    b = left_out.n_blocks
    starts = [block * n_readings // b for block in range(b)] + [n_readings]
    kept = rows[rows >= width]
    for block in range(b):
        inside = slice(starts[block], starts[block + 1])
        without = np.delete(full, inside, axis=1).mean(axis=1)
        np.testing.assert_allclose(left_out.without_block[:, :, block], without)
        covered = kept[inside][-1] - kept[inside][0] + max(width, every)
        assert covered >= 10 * width
    assert notes == () or "were joined" in notes[0]


def test_undefined_readings_are_left_out_and_counted() -> None:
    rows = np.arange(10, 10_001, 10)
    values = np.random.default_rng(1).random((2, 1000, 2))
    values[1, 500:520, 0] = np.nan
    left_out, n_readings, notes = leave_readings_out(values, rows, 20)
    assert n_readings == 1000 - 1 - 20
    assert np.isfinite(left_out.without_block).all()
    assert "20 of 999 readings are undefined" in notes[0]


def test_readings_in_a_few_places_make_no_blocks_of_fewer_windows() -> None:
    """Readings that are defined in a short stretch only cover too few windows, however many they are."""
    rows = np.arange(10, 10_001, 10)
    values = np.random.default_rng(1).random((2, 1000, 1))
    values[:, 150:] = np.nan
    with pytest.raises(StreamgaugeError, match="at least 10 blocks of 10 windows"):
        leave_readings_out(values, rows, 20)


def test_dependent_blocks_are_joined() -> None:
    rows = np.arange(10, 40_001, 10)
    slow = np.repeat(np.random.default_rng(1).normal(size=10), 400)
    values = np.stack([slow, np.zeros(4000)])[..., None]
    left_out, _, notes = leave_readings_out(values, rows, 20)
    assert left_out.n_blocks < 40
    assert "neighbouring blocks of readings depend on each other" in notes[0]


@pytest.mark.parametrize("forgetting", [Window(30), Tumbling(30), Fading(0.97), EWMA(0.03)])
def test_every_window_is_tested_by_its_mean(forgetting: object) -> None:
    results = evaluate(SEA(n_rows=6000), LEARNERS, forgetting=forgetting, scheme=Bootstrap(5), every=15)  # type: ignore[arg-type]
    outcome = compare(results, forgetting=results.forgettings[0])
    full = results.rows >= find_width(results.forgettings[0])
    means = [results.curve(name, "accuracy")[full].mean() for name in LEARNERS]
    assert outcome.difference == pytest.approx(means[0] - means[1])
    assert outcome.better == "bayes"
    assert f"(mean of {int(full.sum())} readings)" in outcome.sentence
    assert "blocks of readings" in outcome.sentence


def test_a_fold_that_scores_a_share_of_the_rows_has_longer_windows() -> None:
    scheme = CrossValidation(5, test="held_out")
    results = evaluate(SEA(n_rows=6000), LEARNERS, forgetting=Window(30), scheme=scheme, every=15)
    # Of every five rows a fold scores one, so a window covers 150 rows, and 40 of them are no ten blocks of ten.
    with pytest.raises(StreamgaugeError, match=r"at least 10 blocks of 10 windows \(1\d,\d{3} rows\)"):
        compare(results, forgetting=results.forgettings[0])


def test_an_adaptive_window_is_refused_with_the_reason() -> None:
    results = evaluate(SEA(n_rows=2000), LEARNERS, forgetting=AdwinWindow())
    with pytest.raises(StreamgaugeError, match="cover no fixed number of rows"):
        compare(results, forgetting=results.forgettings[0])


def test_the_command_line_tests_readings_and_checks_them_before_the_first_row(tmp_path: Path) -> None:
    learners = ["--learner", "NaiveBayes", "--learner", "NoChange", "--forgetting", "Window(20)"]
    asked = ["compare", "--stream", "SEA", *learners, "--tested-forgetting", "Window(20)"]
    printed = CliRunner().invoke(cli, [*asked, "--rows", "4000", "--out", str(tmp_path)], catch_exceptions=False)
    said = "Comparisons at the end on accuracy over the last 20 rows (mean of 200 readings), as trained here"
    assert said in " ".join(printed.output.split())
    again = ["compare", str(tmp_path), "--tested-forgetting", "Window(20)"]
    repeated = CliRunner().invoke(cli, again, catch_exceptions=False).output
    assert "(mean of 200 readings)" in " ".join(repeated.split())
    with pytest.raises(StreamgaugeError, match=r"needs at least 2,000 rows, not 500"):
        CliRunner().invoke(cli, [*asked, "--rows", "500"], catch_exceptions=False)
    with pytest.raises(StreamgaugeError, match="there is no forgetting"):
        CliRunner().invoke(cli, [*asked[:-1], "Window(30)", "--rows", "5000"], catch_exceptions=False)
    with pytest.raises(StreamgaugeError, match="kappa is not measured in this run"):
        CliRunner().invoke(cli, [*asked, "--rows", "5000", "--tested", "kappa"], catch_exceptions=False)
    with pytest.raises(StreamgaugeError, match="mcnemar compares the accuracy over all rows"):
        CliRunner().invoke(cli, [*asked, "--rows", "5000", "--test", "mcnemar"], catch_exceptions=False)
