"""Many learners on many streams: worked numbers, published quantiles, independent implementations."""

import csv
import json
import re
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.records import Reading
from streamgauge.reports import report
from streamgauge.results import Results
from streamgauge.significance import (
    POST_HOCS,
    benjamini_hochberg,
    bergmann_hommel,
    critical_difference,
    diagram_text,
    e_benjamini_hochberg,
    friedman,
    holm,
    hommel,
    rank,
    rank_table,
    ranks_of,
    shaffer,
    wilcoxon,
)
from streamgauge.significance.ranking import count_needed_streams
from tests.support.accuracy_table import TABLE
from tests.support.stand_ins import PUBLISHED

NAMES = ["a", "b", "c", "d"]


def test_friedman_and_iman_davenport_give_the_worked_numbers() -> None:
    plain = friedman(TABLE, corrected_for_ties=False)
    assert plain.chi_square == pytest.approx(9.2785714286, abs=1e-9)
    assert plain.iman_davenport == pytest.approx(3.6863130321, abs=1e-9)
    assert plain.iman_davenport_p == pytest.approx(0.0198230062, abs=1e-9)
    corrected = friedman(TABLE)
    assert corrected.chi_square == pytest.approx(10.2283464567, abs=1e-9)
    assert corrected.p_value == pytest.approx(0.0167215803, abs=1e-9)


def test_the_best_has_rank_1_and_ties_share() -> None:
    expected = [3.142857, 2.0, 2.892857, 1.964286]
    assert ranks_of(TABLE).mean(axis=0) == pytest.approx(expected, abs=1e-6)
    assert ranks_of(-TABLE, greater_is_better=False).mean(axis=0) == pytest.approx(expected, abs=1e-6)


def test_nemenyi_gives_the_worked_critical_difference_and_quantiles() -> None:
    assert critical_difference(4, 14) == pytest.approx(1.2535591, abs=1e-6)
    for k, q in enumerate([1.960, 2.344, 2.569, 2.728, 2.850, 2.948, 3.031, 3.102, 3.164], start=2):
        assert critical_difference(k, 1) / np.sqrt(k * (k + 1) / 6) == pytest.approx(q, abs=6e-4)


