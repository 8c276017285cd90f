"""The contract of each family as a function: check your own objects by the same calls as ours."""

from streamgauge.checks.detectors import check_detector
from streamgauge.checks.forgetting import check_forgetting
from streamgauge.checks.labelling import check_labelling
from streamgauge.checks.learners import check_learner
from streamgauge.checks.measures import check_measure
from streamgauge.checks.schemes import check_scheme
from streamgauge.checks.streams import check_stream
from streamgauge.learners import Memoriser

__all__ = [
    "Memoriser",
    "check_detector",
    "check_forgetting",
    "check_labelling",
    "check_learner",
    "check_measure",
    "check_scheme",
    "check_stream",
]
