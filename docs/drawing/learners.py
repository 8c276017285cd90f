"""Pictures of learners: after a drift, on a moving hyperplane, and their cost."""

from collections.abc import Mapping

from river.tree import HoeffdingTreeClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.tree import DecisionTreeClassifier

import streamgauge as sg
from streamgauge import plots, streams
from streamgauge.learners import (
    AccuracyUpdatedEnsemble,
    AccuracyWeightedEnsemble,
    AdaptiveRandomForest,
    DriftReset,
    ExtremelyFastDecisionTree,
    HoeffdingAdaptiveTree,
    KNearestNeighbours,
    LeveragingBagging,
    LogisticRegression,
    OzaBag,
    Perceptron,
    Refitted,
    SEAEnsemble,
    StreamingRandomPatches,
)
from streamgauge.plots import Figure

__all__ = ["draw_ensembles", "draw_forests", "draw_libraries", "draw_refitted", "draw_simple_learners", "draw_trees"]


def _draw_around_drift(learners: Mapping[str, object], n_rows: int = 20_000) -> Figure:
    half = n_rows // 2
    stream = streams.Sudden(sg.RandomRBF(seed=1), sg.RandomRBF(seed=2), position=half)
    results = sg.evaluate(stream, learners, n_rows=n_rows, forgetting=sg.Window(1000))
    return plots.curves(results, band="none", size=(7.5, 4.0))


def draw_trees() -> Figure:
    """Draw three trees before and after a sudden drift."""
    trees = (sg.HoeffdingTree(), HoeffdingAdaptiveTree(), ExtremelyFastDecisionTree())
    return _draw_around_drift({type(tree).__name__: tree for tree in trees}, n_rows=60_000)


def draw_ensembles() -> Figure:
    """Draw ensembles of naive Bayes, and naive Bayes alone, before and after a sudden drift."""
    base = sg.NaiveBayes()
    return _draw_around_drift(
        {
            "NaiveBayes alone": base,
            "OzaBag": OzaBag(base=base),
            "LeveragingBagging": LeveragingBagging(base=base),
            "DriftReset": DriftReset(base),
        }
    )


def draw_forests() -> Figure:
    """Draw forests and a single tree before and after a sudden drift."""
    return _draw_around_drift(
        {
            "HoeffdingTree alone": sg.HoeffdingTree(),
            "AdaptiveRandomForest": AdaptiveRandomForest(10),
            "StreamingRandomPatches": StreamingRandomPatches(10),
        }
    )


def draw_simple_learners() -> Figure:
    """Draw simple learners and chunk ensembles on a hyperplane that turns."""
    learners = (
        LogisticRegression(), Perceptron(), KNearestNeighbours(), SEAEnsemble(), AccuracyWeightedEnsemble(),
        AccuracyUpdatedEnsemble(),
    )  # fmt: skip
    stream = sg.Hyperplane(n_drifting=5, magnitude=0.001)
    results = sg.evaluate(stream, learners, n_rows=20_000, forgetting=sg.Window(1000))
    figure = plots.curves(results, band="none", size=(7.5, 4.2))
    figure.drawn.axes[0].set_ylim(60, 100)  # chunk ensembles abstain at first, which is an accuracy of 0
    return figure


def draw_libraries() -> Figure:
    """Draw accuracy against cost for learners of three libraries, all in one run."""
    learners = {
        "ours: HoeffdingTree": sg.HoeffdingTree(),
        "ours: MajorityClass": sg.MajorityClass(),
        "ours: AdaptiveRandomForest": AdaptiveRandomForest(5),
        "River: HoeffdingTreeClassifier": HoeffdingTreeClassifier(),
        "scikit-learn: SGDClassifier": SGDClassifier(),
    }
    results = sg.evaluate(sg.RandomRBF(), learners, n_rows=10_000, resources=True, backend=sg.Threads(1))
    return plots.pareto(results, cost="cpu_seconds", size=(7.0, 3.8))


def draw_refitted() -> Figure:
    """Draw a tree that is fitted once, and again and again on all or the last rows, before and after a sudden drift."""
    tree = DecisionTreeClassifier(max_depth=8)
    return _draw_around_drift(
        {
            "fitted once, after 1,000 rows": Refitted(tree, first=1_000),
            "every 1,000, on all rows": Refitted(tree, every=1_000),
            "every 1,000, on the last 2,000": Refitted(tree, every=1_000, window=2_000),
            "HoeffdingTree, row by row": sg.HoeffdingTree(),
        }
    )
