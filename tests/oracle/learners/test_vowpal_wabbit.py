"""Vowpal Wabbit against its own loop."""

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.learners import as_spec
from streamgauge.records import Step
from streamgauge.streams import take

vowpalwabbit = pytest.importorskip("vowpalwabbit", reason="vowpalwabbit is not installed")


def test_it_predicts_what_a_plain_loop_predicts():
    batch = take(sg.SEA(), 300)
    workspace = vowpalwabbit.Workspace("--oaa 2 --quiet --learning_rate 0.25")
    expected = [-1]
    for i in range(300):
        features = " ".join(f"a{j}:{value!r}" for j, value in enumerate(batch.x[i].tolist()))
        if i > 0:
            expected.append(workspace.predict(f"| {features}") - 1)
        workspace.learn(f"{batch.y[i] + 1} 1.0 | {features}")
    learner = as_spec(workspace).build(sg.SEA().schema, 1)
    predictions, _ = learner.interleave(Step(batch), with_votes=False)
    np.testing.assert_array_equal(predictions, expected)
