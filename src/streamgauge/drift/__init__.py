"""Has the stream changed? Detectors, where they may watch, and how good their alarms are."""

from streamgauge.drift.means import KSWIN, Adwin, Cusum, OfMean, PageHinkley
from streamgauge.drift.native import NativeDetector
from streamgauge.drift.rates import DDM, EDDM, FHDDM, HDDMA, HDDMW, RDDM, STEPD, EWMAChart
from streamgauge.drift.recovery import Recovery, recoveries
from streamgauge.drift.score import AlarmScore, DriftScore, score_alarms, score_results
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
    "named_detectors",
    "recoveries",
    "score_alarms",
    "score_results",
]
