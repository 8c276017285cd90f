"""Measure how much accuracy a learner loses when labels arrive late, or rarely."""

import streamgauge as sg
from streamgauge.labelling import AllLabels, Delayed, Fraction

# The concept changes every 5,000 rows. Then the learner must relearn, from labels that have not arrived yet.
stream = sg.SEA(thresholds=(7.0, 9.5), drift_every=5_000, noise=0.05, n_rows=20_000)

labellings = {
    "all labels at once": AllLabels(),
    "1,000 rows late": Delayed(1_000),
    "4,000 rows late": Delayed(4_000),
    "5% of the labels": Fraction(0.05),
    "5% of the labels, 1,000 rows late": Delayed(1_000, of=Fraction(0.05)),
}
for title, labelling in labellings.items():
    results = sg.evaluate(stream, sg.HoeffdingTree(), labelling=labelling)
    feedback = results.feedback
    assert feedback is not None  # every run of `evaluate` has it
    accuracy = results.curve("HoeffdingTree", "accuracy")[-1, 0]
    print(f"{title}: accuracy {accuracy:.3f}, {feedback.n_revealed:,} labels seen, {feedback.n_owed:,} still owed")
