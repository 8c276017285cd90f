"""Checks that say whether an object keeps its contract, ours or yours: each raises and names what is broken."""

from streamgauge.checks.streams import check_stream

__all__ = ["check_stream"]
