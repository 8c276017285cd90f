"""Which test `compare` takes, what it says of it, and what it refuses."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamgauge import (
    SEA,
    Bootstrap,
    CrossValidation,
    Evaluation,
    Fading,
    HoeffdingTree,
    MajorityClass,
    NaiveBayes,
    NoChange,
    Prequential,
    Threads,
    Window,
    _native,
    evaluate,
    schemes,
)
from streamgauge import forgetting as forgettings
from streamgauge._engine.batch_plan import RunSpec
from streamgauge.errors import StreamgaugeError
from streamgauge.labelling import Delayed
from streamgauge.learners import Precomputed
from streamgauge.measures import COUNT_MEASURES, Cost, kappa
from streamgauge.names import catalogue, make
from streamgauge.records import PairSums, Reading, Schema, Tally
from streamgauge.records.blocks import MAX_VOTE_BINS
from streamgauge.results import Results, load, save
from streamgauge.schemes import Holdout
from streamgauge.significance import (
    MODELS,
    SUCH_STREAMS,
    THIS_STREAM,
    compare,
    compare_all,
    mcnemar,
    sign_test,
    wilcoxon,
)
from streamgauge.streams import ArrayStream, File, write
from tests.support.run_facts import assert_same_blocks

COUNTED = list(COUNT_MEASURES)
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


@cache
def run(scheme: str = "Bootstrap(5)", n_rows: int = 2000, forgetting: str = "Landmark") -> Results:
    """Evaluate three learners on a stream with 30 % positives."""
    return evaluate(
        SEA(n_rows=n_rows),
        {"bayes": NaiveBayes(), "tree": HoeffdingTree(grace_period=50), "majority": MajorityClass()},
        scheme=make("scheme", scheme, catalogue(schemes)),
        measures=["kappa", "f1[1]", "roc_auc[1]", "log_loss", "expected_calibration_error"],
        forgetting=make("forgetting", forgetting, catalogue(forgettings)),
        every=50,
    )


def test_any_measure_is_tested_over_folds_and_rows_with_both_questions() -> None:
    results = run()
    for measure in ("accuracy", "kappa", "f1[1]", "roc_auc[1]", "log_loss", "balanced_accuracy", "g_mean"):
        outcome = compare(results, "bayes", "majority", measure=measure)
        assert (outcome.test, outcome.measure, outcome.better) == ("two_way_t", measure, "bayes")
        assert outcome.null == THIS_STREAM
        assert outcome.such_streams is not None
        assert outcome.such_streams.null == SUCH_STREAMS
        assert outcome.interval is not None
        inner, outer = (b - a for a, b in (outcome.interval, outcome.such_streams.interval))
        assert 0.0 < inner <= outer
        assert "on this stream" in outcome.sentence
        assert "For such streams" in outcome.sentence


def test_the_values_compared_are_the_means_over_folds_of_the_last_readings() -> None:
    results = run()
    for measure in ("kappa", "f1[1]", "roc_auc[1]", "log_loss"):
        outcome = compare(results, "bayes", "tree", measure=measure)
        means = tuple(results.final(name, measure).mean for name in ("bayes", "tree"))
        assert outcome.values == pytest.approx(means, abs=1e-12)
        assert outcome.difference == pytest.approx(means[0] - means[1], abs=1e-12)


def test_any_forgetting_gives_the_same_test_over_all_rows() -> None:
    expected = compare(run(), "bayes", "tree", measure="kappa")
    assert compare(run(forgetting="Window(100)"), "bayes", "tree", measure="kappa") == expected


def test_one_fold_compares_two_trained_models() -> None:
    outcome = compare(run("Prequential()"), "bayes", "majority", measure="f1[1]")
    assert (outcome.test, outcome.null, outcome.such_streams) == ("two_way_t", MODELS, None)
    assert "as trained here" in outcome.sentence


def test_readings_of_a_window_are_tested_by_their_mean_along_the_run() -> None:
    results = run(n_rows=6000, forgetting="Window(20)")
    outcome = compare(results, "bayes", "majority", measure="kappa", forgetting="Window(width=20)")
    means = [np.nanmean(results.curve(name, "kappa")) for name in ("bayes", "majority")]
    assert outcome.difference == pytest.approx(means[0] - means[1], abs=0.01)
    assert outcome.forgetting == "Window(width=20)"
    assert outcome.n_readings is not None
    readings = f"kappa over the last 20 rows (mean of {outcome.n_readings:,} readings)"
    assert readings in outcome.sentence
    assert "kappa over the last 20 rows (last reading)" in str(
        compare(results, "bayes", "majority", test="wilcoxon", measure="kappa", forgetting="Window(width=20)")
    )
    with pytest.raises(StreamgaugeError, match=r"at least 10 blocks of 10 windows \(10,000 rows\)"):
        compare(run(forgetting="Window(100)"), "bayes", "tree", measure="kappa", forgetting="Window(width=100)")


def test_what_the_two_way_t_cannot_test_is_refused_with_the_reason() -> None:
    with pytest.raises(StreamgaugeError, match="expected_calibration_error is not a smooth function"):
        compare(run(), "bayes", "tree", measure="expected_calibration_error")
    with pytest.raises(StreamgaugeError, match="at least 5 folds, or one, not 3"):
        compare(run("Bootstrap(3)"), "bayes", "tree", measure="kappa")
    with pytest.raises(StreamgaugeError, match="at least 10 blocks of scored rows, not 5: evaluate more rows"):
        compare(run(n_rows=40), "bayes", "tree", measure="accuracy")
    with pytest.raises(StreamgaugeError, match=r"of majority is undefined in fold \d: it never predicted 0"):
        compare(run(), "bayes", "majority", measure="precision[0]")
    with pytest.raises(StreamgaugeError, match="brier was not measured in the run"):
        compare(run(), "bayes", "tree", measure="brier")
    with pytest.raises(StreamgaugeError, match="hold no tallies of blocks of rows"):
        compare(evaluated(), "tree", "bayes", measure="kappa")


def test_a_class_with_fewer_than_twenty_rows_is_not_compared() -> None:
    random = np.random.default_rng(1)
    x, y = random.normal(size=(2000, 2)), np.zeros(2000, dtype=int)
    y[::110] = 1  # 19 rows
    results = evaluate(ArrayStream(x, y), [NaiveBayes(), MajorityClass()], scheme=Bootstrap(5), measures="kappa")
    for measure in ("kappa", "f1[1]", "g_mean"):
        with pytest.raises(StreamgaugeError, match="class 1 has 19 rows, and at least 20 are needed"):
            compare(results, measure=measure)
    assert compare(results, measure="accuracy").test == "two_way_t"


def test_blocks_that_depend_on_each_other_are_joined_and_that_is_said() -> None:
    random = np.random.default_rng(2)
    lean = np.repeat(random.choice([-0.4, 0.4], size=20), 200)  # regimes of 200 rows
    y = (random.random(4000) < 0.5).astype(int)
    hits = random.random((2, 4000)) < 0.5 + np.stack([lean, -lean])
    predictions = {name: np.where(hit, y, 1 - y).astype(str) for name, hit in zip("ab", hits, strict=True)}
    results = evaluate(ArrayStream(predictions, y.astype(str)), [Precomputed("a"), Precomputed("b")])
    outcome = compare(results)
    assert "15 blocks of rows" in outcome.basis  # of 31, each of 128 rows
    assert any("depend on each other" in warning for warning in outcome.warnings)


def test_a_measure_of_ones_own_is_tested_as_ours_and_by_its_function_after_loading(tmp_path: Path) -> None:
    def share_right(tally: Tally) -> float:
        return tally.hits / tally.total

    learners = {"bayes": NaiveBayes(), "majority": MajorityClass()}
    results = evaluate(SEA(n_rows=1000), learners, scheme=Bootstrap(5), measures=[share_right, "accuracy"])
    own, ours = compare(results, measure="share_right"), compare(results, measure="accuracy")
    assert own.p_value == pytest.approx(ours.p_value)
    loaded = load(save(results, tmp_path))
    with pytest.raises(StreamgaugeError, match="the function of share_right is not known here: pass it as measure="):
        compare(loaded, measure="share_right")
    assert compare(loaded, measure=share_right).p_value == pytest.approx(ours.p_value)
    assert compare(loaded, measure="share_right", test="wilcoxon").measure == "share_right"


def test_the_answers_survive_files_checkpoints_and_batches(tmp_path: Path) -> None:
    results = run()
    options: dict[str, Any] = {
        "scheme": Bootstrap(5),
        "measures": ["kappa", "f1[1]", "roc_auc[1]", "log_loss", "expected_calibration_error"],
        "every": 50,
    }
    learners = {"bayes": NaiveBayes(), "tree": HoeffdingTree(grace_period=50), "majority": MajorityClass()}
    stopped = Evaluation(SEA(n_rows=2000), learners, **options, checkpoint=tmp_path / "c", checkpoint_every=300)
    stopped.stop_after = 900
    stopped.run()
    resumed = evaluate(SEA(n_rows=2000), learners, **options, checkpoint=tmp_path / "c", resume=True)
    small = evaluate(SEA(n_rows=2000), learners, **options, batch_size=37, backend=Threads(1))
    for other in (resumed, small, load(save(results, tmp_path / "r"))):
        for measure in ("accuracy", "kappa", "roc_auc[1]", "log_loss"):
            assert compare(other, "bayes", "tree", measure=measure) == compare(
                results, "bayes", "tree", measure=measure
            )


def test_memory_of_blocks_is_bounded() -> None:
    short, long = (run(n_rows=n_rows).blocks for n_rows in (2000, 6000))
    assert short is not None
    assert long is not None
    assert 20 <= short.n_blocks <= 40
    assert 20 <= long.n_blocks <= 40
    assert max(len(bins) for bins, _ in long.votes.values()) <= MAX_VOTE_BINS
    many = RunSpec(Schema((), tuple(map(str, range(100)))), Prequential(), {"a": NoChange()}, (), (kappa,), {}, seed=1)
    assert many.block_layout.n_numbers == 3 * 100 + 1


def test_very_many_classes_are_compared_by_hits_and_margins() -> None:
    random = np.random.default_rng(3)
    x, y = random.normal(size=(3000, 2)), random.integers(0, 30, 3000)
    x[:, 0] += y
    learners = {"bayes": NaiveBayes(), "majority": MajorityClass()}
    results = evaluate(
        ArrayStream(x, y), learners, scheme=Bootstrap(5), measures=["kappa", "mcc", "f1_macro", "accuracy"]
    )
    for measure in results.measures:
        outcome = compare(results, measure=measure)
        means = tuple(results.final(name, measure).mean for name in learners)
        assert outcome.values == pytest.approx(means)
        assert outcome.better == "bayes"
    with pytest.raises(StreamgaugeError, match="whole confusion matrices are kept of at most 20 classes"):
        compare(results, measure="determinant")


def test_mcnemar_looks_at_one_fold_only() -> None:
    results = evaluated()
    asked = compare(results, "tree", "bayes", test="mcnemar", measure="accuracy")
    pair = results.pairs[0]
    assert asked.p_value == mcnemar(int(pair.only_first[0]), int(pair.only_second[0])).p_value
    assert any("fold 0 of 10 only" in warning for warning in asked.warnings)
    with pytest.raises(StreamgaugeError, match="mcnemar compares the accuracy over all rows; for kappa use two_way_t"):
        compare(results, "tree", "bayes", test="mcnemar", measure="kappa")


def test_tests_over_folds_use_the_last_readings() -> None:
    results = evaluated()
    last = {(r.learner, r.fold): r.value for r in results.readings if r.row == 400 and r.measure == "kappa"}
    differences = [last["tree", fold] - last["bayes", fold] for fold in range(10)]
    outcome = compare(results, "tree", "bayes", measure="kappa", test="wilcoxon")
    assert (outcome.test, outcome.p_value) == ("wilcoxon", wilcoxon(differences).p_value)
    assert outcome.difference == pytest.approx(np.mean(differences))
    assert "in kappa" in outcome.sentence
    signs = compare(results, "tree", "bayes", measure="kappa", test="sign_test", forgetting="Window(width=100)")
    assert signs.p_value == sign_test(differences).p_value


def test_what_was_measured_is_tested_and_never_replaced() -> None:
    results = run()
    assert compare(results, "bayes", "tree").measure == "kappa"
    assert (
        compare(replace(results, description={**results.description, "tested": "f1[1]"}), "bayes", "tree").measure
        == "f1[1]"
    )
    with pytest.raises(StreamgaugeError, match="mcnemar compares the accuracy over all rows; for kappa use two_way_t"):
        compare(results, "bayes", "tree", test="mcnemar")


def test_a_measure_with_options_is_known_after_loading(tmp_path: Path) -> None:
    learners = {"bayes": NaiveBayes(), "majority": MajorityClass()}
    results = evaluate(SEA(n_rows=1000), learners, scheme=Bootstrap(5), measures=Cost(((0, 1), (5, 0))))
    loaded = load(save(results, tmp_path))
    assert compare(loaded) == compare(results)
    assert compare(loaded).measure == "cost"


def test_the_learner_with_the_smaller_loss_is_better() -> None:
    outcome = compare(evaluated(), "tree", "bayes", measure="loss", test="wilcoxon")
    assert (outcome.direction, outcome.better) == (-1, "tree")
    assert outcome.sentence.startswith("tree is better than bayes by ")


def test_the_order_of_the_learners_turns_the_difference() -> None:
    results = run()
    for test in ("two_way_t", "wilcoxon", "sign", "mcnemar"):
        orders = (("bayes", "majority"), ("majority", "bayes"))
        forth, back = (compare(results, *names, test=test, measure="accuracy") for names in orders)
        assert forth.p_value == pytest.approx(back.p_value)
        assert forth.difference == pytest.approx(-(back.difference or 0.0))
        assert forth.better == back.better


def test_all_pairs_are_compared_in_their_order() -> None:
    outcomes = compare_all(run(), measure="f1[1]")
    assert [(o.first, o.second) for o in outcomes] == [("bayes", "tree"), ("bayes", "majority"), ("tree", "majority")]


def test_folds_of_learners_without_randomness_are_warned_of_where_they_share_rows() -> None:
    def warnings(results: Results, test: str) -> str:
        return " ".join(compare(results, "tree", "bayes", test=test, measure="accuracy").warnings)

    assert "are deterministic" in warnings(evaluated(seedless=True), "wilcoxon")
    assert "are deterministic" in warnings(evaluated(seedless=True), "sign")
    assert "are deterministic" in warnings(evaluated(seedless=True, scored=0.3), "wilcoxon")
    assert "are deterministic" not in warnings(evaluated(), "wilcoxon")
    apart = evaluated(seedless=True)
    own_rows = replace(apart.pairs[0], n_rows=4000, crossed=False)
    assert "are deterministic" not in warnings(replace(apart, pairs=(own_rows,)), "wilcoxon")


def test_a_run_that_was_cut_short_says_so() -> None:
    outcome = compare(replace(run(), complete=False), "tree", "bayes")
    assert outcome.warnings[-1] == "the run was cut short after 2,000 rows"


def test_names_may_be_left_out_where_there_are_two_learners() -> None:
    results = run()
    two = replace(results, pairs=results.pairs[:1])
    assert compare(two) == compare(results, "bayes", "tree")


def test_what_cannot_be_compared_is_refused_with_what_to_do() -> None:
    results = evaluated()
    with pytest.raises(
        StreamgaugeError,
        match=r"of tree, bayes, majority, as in compare\(results, 'tree', 'bayes'\), or test every pair with results",
    ):
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
    with pytest.raises(StreamgaugeError, match="no measure 'kapa'; did you mean kappa"):
        compare(results, "tree", "bayes", measure="kapa")
    with pytest.raises(StreamgaugeError, match="no forgetting"):
        compare(results, "tree", "bayes", measure="kappa", forgetting="Fading")
    with pytest.raises(StreamgaugeError, match="wilcoxon compares folds, and there is one"):
        compare(evaluated(1), "tree", "bayes", measure="kappa", test="wilcoxon")
    with pytest.raises(StreamgaugeError, match="scored no row"):
        compare(evaluated(scored=0.0), "tree", "bayes", test="wilcoxon", measure="accuracy")
    adwin = replace(results, forgettings=tuple(f.replace("Landmark", "AdwinWindow") for f in results.forgettings))
    with pytest.raises(StreamgaugeError, match="several forgettings: choose one of"):
        compare(adwin, "tree", "bayes", measure="kappa", test="wilcoxon")
    undefined = replace(results, values=np.where(results.values == results.values[-1, 1, 3], np.nan, results.values))
    with pytest.raises(StreamgaugeError, match="kappa of tree or bayes is undefined in some fold"):
        compare(undefined, "tree", "bayes", measure="kappa", test="wilcoxon")


def test_a_run_that_was_cut_short_is_tested_over_the_rows_it_read() -> None:
    learners = {"bayes": NaiveBayes(), "majority": MajorityClass()}
    options: dict[str, Any] = {"scheme": Bootstrap(5), "measures": ["kappa", "roc_auc[1]"], "every": 100}
    cut = Evaluation(SEA(n_rows=1_000_000), learners, **options, batch_size=500)
    cut.stop_after = 1000
    short, whole = cut.run(), evaluate(SEA(n_rows=1000), learners, **options)
    for measure in ("kappa", "roc_auc[1]"):
        assert compare(short, measure=measure).p_value == compare(whole, measure=measure).p_value


def test_kappa_m_is_refused_unless_its_baseline_was_kept() -> None:
    learners = {"bayes": NaiveBayes(), "majority": MajorityClass()}
    plain, measured = (
        evaluate(SEA(n_rows=1000), learners, scheme=Bootstrap(5), measures=m) for m in ("accuracy", COUNTED)
    )
    for name in set(COUNTED) - {"mcc", "chance_accuracy", "kappa_m", "kappa_m_all", "kappa_temporal"}:
        if "precision" not in name and "npv" not in name:  # undefined where a class is never predicted
            assert compare(plain, measure=name) == compare(measured, measure=name), name
    for name in ("kappa_m", "kappa_temporal"):
        assert compare(measured, measure=name).measure == name
        with pytest.raises(StreamgaugeError, match=f"{name} was not measured in the run"):
            compare(plain, measure=name)


def test_rows_that_are_tested_again_and_again_are_no_new_evidence() -> None:
    learners = {"bayes": NaiveBayes(), "majority": MajorityClass()}
    fixed = evaluate(SEA(n_rows=5000), learners, scheme=Holdout(100, 50))
    assert fixed.verdicts == ()
    for test in ("two_way_t", "mcnemar"):
        with pytest.raises(StreamgaugeError, match="the holdout tests the same rows again and again"):
            compare(fixed, test=test, measure="accuracy")
    fresh = evaluate(SEA(n_rows=5000), learners, scheme=Holdout(100, 50, refreshed=True))
    assert compare(fresh, measure="accuracy").better == "bayes"


def test_few_readings_make_no_more_blocks() -> None:
    learners = {"bayes": NaiveBayes(), "majority": MajorityClass()}
    results = evaluate(SEA(n_rows=20_000), learners, measures="accuracy", forgetting=Window(20), every=1000)
    outcome = compare(results, forgetting="Window(width=20)")
    assert "20 blocks" in outcome.basis
    differences = np.diff(results.values[:, ::-1, 0, 0, 0], axis=1)[:, 0]
    assert outcome.interval is not None
    half = (outcome.interval[1] - outcome.interval[0]) / 2
    assert half == pytest.approx(2.093 * differences.std(ddof=1) / np.sqrt(20), rel=0.02)
    faded = evaluate(SEA(n_rows=20_000), learners, forgetting=Fading(0.9, chunk=500), every=100)
    with pytest.raises(StreamgaugeError, match="at least 10 blocks of 10 windows"):
        compare(faded, forgetting=faded.forgettings[0])


def test_the_interval_for_such_streams_is_never_narrower() -> None:
    learners = {"bayes": NaiveBayes(), "tree": HoeffdingTree(grace_period=50)}
    for seed in range(8):
        scheme = CrossValidation(10, test="held_out")
        outcome = compare(evaluate(SEA(n_rows=1000, seed=seed), learners, scheme=scheme, seed=seed), measure="kappa")
        assert outcome.such_streams is not None
        assert outcome.interval is not None
        assert outcome.such_streams.interval[0] <= outcome.interval[0] + 1e-12


def test_the_kind_of_folds_is_not_read_from_the_name_of_a_file(tmp_path: Path) -> None:
    learners = {"bayes": NaiveBayes(), "tree": HoeffdingTree(grace_period=50)}
    answers = []
    for name in ("Bootstrap.csv", "other.csv"):
        write(SEA(n_rows=300), tmp_path / name)
        scheme = schemes.Pretrained(File(tmp_path / name), scheme=CrossValidation(5))
        answers.append(compare(evaluate(SEA(n_rows=1000), learners, scheme=scheme)).such_streams)
    assert answers[0] == answers[1]


def test_a_run_without_scored_rows_is_saved_and_says_why_it_cannot_be_tested(tmp_path: Path) -> None:
    learners = {"bayes": NaiveBayes(), "tree": HoeffdingTree()}
    results = evaluate(SEA(n_rows=300), learners, labelling=Delayed(2000), measures=["roc_auc[1]"])
    with pytest.raises(StreamgaugeError, match="at least 10 blocks of scored rows"):
        compare(load(save(results, tmp_path)))


def test_areas_of_blocks_do_not_depend_on_batches() -> None:
    learners = {"bayes": NaiveBayes(), "majority": MajorityClass()}
    runs = [evaluate(SEA(n_rows=3000), learners, measures=["pr_auc[1]"], batch_size=size) for size in (None, 170)]
    assert_same_blocks(*runs)
