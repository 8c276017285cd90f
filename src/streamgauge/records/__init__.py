"""Frozen records of NumPy columns, from rows to the data of a run.

Rates are in [0, 1]; classes and nominal values are codes from 0; rows are counted from 0.
"""

from streamgauge.records.blocks import BlockLayout, BlockTallies, CellBlocks
from streamgauge.records.history import Confusions, Differences, LabelCounts
from streamgauge.records.readings import (
    Alarm,
    EarlierVerdict,
    Failure,
    Feedback,
    LabelEstimate,
    ModelOutcome,
    ModelVerdict,
    Outcome,
    PairSums,
    Reading,
    Resources,
    Trace,
    Verdict,
)
from streamgauge.records.rows import (
    ABSTAINED,
    DRIFT,
    DRIFT_KINDS,
    NEVER,
    STABLE,
    UNLABELLED,
    WARNING,
    Arrivals,
    Attribute,
    Batch,
    Drift,
    Schema,
    Step,
)
from streamgauge.records.run_data import Final, RunData, find_common_times, list_readings, select_best
from streamgauge.records.tally import STATISTICS, ScoredRows, Tallies, Tally, sum_classes

__all__ = [
    "ABSTAINED",
    "DRIFT",
    "DRIFT_KINDS",
    "NEVER",
    "STABLE",
    "STATISTICS",
    "UNLABELLED",
    "WARNING",
    "Alarm",
    "Arrivals",
    "Attribute",
    "Batch",
    "BlockLayout",
    "BlockTallies",
    "CellBlocks",
    "Confusions",
    "Differences",
    "Drift",
    "EarlierVerdict",
    "Failure",
    "Feedback",
    "Final",
    "LabelCounts",
    "LabelEstimate",
    "ModelOutcome",
    "ModelVerdict",
    "Outcome",
    "PairSums",
    "Reading",
    "Resources",
    "RunData",
    "Schema",
    "ScoredRows",
    "Step",
    "Tallies",
    "Tally",
    "Trace",
    "Verdict",
    "find_common_times",
    "list_readings",
    "select_best",
    "sum_classes",
]
