"""The contract, executable: a user's own objects are checked by the same calls as ours."""

from streamgauge.checks.schemes import Memoriser, check_scheme
from streamgauge.checks.streams import check_stream

__all__ = ["Memoriser", "check_scheme", "check_stream"]
"""Checks that anyone's object keeps its contract: the same ones that ours must pass."""

from streamgauge.checks.forgetting import check_forgetting
from streamgauge.checks.measures import check_measure

__all__ = ["check_forgetting", "check_measure"]
