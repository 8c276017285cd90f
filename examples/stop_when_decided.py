"""Run until it is known which learner is better, however long that takes, and no row longer."""

import streamgauge as sg
from streamgauge.significance import LiveTest

# Verdicts may be looked at any time: stopping on one keeps the chance of a wrong one at 5 %. (A p-value would not.)
run = sg.Evaluation(
    sg.RandomRBF(speed=0.0001),  # it never ends
    [sg.HoeffdingTree(), sg.NaiveBayes()],
    scheme=sg.Bootstrap(10),
    every=500,
    batch_size=500,  # rows are read in batches; a smaller one lets it stop sooner
    n_rows=200_000,  # a bound, for the case that they are equal
    live_test=LiveTest(rope=0.01, horizon=20_000),
)
last = 0
for reading in run:
    last = reading.row
    if all(verdict.row is not None for verdict in run.verdicts):
        break
print(f"after {last:,} rows: {run.verdicts[0]}")
