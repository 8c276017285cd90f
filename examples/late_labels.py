"""Measure what late labels cost: the same learner on the same rows, only the delay of the labels differs."""

import streamgauge as sg
from streamgauge.labelling import Delayed
from streamgauge.learners import DriftReset
from streamgauge.schemes import WarmUp

N_ROWS, DELAYS = 60_000, (0, 500, 1_000, 2_000)
streams = {
    "no drift": sg.SEA(noise=0.05, n_rows=N_ROWS),
    "drift every 10,000 rows": sg.SEA(thresholds=(7.0, 9.5), drift_every=10_000, noise=0.05, n_rows=N_ROWS),
}
learners = {"naive Bayes": sg.NaiveBayes(), "with resets": DriftReset(sg.NaiveBayes()), "majority": sg.MajorityClass()}

# Rows that are tested before the first label can be learnt are left out: without any label, a learner can only abstain.
# All runs score the same rows, those after the longest delay, so that the delay alone makes the difference.
scheme = WarmUp(10_000)

for title, stream in streams.items():
    print(f"{title:26}", *(f"{name:>12}" for name in learners))
    for delay in DELAYS:
        results = sg.evaluate(stream, learners, scheme=scheme, labelling=Delayed(delay))
        accuracies = (results.curve(name, "accuracy")[-1, 0] for name in learners)
        print(f"  labels {delay:5,} rows late    ", *(f"{accuracy:12.3f}" for accuracy in accuracies))

results = sg.evaluate(streams["no drift"], sg.NaiveBayes(), labelling=Delayed(2_000))
assert results.feedback is not None  # every run of `evaluate` has it
print("Without WarmUp, labels 2,000 rows late:", results.feedback.sentence, sep="\n")
