"""Verdicts on pairs in several measures and on one model, and estimates from few labels, made without a run."""

from dataclasses import replace

from streamgauge.records import EarlierVerdict, LabelEstimate, ModelVerdict, Verdict
from streamgauge.significance import THIS_STREAM

_FACTS = {"rope": 0.01, "alpha": 0.05, "n_claims": 4, "null": THIS_STREAM, "test": "block_sequence"}

NOTE = "blocks have 5,000 rows, because labels arrive late"

BETTER = Verdict("tree", "bayes", "first", 4000, 0.03, (0.012, 0.05), **_FACTS)  # type: ignore[arg-type]

SURE_LOSS = replace(
    BETTER,
    measure="log_loss",
    unit="nats",
    greater_is_better=False,
    rope=0.02,
    difference=-0.125,
    interval=(-0.2, -0.05),
)
"""The first has less of what should be little, so it is the better one."""

UNSURE = replace(
    BETTER,
    first="bayes",
    second="majority",
    outcome="undecided",
    row=None,
    difference=-0.011,
    interval=(-0.03, 0.008),
    rows_left=12_345,
    earlier=EarlierVerdict("equivalent", 2000, 3000),
)

UNSURE_LOSS = replace(UNSURE, measure="log_loss", unit="nats", greater_is_better=False, rope=0.02, earlier=None)

PAIRS = (BETTER, SURE_LOSS, UNSURE, UNSURE_LOSS)

_LEVEL = {"limit": 0.05, "alpha": 0.05, "n_claims": 3, "test": "empirical_bernstein", "measure": "error"}

BROKEN = ModelVerdict(
    "tree",
    "error<0.05",
    "broken",
    9000,
    8000,
    0.081,
    (0.062, 0.1),
    greater_is_better=False,
    **_LEVEL,  # type: ignore[arg-type]
)
KEPT = replace(BROKEN, learner="bayes", outcome="kept", row=3000, since=0, value=0.03, interval=(0.02, 0.045))
OPEN = replace(
    BROKEN,
    learner="majority",
    outcome="undecided",
    row=None,
    interval=(0.03, 0.1),
    earlier=EarlierVerdict("kept", 10, 20),
)

MODELS = (BROKEN, KEPT, OPEN)

ESTIMATE = LabelEstimate(
    "tree", "error", 20_000, 1000, 217, 0.217, (0.192, 0.242), 0.216, (0.196, 0.238), 0.9, 0.27, 0.212, 0.83, 0.76
)
