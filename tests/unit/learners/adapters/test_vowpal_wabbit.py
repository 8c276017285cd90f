"""Vowpal Wabbit, beside its own loop."""

import pytest

import streamgauge as sg
from streamgauge.checks.learners import MIXED
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import VowpalWabbit, as_spec
from tests.support.learner_checks import accuracy_of, keeps_its_contract

vowpalwabbit = pytest.importorskip("vowpalwabbit", reason="vowpalwabbit is not installed")


@pytest.mark.parametrize("arguments", ["", "--oaa 3 --sgd", "--adaptive --learning_rate 0.2 --bit_precision 12"])
def test_a_workspace_keeps_the_contract(arguments):
    keeps_its_contract(VowpalWabbit(arguments), mixed=True)


def test_it_learns():
    assert accuracy_of(VowpalWabbit(), 2_000) > accuracy_of(sg.MajorityClass(), 2_000) + 0.1


def test_a_workspace_gives_its_arguments():
    workspace = vowpalwabbit.Workspace("--oaa 4 --quiet --random_seed 3 --learning_rate 0.25")
    assert as_spec(workspace) == VowpalWabbit("--learning_rate 0.25 --oaa 4")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--nonsense", "does not accept the arguments .*--nonsense"),
        ("--probabilities", "does not predict classes|does not accept the arguments"),
    ],
)
def test_arguments_it_does_not_take_are_refused(arguments, complaint):
    with pytest.raises(StreamgaugeError, match=complaint):
        VowpalWabbit(arguments).build(MIXED, 1)


def test_only_what_draws_random_numbers_is_seeded():
    assert VowpalWabbit().seedless
    assert not VowpalWabbit("--nn 3").seedless
