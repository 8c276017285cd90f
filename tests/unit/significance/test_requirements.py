"""Requirements of one model as text: what is understood, and what is refused before the first row."""

import re
from collections.abc import Callable

import pytest

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.records import Attribute, Schema
from streamgauge.schemes import Holdout
from streamgauge.significance import Requirement
from streamgauge.significance.requirements import DEFAULT_REFERENCE, as_requirements, find_range

SCHEMA = Schema((Attribute("x"),), ("good", "fraud"))


@pytest.mark.parametrize(
    ("text", "wanted", "written"),
    [
        ("error<0.05", Requirement("error", below=0.05), "error<0.05"),
        (" error <= 5 % ", Requirement("error", below=0.05), "error<0.05"),
        ("accuracy>.9", Requirement("accuracy", above=0.9), "accuracy>0.9"),
        ("recall[fraud] > 0.5", Requirement("recall[fraud]", above=0.5), "recall[fraud]>0.5"),
        ("f1[fraud]>1e-1", Requirement("f1[fraud]", above=0.1), "f1[fraud]>0.1"),
        ("kappa>-0.1", Requirement("kappa", above=-0.1), "kappa>-0.1"),
        (
            "cost({'fraud->good': 5})<0.1",
            Requirement("cost({'fraud->good': 5})", below=0.1),
            "cost({'fraud->good': 5})<0.1",
        ),
        (
            "error<reference(2_000)+0.01",
            Requirement("error", reference=2000, margin=0.01),
            "error<reference(2000)+0.01",
        ),
        ("error < reference + 1%", Requirement("error", reference=5000, margin=0.01), "error<reference(5000)+0.01"),
        ("accuracy>reference", Requirement("accuracy", reference=DEFAULT_REFERENCE), "accuracy>reference(5000)"),
        (
            "accuracy>reference-0.02",
            Requirement("accuracy", reference=5000, margin=0.02),
            "accuracy>reference(5000)-0.02",
        ),
        ("beats majority", Requirement("kappa_m", above=0.0), "beats majority"),
        ("beats the majority class", Requirement("kappa_m", above=0.0), "beats majority"),
        ("beats no change", Requirement("kappa_temporal", above=0.0), "beats no change"),
        ("beats no_change", Requirement("kappa_temporal", above=0.0), "beats no change"),
    ],
)
def test_a_text_is_read_and_written(text: str, wanted: Requirement, written: str) -> None:
    assert Requirement.parse(text) == wanted
    assert str(wanted) == written
    assert Requirement.parse(str(wanted)) == wanted
    assert wanted.bind(SCHEMA).text == written


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("error", "it has no < or >; write it like error<0.05"),
        ("<0.05", "it names no measure"),
        ("0.01<error<0.05", "more than one < or >"),
        ("error<low", "'low' is neither a number nor reference(ROWS)"),
        ("error<reference(0)", "reference"),
        ("error<reference-0.01", "written with +, as in error<reference+0.01"),
        ("accuracy>reference+0.01", "written with -, as in accuracy>reference-0.01"),
        ("beats majorty", "did you mean 'beats majority'?"),
    ],
)
def test_an_unreadable_text_is_explained(text: str, why: str) -> None:
    with pytest.raises(StreamgaugeError, match=re.escape(why)) as refused:
        Requirement.parse(text)
    assert text in str(refused.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("error_<0.05", "did you mean error?"),
        ("recall[froud]>0.5", "there is no class 'froud'"),
        ("recall>0.5", "write recall[CLASS]"),
        ("error>0.05", "a smaller error is better, so that is no requirement; write error<0.05"),
        ("accuracy<0.05", "a greater accuracy is better, so that is no requirement; write accuracy>0.05"),
        ("error<1.5", "the limit of error must be between 0 and 1"),
        ("error<0", "the limit of error must be between 0 and 1"),
        ("kappa>1", "the limit of kappa must be below 1"),
        ("cost({'fraud->good': 5})<5", "the limit of cost must be between 0 and 5"),
        ("chance_accuracy>0.5", "no value of chance_accuracy is better than another"),
        ("tp[fraud]>100", "grows with the number of rows"),
        ("hoeffding<0.1", "the width of an interval"),
    ],
)
def test_what_cannot_be_required_is_refused(text: str, why: str) -> None:
    with pytest.raises(StreamgaugeError, match=re.escape(why)):
        Requirement.parse(text).bind(SCHEMA)


@pytest.mark.parametrize(
    ("build", "why"),
    [
        (lambda: Requirement("error"), "set one of below, above and reference"),
        (lambda: Requirement("error", below=0.1, reference=10), "set one of below, above and reference"),
        (lambda: Requirement("error", below=0.1, margin=0.01), "a margin needs a reference period"),
        (lambda: Requirement("error", below=float("nan")), "must be a finite number"),
        (lambda: Requirement("error", reference=10, margin=-0.1), "it must be a number of at least 0"),
        (lambda: as_requirements(5), "neither a text such as 'error<0.05' nor a Requirement"),
        (lambda: as_requirements(["error<0.05", "error<5%"]), "is there twice"),
    ],
)
def test_options_are_checked(build: Callable[[], object], why: str) -> None:
    with pytest.raises(StreamgaugeError, match=re.escape(why)):
        build()


def test_the_default_margin_is_that_of_the_measure() -> None:
    bound = Requirement.parse("cost({'fraud->good': 50})<reference").bind(SCHEMA)
    assert bound.margin == pytest.approx(0.5)
    assert Requirement.parse("error<reference").bind(SCHEMA).margin == pytest.approx(0.01)


def test_a_measure_of_the_run_is_found_by_its_name() -> None:
    own = sg.measures.Cost({"fraud->good": 50}, called="euros").bind(SCHEMA)
    assert Requirement.parse("euros<0.5").bind(SCHEMA, [own]).measure is not None
    assert find_range(Requirement.parse("euros<0.5").bind(SCHEMA, [own]).measure) == (0.0, 50.0)


@pytest.mark.parametrize(
    ("budgets", "options", "why"),
    [
        ("kappa>reference", {}, "kappa is no mean over rows, so it has no reference period"),
        ("expected_calibration_error<0.1", {}, "is not a smooth function of its counts"),
        ("error<0.1", {"scheme": Holdout(every=500, size=100)}, "tests the same rows again and again"),
        (3, {}, "budgets: 3 is neither"),
    ],
)
def test_a_run_refuses_budgets_before_its_first_row(budgets: object, options: dict[str, object], why: str) -> None:
    with pytest.raises(StreamgaugeError, match=re.escape(why)):
        sg.Evaluation(sg.SEA(), sg.NaiveBayes(), budgets=budgets, **options)  # type: ignore[arg-type]
