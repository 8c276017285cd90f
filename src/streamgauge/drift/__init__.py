"""Drift: detectors, and scores of their alarms against known drifts."""

from streamgauge.drift.base import NativeDetector
from streamgauge.drift.error_detectors import DDM, EDDM, FHDDM, HDDMA, HDDMW, RDDM, STEPD, EWMAChart
from streamgauge.drift.recovery import Recovery, recoveries
from streamgauge.drift.score import AlarmScore, DriftScore, score_alarms, score_results
from streamgauge.drift.value_detectors import KSWIN, Adwin, Cusum, OfMean, PageHinkley
from streamgauge.drift.watch import (
    Detection,
    StatisticTrace,
    Watch,
    as_detector,
    detect,
    name_detectors,
    read_values,
    trace_statistic,
)

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
    "StatisticTrace",
    "Watch",
    "as_detector",
    "detect",
    "name_detectors",
    "read_values",
    "recoveries",
    "score_alarms",
    "score_results",
    "trace_statistic",
]
