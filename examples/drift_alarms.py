"""Watch the errors of a learner with three detectors, and score their alarms against the true drifts."""

import streamgauge as sg
from streamgauge import drift, streams

stream = streams.Recurring((sg.SEA(1, noise=0.0), sg.SEA(3, noise=0.0)), every=4_000)

# Every detector watches every learner, without affecting it.
results = sg.evaluate(stream, sg.NaiveBayes(), n_rows=20_000, detectors=["DDM", "Adwin", "PageHinkley"])
true_drifts = [change.position for change in results.drifts]
print(f"true drifts: {true_drifts}")

for detector in ("DDM", "Adwin", "PageHinkley"):
    alarms = [alarm.row for alarm in results.alarms if alarm.kind == "drift" and alarm.detector.startswith(detector)]
    score = drift.score_alarms(alarms, true_drifts, n_rows=20_000, max_delay=2_000)
    print(f"{detector}: {score.recall:.0%} of the drifts detected, {len(score.false_alarms)} false alarms")
