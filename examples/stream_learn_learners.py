"""Evaluate stream-learn's chunk ensembles. Every row is tested before its chunk is learnt."""

from sklearn.naive_bayes import GaussianNB
from strlearn.ensembles import AWE, SEA

import streamgauge as sg
from streamgauge.learners import StreamLearn

results = sg.evaluate(
    sg.RandomRBF(n_rows=4_000),
    {
        "SEA": SEA(GaussianNB()),
        "AWE": AWE(GaussianNB()),
        "SEA, larger chunks": StreamLearn(SEA(GaussianNB()), chunk_size=500),
    },
)
for name in results.learners:
    print(f"accuracy of {name}: {results.curve(name, 'accuracy')[-1].mean():.3f}")
