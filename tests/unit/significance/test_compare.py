"""Which test `compare` takes, what it says of it, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.records import PairSums, Reading
from streamgauge.results import Results
from streamgauge.significance import compare, compare_all, mcnemar, sign_test, two_way_t, wilcoxon

NAMES = ("tree", "bayes", "majority")
SKILL = np.array([0.9, 0.7, 0.5])[:, None, None]


def evaluated(n_folds: int = 10, n: int = 400, *, scored: float = 1.0, seedless: bool = False) -> Results:
    """Make the results of three learners of known skill; each fold scores a share of the rows."""
    random = np.random.default_rng(5)
    correct = random.random((3, n_folds, n)) < SKILL
    mask = random.random((n_folds, n)) < scored
    counter = _native.PairCounter(3, n_folds)
    counter.update(correct, None if scored == 1.0 else mask)
    pairs = tuple(PairSums(NAMES[a], NAMES[b], *counter.sums(a, b)) for a, b in ((0, 1), (0, 2), (1, 2)))
    readings = tuple(
        Reading(row, name, fold, measure, forgetting, value * row / n)
        for row in (n // 2, n)
        for i, name in enumerate(NAMES)
        for fold in range(n_folds)
        for measure, value in (("kappa", float(correct[i, fold].mean())), ("loss", float(1 - correct[i, fold].mean())))
        for forgetting in ("Landmark()", "Window(width=100)")
    )
    description: dict[str, object] = {
        "learners": {name: {"seedless": seedless} for name in NAMES},
        "measures": {"kappa": {"greater_is_better": True}, "loss": {"greater_is_better": False}},
    }
    return Results.from_readings(readings, pairs, n_rows=n, description=description)


def test_the_two_way_t_is_taken_where_all_folds_scored_all_rows() -> None:
    outcome = compare(evaluated(), "tree", "bayes", measure="accuracy")
    expected = two_way_t(evaluated().pairs[0])
    assert (outcome.test, outcome.p_value, outcome.interval) == ("two_way_t", expected.p_value, expected.interval)
    assert outcome.better == "tree"
    assert outcome.sentence.startswith("tree is better than bayes by 19.")
    assert "every fold scored every row" in outcome.reason


def test_wilcoxon_is_taken_where_folds_scored_rows_of_their_own_unless_they_are_too_few() -> None:
    results = evaluated(scored=0.3)
    outcome = compare(results, "tree", "bayes", measure="accuracy")
    assert (outcome.test, outcome.p_value) == ("wilcoxon", wilcoxon(results.pairs[0].fold_differences).p_value)
    assert compare(evaluated(5, scored=0.3), "tree", "bayes", measure="accuracy").test == "paired_t"


def test_mcnemar_is_chosen_for_one_fold_and_looks_at_one_fold_only() -> None:
    single = compare(evaluated(1), "tree", "bayes")
    assert single.test == "mcnemar"
    assert "over enough rows any two differ" in single.warnings[0]
    results = evaluated()
    asked = compare(results, "tree", "bayes", test="mcnemar")
    pair = results.pairs[0]
    assert asked.p_value == mcnemar(int(pair.only_first[0]), int(pair.only_second[0])).p_value
    assert any("fold 0 of 10 only" in warning for warning in asked.warnings)


def test_other_measures_are_compared_over_folds_by_their_last_readings() -> None:
    results = evaluated()
    last = {(r.learner, r.fold): r.value for r in results.readings if r.row == 400 and r.measure == "kappa"}
    differences = [last["tree", fold] - last["bayes", fold] for fold in range(10)]
    outcome = compare(results, "tree", "bayes", measure="kappa")
    assert (outcome.test, outcome.p_value) == ("wilcoxon", wilcoxon(differences).p_value)
    assert outcome.difference == pytest.approx(np.mean(differences))
    assert "in kappa" in outcome.sentence
    signs = compare(results, "tree", "bayes", measure="kappa", test="sign", forgetting="Window(width=100)")
    assert signs.p_value == sign_test(differences).p_value


def test_what_was_measured_is_tested_unless_only_the_accuracy_can_be() -> None:
    results = evaluated()
    assert compare(results, "tree", "bayes") == compare(results, "tree", "bayes", measure="kappa")
    for instead in (compare(evaluated(1), "tree", "bayes"), compare(results, "tree", "bayes", test="two_way_t")):
        assert instead.measure == "accuracy"
        assert any(warning.startswith("accuracy was tested instead of kappa: ") for warning in instead.warnings)


def test_the_learner_with_the_smaller_loss_is_better() -> None:
    outcome = compare(evaluated(), "tree", "bayes", measure="loss")
    assert (outcome.direction, outcome.better) == (-1, "tree")
    assert outcome.sentence.startswith("tree is better than bayes by ")


def test_the_order_of_the_learners_turns_the_difference() -> None:
    results = evaluated()
    for test in ("two_way_t", "wilcoxon", "sign", "mcnemar"):
        forth, back = (compare(results, *names, test=test) for names in (("tree", "bayes"), ("bayes", "tree")))
        assert forth.p_value == back.p_value
        assert forth.difference == -(back.difference or 0.0)
        assert forth.better == back.better == "tree"


def test_all_pairs_are_compared_in_their_order() -> None:
    outcomes = compare_all(evaluated())
    assert [(o.first, o.second, o.better) for o in outcomes] == [
        ("tree", "bayes", "tree"),
        ("tree", "majority", "tree"),
        ("bayes", "majority", "bayes"),
    ]


def test_folds_of_learners_without_randomness_are_warned_of_where_they_share_rows() -> None:
    def warnings(results: Results, test: str) -> str:
        return " ".join(compare(results, "tree", "bayes", test=test).warnings)

    assert "are deterministic" in warnings(evaluated(seedless=True), "wilcoxon")
    assert "are deterministic" in warnings(evaluated(seedless=True), "sign")
    assert "are deterministic" in warnings(evaluated(seedless=True, scored=0.3), "wilcoxon")
    assert "are deterministic" not in warnings(evaluated(seedless=True), "two_way_t")
    assert "are deterministic" not in warnings(evaluated(), "wilcoxon")
    apart = evaluated(seedless=True)
    own_rows = replace(apart.pairs[0], n_rows=4000, crossed=False)
    assert "are deterministic" not in warnings(replace(apart, pairs=(own_rows,)), "wilcoxon")


def test_a_run_that_was_cut_short_says_so() -> None:
    outcome = compare(replace(evaluated(), complete=False), "tree", "bayes")
    assert outcome.warnings[-1] == "the run was cut short after 400 rows"


def test_names_may_be_left_out_where_there_are_two_learners() -> None:
    results = evaluated()
    two = replace(results, pairs=results.pairs[:1])
    assert compare(two) == compare(results, "tree", "bayes")


def test_what_cannot_be_compared_is_refused_with_what_to_do() -> None:
    results = evaluated()
    with pytest.raises(StreamgaugeError, match="choose two of tree, bayes, majority"):
        compare(results)
    with pytest.raises(StreamgaugeError, match="choose two"):
        compare(results, "tree")
    with pytest.raises(StreamgaugeError, match="evaluate at least 2 learners"):
        compare(Results.from_readings((), n_rows=0))
    with pytest.raises(StreamgaugeError, match="no learner 'trees'; did you mean tree"):
        compare(results, "trees", "bayes")
    with pytest.raises(StreamgaugeError, match="with itself"):
        compare(results, "tree", "tree")
    with pytest.raises(StreamgaugeError, match="no test 'wilcoxn'; did you mean wilcoxon"):
        compare(results, "tree", "bayes", test="wilcoxn")
    with pytest.raises(StreamgaugeError, match="for kappa use one of"):
        compare(results, "tree", "bayes", test="two_way_t", measure="kappa")
    with pytest.raises(StreamgaugeError, match="no measure 'kapa'; did you mean kappa"):
        compare(results, "tree", "bayes", measure="kapa")
    with pytest.raises(StreamgaugeError, match="no forgetting"):
        compare(results, "tree", "bayes", measure="kappa", forgetting="Fading")
    with pytest.raises(StreamgaugeError, match="at least 2 folds"):
        compare(evaluated(1), "tree", "bayes", measure="kappa")
    with pytest.raises(StreamgaugeError, match="scored no row"):
        compare(evaluated(scored=0.0), "tree", "bayes", test="wilcoxon", measure="accuracy")
    adwin = replace(results, forgettings=tuple(f.replace("Landmark", "AdwinWindow") for f in results.forgettings))
    with pytest.raises(StreamgaugeError, match="several forgettings: choose one of"):
        compare(adwin, "tree", "bayes", measure="kappa")
    undefined = replace(results, values=np.where(results.values == results.values[-1, 1, 3], np.nan, results.values))
    with pytest.raises(StreamgaugeError, match="kappa of tree or bayes is undefined in some fold"):
        compare(undefined, "tree", "bayes", measure="kappa")