def test_nemenyi_gives_the_published_quantiles() -> None:
    with (PUBLISHED / "nemenyi_critical_values.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            k = int(row["classifiers"])
            for alpha in (0.05, 0.10):
                quantile = critical_difference(k, 1, alpha=alpha) / np.sqrt(k * (k + 1) / 6)
                # the last printed digit is one off in places
                assert quantile == pytest.approx(float(row[f"q_{alpha:.2f}"]), abs=1.1e-3)


def test_holm_and_e_values_give_the_worked_numbers() -> None:
    assert holm([0.001, 0.01, 0.03, 0.04, 0.2]) == pytest.approx([0.005, 0.04, 0.09, 0.09, 0.2])
    assert np.flatnonzero(e_benjamini_hochberg([100, 60, 3, 1, 0.2])).tolist() == [0, 1]
    assert np.flatnonzero(e_benjamini_hochberg([100, 30, 3, 1, 0.2])).tolist() == [0]


def test_hommel_and_benjamini_hochberg_give_the_worked_numbers() -> None:
    single = [0.001, 0.01, 0.03, 0.04, 0.2]
    assert hommel(single) == pytest.approx([0.005, 0.04, 0.06, 0.08, 0.2])
    assert benjamini_hochberg(single) == pytest.approx([0.005, 0.025, 0.05, 0.05, 0.2])


def test_shaffer_counts_as_his_table_does() -> None:
    # With 4 learners 6, 3, 2, 1 or 0 pairs can be equal at once; with 5 learners 10, 6, 4, 3, 2, 1 or 0.
    assert shaffer(np.full(6, 1e-6)).max() == pytest.approx(6e-6)
    rising = np.array([1, 10, 100, 1000, 10_000, 100_000]) * 1e-6
    assert (shaffer(rising) / rising).round(9).tolist() == [6, 3, 3, 3, 2, 1]
    doubling = 2.0 ** (3 * np.arange(10) - 40)
    assert (shaffer(doubling) / doubling).round(9).tolist() == [10, 6, 6, 6, 6, 4, 4, 3, 2, 1]


@given(st.lists(st.floats(0, 1), min_size=10, max_size=10))
def test_shaffer_is_never_above_holm_nor_below_the_single_p(p_values: list[float]) -> None:
    single, adjusted = np.array(p_values), shaffer(p_values)
    assert (adjusted <= holm(p_values) + 1e-15).all()
    assert (adjusted >= single).all()


def test_bergmann_hommel_needs_all_pairs_of_few_learners() -> None:
    with pytest.raises(StreamgaugeError, match="at most 9 learners, not 10"):
        bergmann_hommel([0.5] * 45)
    with pytest.raises(StreamgaugeError, match=r"all pairs of k learners \(1, 3, 6, 10, ...\), not 4"):
        bergmann_hommel([0.5] * 4)


def test_full_agreement_has_its_exact_chance() -> None:
    assert friedman([[3, 2, 1]] * 4).iman_davenport_p == pytest.approx(1 / 6**3)
    assert friedman([[3, 2, 2]] * 4).iman_davenport_p == pytest.approx(1 / 3**3)


def test_few_streams_have_an_exact_p_value() -> None:
    rng = np.random.default_rng(4)
    for n, k in ((2, 3), (3, 3), (4, 3), (3, 4)):
        table = rng.integers(0, 5, (n, k))
        ranks = ranks_of(table)
        ways = np.array([np.sum(rows, axis=0) for rows in product(*map(permutations, ranks))])
        apart = ((ways - n * (k + 1) / 2) ** 2).sum(axis=1)
        observed = ((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum()
        assert friedman(table).exact_p == pytest.approx(np.mean(apart >= observed - 1e-9))
    # Three streams cannot tell three learners apart that two of them rank alike, whatever the F says.
    outcome = friedman([[3, 2, 1], [3, 2, 1], [2, 3, 1]])
    assert outcome.iman_davenport_p < 0.05 < outcome.best_p
    assert friedman(rng.random((50, 6))).exact_p is None


def test_wins_ties_and_losses_are_counted() -> None:
    ranking = rank_table(TABLE, NAMES)
    for i, j in combinations(range(4), 2):
        assert ranking.wins[i, j] == (TABLE[:, i] > TABLE[:, j]).sum()
        assert ranking.wins[j, i] == (TABLE[:, i] < TABLE[:, j]).sum()
        assert ranking.ties[i, j] == ranking.ties[j, i] == (TABLE[:, i] == TABLE[:, j]).sum()


@pytest.mark.parametrize("post_hoc", list(POST_HOCS))
def test_a_measure_whose_small_values_are_good_turns_all_round(post_hoc: str) -> None:
    high = rank_table(TABLE, NAMES, post_hoc=post_hoc)
    low = rank_table(1 - TABLE, NAMES, post_hoc=post_hoc, measure="error", greater_is_better=False)
    assert low.order == high.order
    assert low.groups == high.groups
    assert (low.wins == high.wins).all()
    for one, other in zip(low.pairs, high.pairs, strict=True):
        assert one.adjusted == pytest.approx(other.adjusted)
        assert one.difference == pytest.approx(-other.difference)
        assert low.better(one) == high.better(other)


def test_groups_are_the_largest_sets_that_cannot_be_distinguished() -> None:
    rng = np.random.default_rng(1)
    values = np.array([0.9, 0.8, 0.798, 0.6]) + rng.normal(0, 0.01, (30, 4))
    ranking = rank_table(values, NAMES)
    assert [set(group) for group in ranking.groups] == [{"b", "c"}]
    assert ranking.better(ranking.pairs[0]) == "a"
    assert rank_table(TABLE[:3], NAMES).groups[0] == rank_table(TABLE[:3], NAMES).order


def test_too_few_streams_are_reported() -> None:
    assert "the smallest possible" in rank_table(TABLE[:5], NAMES).warnings[0]
    assert rank_table(TABLE, NAMES).warnings == ()
    with pytest.raises(StreamgaugeError, match="at least 2 learners on at least 2 streams"):
        rank_table(TABLE[:1], NAMES)
    with pytest.raises(StreamgaugeError, match="did you mean nemenyi"):
        rank_table(TABLE, NAMES, post_hoc="nemeny")
    with pytest.raises(StreamgaugeError, match="learner 1 on stream 0 is nan"):
        rank_table([[1.0, np.nan], [1.0, 2.0]], ["a", "b"])


def run_of(stream: str, values: dict[str, list[float]]) -> Results:
    readings = [
        Reading(100, learner, fold, "accuracy", "Landmark()", value)
        for learner, folds in values.items()
        for fold, value in enumerate(folds)
    ]
    return Results.from_readings(readings, n_rows=100, description={"stream": {"name": stream}})


def test_a_stream_counts_once_however_many_folds_and_runs_it_has() -> None:
    runs = [
        run_of("sea", {"a": [0.8, 0.9], "b": [0.7, 0.7]}),
        run_of("sea", {"a": [0.6, 0.7], "b": [0.5, 0.5]}),
        run_of("rbf", {"a": [0.8, 0.8]}),
        run_of("rbf", {"b": [0.9, 0.9]}),
    ]
    ranking = rank(runs)
    assert ranking.streams == ("sea", "rbf")
    assert ranking.values == pytest.approx(np.array([[0.75, 0.6], [0.8, 0.9]]))


def test_what_is_missing_is_named() -> None:
    runs = [run_of("sea", {"a": [0.8], "b": [0.7]}), run_of("rbf", {"a": [0.8]})]
    with pytest.raises(StreamgaugeError, match="b was not evaluated on rbf"):
        rank(runs)
    with pytest.raises(StreamgaugeError, match="no measure 'kapa'"):
        rank(runs, measure="kapa")
    with pytest.raises(StreamgaugeError, match="undefined in some fold"):
        rank([run_of("sea", {"a": [0.8, np.nan]})])
    nothing: Any
    for nothing in ([], runs[0]):
        with pytest.raises(StreamgaugeError, match=r"several evaluations, as in rank\(\[first"):
            rank(nothing)
    with pytest.raises(StreamgaugeError, match=r"a table \[streams, learners\], not an array of shape \(2,\)"):
        rank_table([0.8, 0.7], ["a", "b"])


def test_a_bar_in_the_text_marks_its_members_alone() -> None:
    rng = np.random.default_rng(1)
    values = np.array([0.9, 0.8, 0.798, 0.6]) + rng.normal(0, 0.01, (30, 4))
    *_, bar = diagram_text(rank_table(values, NAMES), width=41).splitlines()
    assert bar.strip().startswith("●")
    assert bar.count("●") == 2


def test_saved_results_are_ranked_on_the_command_line(tmp_path: Path) -> None:
    from click.testing import CliRunner  # noqa: PLC0415

    from streamgauge.cli.main import cli  # noqa: PLC0415

    learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass(), "no change": sg.NoChange()}
    folders = [
        str(sg.save(sg.evaluate(sg.SEA(n_rows=500, seed=seed), learners), tmp_path / str(seed))) for seed in range(4)
    ]
    outcome = CliRunner().invoke(cli, ["rank", *folders, "--diagram", str(tmp_path / "ranks.svg")])
    assert outcome.exit_code == 0, outcome.output
    assert "No clear best over 4 streams; ahead: bayes, mean rank 1.00 by accuracy" in outcome.output
    assert "the smallest possible" in outcome.output
    assert re.search(r"bayes vs no change +4/0/0 +\+\d+\.\d\d +0\.\d{4}", outcome.output)
    assert (tmp_path / "ranks.svg").exists()
    done = CliRunner().invoke(cli, ["rank", *folders, "--post-hoc", "nemenyi", "--json"])
    found = json.loads(done.output)
    assert found["order"][0] == "bayes"
    assert found["pairs"][0]["wins"] == 4


def test_the_mean_over_the_stream_is_ranked_as_well_as_the_last_reading() -> None:
    """A learner that starts badly and ends well is the best after the last row, and the worst on average."""

    def make_run(stream: str, curves: dict[str, list[float]]) -> Results:
        readings = tuple(
            Reading(row + 1, learner, 0, "accuracy", "Landmark()", value)
            for learner, curve in curves.items()
            for row, value in enumerate(curve)
        )
        return Results.from_readings(readings, n_rows=3, description={"stream": {"name": stream}})

    curves = {"late": [0.1, 0.1, 0.9], "steady": [0.7, 0.7, 0.7]}
    runs = [make_run(stream, curves) for stream in "abc"]
    last, mean = rank(runs), rank(runs, value="mean")
    assert (last.order[0], mean.order[0]) == ("late", "steady")
    assert mean.values[0].tolist() == pytest.approx([1.1 / 3, 0.7])
    assert "by accuracy after the last row on 3 streams" in str(last)
    assert "by accuracy as the mean of its readings over the stream on 3 streams" in str(mean)
    assert "as the mean of its readings over the stream" in report(runs, format="md", value="mean")
    with pytest.raises(StreamgaugeError, match="there is no value to rank 'median'"):
        rank(runs, value="median")
    # A reading that is undefined for one learner counts for none.
    gaps = [make_run(stream, {**curves, "late": [np.nan, 0.1, 0.9]}) for stream in "abc"]
    assert rank(gaps, value="mean").values[0].tolist() == pytest.approx([0.5, 0.7])
    undefined = [make_run(stream, {**curves, "late": [np.nan] * 3}) for stream in "abc"]
    with pytest.raises(StreamgaugeError, match="accuracy of late on a is undefined in some fold at every reading"):
        rank(undefined, value="mean")


def test_the_command_line_ranks_by_the_mean_over_the_stream(tmp_path: Path) -> None:
    from click.testing import CliRunner  # noqa: PLC0415

    from streamgauge.cli.main import cli  # noqa: PLC0415

    learners = {"bayes": sg.NaiveBayes(), "no change": sg.NoChange()}
    runs = [sg.evaluate(sg.SEA(n_rows=500, seed=seed), learners) for seed in range(3)]
    folders = [str(sg.save(run, tmp_path / str(seed))) for seed, run in enumerate(runs)]
    outcome = CliRunner().invoke(cli, ["rank", *folders, "--value", "mean"], catch_exceptions=False)
    printed = " ".join(outcome.output.split())
    assert "mean rank 1.00 by accuracy as the mean of its readings over the stream" in printed
    found = json.loads(CliRunner().invoke(cli, ["rank", *folders, "--value", "mean", "--json"]).output)
    assert found["value"] == "mean"
    assert found["values"][0][0] == pytest.approx(runs[0].curve("bayes", "accuracy").mean())
    text = CliRunner().invoke(cli, ["report", *folders, "--format", "md", "--value", "mean"], catch_exceptions=False)
    assert "as the mean of its readings over the stream" in text.output


def test_a_ranking_is_over_the_stream_by_default() -> None:
    learners = {"bayes": sg.NaiveBayes(), "no change": sg.NoChange()}
    runs = [
        sg.evaluate(sg.SEA(n_rows=600, seed=seed), learners, forgetting=[sg.Landmark(), sg.Window(50)], every=50)
        for seed in range(3)
    ]
    windowed = rank(runs, forgetting="Window(width=50)")
    assert windowed.value == "mean"
    assert windowed.values[0, 0] == pytest.approx(runs[0].curve("bayes", "accuracy", "Window(width=50)").mean())
    over_all = rank(runs)
    assert over_all.value == "last"
    assert over_all.values[0, 0] == pytest.approx(runs[0].final("bayes", "accuracy").mean)
    windows = runs[0].curve("bayes", "accuracy", "Window(width=50)").mean()
    assert windows == pytest.approx(over_all.values[0, 0])  # windows side by side cover the stream once


def test_a_seed_that_stream_and_run_share_makes_no_stream_of_its_own() -> None:
    learners = ["NaiveBayes", "NoChange"]
    streams = ["SEA(n_rows=300, seed={seed})", "RandomRBF(n_rows=300, seed={seed})"]
    shared = [sg.evaluate(stream.format(seed=seed), learners, seed=seed) for seed in (1, 2, 3) for stream in streams]
    ranking = sg.rank(shared)
    assert ranking.streams == ("SEA(n_rows=300)", "RandomRBF(n_rows=300)")
    first = [float(run.curve("NaiveBayes", "accuracy")[-1, 0]) for run in shared[::2]]
    assert ranking.values[0, 0] == pytest.approx(np.mean(first))
    assert not any("other seeds" in warning for warning in ranking.warnings)


def test_streams_that_differ_in_their_seeds_only_are_ranked_with_a_warning() -> None:
    runs = [sg.evaluate(f"SEA(n_rows=300, seed={seed})", ["NaiveBayes", "NoChange"]) for seed in (1, 2, 3)]
    ranking = sg.rank(runs)
    assert len(ranking.streams) == 3
    assert any("3 of the streams are SEA(n_rows=300) with other seeds" in warning for warning in ranking.warnings)


def test_a_control_is_compared_with_the_others_alone() -> None:
    ranking = rank_table(TABLE, NAMES, control="b")
    tested = [pair for pair in ranking.pairs if not np.isnan(pair.adjusted)]
    assert [{pair.first, pair.second} for pair in tested] == [{"a", "b"}, {"b", "c"}, {"b", "d"}]
    single = [
        wilcoxon(TABLE[:, NAMES.index(pair.first)] - TABLE[:, NAMES.index(pair.second)]).p_value for pair in tested
    ]
    assert [pair.adjusted for pair in tested] == pytest.approx(holm(single).tolist())
    assert all("b" in group for group in ranking.groups)
    untested = [pair for pair in ranking.pairs if "b" not in (pair.first, pair.second)]
    assert all(ranking.better(pair) is None for pair in untested)
    assert ranking.wins.tolist() == rank_table(TABLE, NAMES).wins.tolist()
    with pytest.raises(StreamgaugeError, match="nemenyi compares all pairs"):
        rank_table(TABLE, NAMES, control="b", post_hoc="nemenyi")
    with pytest.raises(StreamgaugeError, match="no learner 'e'"):
        rank_table(TABLE, NAMES, control="e")


@pytest.mark.parametrize("n_learners", [2, 3, 5])
def test_the_number_of_streams_that_are_needed_is_named_and_right(n_learners: int) -> None:
    names, n_pairs = [f"l{i}" for i in range(n_learners)], n_learners * (n_learners - 1) // 2
    needed = count_needed_streams(n_pairs)
    clear = np.arange(n_learners) + 0.01 * np.arange(needed)[:, None]  # the same order on every stream
    clear = clear * (1 + 0.001 * np.arange(n_learners))
    assert min(pair.adjusted for pair in rank_table(clear, names).pairs) <= 0.05
    (warning,) = rank_table(clear[:-1], names).warnings
    assert f"at least {needed} streams are needed" in warning
    assert min(pair.adjusted for pair in rank_table(clear[:-1], names).pairs) > 0.05


def test_the_command_compares_a_control(tmp_path: Path) -> None:
    from click.testing import CliRunner  # noqa: PLC0415

    from streamgauge.cli.main import cli  # noqa: PLC0415

    folders = [
        str(sg.evaluate(stream, ["NaiveBayes", "NoChange", "MajorityClass"], n_rows=500).save(tmp_path / stream))
        for stream in ("SEA", "LED")
    ]
    outcome = CliRunner().invoke(cli, ["rank", *folders, "--control", "NoChange", "--json"])
    pairs = json.loads(outcome.stdout)["pairs"]
    assert [pair["adjusted"] is None for pair in pairs] == [False, True, False]
    shown = " ".join(CliRunner().invoke(cli, ["rank", *folders, "--control", "NoChange"]).output.split())
    assert "at least 7 streams are needed" in shown
    assert shown.startswith("NoChange over 2 streams: mean rank")
    assert "not distinguishable from NaiveBayes and MajorityClass." in shown
