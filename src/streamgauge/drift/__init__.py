"""Drift: detectors, and scores of their alarms against known drifts."""

from streamgauge.drift.base import NativeDetector
from streamgauge.drift.error_detectors import DDM, EDDM, FHDDM, HDDMA, HDDMW, RDDM, STEPD, EWMAChart
from streamgauge.drift.recovery import Recovery, recoveries
from streamgauge.drift.score import AlarmScore, DriftScore, score_alarms, score_results
from streamgauge.drift.value_detectors import KSWIN, Adwin, Cusum, OfMean, PageHinkley
from streamgauge.drift.watch import Detection, Watch, as_detector, detect, name_detectors

__all__ = [
    "DDM",
    "EDDM",
    "FHDDM",
    "HDDMA",
    "HDDMW",
    "KSWIN",
    "RDDM",
    "STEPD",
    "Adwin",
    "AlarmScore",
    "Cusum",
    "Detection",
    "DriftScore",
    "EWMAChart",
    "NativeDetector",
    "OfMean",
    "PageHinkley",
    "Recovery",
    "Watch",
    "as_detector",
    "detect",
    "name_detectors",
    "recoveries",
    "score_alarms",
    "score_results",
]
