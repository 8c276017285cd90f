"""How many rows, labels or folds a difference needs."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from streamgauge import SEA, Bootstrap, HoeffdingTree, NaiveBayes, evaluate
from streamgauge.cli.main import cli
from streamgauge.errors import StreamgaugeError
from streamgauge.labelling import Delayed, Fraction
from streamgauge.results import Results, save
from streamgauge.significance import LiveTest, Spread, asymptotic_radius, rows_until, sample_size
from streamgauge.significance.compare import leave_pair_out
from streamgauge.significance.two_way import estimate_variances

LEARNERS = {"bayes": NaiveBayes(), "tree": HoeffdingTree(grace_period=50)}


@pytest.fixture(scope="module")
def pilot() -> Results:
    return evaluate(SEA(n_rows=4000), LEARNERS, scheme=Bootstrap(10), measures=["accuracy", "kappa"])


def test_the_parts_of_a_pilot_add_up_to_its_variance(pilot: Results) -> None:
    size = sample_size(pilot, difference=0.01)
    _, _, values = leave_pair_out(pilot)
    parts = estimate_variances(values)
    both = min(parts.both, max(parts.rows, parts.folds))
    rows, folds = max(parts.rows - both, 0.0), max(parts.folds - both, 0.0)
    spread = Spread(4000 * rows, 10 * folds, 40_000 * both)
    assert spread.compute_variance(4000, 10) == pytest.approx(rows + folds + both)
    assert size.planned_power == pytest.approx(spread.compute_power(0.01, 4000, 10))
    assert (size.n_rows, size.n_folds) == (4000, 10)


@pytest.mark.parametrize("measure", ["accuracy", "kappa", "f1[1]"])
def test_a_pilot_answers_for_any_measure(pilot: Results, measure: str) -> None:
    size = sample_size(pilot, difference=0.02, measure=measure)
    assert size.measure == measure
    assert size.rows_needed is not None
    assert "bayes and tree on this stream" in size.sentence


def test_rows_and_folds_are_the_least_that_suffice() -> None:
    size = sample_size(difference=0.02, discordance=0.1, fold_deviation=0.02, n_folds=20, n_rows=20_000)
    spread = Spread(0.1 - 0.02**2, 0.02**2)
    assert size.rows_needed is not None
    assert size.folds_needed is not None
    assert (
        spread.compute_power(0.02, size.rows_needed, 20) >= 0.8 > spread.compute_power(0.02, size.rows_needed - 1, 20)
    )
    least = size.folds_needed
    assert spread.compute_power(0.02, 20_000, least) >= 0.8 > spread.compute_power(0.02, 20_000, least - 1)


def test_what_no_number_can_reach_is_said() -> None:
    folds = sample_size(difference=0.02, discordance=0.1, fold_deviation=0.06, n_folds=10, n_rows=1000)
    assert (folds.rows_needed, folds.folds_needed, folds.live_rows) == (None, None, None)
    assert folds.folds_at_least is not None
    assert sample_size(difference=0.02, discordance=0.1, fold_deviation=0.06, n_folds=folds.folds_at_least).rows_needed
    assert "no number of rows suffices with 10 folds" in folds.sentence
    assert f"at least {folds.folds_at_least} folds are needed" in folds.sentence
    assert "With 1,000 rows no number of folds suffices" in folds.sentence


def test_a_share_of_labels_or_positives_needs_more_rows() -> None:
    base = sample_size(difference=0.02, discordance=0.1)
    labels = sample_size(difference=0.02, discordance=0.1, label_share=0.05)
    rare = sample_size(difference=0.02, discordance=0.1, positives=0.1)
    assert base.rows_needed is not None
    assert (labels.labels_needed, labels.rows_needed) == (base.rows_needed, 20 * base.rows_needed)
    assert f"of which {base.rows_needed:,} have labels" in labels.sentence
    assert (rare.measure, rare.rows_needed) == ("recall", 10 * base.rows_needed)


def test_the_labels_of_a_pilot_are_counted() -> None:
    options = {"labelling": Fraction(0.2), "score": "labelled"}
    results = evaluate(SEA(n_rows=10_000), LEARNERS, scheme=Bootstrap(5), **options)  # type: ignore[arg-type]
    size = sample_size(results, difference=0.01)
    assert size.label_share == pytest.approx(0.2, abs=0.02)
    assert size.rows_needed is not None
    assert size.labels_needed is not None
    assert size.rows_needed * size.label_share == pytest.approx(size.labels_needed, abs=1)


def test_more_pairs_and_more_power_need_more_rows() -> None:
    base = sample_size(difference=0.02, discordance=0.1)
    pairs = sample_size(difference=0.02, discordance=0.1, n_pairs=6)
    power = sample_size(difference=0.02, discordance=0.1, power=0.9)
    assert base.rows_needed is not None
    assert pairs.rows_needed is not None
    assert power.rows_needed is not None
    assert pairs.rows_needed > base.rows_needed < power.rows_needed
    assert "level 0.05 shared by 6 pairs" in pairs.sentence


def test_a_live_verdict_depends_on_the_margin() -> None:
    far = sample_size(difference=0.03, discordance=0.1, rope=0.005)
    near = sample_size(difference=0.03, discordance=0.1, rope=0.02)
    assert far.live_rows is not None
    assert near.live_rows is not None
    assert far.rows_needed is not None
    assert far.rows_needed < far.live_rows < near.live_rows
    at = sample_size(difference=0.03, discordance=0.1, rope=0.03)
    assert at.live_rows is None
    assert "since the difference is at the margin" in at.sentence
    within = sample_size(difference=0.001, discordance=0.1, rope=0.02)
    assert "that the two are equivalent with a margin of 2 percentage points" in within.sentence


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "a sample size needs a pilot, or assumptions"),
        ({"difference": 0.01}, "a sample size needs a pilot, or assumptions"),
        ({"error_rates": (0.1, 0.2), "discordance": 0.05}, r"exactly one is right on between 0.1 and 0.3 of the rows"),
        ({"error_rates": (0.1, 1.2)}, "error_rates = 1.2"),
        ({"error_rates": (0.1, 0.1)}, "difference = 0: it must be above 0"),
        ({"difference": 0.2, "discordance": 0.1}, "cannot be above the share of rows on which only one is right"),
        ({"difference": 0.01, "discordance": 0.1, "power": 1.0}, "power = 1.0"),
        ({"difference": 0.01, "discordance": 0.1, "n_folds": 3}, "needs one fold or at least 5"),
        ({"difference": 0.01, "discordance": 0.1, "label_share": 0.0}, "label_share = 0.0"),
        ({"difference": 0.01, "discordance": 0.1, "fold_deviation": -1.0}, "fold_deviation = -1.0"),
    ],
)
def test_what_cannot_be_answered_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(StreamgaugeError, match=message):
        sample_size(**options)  # type: ignore[arg-type]


def test_a_pilot_and_assumptions_exclude_each_other(pilot: Results) -> None:
    with pytest.raises(StreamgaugeError, match="either a pilot or assumptions"):
        sample_size(pilot, discordance=0.1)
    one_fold = evaluate(SEA(n_rows=1000), LEARNERS)
    assert sample_size(one_fold, difference=0.01).question == "as trained here"
    with pytest.raises(StreamgaugeError, match="the pilot has one fold"):
        sample_size(one_fold, difference=0.01, n_folds=10)


def test_rows_until_a_verdict_are_the_least_at_which_the_radius_fits() -> None:
    def compute_radius(n: int) -> float:
        return asymptotic_radius(n, 0.2, alpha=0.05, best_at=5000)

    for difference, rope in ((0.03, 0.01), (-0.03, 0.01), (0.002, 0.01), (0.05, 0.0)):
        n = rows_until(difference, rope, compute_radius)
        assert n is not None
        assert compute_radius(n - 1) >= abs(abs(difference) - rope) > compute_radius(n)
    assert rows_until(0.03, 0.01, compute_radius, 50_000) == 50_000
    for difference in (0.01, -0.01, np.nan):
        assert rows_until(difference, 0.01, compute_radius) is None
    assert rows_until(0.03, 0.01, lambda n: 0.02 + 1 / n) is None


def test_a_run_says_how_many_rows_are_left_until_a_verdict() -> None:
    results = evaluate(SEA(n_rows=3000), LEARNERS, scheme=Bootstrap(10), live_test=LiveTest(rope=1e-4))
    (verdict,) = results.verdicts
    assert verdict.outcome == "undecided"
    assert verdict.rows_left is not None
    assert verdict.rows_left > 0


def test_before_the_first_score_no_rows_left_are_estimated() -> None:
    results = evaluate(SEA(n_rows=100), LEARNERS, scheme=Bootstrap(5), labelling=Delayed(60), every=20)
    assert [verdict.rows_left for verdict in results.verdicts] == [None]


def test_the_command_line_answers_from_results_a_pilot_or_assumptions(pilot: Results, tmp_path: Path) -> None:
    def invoke(*arguments: str) -> str:
        return CliRunner().invoke(cli, ["sample-size", *arguments], catch_exceptions=False).stdout

    save(pilot, tmp_path / "pilot")
    assert sample_size(pilot, difference=0.02).sentences[0] in invoke(str(tmp_path / "pilot"), "--difference", "0.02")
    run = invoke("--stream", "SEA", "--learner", "NaiveBayes", "--learner", "NoChange", "--rows", "1000")
    assert "between NaiveBayes and NoChange on this stream" in run
    (facts,) = json.loads(invoke("--errors", "0.10", "0.12", "--discordance", "0.08", "--json"))
    assert facts["rows_needed"] == sample_size(error_rates=(0.10, 0.12), discordance=0.08).rows_needed
    assert facts["sentence"]
    for arguments, message in (
        ((), "a sample size needs a results folder"),
        (("--stream", "SEA"), "a pilot needs --stream and two or more --learner"),
        ((str(tmp_path / "pilot"), "--errors", "0.1", "0.2"), "give one of them, not both"),
    ):
        with pytest.raises(StreamgaugeError, match=message):
            invoke(*arguments)
