"""Significance: whether one learner is really better than another, or was lucky."""

from streamgauge.significance.adjustments import e_benjamini_hochberg, holm, shaffer
from streamgauge.significance.compare import compare, compare_all
from streamgauge.significance.comparison import ALGORITHMS, MODELS, SEEDS, Comparison, p_text
from streamgauge.significance.corrected import corrected_t, held_out_ratio
from streamgauge.significance.diagrams import diagram_text, draw_diagram
from streamgauge.significance.effects import Effect, effect_size
from streamgauge.significance.flips import sign_flip
from streamgauge.significance.folds import sign_test, wilcoxon
from streamgauge.significance.losses import diebold_mariano, mcnemar_curve, q_statistic
from streamgauge.significance.ranking import POST_HOCS, RankedPair, Ranking, rank, rank_table
from streamgauge.significance.ranks import (
    Friedman,
    critical_difference,
    friedman,
    mean_rank_p_values,
    nemenyi_p_values,
    ranks_of,
)
from streamgauge.significance.rows import mcnemar, two_way_t

__all__ = [
    "ALGORITHMS",
    "MODELS",
    "POST_HOCS",
    "SEEDS",
    "Comparison",
    "Effect",
    "Friedman",
    "RankedPair",
    "Ranking",
    "compare",
    "compare_all",
    "corrected_t",
    "critical_difference",
    "diagram_text",
    "diebold_mariano",
    "draw_diagram",
    "e_benjamini_hochberg",
    "effect_size",
    "friedman",
    "held_out_ratio",
    "holm",
    "mcnemar",
    "mcnemar_curve",
    "mean_rank_p_values",
    "nemenyi_p_values",
    "p_text",
    "q_statistic",
    "rank",
    "rank_table",
    "ranks_of",
    "shaffer",
    "sign_flip",
    "sign_test",
    "two_way_t",
    "wilcoxon",
]
