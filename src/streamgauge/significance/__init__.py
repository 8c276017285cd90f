"""Significance: whether one learner is really better than another, or was lucky."""

from streamgauge.significance.compare import compare, compare_all
from streamgauge.significance.comparison import ALGORITHMS, MODELS, SEEDS, Comparison
from streamgauge.significance.folds import sign_test, wilcoxon
from streamgauge.significance.rows import mcnemar, two_way_t

__all__ = [
    "ALGORITHMS",
    "MODELS",
    "SEEDS",
    "Comparison",
    "compare",
    "compare_all",
    "mcnemar",
    "sign_test",
    "two_way_t",
    "wilcoxon",
]
