"""The contract, executable: a user's own objects are checked by the same calls as ours."""

from streamgauge.checks.schemes import Memoriser, check_scheme

__all__ = ["Memoriser", "check_scheme"]
