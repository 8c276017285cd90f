"""Significance: tests of whether one learner is better than another."""

from streamgauge.records import Verdict
from streamgauge.significance.all_pairs import ADJUSTMENTS, BestGroup, Comparisons, adjust_pairs, best_group
from streamgauge.significance.bayesian import Posterior, bayesian_sign, correlated_t, signed_rank
from streamgauge.significance.compare import check_test, compare, compare_all, list_tests
from streamgauge.significance.comparison import (
    MODELS,
    SEEDS,
    SUCH_STREAMS,
    TESTS,
    THIS_STREAM,
    Answer,
    Comparison,
    SignificanceTest,
    find_test,
    p_text,
)
from streamgauge.significance.confidence_sequences import asymptotic_radius, empirical_bernstein, two_way_sequence
from streamgauge.significance.corrections import (
    CORRECTIONS,
    benjamini_hochberg,
    bergmann_hommel,
    e_benjamini_hochberg,
    holm,
    hommel,
    shaffer,
)
from streamgauge.significance.e_values import Betting, anytime_mcnemar
from streamgauge.significance.effect_size import Effect, effect_size
from streamgauge.significance.fold_tests import (
    corrected_t,
    five_by_two,
    held_out_ratio,
    sign_flip,
    sign_test,
    wilcoxon,
)
from streamgauge.significance.group_sequential import GroupSequentialSignFlip, open_ended, until
from streamgauge.significance.interim_analyses import InterimAnalysis, decide
from streamgauge.significance.live import LiveTest, Monitor
from streamgauge.significance.loss_tests import diebold_mariano, mcnemar_curve, mean_loss, q_statistic
from streamgauge.significance.pair_watch import PairWatch
from streamgauge.significance.prediction_powered import LossSums, PoweredMean, find_best_ratio, powered_mean
from streamgauge.significance.rank_tests import (
    Friedman,
    critical_difference,
    friedman,
    mean_rank_p_values,
    nemenyi_p_values,
    ranks_of,
)
from streamgauge.significance.ranking import POST_HOCS, VALUES, RankedPair, Ranking, diagram_text, rank, rank_table
from streamgauge.significance.requirements import Requirement
from streamgauge.significance.row_tests import mcnemar
from streamgauge.significance.sample_size import SampleSize, Spread, rows_until, sample_size
from streamgauge.significance.seeds import SeedTest, combine_seeds, compare_with_best
from streamgauge.significance.two_way import LeftOut, two_way_t

__all__ = [
    "ADJUSTMENTS",
    "CORRECTIONS",
    "MODELS",
    "POST_HOCS",
    "SEEDS",
    "SUCH_STREAMS",
    "TESTS",
    "THIS_STREAM",
    "VALUES",
    "Answer",
    "BestGroup",
    "Betting",
    "Comparison",
    "Comparisons",
    "Effect",
    "Friedman",
    "GroupSequentialSignFlip",
    "InterimAnalysis",
    "LeftOut",
    "LiveTest",
    "LossSums",
    "Monitor",
    "PairWatch",
    "Posterior",
    "PoweredMean",
    "RankedPair",
    "Ranking",
    "Requirement",
    "SampleSize",
    "SeedTest",
    "SignificanceTest",
    "Spread",
    "Verdict",
    "adjust_pairs",
    "anytime_mcnemar",
    "asymptotic_radius",
    "bayesian_sign",
    "benjamini_hochberg",
    "bergmann_hommel",
    "best_group",
    "check_test",
    "combine_seeds",
    "compare",
    "compare_all",
    "compare_with_best",
    "corrected_t",
    "correlated_t",
    "critical_difference",
    "decide",
    "diagram_text",
    "diebold_mariano",
    "e_benjamini_hochberg",
    "effect_size",
    "empirical_bernstein",
    "find_best_ratio",
    "find_test",
    "five_by_two",
    "friedman",
    "held_out_ratio",
    "holm",
    "hommel",
    "list_tests",
    "mcnemar",
    "mcnemar_curve",
    "mean_loss",
    "mean_rank_p_values",
    "nemenyi_p_values",
    "open_ended",
    "p_text",
    "powered_mean",
    "q_statistic",
    "rank",
    "rank_table",
    "ranks_of",
    "rows_until",
    "sample_size",
    "shaffer",
    "sign_flip",
    "sign_test",
    "signed_rank",
    "two_way_sequence",
    "two_way_t",
    "until",
    "wilcoxon",
]
