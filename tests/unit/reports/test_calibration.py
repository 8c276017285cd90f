"""Calibration: shares are read back from bins, and groups are those of the rows themselves."""

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.learners import Precomputed
from streamgauge.reports import report
from streamgauge.reports.calibration import FEWEST, N_GROUPS, build_calibration_grid, collect_reliability, find_shares
from streamgauge.streams import ArrayStream

N_ROWS = 4000


def evaluate_votes(votes: np.ndarray, classes: np.ndarray) -> sg.Results:
    columns = {"mine.a": 1 - votes, "mine.b": votes}
    learners = {"mine": Precomputed("mine"), "majority": "MajorityClass"}
    return sg.evaluate(ArrayStream(columns, np.array(["a", "b"])[classes]), learners, measures=["pr_auc[b]"])


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    """Return votes for the rarer class b, none near the edge of a group, and classes less often b than they say."""
    draws = np.random.default_rng(5)
    votes = (draws.integers(0, N_GROUPS, N_ROWS) + draws.uniform(0.3, 0.7, N_ROWS)) / N_GROUPS
    return votes, (draws.random(N_ROWS) < 0.8 * votes).astype(np.int64)


@pytest.fixture(scope="module")
def run(rows: tuple[np.ndarray, np.ndarray]) -> sg.Results:
    votes, classes = rows
    return evaluate_votes(votes, classes)


def test_shares_are_read_back_from_bins(run: sg.Results, rows: tuple[np.ndarray, np.ndarray]) -> None:
    votes, _ = rows
    assert run.blocks is not None
    bins, weights = run.blocks.votes[0, 0, 1]
    shares = find_shares(bins)
    assert (np.diff(shares) > 0).all()
    expected = np.sort(votes).mean()
    counts = weights.sum(axis=(0, 1))
    assert counts.sum() == N_ROWS
    assert shares @ counts / N_ROWS == pytest.approx(expected, abs=1e-3)


def test_groups_have_the_shares_and_classes_of_their_rows(run: sg.Results, rows: tuple[np.ndarray, np.ndarray]) -> None:
    votes, classes = rows
    whose, groups = collect_reliability(run)
    predicted, observed, counts = groups["mine"]
    assert whose == "class b"
    places = np.minimum((votes * N_GROUPS).astype(int), N_GROUPS - 1)
    for group in range(N_GROUPS):
        of_group = places == group
        assert counts[group] == pytest.approx(of_group.sum(), abs=0.02 * of_group.sum())
        assert predicted[group] == pytest.approx(votes[of_group].mean(), abs=0.01)
        assert observed[group] == pytest.approx(classes[of_group].mean(), abs=0.03)


def test_groups_of_few_rows_are_left_out(rows: tuple[np.ndarray, np.ndarray]) -> None:
    votes = np.where(np.arange(N_ROWS) < FEWEST - 1, 0.95, 0.25)
    grid = build_calibration_grid(evaluate_votes(votes, rows[1]))
    assert grid is not None
    (_, cells), _ = grid.rows
    observed = 100 * rows[1][FEWEST - 1 :].mean()
    assert [cell.text for cell in cells] == ["–", "–", f"{observed:.2f}", *["–"] * 7]  # noqa: RUF001


def test_every_format_has_the_table_and_the_page_a_diagram(run: sg.Results) -> None:
    for written in ("html", "md", "latex"):
        assert "Calibration" in report(run, (), format=written)
    assert "Observed share of class b against the predicted one" in report(run, ())
    assert "Calibration" not in report(sg.evaluate("SEA(n_rows=500)", "NaiveBayes"), format="md")
