"""Labellings: which labels a learner may see. They only hide; what is hidden is still scored."""

from dataclasses import dataclass

from streamgauge.records import Step

__all__ = ["AllLabels"]


@dataclass(frozen=True)
class AllLabels:
    """Every label is seen, at once after the row was tested.

    Examples
    --------
    >>> AllLabels()
    AllLabels()
    """

    def reveal(self, step: Step, seed: int) -> Step:  # noqa: ARG002
        """Hide nothing."""
        return step
