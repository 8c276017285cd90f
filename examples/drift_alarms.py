"""Detectors watch the errors of a learner; their alarms are scored against the true drifts."""

import streamgauge as sg
from streamgauge import drift, streams

stream = streams.Recurring((sg.SEA(1, noise=0.0), sg.SEA(3, noise=0.0)), every=4_000)

# Each detector watches every learner; neither disturbs the other.
results = sg.evaluate(stream, sg.NaiveBayes(), n_rows=20_000, detectors=["DDM", "Adwin", "PageHinkley"])
true = [change.position for change in results.drifts]
print(f"true drifts: {true}")

for detector in ("DDM", "Adwin", "PageHinkley"):
    alarms = [alarm.row for alarm in results.alarms if alarm.kind == "drift" and alarm.detector.startswith(detector)]
    score = drift.score_alarms(alarms, true, n_rows=20_000, max_delay=2_000)
    print(f"{detector}: found {score.recall:.0%} of the drifts, {len(score.false_alarms)} false alarms")
