"""Checks that anyone's object keeps its contract: the same ones that ours must pass."""

from streamgauge.checks.forgetting import check_forgetting
from streamgauge.checks.measures import check_measure

__all__ = ["check_forgetting", "check_measure"]
