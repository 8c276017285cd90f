"""Evaluate Vowpal Wabbit, given by its arguments or as a workspace."""

from vowpalwabbit import Workspace

import streamgauge as sg
from streamgauge.learners import VowpalWabbit

results = sg.evaluate(
    sg.SEA(n_rows=2_000),
    {
        "usual": VowpalWabbit(),
        "slow": VowpalWabbit("--learning_rate 0.05"),
        "workspace": Workspace("--oaa 2 --quiet --adaptive"),
    },
)
for name in results.learners:
    print(f"accuracy of {name}: {results.curve(name, 'accuracy')[-1].mean():.3f}")
