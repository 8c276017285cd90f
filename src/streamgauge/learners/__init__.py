"""Learners: native ones, baselines, and adapters for everyone else's."""

from streamgauge.learners.adapters import ScikitLearn, as_spec
from streamgauge.learners.baselines import MajorityClass, NoChange

__all__ = ["MajorityClass", "NoChange", "ScikitLearn", "as_spec"]
