"""The contract, executable: a user's own objects are checked by the same calls as ours."""

from streamgauge.checks.schemes import Memoriser, check_scheme
from streamgauge.checks.streams import check_stream

__all__ = ["Memoriser", "check_scheme", "check_stream"]
