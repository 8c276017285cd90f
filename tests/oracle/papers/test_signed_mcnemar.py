"""The signed McNemar statistic has the sign of Gama et al. 2009, Figures 6 and 7."""

import numpy as np

from papers.gama_2009.comparisons import CRITICAL, MCNEMAR_FORMS, VARIANTS, find_figure_6, find_figure_7
from streamgauge.backends import Threads


def test_the_statistic_of_the_standard_variant_against_the_one_that_relearns_is_above_the_threshold() -> None:
    """The paper: "once this statistic overcomes the threshold value (6.635), it never decreases below it"."""
    (piece,) = VARIANTS.pieces("tiny")
    done = {piece.key: piece.work(Threads(1))}
    curves = done[piece.key]["curves"]
    assert curves["standard"][-1] > curves["relearns"][-1]  # error rates: the first, the standard one, is worse
    for form in MCNEMAR_FORMS:
        assert curves[form][-1] > 0
    late = np.array(done[piece.key]["rows"]) > 25_000
    assert (np.array(curves["all rows"])[late] > CRITICAL).all()
    assert all(claim.holds for finding in (find_figure_6(done), find_figure_7(done)) for claim in finding.claims)
