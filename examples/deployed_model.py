"""Ask of a deployed model whether it is still good enough, with labels that arrive late, and for few rows only.

The payments are drawn here: 2% are frauds, and from row 60,000 on most frauds look like ordinary payments. The model
was trained on older rows and no longer learns.
"""

import numpy as np
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge.labelling import Delayed, Fraction
from streamgauge.learners import PretrainedModel
from streamgauge.protocols import Labelling

CHANGE = 60_000
BUDGETS = ["recall[fraud]>0.5", "error<0.02"]

Payments = tuple[NDArray[np.float64], NDArray[np.str_]]


def draw_payments(n_rows: int, change: int | None = None, seed: int = 1) -> Payments:
    """Draw payments with three attributes, and whether they are frauds; after a change 7 of 10 frauds are disguised."""
    rng = np.random.default_rng(seed)
    fraud = rng.random(n_rows) < 0.02
    disguised = (np.arange(n_rows) >= (n_rows if change is None else change)) & (rng.random(n_rows) < 0.7)
    x = rng.normal(size=(n_rows, 3)) + 2.0 * (fraud & ~disguised)[:, None]
    return x, np.where(fraud, "fraud", "ok")


def watch(labelling: Labelling, n_rows: int = 100_000) -> sg.Results:
    """Judge the model by its requirements."""
    model = PretrainedModel(sg.NaiveBayes(), on=draw_payments(20_000))
    return sg.evaluate(
        draw_payments(n_rows, CHANGE, seed=2),
        {"deployed": model},
        measures=["error", "recall[fraud]"],
        forgetting=sg.Window(5_000),
        labelling=labelling,
        budgets=BUDGETS,
    )


if __name__ == "__main__":
    print("Labels 200 rows late:")
    for verdict in watch(Delayed(200)).model_verdicts:
        print(f"  {verdict}")
    print("Labels for 5% of the rows:")
    results = watch(Fraction(0.05))
    for verdict in results.model_verdicts:
        print(f"  {verdict}")
    for estimate in results.label_estimates:
        print(f"  {estimate}\n  {estimate.without_labels}")
