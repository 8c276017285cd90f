"""How much a learner suffers when labels come late, or hardly ever."""

import streamgauge as sg
from streamgauge.labelling import AllLabels, Delayed, Fraction

# The concept changes every 5,000 rows: what was learnt has to be learnt anew, from labels that are not there yet.
stream = sg.SEA(thresholds=(7.0, 9.5), drift_every=5_000, noise=0.05, n_rows=20_000)

for labelling in (AllLabels(), Delayed(1_000), Delayed(4_000), Fraction(0.05), Delayed(1_000, of=Fraction(0.05))):
    results = sg.evaluate(stream, sg.HoeffdingTree(), labelling=labelling)
    feedback = results.feedback
    assert feedback is not None  # there is one of every run of `evaluate`
    accuracy = results.curve("HoeffdingTree", "accuracy")[-1, 0]
    print(f"{labelling}: accuracy {accuracy:.3f}, {feedback.n_revealed:,} labels seen, {feedback.n_owed:,} still owed")
