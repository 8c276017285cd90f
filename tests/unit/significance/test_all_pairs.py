"""Three or more learners: adjusted p-values, and the best with those that are not significantly worse."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from streamgauge import SEA, Bootstrap, HoeffdingTree, MajorityClass, NaiveBayes, NoChange, evaluate
from streamgauge.cli.main import cli
from streamgauge.errors import StreamgaugeError
from streamgauge.reports import report
from streamgauge.results import Results, save
from streamgauge.significance import Comparison, adjust_pairs, best_group, compare, compare_all, holm, two_way_t

LEARNERS = {"tree": HoeffdingTree(), "bayes": NaiveBayes(), "majority": MajorityClass(), "last": NoChange()}


@pytest.fixture(scope="module")
def results() -> Results:
    return evaluate(SEA(n_rows=4000), LEARNERS, scheme=Bootstrap(5), measures=["accuracy", "log_loss"])


def make_comparison(first: str, second: str, values: tuple[float, float], p_value: float) -> Comparison:
    difference = values[0] - values[1]
    direction = int(np.sign(difference))
    outcome = two_way_t(np.ones((2, 1, 21)))
    return replace(
        outcome, first=first, second=second, values=values, difference=difference, direction=direction, p_value=p_value
    )


def test_all_pairs_are_adjusted_by_holm_for_both_questions(results: Results) -> None:
    plain, adjusted = compare_all(results, adjust="none"), compare_all(results)
    assert [pair.adjusted for pair in plain] == [None] * 6
    assert [pair.adjusted for pair in adjusted] == pytest.approx(holm([pair.p_value for pair in plain]).tolist())
    others = [pair.such_streams.p_value for pair in plain if pair.such_streams is not None]
    answers = [pair.such_streams.adjusted for pair in adjusted if pair.such_streams is not None]
    assert answers == pytest.approx(holm(others).tolist())
    assert "by Holm over 6 pairs" in adjusted[0].sentence
    assert [pair.p_value for pair in adjusted] == [pair.p_value for pair in plain]


def test_the_adjusted_p_value_decides() -> None:
    pairs = [make_comparison("a", other, (0.8, 0.7), p) for other, p in (("b", 0.03), ("c", 0.04), ("d", 0.2))]
    assert [pair.better for pair in pairs] == ["a", "a", None]
    assert [pair.better for pair in adjust_pairs(pairs)] == [None, None, None]
    assert adjust_pairs(pairs)[0].sentence.startswith("No difference")
    assert [pair.better for pair in adjust_pairs(pairs, "benjamini_hochberg")] == [None, None, None]
    assert [pair.better for pair in adjust_pairs(pairs, "none")] == ["a", "a", None]


def test_one_pair_needs_no_adjustment(results: Results) -> None:
    two = evaluate(SEA(n_rows=1000), {"tree": HoeffdingTree(), "bayes": NaiveBayes()})
    assert compare_all(two) == (compare(two),)
    assert compare(results, "tree", "bayes").adjusted is None


def test_an_unknown_adjustment_is_refused_with_the_known_ones(results: Results) -> None:
    with pytest.raises(StreamgaugeError, match="there is no adjustment 'bonferroni'"):
        compare_all(results, adjust="bonferroni")


def test_the_group_is_the_best_and_all_that_are_not_significantly_worse() -> None:
    facts = [
        ("tree", "bayes", (0.90, 0.89), 0.30),
        ("tree", "majority", (0.90, 0.60), 0.001),
        ("tree", "last", (0.90, 0.85), 0.03),
        ("bayes", "majority", (0.89, 0.60), 0.001),
        ("bayes", "last", (0.89, 0.85), 0.04),
        ("majority", "last", (0.60, 0.85), 0.001),
    ]
    pairs = adjust_pairs([make_comparison(*fact) for fact in facts])
    group = best_group(pairs)
    assert (group.best, group.members, group.others) == ("tree", ("tree", "bayes", "last"), ("majority",))
    assert "not significantly worse (Holm over 6 pairs, as trained here): bayes and last." in group.sentence
    # Without adjusting, "last" is worse.
    plain = best_group([make_comparison(*fact) for fact in facts])
    assert plain.members == ("tree", "bayes")
    # Where less is better, the order turns.
    losses = [replace(pair, greater_is_better=False) for pair in pairs]
    assert best_group(losses).best == "majority"
    assert best_group(losses).sentence.startswith("Best: majority; all others are significantly worse")


def test_a_learner_that_was_not_tested_against_the_best_is_no_member() -> None:
    pairs = [make_comparison("a", "b", (0.9, 0.8), 0.5), make_comparison("b", "c", (0.8, 0.7), 0.5)]
    group = best_group(pairs)
    assert (group.members, group.others) == (("a", "b"), ("c",))


def test_the_group_needs_comparisons_in_one_measure(results: Results) -> None:
    with pytest.raises(StreamgaugeError, match="there are no comparisons"):
        best_group([])
    mixed = [*compare_all(results, measure="accuracy"), *compare_all(results, measure="log_loss")]
    with pytest.raises(StreamgaugeError, match="needs comparisons in one measure, not accuracy"):
        best_group(mixed)


def test_the_group_of_a_loss_is_that_of_the_least(results: Results) -> None:
    group = best_group(compare_all(results, measure="log_loss"))
    means = {name: results.final(name, "log_loss").mean for name in results.learners}
    assert group.best == min(means, key=lambda name: means[name])


def test_reports_and_the_command_line_name_the_group(results: Results, tmp_path: Path) -> None:
    group = best_group(compare_all(results))
    claims = [f"Best: {group.best}, accuracy", "better than all others on this stream"]
    assert len(group.others) == 3
    pages = {kind: report(results, format=kind) for kind in ("md", "html", "latex")}
    for kind, claim in product(pages, claims):
        assert claim in pages[kind], kind
    assert "adjusted p" in report(results, format="md")
    assert "Claims are by p-values adjusted by Holm over 6 pairs" in report(results, format="md")
    save(results, tmp_path / "run")
    printed = CliRunner().invoke(cli, ["compare", str(tmp_path / "run")], catch_exceptions=False).output
    assert all(claim in " ".join(printed.split()) for claim in claims)
    assert "adjusted" in printed
    asked = ["compare", str(tmp_path / "run"), "--json", "--adjust", "none"]
    plain = json.loads(CliRunner().invoke(cli, asked, catch_exceptions=False).stdout)
    assert plain["comparisons"][0]["adjusted"] is None
    facts = json.loads(CliRunner().invoke(cli, asked[:3], catch_exceptions=False).stdout)
    assert facts["best_groups"][0]["sentence"] == group.sentence
    for name in ("measure", "question", "null", "sentence", "adjusted", "adjustment"):
        assert facts["comparisons"][0][name], name


def test_comparisons_are_shown_with_the_group(results: Results) -> None:
    comparisons = compare_all(results)
    sentence = best_group(comparisons).sentence
    assert repr(comparisons).splitlines()[0] == sentence
    assert sentence in comparisons._repr_html_()
    assert comparisons._repr_html_().count("<table") == 6
    assert comparisons.best_group == best_group(comparisons)
    assert repr(compare_all(Results.from_readings((), n_rows=0))) == "()"


def test_the_kind_of_folds_is_matched_exactly() -> None:
    values = np.random.default_rng(1).random((2, 5, 21))
    for kind in ("Bootstrap(k=5)", "MyBootstrap", "split"):
        with pytest.raises(StreamgaugeError, match="there is no kind of folds"):
            two_way_t(values, scheme=kind)
