"""Run two learners until it is known which is better, and stop there."""

import streamgauge as sg
from streamgauge.significance import LiveTest

# Verdicts may be checked at any time: stopping on one keeps the probability of a wrong one at 5%. P-values do not.
run = sg.Evaluation(
    sg.RandomRBF(speed=0.0001),  # an endless stream
    [sg.HoeffdingTree(), sg.NaiveBayes()],
    scheme=sg.Bootstrap(10),
    every=500,
    batch_size=500,  # a run stops between batches, so small batches stop sooner
    n_rows=200_000,  # a limit, in case both are equal
    live_test=LiveTest(rope=0.01),
)
last = 0
for reading in run:
    last = reading.row
    # "Equivalent" is about the rows so far, and a young tree is nearly a naive Bayes: wait until one is better.
    if all(verdict.outcome in ("first", "second") for verdict in run.verdicts):
        break
print(f"after {last:,} rows: {run.verdicts[0]}")
