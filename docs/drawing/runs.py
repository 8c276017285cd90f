"""The run that several pictures show: a gradual drift, and labels that stop arriving."""

from functools import cache
from pathlib import Path

import streamgauge as sg

__all__ = ["evaluate_gradual_sea"]


@cache
def evaluate_gradual_sea(journal: Path | None = None) -> sg.Results:
    """Evaluate three learners in five folds."""
    return sg.evaluate(
        "Gradual(SEA(1), SEA(3), position=15000, width=3000)",
        ["HoeffdingTree", "NaiveBayes", "MajorityClass"],
        n_rows=40_000,
        every=200,
        scheme="Bootstrap(5)",
        labelling="First(30000)",
        forgetting=["Landmark", "Window(2000)"],
        measures=["accuracy", "kappa_m"],
        detectors=["DDM"],
        resources=True,
        journal=journal,
    )
