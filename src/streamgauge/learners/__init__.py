"""Learners: native ones, baselines, and adapters for everyone else's."""

from streamgauge.learners.baselines import MajorityClass, NoChange

__all__ = ["MajorityClass", "NoChange"]
