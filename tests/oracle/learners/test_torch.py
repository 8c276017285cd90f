"""PyTorch modules against a plain training loop."""

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.learners import Torch
from streamgauge.records import Step
from streamgauge.streams import take

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
nn = torch.nn


def test_it_predicts_what_a_plain_loop_predicts():
    batch = take(sg.SEA(), 200)
    module = nn.Linear(3, 2)
    optimiser = torch.optim.SGD(module.parameters(), lr=0.01)
    given = Torch(module, pretrained=True)
    learner = given.build(sg.SEA().schema, 1)
    predictions, _ = learner.interleave(Step(batch), with_votes=False)
    expected = [-1]
    for i in range(200):
        x, y = torch.tensor(batch.x[i : i + 1]).float(), torch.tensor(batch.y[i : i + 1]).long()
        scores = module(x)
        if i > 0:
            expected.append(int(scores.argmax()))
        optimiser.zero_grad()
        nn.functional.cross_entropy(scores, y).backward()
        optimiser.step()
    np.testing.assert_array_equal(predictions, expected)
