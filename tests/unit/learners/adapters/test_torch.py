"""PyTorch modules, beside a plain training loop."""

from functools import partial
from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.checks import check_learner
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import Torch, as_spec
from streamgauge.records import Step
from streamgauge.streams import take
from tests.support.learner_checks import NUMERIC, accuracy_of, is_seeded_apart, keeps_its_contract

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
nn = torch.nn


def network(n_inputs=4, n_classes=2):
    return nn.Sequential(nn.Linear(n_inputs, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, n_classes))


@pytest.mark.parametrize("chunk_size", [1, 16])
def test_a_module_keeps_the_contract(chunk_size):
    keeps_its_contract(Torch(network(), partial(torch.optim.Adam, lr=0.01), chunk_size=chunk_size))


def test_a_module_made_from_the_schema_takes_nominal_and_missing_values():
    def make(schema):
        return network(schema.n_attributes, schema.n_classes)

    spec = Torch(make, torch.optim.SGD([torch.zeros(1)], lr=0.1), nn.CrossEntropyLoss(label_smoothing=0.1))
    assert spec.short_name == "make"
    check_learner(spec, n_rows=60)


def test_each_fold_draws_its_own_weights_unless_they_are_given():
    module = network()
    before = [weights.clone() for weights in module.parameters()]
    assert is_seeded_apart(module, n_rows=60)
    assert not as_spec(module).seedless
    assert all(torch.equal(now, then) for now, then in zip(module.parameters(), before, strict=True))
    kept: Any = Torch(module, pretrained=True).build(NUMERIC, 3)
    first = next(iter(kept._own.module.parameters()))
    assert torch.equal(first, before[0])


def test_random_numbers_are_each_learners_own():
    module = network(3)
    before = torch.get_rng_state()
    one, two = (
        sg.evaluate(sg.SEA(n_rows=200), {"net": module}, scheme=sg.Split(2), backend=sg.Threads(n)) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.values, two.values)
    assert torch.equal(torch.get_rng_state(), before)


def test_it_learns():
    assert accuracy_of(nn.Linear(3, 2), 1_500) > accuracy_of(sg.MajorityClass(), 1_500) + 0.05


def test_a_module_with_too_few_scores_fails_at_its_row():
    learner = as_spec(nn.Linear(3, 1)).build(sg.SEA().schema, 1)
    with pytest.raises(StreamgaugeError):
        learner.interleave(Step(take(sg.SEA(), 10)), with_votes=False)
